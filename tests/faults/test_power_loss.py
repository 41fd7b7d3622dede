"""Power cuts at every moment of a pass: whatever was not synced to the disk is gone, and yet nothing is lost.

The disk is tests/faults/disk.py. After each cut the agent starts again with a sink that works. Then every line is
stored or quarantined (promise 1), and no more than two windows of what was acknowledged before are sent again.
"""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import pytest

from collector.flow.source import Position
from collector.keeping.state import State
from tests.faults.disk import Disk, Left, Moment
from tests.model.world import BATCH_EVENTS, WINDOW, MoodySink, World, marks, record
from tests.scopes import FORM

MOST_REPEATED = 2 * WINDOW * BATCH_EVENTS
TORN = b'{"type":"user","message":{"content":"say <<m%d>>\n'


class Machine:
    """A home whose agent may lose power; `written` has the marks of all records so far."""

    def __init__(self, directory: Path, journal_from: int) -> None:
        self.directory = directory
        self.world = World(directory)
        self.world.journal_from = journal_from
        self.world.state_path.parent.mkdir(mode=0o700)
        self.written: set[str] = set()

    def write(self, name: str, numbers: range, torn: frozenset[int] = frozenset()) -> Path:
        path = self.world.root / "projects" / "-work-a" / f"{name}.jsonl"
        with path.open("ab") as file:
            for number in numbers:
                file.write(TORN % number if number in torn else record(number))
        self.written |= {f"m{number}" for number in numbers}
        return path

    def note(self) -> tuple[dict[str, bytes], list[str], set[str]]:
        """The transcripts as they are now, and the marks acknowledged and written so far."""
        files = {str(path): path.read_bytes() for path in self.world.files()}
        texts = [str(event) for event in list(self.world.sink.stored.values())]
        return files, [mark for text in texts for mark in marks(text)], set(self.written)

    def start_after(self, moment: Moment, left: Left, *, without: frozenset[str] = frozenset()) -> None:
        """Starts a new agent with what the disk has kept. The transcripts in `without` were deleted in the meantime."""
        world = self.world
        files, acknowledged, written = moment.noted
        left.restore(world.state_path.parent)
        for path in world.files():
            path.unlink()
        for path, data in files.items():
            if path not in without:
                Path(path).write_bytes(data)
        world.sink = MoodySink()
        assert world.run() is not None, moment.what
        again = {mark for event in world.sink.stored.values() for mark in marks(str(event))}
        kept = {mark for entry in world.quarantine.entries() for mark in marks(entry["payload"])}
        assert written - again - kept - set(acknowledged) == set(), f"lost by a power cut before {moment.what}"
        repeated = again & set(acknowledged)
        assert len(repeated) <= MOST_REPEATED, f"{len(repeated)} sent again after a power cut before {moment.what}"


def each_cut(disk: Disk) -> list[tuple[Moment, Left]]:
    """Every different state that a cut may leave, with the last moment at which it may."""
    found = {}
    for moment in disk.moments:
        files, acknowledged, _ = moment.noted
        for left in moment.left():
            found[left, tuple(files), tuple(acknowledged)] = moment, left
    return list(found.values())


@pytest.mark.parametrize("journal_from", [1 << 20, 1], ids=["whole", "journal"])
def test_a_power_cut_at_any_moment_of_a_pass_loses_nothing(tmp_path: Path, journal_from: int) -> None:
    machine = Machine(tmp_path, journal_from)
    # The newest file is read first, so the first torn line comes late, after the state has been written.
    machine.write("s1", range(1, 20), frozenset({14, 18}))
    machine.write("s2", range(20, 36))
    with Disk(machine.world.state_path.parent, machine.note) as disk:
        assert machine.world.run() is not None
        machine.write("s2", range(36, 44), frozenset({40}))
        assert machine.world.run() is not None
    cuts = each_cut(disk)
    assert len(cuts) > 20
    for moment, left in cuts:
        machine.start_after(moment, left)


def refuse_links(*_: object, **__: object) -> None:
    raise OSError(errno.EXDEV, "as across two mounts")


