"""When something happened, however the record says so."""

from __future__ import annotations

from typing import Any

import pytest

from collector.agents.claude_code import places
from tests.agents.claude_code.reader import context, normalized
from tests.agents.claude_code.samples import ALL_RECORDS, HISTORY_LINES, INDEX_ENTRIES


def time_of(timestamp: Any) -> Any:
    made = normalized({"type": "mode", "timestamp": timestamp})
    return made["time"] if "time_from" not in made else made["time_from"]


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2026-01-09T23:44:35.789Z", "2026-01-09T23:44:35.789Z"),
        ("2026-01-09T23:44:35Z", "2026-01-09T23:44:35.000Z"),
        ("2026-01-09T23:44:35.789123Z", "2026-01-09T23:44:35.789Z"),
        ("2026-01-09T23:44:35.7891", "2026-01-09T23:44:35.789Z"),
        ("2026-01-10T01:44:35.789+02:00", "2026-01-09T23:44:35.789Z"),
        ("2026-01-09 23:44:35", "2026-01-09T23:44:35.000Z"),
        ("2026-W02-5T23:44:35.789Z", "2026-01-09T23:44:35.789Z"),
        (1768002275789, "2026-01-09T23:44:35.789Z"),
        (1768002275, "2026-01-09T23:44:35.000Z"),
        (1768002275.789, "2026-01-09T23:44:35.789Z"),
    ],
)
def test_every_spelling_of_a_time_is_understood(written: Any, time: str) -> None:
    assert time_of(written) == time


@pytest.mark.parametrize(
    "written",
    ["", "yesterday", "2026-13-45T99:99:99.999Z", "0001-01-01T00:00:00+14:00", 10**40, 1e300, True, [], {}, "9" * 99],
)
def test_an_invalid_time_is_kept_and_the_files_mtime_used(written: Any) -> None:
    made = normalized({"type": "mode", "timestamp": written})
    assert (made["time"], made["time_from"]) == ("2026-03-01T10:00:00.123Z", "file_mtime")
    assert bool(made.get("attributes")) == (written not in ("", [], {}))


def test_a_record_without_a_time_takes_that_of_the_previous_record() -> None:
    where = context()
    normalized(ALL_RECORDS["user_prompt"], where)
    made = normalized(ALL_RECORDS["ai_title"], where)
    assert (made["time"], made["time_from"]) == (ALL_RECORDS["user_prompt"]["timestamp"], "previous_record")


def test_a_borrowed_time_is_passed_on() -> None:
    where = context()
    normalized(ALL_RECORDS["user_prompt"], where)
    normalized(ALL_RECORDS["ai_title"], where)
    assert normalized(ALL_RECORDS["mode"], where)["time"] == ALL_RECORDS["user_prompt"]["timestamp"]


def test_a_snapshot_keeps_its_time_inside() -> None:
    made = normalized(ALL_RECORDS["file_snapshot"])
    assert made["time"] == "2026-01-09T23:44:35.790Z"
    assert "time_from" not in made


def test_an_index_entry_has_the_time_when_its_session_was_last_modified() -> None:
    entry = INDEX_ENTRIES["index_entry"]
    assert normalized(entry, context(places.SESSION_INDEX))["time"] == "2026-01-13T00:24:01.280Z"
    bare = {"sessionId": "x", "fileMtime": 1768263841305}
    assert normalized(bare, context(places.SESSION_INDEX))["time"] == "2026-01-13T00:24:01.305Z"


def test_history_times_are_in_milliseconds() -> None:
    made = normalized(HISTORY_LINES["history"], context(places.HISTORY))
    assert made["time"] == "2026-03-01T10:00:00.123Z"
    assert "time_from" not in made
