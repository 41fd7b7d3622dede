"""Starts the command without loading its modules again, by forking a process that already has them loaded.

    done = warm.run([*COLLECTOR, "scan"], env=..., cwd=..., input=b"")     # like subprocess.run
    process = warm.start([*COLLECTOR, "run"], env=..., stdin=..., stdout=..., stderr=...)  # like subprocess.Popen

The result is a real process with its own streams, environment, directory, signals and exit code. Loading modules made
up two thirds of the cost of most commands in the suite. Three things differ from a normal start: the modules are
already loaded, they are not taken apart at the end, and all commands of a worker share one hash seed. So subprocess
still starts whatever tests starting or memory, any command on a system other than Linux, and any command with variables
that Python reads.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import collector.__main__

COLLECTOR = (sys.executable, "-m", "collector")
ROOMS = (
    *("cli.scan", "cli.preview", "cli.status", "cli.doctor", "cli.exclude", "assembly", "way_out", "store.inside"),
    *("redact.scan.engines", "inspection.preview", "inspection.sessions", "inspection.doctor", "service.footprint"),
)
# With what the first request would load.
LOADED = (*(f"collector.{name}" for name in ROOMS), "httpcore", "h11", "certifi")
READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")
READ = {"PYTHONPATH": str(Path(__file__).resolve().parent.parent), "PYTHONUTF8": "1"}
PR_SET_CHILD_SUBREAPER = 36
LARGEST = 1 << 20
_one_at_a_time = threading.Lock()


def run(command: list[str], *, env: dict[str, str], input: bytes, timeout: float, cwd: Any) -> Any:  # noqa: A002
    """Runs a command to its end, falling back to subprocess for one that cannot be started by forking."""
    with start(
        command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def start(command: list[str], *, env: dict[str, str], **how: Any) -> subprocess.Popen[bytes]:
    """Starts a command, like Popen; all three of its streams must be given."""
    return (_Warm if _can(command, env) else subprocess.Popen)(command, env=env, **how)


def _can(command: list[str], env: dict[str, str]) -> bool:
    read = {name: value for name, value in env.items() if name.startswith(READ_AT_START)}
    return sys.platform == "linux" and tuple(command[:3]) == COLLECTOR and read == READ


class _Warm(subprocess.Popen[bytes]):
    """A process forked from the loaded one. In everything else it behaves like any Popen."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        cwd, env, ends = rest[4], rest[5], rest[9:15]  # the pipes' ends, the child's and ours in turn
        sys.audit("subprocess.Popen", args[0], args, cwd, env)
        said = {"arguments": args[3:], "cwd": os.fspath(cwd or os.getcwd()), "env": env, "umask": os.umask(0)}
        os.umask(said["umask"])
        with _one_at_a_time:
            channel = _loaded()
            socket.send_fds(channel, [json.dumps(said).encode()], [ends[0], ends[3], ends[5]])
            self.pid = int(channel.recv(32))
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]


@functools.cache
def _loaded() -> socket.socket:
    """The channel to this worker's loaded process."""
    # Once the process in between has ended, this process adopts what was forked, and can wait for it.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there, open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", str(there.fileno())],
            env={"PATH": os.environ["PATH"], "HOME": "/", **READ},
            pass_fds=[there.fileno()],
            stdin=nothing,
            stdout=nothing,
        )

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def _serve(channel: socket.socket) -> None:
    collector.__main__._import_without_unused_parts()
    for name in LOADED:
        import_module(name)
    gc.freeze()
    while True:
        message, ends, _, _ = socket.recv_fds(channel, LARGEST, 3)
        if not message:
            return
        told, tells = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if not child:
                _become(json.loads(message), ends)
                _run()
            os.write(tells, str(child).encode())
            os._exit(0)
        os.waitpid(between, 0)  # only once it has ended can the tests wait for the process it forked
        channel.send(os.read(told, 32))
        for end in (told, tells, *ends):
            os.close(end)


def _run() -> None:
    """Runs the command, then ends in the order of the interpreter, but leaves its modules as they are: taking them
    apart would copy all the memory shared with the loaded process, a third of the cost of most commands."""
    code: object = 0
    try:
        collector.__main__.main()
    except SystemExit as end:
        code = end.code or 0
    assert isinstance(code, int), code
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream:
            stream.flush()
    os._exit(code)


def _become(said: dict[str, Any], ends: list[int]) -> None:
    for number, end in enumerate(ends):
        os.dup2(end, number)
    os.closerange(3, 64)
    os.environ.clear()
    os.environ.update(said["env"])
    time.tzset()
    os.chdir(said["cwd"])
    os.umask(said["umask"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [collector.__main__.__file__, *said["arguments"]]


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the tests, which end this process
    _serve(socket.socket(fileno=int(sys.argv[1])))
