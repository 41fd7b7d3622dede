"""Prompt history, workflow journals, session indexes and statistics."""

from __future__ import annotations

import pytest

from collector.agents.claude_code import places
from collector.agents.claude_code.dispatch import event
from collector.flow.line import Line
from collector.flow.outcome import Skip
from tests.agents.claude_code.reader import context, normalized, written
from tests.agents.claude_code.sample_shapes import PNG
from tests.agents.claude_code.samples import HISTORY_LINES, INDEX_ENTRIES, JOURNAL_LINES, STATS

LINE = HISTORY_LINES["history"]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/home/dev/my.app_2", "-home-dev-my-app-2"),
        ("C:\\Users\\Dev\\foo", "C--Users-Dev-foo"),
        ("/work/caf\u00e9", "-work-caf-"),
        ("/work/\U0001f600", "-work---"),
    ],
)
def test_a_path_in_the_history_gives_its_project(path: str, key: str) -> None:
    made = normalized(LINE | {"project": path}, context(places.HISTORY))
    assert (made["project"], made["cwd"]) == (key, path)


def test_a_long_path_gives_no_project_because_the_projects_name_is_hashed() -> None:
    path = "/work/" + "x" * 300
    made = normalized(LINE | {"project": path}, context(places.HISTORY))
    assert "project" not in made
    assert made["cwd"] == path


def test_pasted_contents_become_blocks() -> None:
    made = normalized(HISTORY_LINES["history_pasted"], context(places.HISTORY))
    assert made["blocks"][0] == {
        "type": "paste",
        "text": "first\nsecond\nthird",
        "attributes": {"id": 1, "type": "text"},
    }
    assert made["blocks"][1]["attributes"]["contentHash"] not in ("", "ab12cd34ef56ab78")


def test_a_pasted_image_is_described() -> None:
    pasted = {"1": {"id": 1, "type": "image", "content": PNG, "mediaType": "image/png"}, "2": "odd"}
    made = normalized(LINE | {"pastedContents": pasted}, context(places.HISTORY))
    assert (made["blocks"][0]["bytes"], made["blocks"][0]["media_type"]) == (2056, "image/png")
    assert PNG[:50] not in written(made)


def test_the_result_of_a_workflow_agent_is_text_or_an_object() -> None:
    where = context(places.JOURNAL)
    assert normalized(JOURNAL_LINES["journal_result"], where)["text"] == "Three files use the old name."
    made = normalized(JOURNAL_LINES["journal_result_object"], where)
    assert made["attributes"]["result"]["files"] == 3
    assert made["agent_id"] == "a1b2c3d4e5f60719"


def test_a_result_record_in_a_session_is_not_a_workflow_result() -> None:
    assert normalized(JOURNAL_LINES["journal_result"], context())["kind"] == "session"


def test_an_index_entry_names_its_session() -> None:
    made = normalized(INDEX_ENTRIES["index_entry"], context(places.SESSION_INDEX, session_id=""))
    assert made["session_id"] == INDEX_ENTRIES["index_entry"]["sessionId"]
    assert (made["text"], made["cwd"]) == ("Login bug fixed", "/work/app")
    assert made["attributes"]["message_count"] == 14
    assert made["attributes"]["first_prompt"] == "Fix the login bug"


def test_an_entry_of_a_whole_file_source_gives_the_length_of_the_file() -> None:
    where = context(places.SESSION_INDEX)
    line = Line(where.reading, 3, 900, {"sessionId": "x"}, "", b"", b"", is_safe=False)
    made = event(line, where)
    assert not isinstance(made, Skip)
    assert made["source"] == {"path": where.reading.source.key, "offset": 3, "length": 900}


def test_statistics_are_whole() -> None:
    made = normalized(STATS, context(places.STATS, session_id=""))
    assert made["attributes"]["version"] == 2
    assert made["attributes"]["model_usage"] == STATS["modelUsage"]
    told = normalized(STATS | {"version": "5"}, context(places.STATS, session_id=""))
    assert (told["attributes"]["version"], told["client"]) == (
        "5",
        {"name": "claude_code"},
    )  # the version of the file's format
    assert made["client"] == {"name": "claude_code"}
