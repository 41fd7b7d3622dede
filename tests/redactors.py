"""Makes the redactor with every rule once: compiling takes two seconds, loading compiled rules a few milliseconds.

CACHE is also where the commands under test find the compiled rules (agent.py).
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from collector.redact import Options, Redactor

KEY = b"a key for tests only"
CACHE = Path(tempfile.mkdtemp(prefix="collector-tests-"))
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)


@functools.cache
def every_rule(engine: str = "auto") -> Redactor:
    """The one redactor with this engine, with enough time for a machine under load."""
    return Redactor(Options(key=KEY, engine=engine, cache_dir=CACHE / "collector", seconds=120))
