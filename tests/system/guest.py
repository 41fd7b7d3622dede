"""Helpers for the checks inside the machine: commands, a unit of either kind, a person with sessions and a sink."""

from __future__ import annotations

import functools
import os
import pwd
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.build import Home, Session
    from tests.sink import Sink

CONFIGURATION = """
[sink]
url = "{url}"
[batch]
linger = 0.05
[retry]
max_interval = 0.5
[run]
rescan_interval = 1
shutdown_timeout = 3
"""


def command(*words: str, user: str = "", fails: bool = False) -> str:
    """Runs a command as root, or as a user with a session bus, and returns its output; it must fail only if `fails`."""
    if user:
        entry = pwd.getpwnam(user)
        environment = [
            f"XDG_RUNTIME_DIR=/run/user/{entry.pw_uid}",
            f"HOME={entry.pw_dir}",
            f"USER={user}",
            "PATH=/usr/bin",
        ]
        words = ("runuser", "--user", user, "--", "env", "--ignore-environment", *environment, *words)
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=90, check=False, cwd="/")
    output = done.stdout + done.stderr
    assert (done.returncode != 0) == fails, f"`{' '.join(words)}` ended with {done.returncode}: {output}"
    return output


def wait_for(condition: Callable[[], object], what: str, seconds: float = 30) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.05)


@dataclass(frozen=True)
class Unit:
    """A service unit of the agent: in the session of `user`, or of the system if that is empty."""

    name: str
    user: str
    state: Path

    def control(self, *words: str, fails: bool = False) -> str:
        """Runs systemctl as the owner of the unit."""
        return command("systemctl", *(["--user"] if self.user else []), *words, user=self.user, fails=fails)

    def show(self, name: str) -> str:
        """One property."""
        return self.control("show", self.name, f"--property={name}", "--value").strip()

    def is_active(self) -> bool:
        """Whether the unit is active; with Type=notify, READY has been seen then."""
        return self.show("ActiveState") == "active"

    def drop_in(self, name: str, text: str) -> None:
        """Adds lines to [Service]; without text, removes them."""
        base = Path("/home/alice/.config/systemd/user") if self.user else Path("/etc/systemd/system")
        path = base / f"{self.name}.d" / f"{name}.conf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[Service]\n{text}\n") if text else path.unlink()
        owned_by_alice()
        self.control("daemon-reload")

    def journal(self) -> str:
        """The unit's journal; read by root, because users have no journal of their own here."""
        return command("journalctl", "--no-pager", f"{'USER_UNIT' if self.user else 'UNIT'}={self.name}")


LIBRARY = Path("/usr/lib/collector")
TOKEN = Path("/etc/credstore/collector.sink-token")
USER_UNIT = Unit("collector.service", "alice", Path("/home/alice/.local/state/collector"))
SYSTEM_UNIT = Unit("collector@alice.service", "", Path("/var/lib/collector/alice"))
BOBS_UNIT = Unit("collector@bob.service", "", Path("/var/lib/collector/bob"))


class Alice:
    """A person with sessions, and the sink that receives them."""

    def __init__(self) -> None:
        from tests.build import Home
        from tests.sink import Sink

        self.home: Home = Home(Path("/var/tmp"))
        shutil.rmtree(self.home.path)
        self.home.path, self.home.root = Path("/home/alice"), Path("/home/alice/.claude")
        self.session: Session = self.home.session()
        self.sink: Sink = Sink()
        self.sink.up()
        self.written: set[str] = set()

    def writes(self, count: int = 1) -> None:
        """Appends this many prompts, as Claude Code does."""
        for _ in range(count):
            text = f"prompt number {len(self.written)}."
            self.session.prompt(text)
            self.written.add(text)
        owned_by_alice()

    def missing(self) -> set[str]:
        """Prompts that the sink has not acknowledged yet."""
        return self.written - {event.get("text", "") for event in self.sink.events}

    def expects_everything(self) -> None:
        """Waits until every prompt ever written is in the sink."""
        wait_for(lambda: not self.missing(), f"{len(self.missing())} prompts of {len(self.written)} still missing")

    def holds_the_answer(self) -> threading.Event:
        """Makes each request wait for the returned event and then fail with 503, so that nothing of it is stored."""
        from tests.sink import Answer

        release = threading.Event()
        self.sink.clear_script(then=Answer(503, held=release))
        return release


@functools.cache
def alice() -> Alice:
    """The one person; created once the package is installed, because the sink uses its libraries."""
    sys.path[1:1] = [str(LIBRARY / "site"), f"{LIBRARY}/cp{sys.version_info.major}{sys.version_info.minor}"]
    return Alice()


def owned_by_alice() -> None:
    """Gives alice whatever root wrote into her home."""
    entry = pwd.getpwnam("alice")
    for directory, names, files in os.walk("/home/alice"):
        for name in (".", *names, *files):
            path = os.path.join(directory, name)
            if os.lstat(path).st_uid != entry.pw_uid:
                os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
