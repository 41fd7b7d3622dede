"""What a command imports: with nothing to do, it loads no module that only events need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.build import Home

SCANS = """
import json, sys
from collector.__main__ import main
for arguments in ARGUMENTS:
    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    print(json.dumps(sorted(sys.modules)), flush=True)
"""
# Modules that pull in the rest of redaction, delivery and the embedded store, and the libraries these use.
ONLY_FOR_EVENTS = {
    *("collector.redact", "collector.delivery.transport", "collector.delivery.window", "collector.store.inside"),
    *(
        "collector.service.heartbeat",
        "hyperscan",
        "httpcore",
        "tenacity",
        "pathspec",
        "sqlite3",
    ),
    *("rich.console", "jinja2"),
}


def scans(*arguments: list[str]) -> list[tuple[int, set[str]]]:
    """Runs these scans in one process; gives for each the number of files read and the modules loaded by then."""
    program = SCANS.replace("ARGUMENTS", repr(arguments))
    environment = {**os.environ, "COLLECTOR_HEARTBEAT__INTERVAL": "0"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [(ledger["files"]["read"], set(modules)) for ledger, modules in zip(lines[::2], lines[1::2], strict=True)]


def test_a_scan_with_nothing_to_do_loads_no_module_that_only_events_need(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.session().prompt("hello")
    (tmp_path / "empty" / "projects").mkdir(parents=True)
    root, state = ["--root", str(home.root)], ["--state", str(tmp_path / "other.json")]
    elsewhere = ["--root", str(tmp_path / "empty"), "--sink-url", "http://127.0.0.1:9/"]
    [(read, modules)] = scans(["scan", "--json", *root])
    assert read == 1
    # Proves that the names in the table are spelt correctly.
    for_others = {"pathspec", "rich.console", "jinja2", "collector.service.heartbeat", "httpcore"}
    assert ONLY_FOR_EVENTS - modules == for_others
    assert {"starlette", "uvicorn", "asyncio"} & modules == set()  # events reach the embedded store without a server
    (read, without_url), (_, with_url) = scans(["scan", "--json", *root], ["scan", "--json", *elsewhere, *state])
    assert (read, without_url & (ONLY_FOR_EVENTS | {"httpx"})) == (0, set())
    assert with_url & ONLY_FOR_EVENTS == set()


def test_asyncio_works_for_packages_that_use_it() -> None:
    """Packages that import asyncio without using it get a stand-in; a package that uses it gets the real one."""
    program = """
from collector.__main__ import _import_without_unused_parts
_import_without_unused_parts()
import sys, structlog
assert "asyncio" not in sys.modules
theirs = structlog._native.asyncio.CancelledError
import asyncio
assert theirs is asyncio.CancelledError
asyncio.run(structlog.get_logger().ainfo("hello"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "hello" in done.stdout
