"""Chooses what a pass reads and what happens to the entries: values in, a selection out, nothing touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from collector.agents.claude_code import places
from collector.flow.source import Entry, Position, Source, Stamp
from collector.reading.discover import Findings
from collector.reading.select import FORGET_AFTER_SECONDS, FindMoved, select
from tests.scopes import root_of

NOW = 1_700_000_000.0
STAMP = Stamp(100, 5, 7)


def source(key: str, stamp: Stamp = STAMP) -> Source:
    return Source(root_of("/r", ""), f"/r/{key}", key, places.SESSION, "-p", "s", "", stamp)


def entry(stamp: Stamp | None = STAMP, **more: Any) -> Entry:
    return Entry(Position(100, "head", "tail", stamp), **more)


def nothing_moved(*_: object) -> dict[str, str]:
    return {}


def asked(moved: dict[str, str], questions: list[Any]) -> FindMoved:
    """A `find_moved` that returns `moved` and records its questions."""

    def find_moved(strangers: Sequence[Source], gone: Iterable[str], entries: Mapping[str, Entry]) -> dict[str, str]:
        questions.append(([each.key for each in strangers], list(gone)))
        return moved

    return find_moved


def keys(sources: Sequence[Source]) -> list[str]:
    return [each.key for each in sources]


def test_new_and_changed_sources_are_read_and_unchanged_ones_are_not() -> None:
    found = Findings([source("same"), source("grown", Stamp(200, 6, 7)), source("new")], skipped={"empty": 2})
    entries = {"same": entry(), "grown": entry()}
    selection = select(found, entries, {}, NOW, nothing_moved)
    assert (keys(selection.read), selection.unchanged, selection.skipped) == (["grown", "new"], 1, {"empty": 2})


def test_a_skipped_source_counts_under_its_reason_until_it_changes() -> None:
    entries = {"stub": entry(skip="warmup"), "grown": entry(skip="warmup")}
    found = Findings([source("stub"), source("grown", Stamp(200, 6, 7))], skipped={"warmup": 1})
    selection = select(found, entries, {}, NOW, nothing_moved)
    assert (keys(selection.read), selection.unchanged, selection.skipped) == (["grown"], 0, {"warmup": 2})


def test_select_changes_none_of_its_arguments() -> None:
    found = Findings([source("stub"), source("new")], skipped={"empty": 1})
    entries = {"stub": entry(skip="warmup"), "gone": entry()}
    starts = {"new": Position(5, "", "")}
    select(found, entries, starts, NOW, nothing_moved)
    assert (found.skipped, keys(found.files)) == ({"empty": 1}, ["stub", "new"])
    assert (entries, starts) == (
        {"stub": entry(skip="warmup"), "gone": entry()},
        {"new": Position(5, "", "")},
    )


def test_only_unknown_sources_are_matched_and_only_against_missing_ones() -> None:
    questions: list[Any] = []
    found = Findings([source("known"), source("grown", Stamp(200, 6, 7)), source("new", Stamp(1, 1, 8))])
    found.files.append(source("replaced", Stamp(100, 5, 9)))
    found.files.append(source("broken off", Stamp(300, 6, 7)))
    entries = {"known": entry(), "grown": entry(), "replaced": entry(), "broken off": entry(None), "gone": entry()}
    selection = select(found, entries, {}, NOW, asked({"gone": "new"}, questions))
    assert questions == [(["new", "replaced", "broken off"], ["gone"])]
    assert (selection.moved, selection.missing_since, selection.forgotten) == ({"gone": "new"}, {}, [])


def test_a_glance_takes_only_what_it_was_told_of_for_gone() -> None:
    questions: list[Any] = []
    found = Findings([source("new")], is_partial=True, gone=["told"])
    entries = {"told": entry(), "not looked at": entry(), "old": entry(missing_since=1)}
    selection = select(found, entries, {}, NOW, asked({"told": "new"}, questions))
    assert questions == [(["new"], ["told"])]
    assert (selection.moved, selection.missing_since, selection.forgotten) == ({"told": "new"}, {}, [])


def test_a_source_in_an_unlisted_directory_is_not_taken_for_gone() -> None:
    questions: list[Any] = []
    found = Findings([source("new")], errors={"~/.claude/projects/-p": "Permission denied"})
    selection = select(found, {"behind": entry(missing_since=1)}, {}, NOW, asked({}, questions))
    assert questions == [(["new"], [])]
    assert (selection.missing_since, selection.forgotten) == ({}, [])


def test_a_missing_source_is_remembered_for_a_day() -> None:
    since = int(NOW) - FORGET_AFTER_SECONDS
    entries = {"now": entry(), "a day": entry(missing_since=since), "longer": entry(missing_since=since - 1)}
    selection = select(Findings(), entries, {}, NOW, nothing_moved)
    assert (selection.missing_since, selection.forgotten) == ({"now": int(NOW)}, ["longer"])


def test_a_source_that_comes_back_in_time_is_no_longer_missing() -> None:
    selection = select(Findings([source("a")]), {"a": entry(missing_since=5)}, {}, NOW, nothing_moved)
    assert (selection.unchanged, selection.missing_since) == (1, {"a": 0})


def test_a_clock_set_back_forgets_no_source_too_early_and_keeps_none_for_ever() -> None:
    entries = {"a": entry(missing_since=4_000_000_000)}
    assert select(Findings(), entries, {}, NOW, nothing_moved).missing_since == {"a": int(NOW)}
    entries = {"a": entry(missing_since=int(NOW))}
    assert select(Findings(), entries, {}, NOW + 90_000, nothing_moved).forgotten == ["a"]


def test_a_source_with_a_different_start_is_read_even_if_its_stamp_is_known() -> None:
    """Only a held file has a start; it counts as if it were in the state."""
    starts = {"held": Position(50, "head", "tail")}
    selection = select(Findings([source("held")]), {"held": entry()}, starts, NOW, nothing_moved)
    assert (keys(selection.read), selection.starts) == (["held"], starts)
