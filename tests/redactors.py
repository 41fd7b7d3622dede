"""Makes the redactor with every rule once: compiling takes two seconds, loading compiled rules a few milliseconds.

CACHE is also where the commands under test find the compiled rules (agent.py).
"""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import tempfile
from pathlib import Path

from collector.redact import Options, Redactor
from collector.redact.formats import PROVIDER_RULES

# A tenth of the rules, for commands that have to compile them, or that start many times.
FEW_RULES = {"COLLECTOR_REDACTION__DISABLE": json.dumps([rule.id for rule in PROVIDER_RULES])}
KEY = b"a key for tests only"
CACHE = Path(tempfile.mkdtemp(prefix="collector-tests-"))
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)


@functools.cache
def every_rule(engine: str = "auto") -> Redactor:
    """The one redactor with this engine, with enough time for a machine under load."""
    return Redactor(Options(key=KEY, engine=engine, cache_dir=CACHE / "collector", seconds=120))
