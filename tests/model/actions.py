"""Everything that Claude Code, its user and a file system do to transcripts, as rules of a hypothesis model."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.model.world import World, record, replace_atomically

MEMORY = Path("/dev/shm")  # where it exists: thousands of worlds are made, and none has to survive a power cut
names = st.sampled_from(["s1", "s2", "s3"])
projects = st.sampled_from(["-work-a", "-work-b"])


class FileActions(RuleBasedStateMachine):
    """Every record carries a mark of its own; `halves` has the missing ends of unfinished lines."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="model-", dir=MEMORY if MEMORY.is_dir() else None))
        self.world = World(self.directory)
        self.next_mark = 0
        self.halves: dict[Path, bytes] = {}
        self.hidden: dict[Path, Path] = {}
        self.moved: set[Path] = set()
        self.altered: set[Path] = set()
        self.is_quiet = False

    def path_of(self, name: str, project: str) -> Path:
        """The path of a session; if something else is in its place, the session is put back first."""
        path = self.world.root / "projects" / project / f"{name}.jsonl"
        self.uncover(path)
        return path

    def add(self, path: Path, data: bytes) -> None:
        self.finish_half(path)
        with path.open("ab") as file:
            file.write(data)
        self.is_quiet = False

    def finish_half(self, path: Path) -> None:
        """Writes the rest of a half line, if the file is still there."""
        rest = self.halves.pop(path, b"")
        if rest and path.is_file():
            with path.open("ab") as file:
                file.write(rest)
            self.is_quiet = False

    def records(self, count: int, *, has_uuid: bool = True) -> bytes:
        """The next `count` records."""
        self.next_mark += count
        return b"".join(record(self.next_mark - n, has_uuid=has_uuid) for n in range(count))

    @rule(name=names, project=projects, count=st.integers(1, 8), has_uuid=st.booleans())
    def append(self, name: str, project: str, count: int, has_uuid: bool) -> None:
        self.add(self.path_of(name, project), self.records(count, has_uuid=has_uuid))

    def alter(self, path: Path) -> None:
        """Notes that a file has a new inode or mtime. If it is also renamed, before or after, too little is left to
        recognise it by, so it may be sent again."""
        self.altered.add(path)
        self.is_quiet = self.is_quiet and path not in self.moved

    @rule(name=names, project=projects, cut=st.integers(1, 60))
    def append_half_a_line(self, name: str, project: str, cut: int) -> None:
        path, line = self.path_of(name, project), self.records(1)
        self.add(path, line[:cut])
        self.halves[path] = line[cut:]

    @rule(name=names, project=projects)
    def finish_the_line(self, name: str, project: str) -> None:
        self.finish_half(self.path_of(name, project))

    @rule(name=names, project=projects)
    def append_a_line_torn_by_the_next(self, name: str, project: str) -> None:
        torn, whole = self.records(1), self.records(1)
        self.add(self.path_of(name, project), torn[:-20] + whole)

    @rule(name=names, project=projects)
    def append_garbage(self, name: str, project: str) -> None:
        self.next_mark += 1
        self.add(self.path_of(name, project), b"\x00\xff not json <<m%d>>\n\r\n\n" % self.next_mark)

    @rule(name=names, project=projects, keep=st.floats(0, 1))
    def truncate(self, name: str, project: str, keep: float) -> None:
        path = self.path_of(name, project)
        if path.exists():
            self.halves.pop(path, None)
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[: int(len(lines) * keep)]))
            self.is_quiet = False

    @rule(name=names, project=projects)
    def replace_with_the_same(self, name: str, project: str) -> None:
        path = self.path_of(name, project)
        if path.exists():
            replace_atomically(path, path.read_bytes())
            self.alter(path)

    @rule(name=names, project=projects, count=st.integers(1, 6))
    def rewrite_and_regrow(self, name: str, project: str, count: int) -> None:
        path = self.path_of(name, project)
        if path.exists():
            self.halves.pop(path, None)
            old = path.read_bytes()
            replace_atomically(path, self.records(count) + old[len(old) // 2 :] + self.records(1))
            self.is_quiet = False

    @rule(name=names, project=projects)
    def rewrite_in_place_with_the_same_size(self, name: str, project: str) -> None:
        """Keeps the inode and the size: only the bytes show that it is another file."""
        path = self.path_of(name, project)
        if path.exists() and path not in self.halves:
            size = path.stat().st_size
            new = self.records(1)
            if len(new) <= size:
                path.write_bytes(new.rstrip(b"\n") + b" " * (size - len(new)) + b"\n")
                self.is_quiet = False

    @rule(name=names, project=projects)
    def delete(self, name: str, project: str) -> None:
        path = self.path_of(name, project)
        self.halves.pop(path, None)
        path.unlink(missing_ok=True)

    @rule(name=names, project=projects, other=names, goal=projects)
    def move(self, name: str, project: str, other: str, goal: str) -> None:
        old, new = self.path_of(name, project), self.path_of(other, goal)
        if old.exists() and not new.exists():
            rest = self.halves.pop(old, b"")
            os.rename(old, new)
            self.moved.add(new)
            self.is_quiet = self.is_quiet and old not in self.altered
            if rest:
                self.halves[new] = rest

    @rule(name=names, project=projects, other=names, goal=projects)
    def copy(self, name: str, project: str, other: str, goal: str) -> None:
        old, new = self.path_of(name, project), self.path_of(other, goal)
        if old.exists() and not new.exists() and old not in self.halves:
            shutil.copy(old, new)
            self.is_quiet = False

    @rule(name=names, project=projects, other=names, goal=projects)
    def link_hard(self, name: str, project: str, other: str, goal: str) -> None:
        """Gives a file a second name: appends show under both, until one of them is replaced."""
        old, new = self.path_of(name, project), self.path_of(other, goal)
        if old.exists() and not new.exists() and old not in self.halves:
            os.link(old, new)
            self.is_quiet = False

    @rule(name=names, project=projects, moment=st.sampled_from([0, 1, 2_000_000_000, 9_000_000_000]))
    def set_the_time(self, name: str, project: str, moment: int) -> None:
        path = self.path_of(name, project)
        if path.exists():
            os.utime(path, (moment, moment))
            self.alter(path)

    @rule(name=names, project=projects, by=st.sampled_from(["fifo", "directory", "link out", "loop", "link in"]))
    def cover(self, name: str, project: str, by: str) -> None:
        """Puts something else in the file's place, and the file out of sight (for `link in`, behind a link)."""
        path = self.path_of(name, project)
        if not path.exists() or path in self.halves:
            return
        self.hidden[path] = self.world.root / "store" / f"{project}{name}"
        os.rename(path, self.hidden[path])
        self.is_quiet = False
        match by:
            case "fifo":
                os.mkfifo(path)
            case "directory":
                path.mkdir()
            case "link out":
                path.symlink_to(self.world.outside)
            case "loop":
                path.symlink_to(path)
            case "link in":
                path.symlink_to(self.hidden[path])

    @rule(name=names, project=projects)
    def uncover_one(self, name: str, project: str) -> None:
        self.path_of(name, project)

    def uncover(self, path: Path) -> None:
        """Puts the file back where it was."""
        if path in self.hidden:
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
            os.rename(self.hidden.pop(path), path)
            self.is_quiet = False
