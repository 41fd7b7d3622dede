"""Gives every test a scratch home, a clean environment and a guard on the real machine; defines the shared fixtures.

The guard is an audit hook, so it sees whatever any library does in this process. Touching the real user's Claude or
collector files, or speaking to anything but loopback, fails the test that did it, even if the code under test swallows
the exception: the test is failed again at its end.
"""

from __future__ import annotations

import gc
import ipaddress
import os
import pwd
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink
from tests.tls import Authority

# The same examples every time, so that a failure is the doing of the change at hand; the long runs of `make soak` draw
# new ones. There is no deadline, because how long an example takes only shows how busy the machine is.
settings.register_profile("suite", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
# A suite started in the background ignores SIGINT, one under nohup SIGHUP, and so would every process that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

CLEARED = {
    "CLAUDE_CONFIG_DIR",
    "CREDENTIALS_DIRECTORY",
    "INVOCATION_ID",
    "LOGS_DIRECTORY",
    "NOTIFY_SOCKET",
    "RUNTIME_DIRECTORY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "STATE_DIRECTORY",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
}
CLEARED_PREFIXES = ("COLLECTOR_", "XDG_")
CLEARED_SUFFIXES = ("_PROXY",)

PRIVATE = (
    ".claude",
    ".claude.json",
    ".config/claude",
    ".config/collector",
    ".config/claude-collector",
    ".local/state/collector",
    ".local/state/claude-collector",
    ".local/share/collector",
    ".local/share/claude-collector",
    ".cache/collector",
    ".cache/claude-collector",
    "Library/Application Support/collector",
    "Library/Application Support/claude-collector",
)
REAL_HOMES = {
    os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir),
    os.path.realpath(os.environ.get("HOME", "/")),
}
FORBIDDEN = tuple(f"{home.rstrip('/')}/{name}" for home in REAL_HOMES for name in PRIVATE)
# Looking a name up may reach a server outside. These names never resolve (RFC 6761), so a test may look them up.
UNRESOLVABLE = (".invalid", ".test")

PATH_EVENTS = {
    "open",
    "os.scandir",
    "os.listdir",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.link",
    "os.chmod",
}
violations: list[str] = []
NOWHERE = os.path.join(tempfile.gettempdir(), f"collector-tests-no-home-{os.getpid()}")


class Trespass(BaseException):
    """A test reached for the real home or the network. A BaseException, so that no `except Exception` hides it."""


def is_loopback(host: object) -> bool:
    """Whether a host, as given to a socket call, stays on this machine."""
    if host is None or not isinstance(host, str | bytes):
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name in {"", "localhost"} or name.endswith(UNRESOLVABLE):
        return True
    try:
        return ipaddress.ip_address(name.split("%")[0]).is_loopback
    except ValueError:
        return False


def refuse(what: str) -> None:
    """Notes a violation and stops the call that would have committed it."""
    violations.append(what)
    raise Trespass(what)


def guard(event: str, arguments: tuple[Any, ...], is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
    """The audit hook. It runs on every audited call, so it returns early for the common ones."""
    if is_ending():  # this module's globals may be gone
        return
    if event in PATH_EVENTS:
        path = arguments[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if isinstance(path, str) and path.startswith(FORBIDDEN):
            refuse(f"{event} of {path}: a test must stay inside its scratch home")
    elif event in {"socket.connect", "socket.sendto"}:
        address = arguments[1]
        if isinstance(address, tuple) and not is_loopback(address[0]):
            refuse(f"{event} to {address[0]}: tests speak to loopback only")
    elif event == "socket.getaddrinfo":
        if not is_loopback(arguments[0]):
            refuse(f"name lookup of {arguments[0]}: tests speak to loopback only")
    elif event == "subprocess.Popen":
        command, environment = arguments[1], arguments[3]
        # Without HOME, a process looks in the password file and finds the real home.
        home = "/" if environment is None else environment.get("HOME", "")
        is_ours = any("collector" in str(part) for part in command) if isinstance(command, list | tuple) else True
        if (not home and is_ours) or os.path.realpath(home or "/") in REAL_HOMES - {"/"}:
            refuse("a subprocess with the real HOME: give it the scratch home")


sys.addaudithook(guard)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest test first: at the end, all other workers would wait for it."""
    items.sort(key=lambda item: item.name != "runTest")


def pytest_collection_finish() -> None:
    """Keeps the tests themselves out of garbage collection: scanning them each time would cost a quarter of all CPU."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def scratch_home(tmp_path: Path) -> Path:
    """The folder HOME points to."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with an empty Claude config directory."""
    return Home(tmp_path)


@pytest.fixture
def sink() -> Iterator[Sink]:
    """A sink that accepts everything until told otherwise."""
    with Sink() as sink:
        yield sink


@pytest.fixture
def agent(home: Home, sink: Sink) -> Agent:
    """The command, bound to both."""
    return Agent(home, sink)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority that signs certificates."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Another authority, which nobody trusts."""
    return Authority(tmp_path_factory.mktemp("stranger"))


@pytest.fixture(autouse=True)
def clean_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Points HOME at a fresh folder and keeps the caller's environment from the code under test.

    Most tests use no file. Their HOME does not exist, since making a folder for each would take longer than the tests.
    """
    for name in list(os.environ):
        if name in CLEARED or name.startswith(CLEARED_PREFIXES) or name.upper().endswith(CLEARED_SUFFIXES):
            monkeypatch.delenv(name)
    has_files = "tmp_path" in request.fixturenames
    home = str(request.getfixturevalue("scratch_home")) if has_files else NOWHERE
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("USERPROFILE", home)
    before = len(violations)
    yield
    if os.path.lexists(NOWHERE):
        shutil.rmtree(NOWHERE)
        pytest.fail("a test that writes below its home needs a folder for it: let it ask for tmp_path or scratch_home")
    if violations[before:]:
        pytest.fail("; ".join(violations[before:]))
