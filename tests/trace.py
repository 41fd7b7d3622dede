"""Prints which of our functions one line passes through on its way out: `make trace`.

A scratch home holds one session with one line that contains one secret; `collector scan` reads it and posts it to a
sink on loopback, once with hyperscan and once with the Python engine.

Counted is every function and method of ours that is entered, in any thread, between the entry of `run_pass` and its
return; each counts once, however often it is called. The second figure adds their comprehensions and lambdas. Not
counted are importing, reading the settings, assembling the parts and printing the ledger, which happen once however
many lines there are, and whatever libraries do.

    python -m tests.trace                    # this checkout
    python -m tests.trace --tree OTHER       # another checkout, whatever its modules are called
    python -m tests.trace --sink store       # the embedded store instead of a sink elsewhere
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
SECRET = "AKIA" + "2E0A8F3B244C9986"
RECORD = {
    "type": "user",
    "uuid": "b6a1c0de-0000-4000-8000-000000000001",
    "parentUuid": None,
    "sessionId": "b6a1c0de-0000-4000-8000-000000000000",
    "timestamp": "2026-03-01T10:00:00.000Z",
    "cwd": "/work/app",
    "version": "2.1.4",
    "message": {"role": "user", "content": f"Deploy it with AWS_ACCESS_KEY_ID={SECRET}, please"},
}
WIDTH = 120
TOP = "run_pass"


class Step(NamedTuple):
    """A function that was entered: its file below collector/, and its name with its class."""

    file: str
    name: str

    @property
    def is_function(self) -> bool:
        """Whether it has a name of its own, unlike `<lambda>` and `<listcomp>`."""
        return not self.name.endswith(">")

    @property
    def room(self) -> str:
        """The first part of the path."""
        return self.file.partition("/")[0].removesuffix(".py")


class Sink(ThreadingHTTPServer):
    """Accepts everything, and remembers what it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        self.bodies: list[bytes] = []


class _Taking(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is given
        """Says nothing."""


@contextmanager
def listening() -> Iterator[Sink]:
    """Runs a sink for the duration of the block."""
    with Sink() as sink:
        thread = threading.Thread(target=sink.serve_forever)
        thread.start()
        try:
            yield sink
        finally:
            sink.shutdown()
            thread.join()


def traced(engine: str, tree: Path = REPOSITORY, sink: str = "http") -> list[Step]:
    """The functions the line passes through, in order of first entry."""
    with tempfile.TemporaryDirectory(prefix="collector-trace-") as scratch, listening() as receiver:
        home = Path(scratch)
        session = home / ".claude" / "projects" / "-work-app" / "session.jsonl"
        session.parent.mkdir(parents=True)
        session.write_text(json.dumps(RECORD) + "\n")
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(home),
            "COLLECTOR_REDACTION__ENGINE": engine,
            "COLLECTOR_SINK__FORMAT": "ndjson",
        }
        flags = ["--sink-url", receiver.url] if sink == "http" else ["--sink-type", "store"]
        # -P keeps this script's own directory from coming before the tree on the path.
        command = [sys.executable, "-P", __file__, "--inside", str(tree), "--", "scan", "--json", *flags]
        done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"the traced scan ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        ledger, steps = (json.loads(line) for line in done.stdout.splitlines())
        if (ledger["delivered"], sum(ledger["redactions"].values()), bool(steps)) != (1, 1, True):
            sys.exit(f"the line was not delivered with its secret redacted, or `{TOP}` was never entered: {ledger}")
    return [Step(*step) for step in steps]


def inside(tree: str, arguments: list[str]) -> None:
    """Runs the command in a process of its own, and prints the functions it entered."""
    sys.path.insert(0, tree)
    package = os.path.join(tree, "collector", "")
    entered: dict[tuple[str, str], None] = {}
    is_counting = False

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal is_counting
        code = frame.f_code
        if event not in {"call", "return"} or not code.co_filename.startswith(package):
            return
        if code.co_name == TOP:
            is_counting = event == "call"
        if is_counting and event == "call" and code.co_name != "<module>":
            entered.setdefault((code.co_filename.removeprefix(package), code.co_qualname))

    from collector.cli import run

    threading.setprofile(watch)
    sys.setprofile(watch)
    code = run(arguments)
    sys.setprofile(None)
    print(json.dumps(list(entered)))
    sys.exit(code)


def outline(steps: list[Step]) -> list[str]:
    """The steps by room and file, all in order of first entry."""
    rooms: dict[str, dict[str, list[str]]] = {}
    for step in filter(lambda step: step.is_function, steps):
        rooms.setdefault(step.room, {}).setdefault(step.file, []).append(step.name)
    lines = []
    for room, files in rooms.items():
        lines.append(f"{room}: {told(sum(map(len, files.values())), len(files))}")
        for file, names in files.items():
            head = f"    {file.removeprefix(f'{room}/')}: "
            lines.append(head)
            for name in names:
                if len(lines[-1]) + len(name) > WIDTH:
                    lines.append(" " * 8)
                lines[-1] += f"{name} "
    return [line.rstrip() for line in lines]


def told(functions: int, files: int) -> str:
    """Puts both figures into words."""
    return f"{functions} function{'s' * (functions != 1)} in {files} file{'s' * (files != 1)}"


def main() -> None:
    """The command."""
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2], sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, default=REPOSITORY, help="the checkout to trace")
    parser.add_argument("--sink", choices=("http", "store"), default="http")
    options = parser.parse_args()
    for engine in ("hyperscan", "python"):
        steps = traced(engine, options.tree.resolve(), options.sink)
        if engine == "hyperscan":
            print("\n".join(outline(steps)), end="\n\n")
        named = [step for step in steps if step.is_function]
        counts = told(len(named), len({step.file for step in named}))
        print(f"{engine}: one line passes through {counts} ({len(steps)} with comprehensions and lambdas)")


if __name__ == "__main__":
    main()
