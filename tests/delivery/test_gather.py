"""Batches: limits, order, and which offsets an acknowledgement makes safe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.agents.claude_code import places
from collector.delivery.gather import MAX_QUARANTINED, MAX_SILENT_ITEMS, BatchLimits, batches
from collector.flow.counts import Counts
from collector.flow.ledger import Ledger
from collector.flow.line import End, Line, Reading
from collector.flow.outcome import Item, Quarantined, Sealed, Skip
from collector.flow.receipt import Receipt
from collector.flow.source import Root, Source, Stamp

STAMP = Stamp(100, 1, 1)
WIDE = BatchLimits(1000, 1_000_000, 60.0)


def reading(key: str = "s") -> Reading:
    source = Source(Root("/r", "r", "claude_code"), "/r/s", key, places.SESSION, "-p", "s", "", STAMP)
    return Reading(source, b"head", STAMP)


def item(end: int, outcome: Sealed | Skip | Quarantined | None, key: str = "s", *, is_safe: bool = True) -> Item:
    return Line(reading(key), end - 1, end, {}, "", b"", b"tail", is_safe), outcome


def event(name: str, size: int = 10) -> Sealed:
    return Sealed(name, b"x" * size, {})


def test_a_batch_ends_at_the_maximum_number_of_events() -> None:
    made = list(batches((item(n, event(str(n))) for n in range(1, 6)), BatchLimits(2, 1000, 60.0)))
    assert [[one.id for one in batch.events] for batch in made] == [["1", "2"], ["3", "4"], ["5"]]


def test_a_batch_ends_at_the_maximum_size_and_a_larger_event_travels_alone() -> None:
    sizes = [40, 40, 40, 500, 40]
    made = list(batches((item(n, event(str(n), size)) for n, size in enumerate(sizes, 1)), BatchLimits(100, 100, 60.0)))
    assert [[one.id for one in batch.events] for batch in made] == [["1", "2"], ["3"], ["4"], ["5"]]


def test_a_batch_ends_at_the_maximum_age() -> None:
    now = iter(range(100))
    made = list(batches((item(n, event(str(n))) for n in range(1, 7)), BatchLimits(100, 1000, 3.0), lambda: next(now)))
    assert len(made) > 1


def test_a_skipped_line_moves_the_offset_with_its_neighbours() -> None:
    [batch] = batches([item(1, event("a")), item(2, Skip("progress"))], WIDE)
    assert batch.positions["s"].offset == 2
    assert batch.counts["s"] == Counts(lines=2, delivered=1, skipped={"progress": 1})


def test_entries_of_a_whole_file_move_the_offset_only_at_its_end() -> None:
    entries = [item(n, event(str(n)), is_safe=False) for n in range(1, 4)]
    end: Item = (End(reading(), 100, b"tail"), None)
    first, second = batches([*entries, end], BatchLimits(2, 1000, 60.0))
    assert first.positions == {}
    assert (second.positions["s"].offset, second.positions["s"].stamp) == (100, STAMP)


def test_only_the_end_of_a_source_sets_its_stamp() -> None:
    [batch] = batches([item(1, event("a"))], WIDE)
    assert batch.positions["s"].stamp is None


def test_a_quarantined_line_is_counted_and_carried_in_the_batch() -> None:
    aside = Quarantined("q", "torn line", "s", 0, "...")
    [batch] = batches([item(1, aside)], WIDE)
    assert (batch.quarantined, batch.counts["s"].quarantined, batch.counts["s"].lines) == ([aside], 1, 1)


@pytest.mark.parametrize(
    ("most", "outcome"), [(MAX_SILENT_ITEMS, Skip("progress")), (MAX_QUARANTINED, Quarantined("q", "torn", "s", 0, ""))]
)
def test_offsets_move_even_if_no_line_gives_an_event(most: int, outcome: Skip | Quarantined) -> None:
    made = batches((item(n, outcome) for n in range(1, most + 2)), WIDE)
    assert [batch.positions["s"].offset for batch in made] == [most, most + 1]


outcomes = st.sampled_from(["event", "skip", "aside"])


@given(st.lists(st.tuples(outcomes, st.sampled_from("ab")), max_size=60), st.integers(1, 5), st.integers(1, 60))
def test_no_event_is_lost_or_reordered_and_no_offset_runs_ahead(
    kinds: list[tuple[str, str]], most: int, size: int
) -> None:
    def made(kind: str, number: int) -> Sealed | Skip | Quarantined:
        if kind == "event":
            return event(str(number))
        return Skip("x") if kind == "skip" else Quarantined(str(number), "r", "s", number, "")

    def items() -> Iterator[Item]:
        for number, (kind, key) in enumerate(kinds, 1):
            yield item(number, made(kind, number), key)

    cut = list(batches(items(), BatchLimits(most, size, 60.0)))
    sent = [int(one.id) for batch in cut for one in batch.events]
    assert sent == [n for n, (kind, _) in enumerate(kinds, 1) if kind == "event"]
    lines = sum(counts.lines for batch in cut for counts in batch.counts.values())
    assert lines == len(kinds)
    seen: dict[str, int] = {}
    for batch in cut:
        for one, (key, offset) in zip(batch.events, batch.places, strict=True):
            assert offset == int(one.id) - 1  # where its line begins, as in the quarantine
            assert int(one.id) > seen.get(key, 0)
            assert int(one.id) <= batch.positions[key].offset
        seen.update({key: position.offset for key, position in batch.positions.items()})


def test_a_refused_event_counts_as_quarantined_and_its_redactions_do_not_count() -> None:
    taken, refused = event("a")._replace(redactions={"key": 1}), event("b")._replace(redactions={"key": 2, "jwt": 1})
    [batch] = batches([item(1, taken), item(2, Skip("progress")), item(3, refused)], WIDE)
    ledger = Ledger()
    ledger.take(Receipt(batch, [Quarantined("b", "refused", "s", 2, "...")]))
    assert ledger.sources["s"] == Counts(lines=3, delivered=1, skipped={"progress": 1}, quarantined=1)
    assert ledger.redactions == {"key": 1}
