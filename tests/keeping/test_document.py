"""Reading a state in pieces gives what parsing the whole file gives, whatever is in it, in a fraction of the memory."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from collector.flow.source import Position, Stamp
from collector.keeping.document import Pieces, parsed, sections_of
from collector.keeping.state import State
from tests.scopes import FORM

# File names that look like the text between two entries or around a section.
KEYS = ["a},", "}}}", "}}", '"},"', '\\"},"b":{"', '":{"files":{', "a\\", "b\u2028\U0001f600", ""]


def at(number: int) -> Position:
    return Position(number, f"{number:016x}", f"{number:016x}", Stamp(number, 1_768_263_841_305_000_000, number))


def written(path: Path, *, owners: tuple[str, ...] = (), entries: int = 0) -> bytes:
    """A state file with strange names, several agents, and possibly more entries than are read at once."""
    state = State(path, FORM.name)
    for number, owner in enumerate((FORM.name, *owners)):
        for key in [*KEYS, *map(str, range(entries))]:
            state.set_owner(f"{number} {key}", owner)
            state.set_offset(f"{number} {key}", at(1 + number))
    state.save()
    return path.read_bytes()


def in_pieces(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sections and the rest, read in pieces."""
    sections: dict[str, dict[str, Any]] = {}
    pieces = Pieces(io.BytesIO(data))
    for agent, members in pieces:
        sections.setdefault(agent, {}).update(members)
    return sections, pieces.rest


def whole(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    document = parsed(data)
    sections = sections_of(document)
    return sections, {name: value for name, value in document.items() if name not in sections}


@pytest.mark.parametrize(
    ("owners", "entries"), [((), 0), ((), 1000), (("scribe",), 0), (("scribe", "writer"), 700)], ids=str
)
def test_a_state_is_read_correctly_whatever_the_file_names_are(
    tmp_path: Path, owners: tuple[str, ...], entries: int
) -> None:
    data = written(tmp_path / "state.json", owners=owners, entries=entries)
    state = State(tmp_path / "state.json", FORM.name).load()
    assert {key: (state.owners.get(key, FORM.name), entry.position) for key, entry in state.entries.items()} == {
        f"{number} {key}": (owner, at(1 + number))
        for number, owner in enumerate((FORM.name, *owners))
        for key in [*KEYS, *map(str, range(entries))]
    }
    state.save(is_whole=True)
    assert (tmp_path / "state.json").read_bytes() == data


PLAIN = b'{"version":1,"sink":{"type":"http"},"a":{"files":{"x":{"offset":1},"y":{"offset":2}}}%s}\n'
PLAIN_PARKED = PLAIN % b',"other_sinks":[{"sink":{"type":"s3"},"a":{"files":{"x":{"offset":9},"y":{"offset":9}}}}]'


@pytest.mark.parametrize(
    "data", [PLAIN % b"", PLAIN % b',"b":{"files":{}}', PLAIN_PARKED], ids=["one", "two", "parked"]
)
def test_a_damaged_document_is_read_as_a_parser_reads_it_or_not_at_all(data: bytes) -> None:
    assert in_pieces(data) == whole(data)
    for place in range(len(data)):
        for damaged in (data[:place], data[:place] + data[place + 1 :], data[:place] + b"}" + data[place:]):
            try:
                read = in_pieces(damaged)
            except ValueError:
                continue
            assert read == whole(damaged)


@pytest.mark.parametrize(
    "data",
    [
        b'{"version": 1, "a": {"files": {"x": {"offset": 1}}}}',
        b'{"other_sinks":[{"a":{"files":{"x":{"offset":9}}}}],"a":{"files":{"x":{"offset":1}}}}',
        b'{"a":{"files":{"x":{"offset":1}}},"a":{"files":{"y":{"offset":1}}}}',
        b'{"a":{"other":1,"files":{"x":{"offset":1}}}}',
        b'{"a":{"files":{"x":{"offset":1}},"other":1}}',
        b'{"version":1}',
    ],
)
def test_a_document_with_another_layout_is_left_to_the_parser(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        in_pieces(data)


def test_loading_a_large_state_needs_little_more_memory_than_keeping_it(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = State(path, FORM.name)
    state.advance_offsets({f"~/.claude/projects/-p/{number:036x}.jsonl": at(number) for number in range(10_000)})
    state.save()
    del state
    tracemalloc.start()
    try:
        loaded = State(path, FORM.name).load()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(loaded.entries) == 10_000
    assert kept < 1.6 * path.stat().st_size  # kept as tuples, it was 2.9 times
    assert peak < kept + path.stat().st_size  # holding the whole text and all that is parsed from it: 13 times that