@pytest.mark.parametrize("is_copied", [False, True], ids=["link", "copy"])
def test_held_files_survive_a_power_cut(tmp_path: Path, is_copied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sink is down, the transcripts are held and then deleted, and the sink comes back."""
    machine = Machine(tmp_path, 1 << 20)
    paths = [machine.write(f"s{number}", range(10 * number, 10 * number + 4)) for number in range(1, 4)]
    assert machine.world.run() is not None
    for number, path in enumerate(paths, 1):
        # Each ends in a torn line: what is quarantined must be on disk before the held file goes.
        machine.write(path.stem, range(10 * number + 4, 10 * number + 10), frozenset({10 * number + 9}))
    if is_copied:
        monkeypatch.setattr("os.link", refuse_links)
    machine.world.sink.mood = "down"
    with Disk(machine.world.state_path.parent, machine.note) as disk:
        assert machine.world.run() is None
        while_holding = len(disk.moments)
        for path in paths:
            path.unlink()
        machine.world.sink.mood = "ok"
        assert machine.world.run() is not None
    assert not machine.world.state_path.with_name("state.held").exists()
    for moment, left in each_cut(disk):
        machine.start_after(moment, left)
    # Files that were already held when the power failed may be deleted before it comes back.
    disk.moments = disk.moments[:while_holding]
    for moment, left in each_cut(disk):
        held = {data for name, data in left.files if name.startswith("state.held/") and name.endswith(".jsonl")}
        swept = frozenset(path for path, data in moment.noted[0].items() if data in held)
        if swept:
            machine.start_after(moment, left, without=swept)


def test_what_a_held_transcript_says_of_its_agent_survives_a_power_cut(tmp_path: Path) -> None:
    """That is in a file of its own beside the transcript, and is swept with it."""
    machine = Machine(tmp_path, 1 << 20)
    path = machine.write("agent-a1", range(1, 4))
    meta = path.with_suffix(".meta.json")
    meta.write_text('{"agentType": "Explore"}')
    machine.world.sink.mood = "down"
    with Disk(machine.world.state_path.parent, machine.note) as disk:
        assert machine.world.run() is None
    meta.unlink()
    for left in disk.moments[-1].left():
        machine.start_after(disk.moments[-1], left, without=frozenset({str(path)}))
        assert {event.get("agent_type") for event in machine.world.sink.stored.values()} == {"Explore"}


@pytest.mark.parametrize("journal_from", [1 << 20, 1], ids=["whole", "journal"])
def test_a_completed_save_survives_a_power_cut(tmp_path: Path, journal_from: int) -> None:
    """This includes names: if a name is not on disk, whatever was written under it is lost."""
    path, saved = tmp_path / "state" / "state.json", [0]
    path.parent.mkdir()
    state = State(path, FORM.name, journal_from=journal_from)
    for number in range(30):  # a journal is used as long as it is shorter than the state
        state.set_offset(f"before {number}", Position(number, "h", "t"))
    with Disk(path.parent, lambda: saved[0]) as disk:
        for number in range(1, 40):
            state.advance_offsets({"s": Position(number, "h", "t")})
            state.save()
            saved[0] = number
    for moment in disk.moments:
        for left in moment.left():
            left.restore(path.parent)
            kept = State(path, FORM.name, journal_from=journal_from).load().entries.get("s")
            assert (kept.position.offset if kept else 0) >= moment.noted, moment.what


def test_a_journal_is_not_continued_after_a_line_cut_short_by_a_full_disk(tmp_path: Path) -> None:
    """Otherwise, whatever followed the half line would be ignored together with it."""
    path = tmp_path / "state.json"
    state = State(path, FORM.name, journal_from=1)

    def save(offset: int) -> None:
        state.advance_offsets({f"s{offset}": Position(offset, "h", "t")})
        state.save()

    for number in range(30):  # a journal is used as long as it is shorter than the state
        state.set_offset(f"before {number}", Position(number, "h", "t"))
    save(1)
    save(2)
    assert not state.is_whole_on_disk
    with full_after(path.with_name("state.json.journal").stat().st_size + 20), pytest.raises(Exception, match="Cannot"):
        save(3)
    save(4)
    save(5)
    assert State(path, FORM.name).load().entries == state.entries


class full_after:  # noqa: N801 - used like a function
    """No file may grow beyond this many bytes: what fits is written, then writing fails."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __enter__(self) -> None:
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)
