"""What is held and what is planned: values in, values out, nothing on disk touched."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from collector.agents.claude_code import places
from collector.errors import StateError
from collector.flow.source import Entry, Position, Source, SourceKind, Stamp, digest, stamp_of
from collector.keeping.held import Held, HeldFile, Plan, StandIns, index_of, look_into
from collector.settings.options import SweptSettings
from tests.scopes import FORM, root_of

HERE = Path("/agent/state.held")
ROOM = SweptSettings()


def source(key: str, inode: int = 7, age: int = 0, kind: SourceKind = places.SESSION, size: int = 100) -> Source:
    stamp = Stamp(size, 1000 - age, inode)
    return Source(root_of("/root", "r"), f"/root/{key}", key, kind, "-p", "s", "", stamp)


def held(*files: HeldFile, copies: set[int] | None = None) -> Held:
    return Held(HERE, FORM.companion, files, frozenset(copies or ()))


def file_of(number: int, original: Source, unsent: int = 100, start: Position | None = None) -> HeldFile:
    return HeldFile(number, original, start, unsent)


def plan(
    what: Held,
    found: list[Source],
    *,
    read_as: dict[int, Source] | None = None,
    unsent: dict[str, int] | None = None,
    settings: SweptSettings = ROOM,
) -> Plan:
    """The plan for a failing sink; everything is unsent unless `unsent` says otherwise."""
    unsent = {each.key: each.stamp.size for each in found} if unsent is None else unsent
    return what.plan_to_hold(read_as or {}, found, unsent, {}, settings)


def taken(made: Plan) -> list[str]:
    return [file.original.key for file in made.take]


# While the sink is failing


def test_the_files_that_will_be_swept_first_are_held_first() -> None:
    made = plan(held(), [source("young", 1), source("old", 2, age=9), source("middle", 3, age=5)])
    assert [(file.number, file.original.key) for file in made.take] == [(1, "old"), (2, "middle"), (3, "young")]


def test_a_fully_sent_file_is_not_held() -> None:
    found = [source("sent", 1), source("half", 2)]
    made = plan(held(), found, unsent={"half": 40})
    assert [(file.original.key, file.unsent) for file in made.take] == [("half", 40)]


def test_a_held_file_keeps_the_position_up_to_which_it_was_safe() -> None:
    position = Position(60, "h", "t", Stamp(60, 1, 7))
    made = held().plan_to_hold({}, [source("a")], {"a": 40}, {"a": Entry(position)}, ROOM)
    assert [file.start for file in made.take] == [position]


def test_the_number_of_files_is_bounded() -> None:
    found = [source(f"s{age}", age, age) for age in range(1, 6)]
    made = plan(held(file_of(1, source("before", 99))), found, settings=SweptSettings(max_files=3))
    assert (taken(made), made.left_out) == (["s5", "s4"], 3)


def test_the_bytes_are_bounded_and_a_small_file_fits_where_a_large_one_does_not() -> None:
    found = [source("large", 1, age=9, size=500), source("small", 2, size=50)]
    what = held(file_of(4, source("before", 99), unsent=900))
    made = plan(what, found, settings=SweptSettings(max_bytes=1000))
    assert ([file.number for file in made.take], taken(made), made.left_out) == ([5], ["small"], 1)


@pytest.mark.parametrize("kind", [places.SESSION_INDEX, places.STATS])
def test_whole_file_sources_are_not_held(kind: SourceKind) -> None:
    assert plan(held(), [source("whole", kind=kind)]) == Plan()


def test_a_held_link_is_recognised_by_its_inode() -> None:
    what = held(file_of(1, source("a", inode=7)))
    assert taken(plan(what, [source("a", inode=7, size=200)])) == []
    assert taken(plan(what, [source("a", inode=8)])) == ["a"]


def test_a_held_copy_covers_a_replaced_original() -> None:
    what = held(file_of(1, source("a", inode=7)), copies={1})
    assert taken(plan(what, [source("a", inode=8, size=200)])) == []


def test_a_held_file_that_moved_is_known_by_its_new_name() -> None:
    moved = source("b", inode=7)
    assert taken(plan(held(file_of(1, source("a", inode=7))), [moved], read_as={1: moved})) == []


@pytest.mark.parametrize("copies", [set(), {1}])
def test_a_stand_in_is_not_held_again(copies: set[int]) -> None:
    stand_in = source("a", inode=8 if copies else 7)._replace(root=root_of(str(HERE), "r"))
    what = held(file_of(1, source("a", inode=7)), copies=copies)
    assert plan(what, [stand_in], read_as={1: stand_in}) == Plan()


def test_only_copies_whose_originals_still_exist_are_completed() -> None:
    linked, copied, gone, here = source("linked", 1), source("copied", 2), source("gone", 3), source("here", 4)
    stand_in = here._replace(root=root_of(str(HERE), "r"))
    files = [file_of(number, each) for number, each in enumerate([linked, copied, gone, here], 1)]
    read_as = {1: linked, 2: copied, 3: gone, 4: stand_in}
    made = plan(held(*files, copies={2, 3, 4}), [linked, copied, stand_in], read_as=read_as)
    assert made.complete == ((files[1], copied),)


# When it works again


def test_a_fully_sent_and_unchanged_file_is_let_go() -> None:
    sent, half, changed, unknown = source("sent", 1), source("half", 2), source("changed", 3), source("unknown", 4)
    files = [file_of(number, each) for number, each in enumerate([sent, half, changed, unknown], 1)]
    entries = {
        "sent": Entry(Position(100, "h", "t", sent.stamp)),
        "half": Entry(Position(50, "h", "t")),
        "changed": Entry(Position(100, "h", "t", changed.stamp)),
    }
    stamps = {1: sent.stamp, 2: half.stamp, 3: changed.stamp._replace(size=200), 4: unknown.stamp}
    made = held(*files).plan_to_let_go({1: sent, 2: half, 3: changed, 4: unknown}, entries, stamps)
    assert made == Plan(let_go=(files[0],))


def test_a_held_file_that_cannot_be_examined_is_kept() -> None:
    sent = source("sent")
    entries = {"sent": Entry(Position(100, "h", "t", sent.stamp))}
    assert held(file_of(1, sent)).plan_to_let_go({1: sent}, entries, {}) == Plan()


# What is on disk


class Shelf:
    """A root and a directory of held files, on disk."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "root"
        self.directory = directory / "state.held"
        self.root.mkdir()
        self.directory.mkdir()
        self.files: list[HeldFile] = []

    def write(self, name: str, data: bytes) -> Source:
        """Writes a transcript; returns it as discovery finds it."""
        (self.root / name).write_bytes(data)
        return self.found(name)

    def found(self, name: str) -> Source:
        path = self.root / name
        stamp = stamp_of(path.stat())
        return Source(root_of(str(self.root), "old"), str(path), name, places.SESSION, "-p", "s", "", stamp)

    def hold(self, original: Source, *, copy: bool = False, start: Position | None = None) -> Path:
        """Holds a file as a failing pass would."""
        file = HeldFile(len(self.files) + 1, original, start, original.stamp.size)
        path = self.directory / file.name
        if copy:
            path.write_bytes(Path(original.path).read_bytes())
        else:
            os.link(original.path, path)
        self.files.append(file)
        (self.directory / "index.json").write_bytes(index_of(self.files))
        return path

    def stand_ins(self, *found: Source, entries: dict[str, Entry] | None = None, wanted: bool = True) -> StandIns:
        roots = [root_of(str(self.root), "new")]
        return look_into(self.directory, FORM.companion).find_stand_ins(found, entries or {}, roots, lambda _: wanted)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def everything(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_looking_changes_nothing_whatever_a_crash_has_left_behind(shelf: Shelf) -> None:
    shelf.hold(shelf.write("a", b"1\n"))
    shelf.hold(shelf.write("b", b"2\n"), copy=True)
    shelf.hold(shelf.write("never linked", b"3\n")).unlink()
    for stray in ("9.new", "9.jsonl", "index.json.new", "3.meta.json"):
        (shelf.directory / stray).write_bytes(b"x")
    before = everything(shelf.directory)
    what = look_into(shelf.directory, FORM.companion)
    assert [file.original.key for file in what.files] == ["a", "b"]
    assert (set(what.copies), what.damage) == ({2}, "")
    assert what.strays == {"9.new", "9.jsonl", "index.json.new", "3.meta.json"}
    assert everything(shelf.directory) == before


@pytest.mark.parametrize("index", [b"{", b"[]", b'{"files":7}', b'{"files":[{}]}', b'{"files":[{"source":[1]}]}'])
def test_a_damaged_index_is_reported_and_left_alone(shelf: Shelf, index: bytes) -> None:
    shelf.hold(shelf.write("a", b"1\n"))
    (shelf.directory / "index.json").write_bytes(index)
    before = everything(shelf.directory)
    what = look_into(shelf.directory, FORM.companion)
    assert (what.files, bool(what.damage)) == ((), True)
    assert everything(shelf.directory) == before


@pytest.mark.skipif(sys.platform != "linux", reason="a file of Linux whose reading fails")
def test_an_index_that_is_temporarily_unreadable_does_not_count_as_damaged(shelf: Shelf) -> None:
    """If it counted as damaged, everything would be moved aside, and a held file may be the only copy."""
    shelf.hold(shelf.write("a", b"1\n"))
    index = shelf.directory / "index.json"
    whole = index.rename(shelf.root / "elsewhere")
    index.symlink_to("/proc/self/mem")
    with pytest.raises(StateError, match="Input/output error"):
        look_into(shelf.directory, FORM.companion)
    whole.replace(index)
    assert len(look_into(shelf.directory, FORM.companion).files) == 1


def test_nothing_is_held_without_a_directory(tmp_path: Path) -> None:
    assert look_into(tmp_path / "state.held", FORM.companion) == Held(tmp_path / "state.held", FORM.companion)


def test_the_index_round_trips(shelf: Shelf) -> None:
    odd = shelf.write(os.fsdecode(b"s\xff.jsonl"), b"1\n")
    shelf.hold(odd, start=Position(5, "h", "t", odd.stamp, "3 - "))
    [file] = look_into(shelf.directory, FORM.companion).files
    assert file == HeldFile(1, odd, Position(5, "h", "t", anchor="3 - "), 2)
    assert json.loads((shelf.directory / "index.json").read_bytes())["version"] == 1


# Before a pass


@pytest.mark.parametrize("copy", [False, True])
def test_the_original_is_read_as_long_as_it_exists(shelf: Shelf, copy: bool) -> None:
    original = shelf.write("a", b"1\n2\n")
    shelf.hold(original, copy=copy)
    assert shelf.stand_ins(original) == StandIns([], {}, {1: original})


@pytest.mark.parametrize("copy", [False, True])
def test_without_its_original_a_held_file_is_read_under_the_same_key(shelf: Shelf, copy: bool) -> None:
    original = shelf.write("a", b"1\n2\n")
    path = shelf.hold(original, copy=copy)
    Path(original.path).unlink()
    made = shelf.stand_ins()
    [stand_in] = made.sources
    assert (stand_in.key, stand_in.path, stand_in.root) == ("a", str(path), root_of(str(shelf.directory), "new"))
    assert (made.read_as, made.starts) == ({1: stand_in}, {})


def test_an_original_that_moved_is_read_in_its_new_place(shelf: Shelf) -> None:
    shelf.hold(shelf.write("a", b"1\n"))
    (shelf.root / "a").rename(shelf.root / "b")
    moved = shelf.found("b")
    assert shelf.stand_ins(moved) == StandIns([], {}, {1: moved})


def test_a_replacement_with_the_same_bytes_and_more_counts_as_the_original(shelf: Shelf) -> None:
    shelf.hold(shelf.write("a", b"1\n"))
    (shelf.root / "a").unlink()
    replacement = shelf.write("a", b"1\n2\n")
    assert shelf.stand_ins(replacement) == StandIns([], {}, {1: replacement})


def test_beside_a_new_file_of_its_name_a_held_file_gets_its_own_key_and_its_old_offset(shelf: Shelf) -> None:
    original = shelf.write("a", b"1\n2\n")
    shelf.hold(original)
    Path(original.path).unlink()
    another = shelf.write("a", b"another\n")
    so_far = Position(2, digest(b"1\n"), digest(b"1\n"), original.stamp)
    made = shelf.stand_ins(another, entries={"a": Entry(so_far)})
    own = f"a (held {original.stamp.inode})"
    assert [each.key for each in made.sources] == [own]
    assert made.starts == {own: so_far._replace(stamp=None)}


def test_an_offset_already_known_under_its_own_key_stands(shelf: Shelf) -> None:
    original = shelf.write("a", b"1\n2\n")
    shelf.hold(original)
    Path(original.path).unlink()
    another, own = shelf.write("a", b"another\n"), f"a (held {original.stamp.inode})"
    entries = {own: Entry(Position(4, "h", "t")), "a": Entry(Position(2, digest(b"1\n"), digest(b"1\n")))}
    assert shelf.stand_ins(another, entries=entries).starts == {}


def test_of_two_held_files_with_one_name_the_newer_keeps_the_key(shelf: Shelf) -> None:
    for data in (b"first\n", b"second\n"):
        shelf.hold(shelf.write("a", data))
        (shelf.root / "a").unlink()
    made = shelf.stand_ins()
    assert [(each.key == "a", Path(each.path).read_bytes()) for each in made.sources] == [
        (True, b"second\n"),
        (False, b"first\n"),
    ]


def test_a_copy_is_read_from_where_its_own_bytes_begin(shelf: Shelf) -> None:
    start = Position(2, digest(b"1\n"), digest(b"1\n"))
    original = shelf.write("a", b"1\n2\n3\n")
    shelf.hold(original, copy=True, start=start)
    Path(original.path).unlink()
    further = Position(4, digest(b"1\n2\n"), digest(b"1\n2\n"))
    assert shelf.stand_ins().starts == {"a": start}
    assert shelf.stand_ins(entries={"a": Entry(Position(1, "h", "t"))}).starts == {"a": start}
    assert shelf.stand_ins(entries={"a": Entry(further)}).starts == {}


def test_a_held_file_that_is_no_longer_wanted_is_not_read(shelf: Shelf) -> None:
    original = shelf.write("a", b"1\n")
    shelf.hold(original)
    Path(original.path).unlink()
    assert shelf.stand_ins(wanted=False) == StandIns([], {}, {})
    elsewhere = [root_of("/elsewhere", "")]
    assert look_into(shelf.directory, FORM.companion).find_stand_ins([], {}, elsewhere, lambda _: True) == StandIns(
        [], {}, {}
    )
