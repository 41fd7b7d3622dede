"""Writers that act like Claude Code and its surroundings: they keep appending, and now and then do something to a file.

Each record carries a mark of its own; `written` has the marks that the collector must not lose. Each writer has its own
files.
"""

from __future__ import annotations

import json
import os
import random
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

from tests.build import Home
from tests.model.world import replace_atomically

PROJECTS = ("-work-a", "-work-b", "-work-c")
RECORDS_A_FILE = 300
FILES, LINKS = 30, 5
POISON = "-poison"


class Writer(threading.Thread):
    """Writes one session after another."""

    def __init__(self, home: Home, number: int, seed: int) -> None:
        super().__init__(name=f"writer-{number}", daemon=True)
        self.home, self.number = home, number
        self.chance = random.Random(f"{seed} {number}")
        self.written: list[str] = []
        self.faults: dict[str, int] = {}
        self._closing = threading.Event()
        self._path = self._new_path()
        self._paths: list[Path] = []
        self._links: list[Path] = []
        self._in_file = 0

    def run(self) -> None:
        """Appends, and now and then does something to the file."""
        faults: list[Callable[[], None]] = [
            self.move, self.replace_atomically, self.tear_a_line, self.append_nothing_useful, self.hide_behind_a_fifo,
            self.hide_behind_a_directory, self.hard_link, self.set_the_clock, self.rewrite_without_the_first,
        ]  # fmt: skip
        while not self._closing.wait(self.chance.uniform(0.005, 0.1)):
            self.append(self.chance.randint(1, 8))
            if self.chance.random() < 0.03:
                fault = self.chance.choice(faults)
                fault()
                self.faults[fault.__name__] = self.faults.get(fault.__name__, 0) + 1
            if self._in_file > RECORDS_A_FILE:
                self._go_on_elsewhere()

    def _go_on_elsewhere(self) -> None:
        """Goes on in a new session or an old one; their number is bounded, so memory must stay flat."""
        self._in_file = 0
        self._paths.append(self._path)
        is_new = len(self._paths) < FILES
        self._path = self._new_path() if is_new else self._paths.pop(self.chance.randrange(len(self._paths)))

    def stop(self) -> None:
        """Stops after a whole line."""
        self._closing.set()
        self.join()

    def append(self, count: int) -> None:
        """Appends a few records, sometimes in two pieces."""
        data = b"".join(self._record() for _ in range(count))
        cut = self.chance.randrange(len(data)) if self.chance.random() < 0.2 else len(data)
        with self._path.open("ab", buffering=0) as file:
            file.write(data[:cut])
            if cut < len(data):
                self._closing.wait(self.chance.uniform(0, 0.3))
                file.write(data[cut:])
        self._in_file += count

    def _record(self) -> bytes:
        mark = f"w{self.number}-{len(self.written)}" + (POISON if self.chance.random() < 0.0005 else "")
        self.written.append(mark)
        text = f"<<{mark}>> " + "x" * int(self.chance.paretovariate(1) * 20 % 20_000)
        record = {"type": "user", "uuid": str(uuid.UUID(int=self.chance.getrandbits(128), version=4))}
        return json.dumps(record | {"message": {"role": "user", "content": text}}).encode() + b"\n"

    def _new_path(self) -> Path:
        name = uuid.UUID(int=self.chance.getrandbits(128), version=4)
        path = self.home.project(self.chance.choice(PROJECTS)) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def move(self) -> None:
        """Moves the file to another name, in the same project or another."""
        goal = self._new_path()
        self._path.rename(goal)
        self._path = goal

    def replace_atomically(self) -> None:
        """Replaces the file by one with the same bytes and another inode."""
        replace_atomically(self._path, self._path.read_bytes())

    def rewrite_without_the_first(self) -> None:
        """Rewrites the file with a new record in front, so that all other lines move."""
        first, _, rest = self._path.read_bytes().partition(b"\n")
        replace_atomically(self._path, self._record() + first + b"\n" + rest)

    def tear_a_line(self) -> None:
        """Appends a record without its end, followed directly by the next one."""
        with self._path.open("ab") as file:
            file.write(b'{"type":"user","uuid":"torn","message":{"role":"user","content":"what was')
        self.append(1)

    def append_nothing_useful(self) -> None:
        """Appends the kind of bytes that a power loss leaves."""
        with self._path.open("ab") as file:
            file.write(self.chance.choice([b"\0" * 5000 + b"\n", b"\xff\xfe garbage\n", b"\r\n\n \n", b"[1,2]\n"]))

    def hide_behind_a_fifo(self) -> None:
        """Replaces the file by a FIFO for a moment."""
        self._hide(os.mkfifo, os.unlink)

    def hide_behind_a_directory(self) -> None:
        """Replaces the file by a directory for a moment."""
        self._hide(os.mkdir, os.rmdir)

    def _hide(self, put: Callable[[Path], None], take: Callable[[Path], None]) -> None:
        hidden = self.home.path / f"hidden-{self.number}"
        self._path.rename(hidden)
        put(self._path)
        self._closing.wait(self.chance.uniform(0, 1))
        take(self._path)
        hidden.rename(self._path)

    def hard_link(self) -> None:
        """Gives the file a second name, and removes the oldest such name once there are too many."""
        self._links.append(self._new_path())
        os.link(self._path, self._links[-1])
        if len(self._links) > LINKS:
            self._links.pop(0).unlink()

    def set_the_clock(self) -> None:
        """Sets the file's time to some other year."""
        moment = self.chance.choice([0, 2_000_000_000, 4_000_000_000])
        os.utime(self._path, (moment, moment))
