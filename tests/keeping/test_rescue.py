"""Carrying out a plan: links, copies, the index, and cleaning up after a crash. Every test looks at the directory."""

from __future__ import annotations

import errno
import os
import resource
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from collector.agents.claude_code import places
from collector.flow.sink_identity import NO_SINK, SinkIdentity
from collector.flow.source import Entry, Position, Source, SourceKind, digest, stamp_of
from collector.keeping.held import HeldFile, Plan, look_into
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import State
from collector.settings.options import SweptSettings
from tests.scopes import FORM, root_of


class Place:
    """A root, a state and the directory of held files."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self.directory = directory / "agent" / "state.held"
        self.state = State(directory / "agent" / "state.json", FORM.name)
        self.root.mkdir()
        self.held = self.restarted()

    def restarted(self, *, is_dry_run: bool = False, sink: SinkIdentity = NO_SINK) -> HeldFiles:
        """The held files as a newly started process sees them."""
        return HeldFiles(
            self.directory, SweptSettings(), sink=sink, name_companion=FORM.companion, is_dry_run=is_dry_run
        )

    def write(self, name: str, data: bytes, kind: SourceKind = places.SESSION) -> Source:
        (self.root / name).write_bytes(data)
        return self.found(name, kind)

    def found(self, name: str, kind: SourceKind = places.SESSION) -> Source:
        path = self.root / name
        return Source(root_of(str(self.root), "r"), str(path), name, kind, "-p", "s", "", stamp_of(path.stat()))

    def take_stock(self, *found: Source) -> list[Source]:
        roots = [root_of(str(self.root), "r")]
        return self.held.take_stock(found, self.state.entries, roots, lambda _: True).sources

    def sent(self, source: Source) -> None:
        """Has the state say that the whole source is acknowledged."""
        data = Path(source.path).read_bytes()
        position = Position(len(data), digest(data[:1024]), digest(data[-1024:]), source.stamp)
        self.state.entries[source.key] = Entry(position)

    def names(self) -> set[str]:
        return {path.name for path in self.directory.iterdir()} if self.directory.exists() else set()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuses hard links, as across two mounts."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr("os.link", refuse)


def test_a_file_held_by_an_earlier_version_is_held_for_the_next_sink_that_fails(place: Place) -> None:
    first, second = (SinkIdentity("http", f"https://{name}.example") for name in ("first", "second"))
    source = place.write("a", b"1\n")
    place.held.hold([source], place.state)  # for no particular sink: that version did not tell them apart
    place.held = place.restarted(sink=first)
    place.take_stock(source)
    place.held.hold([source], place.state)
    place.held = place.restarted(sink=second)
    place.take_stock(source)
    place.sent(source)
    place.held.let_go(place.state)
    assert place.names() == {"index.json", "1.jsonl"}
    place.held = place.restarted(sink=first)
    place.take_stock(source)
    place.held.let_go(place.state)
    assert place.names() == set()


def test_a_link_is_another_name_of_the_original(place: Place) -> None:
    source = place.write("a", b"1\n")
    place.held.hold([source], place.state)
    assert place.names() == {"index.json", "1.jsonl"}
    assert (place.directory / "1.jsonl").samefile(source.path)
    assert stat.S_IMODE(place.directory.stat().st_mode) == 0o700
    assert place.held.summary() == {"files": 1, "bytes": 2, "left_out": 0}


@pytest.mark.usefixtures("no_links")
def test_a_copy_that_does_not_fit_counts_as_left_out(place: Place) -> None:
    large, small = place.write("a", b"1\n" * 100_000), place.write("b", b"2\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))  # a file cannot grow, as on a full disk
    try:
        with capture_logs() as said:
            place.held.hold([large], place.state)
            place.held.hold([large, small], place.state)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert place.held.summary() == {"files": 1, "bytes": 2, "left_out": 1}
    told = [each["event"] for each in said if each["log_level"] != "debug"]
    assert told == ["not all unsent files can be held", "unsent files held"]


@pytest.mark.usefixtures("no_links")
def test_copies_leave_room_to_record_what_is_acknowledged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [place.write(name, b"1\n" * 4_000_000) for name in "abc"]

    def usage(directory: Path) -> SimpleNamespace:
        return SimpleNamespace(free=40_000_000 - sum(each.stat().st_size for each in directory.iterdir()))

    monkeypatch.setattr("shutil.disk_usage", usage)
    with capture_logs() as said:
        place.held.hold(sources, place.state)
    assert place.held.summary() == {"files": 2, "bytes": 16_000_000, "left_out": 1}
    [told] = [each["reason"] for each in said if each["log_level"] == "warning"]
    assert told == "copies leave 20.0 MB of the disk free"


@pytest.mark.usefixtures("no_links")
def test_a_copy_holds_the_unsent_bytes_and_those_that_identify_the_position(place: Place) -> None:
    before, after = b"x" * 300_000 + b"\n", b"unsent\n"
    place.sent(place.write("a", before))
    source = place.write("a", before + after)
    place.held.hold([source], place.state)
    copy = place.directory / "1.jsonl"
    data, start = copy.read_bytes(), len(before)
    assert data[start:] == after
    assert (data[:1024], data[start - 1024 : start]) == (before[:1024], before[-1024:])
    assert set(data[1024 : start - 1024]) == {0}
    assert copy.stat().st_mtime_ns == source.stamp.mtime_ns
    assert look_into(place.directory).copies == {1}


def test_a_file_that_vanishes_before_it_is_held_leaves_nothing_behind(place: Place) -> None:
    gone, there = place.write("gone", b"1\n"), place.write("there", b"2\n")
    Path(gone.path).unlink()
    place.held.hold([gone, there], place.state)
    assert [file.original.key for file in place.held.held.files] == ["there"]
    assert [file.original.key for file in place.restarted().held.files] == ["there"]


def test_a_file_replaced_before_it_is_linked_is_not_held(place: Place) -> None:
    source = place.write("a", b"1\n")
    (place.root / "new").write_bytes(b"another\n")
    os.replace(place.root / "new", place.root / "a")
    place.held.hold([source], place.state)
    assert place.held.held.files == ()
    assert place.names() == set()


@pytest.mark.usefixtures("no_links")
def test_a_long_copy_reports_that_it_is_alive(place: Place) -> None:
    told: list[None] = []
    place.held = HeldFiles(place.directory, SweptSettings(), alive=lambda: told.append(None))
    place.held.hold([place.write("a", b"x" * 3_500_000)], place.state)
    assert len(told) == 4


def test_holding_again_adds_only_new_files(place: Place) -> None:
    first = place.write("a", b"1\n")
    place.held.hold([first], place.state)
    place.held.hold([first, place.write("b", b"2\n")], place.state)
    assert place.names() == {"index.json", "1.jsonl", "2.jsonl"}
    assert [file.number for file in place.restarted().held.files] == [1, 2]


@pytest.mark.usefixtures("no_links")
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_copy_gets_what_was_appended_to_its_original(place: Place, is_restarted: bool) -> None:
    place.held.hold([place.write("a", b"1\n")], place.state)
    grown = place.write("a", b"1\n2\n")
    if is_restarted:
        place.held = place.restarted()
        place.take_stock(grown)
    place.held.hold([grown], place.state)
    assert (place.directory / "1.jsonl").read_bytes() == b"1\n2\n"
    assert (place.directory / "1.jsonl").stat().st_mtime_ns == grown.stamp.mtime_ns


@pytest.mark.usefixtures("no_links")
def test_a_copy_gets_nothing_from_another_file_that_took_the_name(place: Place) -> None:
    place.held.hold([place.write("a", b"1\n")], place.state)
    place.held.hold([place.write("a", b"another and longer\n")], place.state)
    assert (place.directory / "1.jsonl").read_bytes() == b"1\n"


def test_a_file_that_vanishes_in_the_pass_that_held_it_has_a_stand_in(place: Place) -> None:
    source = place.write("a", b"1\n")
    place.held.hold([source], place.state)
    Path(source.path).unlink()
    stand_in = place.held.stand_in_for(source)
    assert stand_in is not None
    assert (stand_in.key, stand_in.stamp) == (source.key, source.stamp)
    assert Path(stand_in.path).read_bytes() == b"1\n"
    assert place.held.stand_in_for(place.write("never held", b"2\n")) is None


def test_newly_held_files_are_news_until_stock_is_taken(place: Place) -> None:
    source = place.write("a", b"1\n")
    told = [place.held.has_news]
    place.held.hold([source], place.state)
    told.append(place.held.has_news)
    place.take_stock(source)
    told.append(place.held.has_news)
    assert told == [False, True, False]


def test_the_directory_goes_with_the_last_held_file(place: Place) -> None:
    sources = [place.write("a", b"1\n"), place.write("b", b"2\n")]
    place.held.hold(sources, place.state)
    place.take_stock(*sources)
    place.sent(sources[0])
    place.held.let_go(place.state)
    assert place.names() == {"index.json", "2.jsonl"}
    place.sent(sources[1])
    place.held.let_go(place.state)
    assert not place.directory.exists()


def test_the_unsent_bytes_of_a_held_file_count_down(place: Place) -> None:
    source = place.write("a", b"1\n22\n")
    place.held.hold([source], place.state)
    place.state.entries["a"] = Entry(Position(2, "h", "t"))
    place.held.let_go(place.state)
    assert place.held.summary()["bytes"] == 3


def test_a_reset_drops_the_held_files_of_the_sources_it_names(place: Place) -> None:
    place.held.hold([place.write(name, b"1\n") for name in ("a", "b", "c")], place.state)
    assert place.held.forget(["b", "unknown"]) == 1
    assert place.names() == {"index.json", "1.jsonl", "3.jsonl"}
    assert place.held.forget() == 2
    assert not place.directory.exists()


def test_leftovers_of_a_crash_are_removed_by_the_next_plan(place: Place) -> None:
    place.held.hold([place.write("a", b"1\n"), place.write("b", b"2\n")], place.state)
    (place.directory / "1.jsonl").unlink()
    for stray in ("9.new", "index.json.new", "1.meta.json"):
        (place.directory / stray).write_bytes(b"x")
    place.restarted().carry_out(Plan())
    assert place.names() == {"index.json", "2.jsonl"}


def test_an_empty_index_is_removed(place: Place) -> None:
    place.held.hold([place.write("a", b"1\n")], place.state)
    (place.directory / "1.jsonl").unlink()
    place.restarted().carry_out(Plan())
    assert not place.directory.exists()


def test_a_damaged_index_is_moved_aside_and_holding_starts_over(place: Place) -> None:
    source = place.write("a", b"1\n")
    place.held.hold([source], place.state)
    (place.directory / "index.json").write_bytes(b"{")
    place.restarted().hold([source], place.state)
    assert [file.original for file in look_into(place.directory).files] == [source]
    [aside] = place.directory.parent.glob("state.held.damaged-*")
    assert {path.name for path in aside.iterdir()} == {"index.json", "1.jsonl"}


def test_a_dry_run_changes_nothing(place: Place) -> None:
    source = place.write("a", b"1\n")
    place.restarted(is_dry_run=True).hold([source], place.state)
    assert not place.directory.exists()
    place.held.hold([source], place.state)
    (place.directory / "9.new").write_bytes(b"x")
    place.sent(source)
    place.held = place.restarted(is_dry_run=True)
    place.take_stock(source)
    place.held.let_go(place.state)
    assert place.names() == {"index.json", "1.jsonl", "9.new"}


def test_a_directory_that_cannot_be_written_stops_nothing_and_is_reported_once(place: Place) -> None:
    place.directory.parent.write_text("in the way")
    source = place.write("a", b"1\n")
    with capture_logs() as said:
        for _ in range(3):  # as every two seconds while the sink fails
            place.held.hold([source], place.state)
    told = [(each["event"], each["reason"]) for each in said]
    assert told == [("not all unsent files can be held", "Not a directory")]
    assert place.held.summary() == {"files": 0, "bytes": 0, "left_out": 1}


def test_a_plan_is_carried_out_as_it_stands(place: Place) -> None:
    files = [HeldFile(number, place.write(name, b"1\n"), None, 2) for number, name in ((3, "a"), (5, "b"))]
    place.held.carry_out(Plan(take=tuple(files)))
    assert list(place.restarted().held.files) == files
    place.held.carry_out(Plan(let_go=(files[0],)))
    assert list(place.restarted().held.files) == files[1:]
