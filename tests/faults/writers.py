"""Writers as Claude Code and its surroundings are: they append all the time, and now and then do something to a file.

Each record carries a mark of its own; `written` are those that a collector must not lose. A writer owns its files.
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
    """One session after another."""

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
        """Appends, and does something to the file now and then."""
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
        """In a new session, or in an old one: their number is bounded, so that memory must be flat."""
        self._in_file = 0
        self._paths.append(self._path)
        is_new = len(self._paths) < FILES
        self._path = self._new_path() if is_new else self._paths.pop(self.chance.randrange(len(self._paths)))

    def stop(self) -> None:
        """Ends with whole lines."""
        self._closing.set()
        self.join()

    def append(self, count: int) -> None:
        """A few records, sometimes in two pieces."""
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
        """To another project, or within it."""
        goal = self._new_path()
        self._path.rename(goal)
        self._path = goal

    def replace_atomically(self) -> None:
        """Another inode, the same bytes."""
        replace_atomically(self._path, self._path.read_bytes())

    def rewrite_without_the_first(self) -> None:
        """A scrub: the first line changes its length, the rest stays; in its place a record that says so."""
        first, _, rest = self._path.read_bytes().partition(b"\n")
        replace_atomically(self._path, self._record() + first + b"\n" + rest)

    def tear_a_line(self) -> None:
        """A record without its end, with the next one after it."""
        with self._path.open("ab") as file:
            file.write(b'{"type":"user","uuid":"torn","message":{"role":"user","content":"what was')
        self.append(1)

    def append_nothing_useful(self) -> None:
        """What a power loss leaves."""
        with self._path.open("ab") as file:
            file.write(self.chance.choice([b"\0" * 5000 + b"\n", b"\xff\xfe garbage\n", b"\r\n\n \n", b"[1,2]\n"]))

    def hide_behind_a_fifo(self) -> None:
        """The file is a FIFO for a moment."""
        self._hide(os.mkfifo, os.unlink)

    def hide_behind_a_directory(self) -> None:
        """The file is a directory for a moment."""
        self._hide(os.mkdir, os.rmdir)

    def _hide(self, put: Callable[[Path], None], take: Callable[[Path], None]) -> None:
        hidden = self.home.path / f"hidden-{self.number}"
        self._path.rename(hidden)
        put(self._path)
        self._closing.wait(self.chance.uniform(0, 1))
        take(self._path)
        hidden.rename(self._path)

    def hard_link(self) -> None:
        """The same file under a second name, until there are too many."""
        self._links.append(self._new_path())
        os.link(self._path, self._links[-1])
        if len(self._links) > LINKS:
            self._links.pop(0).unlink()

    def set_the_clock(self) -> None:
        """The file's time jumps."""
        moment = self.chance.choice([0, 2_000_000_000, 4_000_000_000])
        os.utime(self._path, (moment, moment))
