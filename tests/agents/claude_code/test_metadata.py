"""What `[capture]` holds back: at the level metadata every word, and with a switch off what that switch covers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.agents.claude_code import places
from collector.agents.claude_code.vocabulary import VOCABULARY
from collector.flow.capture import VERSION, Capture, captured, told_in_result
from collector.flow.fields import BLOCKS_NEED, FIELDS, KINDS_NEED, SWITCHES, may_hold_anything, needs_of_kind
from collector.flow.outcome import Skip
from collector.flow.source import SourceKind
from tests.agents.claude_code.reader import KEY, context, normalized, outcome, written
from tests.agents.claude_code.sample_shapes import CALL, assistant, common, tool_result, user
from tests.agents.claude_code.samples import (
    ALL_RECORDS,
    HISTORY_LINES,
    INDEX_ENTRIES,
    JOURNAL_LINES,
    STATS,
    WORKFLOW_RUN,
)
from tests.flow.event_schema import json_schema
from tests.scopes import FORM

SOURCES: list[tuple[str, SourceKind, Any]] = [
    *((name, places.SESSION, record) for name, record in ALL_RECORDS.items()),
    *((f"history {name}", places.HISTORY, record) for name, record in HISTORY_LINES.items()),
    *((f"journal {name}", places.JOURNAL, record) for name, record in JOURNAL_LINES.items()),
    *((f"index {name}", places.SESSION_INDEX, record) for name, record in INDEX_ENTRIES.items()),
    ("workflow", places.WORKFLOW, WORKFLOW_RUN),
    ("stats", places.STATS, STATS),
]
TIME = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]+Z)?")
# A single word, so that no rule about blanks catches it, with letters that no hash contains.
PLANTED = "zorvynqlumpxtrig"


def is_the_programs_own(text: str) -> bool:
    """Whether a string is one of the program's own words, ids, models, tools or times."""
    shapes = (VOCABULARY.id, VOCABULARY.model, VERSION, TIME)
    return text in VOCABULARY.words | VOCABULARY.tools or any(shape.fullmatch(text) for shape in shapes)


def planted(value: Any, depth: int = 0) -> Any:
    """The value with the word in place of every string that is not the program's own, and also under new keys."""
    if isinstance(value, dict):
        grown = {name: planted(part, depth + 1) for name, part in value.items()}
        return grown | {PLANTED: [PLANTED, {PLANTED: 7}], f"{PLANTED}Id": PLANTED} if depth else grown
    if isinstance(value, list):
        return [planted(part, depth + 1) for part in value]
    return PLANTED if isinstance(value, str) and not is_the_programs_own(value) else value


# Keys that any record may have as well, all with a person's word in them.
EVERYWHERE = dict.fromkeys(
    ("cwd", "gitBranch", "slug", "version", "entrypoint", "promptId", "requestId", "agentId", "userType"), PLANTED
)


def leaks(made: dict[str, Any] | Skip) -> bool:
    """Whether at least eight letters in a row of the word have come through."""
    told = "" if isinstance(made, Skip) else written(made).lower()
    return any(PLANTED[start : start + 8] in told for start in range(len(PLANTED) - 7))


@pytest.mark.parametrize("depth", [0, 1], ids=["known keys", "new keys too"])
def test_no_word_of_any_record_leaves(depth: int) -> None:
    made = {
        name: outcome(planted(record, depth) | EVERYWHERE, context(kind, level="metadata"))
        for name, kind, record in SOURCES
    }
    assert [name for name, event in made.items() if leaks(event)] == []
    assert leaks(outcome(planted(ALL_RECORDS["user_prompt"]), context()))


@pytest.mark.parametrize("off", SWITCHES)
def test_no_word_of_an_event_that_a_switch_has_reduced_leaves_either(off: str) -> None:
    stored = [outcome(planted(record) | EVERYWHERE, context(kind, off=frozenset({off}))) for _, kind, record in SOURCES]
    capture = Capture("metadata", key=KEY)
    assert not any(leaks(captured(made, FORM.vocabulary, capture)) for made in stored if not isinstance(made, Skip))


@pytest.mark.parametrize("kind", [places.SESSION, places.HISTORY, places.JOURNAL, places.SESSION_INDEX, places.STATS])
def test_no_word_of_an_unknown_record_leaves(kind: SourceKind) -> None:
    for record in ALL_RECORDS.values():
        if isinstance(record, dict):
            for type_ in (PLANTED, 7, None):
                strange = planted(record, 1) | {"type": type_, "subtype": PLANTED, "mode": PLANTED, "tools": [PLANTED]}
                assert not leaks(outcome(strange, context(kind, level="metadata", path=f"~/{PLANTED}.jsonl")))


words = st.sampled_from([PLANTED, PLANTED.upper(), f"{PLANTED[:8]} {PLANTED}", f"mcp__{PLANTED}__x", f"/a/{PLANTED}"])
names = st.sampled_from(
    sorted({PLANTED, "type", "message", "content", "attachment", "toolUseResult", "usage", "data", "model", "id"})
    + sorted({"cwd", "gitBranch", "slug", "version", "entrypoint", "project", "display", "status", "mode", "tools"})
    + sorted({"attributionSkill", "modelUsage", "permissionDecision", "iterations", "agentId", "name", "input"})
)
trees = st.recursive(
    st.one_of(words, st.sampled_from(sorted(VOCABULARY.words)), st.integers(0, 9), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)


@given(
    record=st.dictionaries(names, trees, max_size=8),
    kind=st.sampled_from([places.SESSION, places.JOURNAL, places.HISTORY, places.SESSION_INDEX, places.WORKFLOW]),
)
def test_no_word_of_any_object_leaves(record: Any, kind: SourceKind) -> None:
    made = outcome(record, context(kind, level="metadata"))
    assert not leaks(made)
    if not isinstance(made, Skip):
        assert captured(made, FORM.vocabulary, Capture("metadata", key=KEY)) == made


def test_every_field_of_the_schema_has_a_row() -> None:
    def paths(schema: dict[str, Any], above: str = "") -> Iterator[str]:
        for name, part in schema["properties"].items():
            inner = part.get("items", part)
            yield above + name
            if "properties" in inner:
                yield from paths(inner, f"{above}{name}.")

    assert sorted(FIELDS) == sorted(paths(json_schema()))
    kinds = json_schema()["properties"]["kind"]["enum"]
    assert set(KINDS_NEED) <= set(kinds)
    assert {switch for needs in (*KINDS_NEED.values(), *BLOCKS_NEED.values()) for switch in needs} <= set(SWITCHES)


@pytest.mark.parametrize(
    "name", ["assistant_text", "assistant_tool_call", "progress_agent_usage", "a_message_of_tomorrow"]
)
def test_tokens_still_add_up(name: str) -> None:
    whole, reduced = (normalized(ALL_RECORDS[name], context(level=level)) for level in ("content", "metadata"))
    for key in ("id", "usage", "message_id", "model", "session_id", "time"):
        assert reduced[key] == whole[key]
    assert reduced["left_out"] == ["metadata"]
    assert "left_out" not in whole


def test_calls_keep_their_names_and_sizes() -> None:
    made = normalized(ALL_RECORDS["assistant_text_and_calls"], context(level="metadata"))
    assert made["tool"] == {"name": "Bash", "call_id": "toolu_01first"}
    assert made["blocks"][1] == {"type": "tool_call", "name": "Read", "call_id": "toolu_01second", "characters": 14}
    assert made["omitted"]["text"] == len("Two things at once.")


def test_a_tool_result_keeps_its_facts_at_the_level_metadata() -> None:
    made = normalized(ALL_RECORDS["tool_result_edit"], context(level="metadata"))
    assert made["tool"] == {"call_id": made["tool"]["call_id"], "ok": True, "lines_added": 1, "lines_removed": 1}


@pytest.mark.parametrize("said", ["user-rejected", "permission-rule", "automode-blocked", "automode-unavailable"])
def test_who_refused_a_call_is_kept_at_the_level_metadata(said: str) -> None:
    decision = {"decision": "reject", "source": "user_temporary", "grantScope": "once"}
    record = tool_result("denied", "No.", is_error=True, toolDenialKind=said, permissionDecision=decision)
    made = normalized(record, context(level="metadata"))
    assert (made["tool"]["denied_by"], made["attributes"]) == (said, {"permission_decision": decision})


def test_a_notice_keeps_its_name_at_the_level_metadata() -> None:
    notice = common("system", "refused", subtype="model_refusal_no_fallback", level="notice", content=PLANTED)
    made = normalized(notice, context(level="metadata"))
    assert (made["record_subtype"], made["attributes"]) == ("model_refusal_no_fallback", {"level": "notice"})


def test_names_get_the_same_pseudonyms_wherever_the_key_is_the_same() -> None:
    record = ALL_RECORDS["assistant_tool_call"] | {"gitBranch": "payroll", "attributionSkill": "payroll"}
    one, same = (normalized(record, context(level="metadata", path=f"~/{path}")) for path in ("a.jsonl", "b.jsonl"))
    for name in ("project", "git_branch", "user", "root"):
        assert re.fullmatch(r"[a-z]+-[0-9a-f]{12}", one[name])
        assert one[name] == same[name]
    assert one["source"]["path"] != same["source"]["path"]
    assert one["git_branch"].partition("-")[2] != one["attributes"]["attribution_skill"].partition("-")[2]
    whole = normalized(record)
    for chosen, is_same in ((Capture("metadata", key=KEY), True), (Capture("metadata", key=b"another"), False)):
        assert (captured(whole, FORM.vocabulary, chosen)["project"] == one["project"]) is is_same
    gone = captured(normalized(record), FORM.vocabulary, Capture("metadata", has_pseudonyms=False, key=KEY))
    assert {"project", "git_branch", "user"}.isdisjoint(gone)
    assert (gone["host"]["name"], gone["source"]["path"]) == ("host", "file")


def test_tools_of_mcp_servers_become_pseudonyms_that_still_group() -> None:
    def tool(name: str) -> str:
        record = orjson.loads(orjson.dumps(ALL_RECORDS["assistant_tool_call"]))
        record["message"]["content"] = [{"type": "tool_use", "id": "toolu_01abcdef", "name": name, "input": {}}]
        return str(normalized(record, context(level="metadata"))["tool"]["name"])

    first, second, own = tool("mcp__payroll__list"), tool("mcp__payroll__add"), tool("PayrollTool")
    assert re.fullmatch(r"mcp__mcp-[0-9a-f]{12}__tool-[0-9a-f]{12}", first)
    assert first.split("__")[1] == second.split("__")[1]
    assert re.fullmatch(r"tool-[0-9a-f]{12}", own)
    assert tool("Bash") == "Bash"


def test_the_items_of_a_list_that_may_leave_are_kept() -> None:
    event = {"kind": "system", "attributes": {"tools": ["Bash", "PayrollTool"], "status": ["completed", PLANTED, 7]}}
    kept = captured(event, VOCABULARY, Capture("metadata", key=KEY))["attributes"]
    assert kept["status"] == ["completed", 7]
    assert [each.partition("-")[0] for each in kept["tools"]] == ["Bash", "tool"]


def test_sizes_keep_the_names_that_are_the_programs_own() -> None:
    event = {"kind": "system", "omitted": {"patch": 1, "text": 2, PLANTED: 4, f"{PLANTED}s": 8}}
    kept = captured(event, VOCABULARY, Capture("metadata", key=KEY))["omitted"]
    assert kept == {"patch": 1, "text": 2, "other": 12}


def test_claude_codes_own_totals_are_kept() -> None:
    made = normalized(ALL_RECORDS["cost_state"], context(level="metadata"))
    assert made["attributes"]["model_usage"]["claude-opus-5-5"]["output_tokens"] == 495


# What must be gone when one switch is off: a sample, the type of the block (if any), and its field.
SWITCHED: dict[str, list[tuple[str, str, str]]] = {
    "prompts": [("user_prompt", "", "text")],
    "answers": [("assistant_text", "", "text")],
    "thinking": [("assistant_thinking", "thinking", "text")],
    "tool_input": [("assistant_tool_call", "tool_call", "input")],
    "tool_output": [("tool_result_bash", "tool_result", "text")],
    "file_paths": [("tool_result_edit", "", "cwd")],
}


def holds(made: dict[str, Any], block: str, field: str) -> bool:
    """Whether an event, or a block of this type in it, has a field."""
    places_ = [each for each in made.get("blocks", []) if each["type"] == block] if block else [made]
    return any(field in each for each in places_)


@pytest.mark.parametrize("off", SWITCHES)
def test_a_switch_removes_what_it_covers_and_leaves_the_rest(off: str) -> None:
    for switch, samples in SWITCHED.items():
        for name, block, field in samples:
            made = normalized(ALL_RECORDS[name], context(off=frozenset({off})))
            assert made["left_out"] == [off]
            assert holds(made, block, field) is (switch != off), (name, off)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tool_results_in_one_record", "And a word from the person"),
        ("tool_result_answers", "Blue"),
        ("tool_result_denied", "doesn't want"),
        ("tool_result_plan", "Write"),
    ],
)
def test_what_a_person_says_in_a_tool_result_counts_as_a_prompt(name: str, words: str) -> None:
    assert words not in written(normalized(ALL_RECORDS[name], context(off=frozenset({"prompts"}))))
    assert words in written(normalized(ALL_RECORDS[name], context(off=frozenset({"thinking", "answers"}))))


FORKED = [
    {"type": "tool_result", "tool_use_id": "toolu_01fork", "content": "Fork started - that fork is you."},
    {
        "type": "text",
        "text": f"<fork-boilerplate>\nYou are a worker fork.\n</fork-boilerplate>\n\nYour directive: {PLANTED}",
    },
]
JUDGED = {"type": "hook_non_blocking_error", "hookName": "Stop", "command": PLANTED, "stderr": "JSON validation failed"}
DONE = f"<task-notification>\n<summary>Agent finished</summary>\n<result>{PLANTED}</result>\n</task-notification>"


@pytest.mark.parametrize(
    ("name", "record", "off"),
    [
        ("queue_enqueue", {"content": DONE}, "answers"),
        ("queue_enqueue", {"content": DONE}, "tool_output"),
        ("frame_link", {"title": PLANTED}, "answers"),
        ("last_prompt", {"lastPrompt": f"Implement the following plan:  {PLANTED}"}, "tool_input"),
        ("file_snapshot", {"snapshot": {"trackedFileBackups": {f"plans/{PLANTED}-wise-owl.md": {}}}}, "prompts"),
        # What a person set with /goal, and what the model said in a /recap.
        ("system_stop_hook_summary", {"hookInfos": [{"command": PLANTED, "promptText": PLANTED}]}, "prompts"),
        ("attachment_hook_non_blocking_error", {"attachment": JUDGED}, "prompts"),
        ("system_local_command", {"content": f"<local-command-stdout>{PLANTED}</local-command-stdout>"}, "answers"),
        ("tool_result_bash", {"message": {"role": "user", "content": FORKED}}, "tool_input"),
    ],
)
def test_switches_cover_what_agents_are_told_and_answer_in_other_records_too(name: str, record: Any, off: str) -> None:
    assert leaks(normalized(ALL_RECORDS[name] | record))
    assert not leaks(normalized(ALL_RECORDS[name] | record, context(off=frozenset({off}))))


# The events of which the kind says what text they hold, with the switches that this text needs.
NARROW = [
    (name, kind, record, made, {*needs_of_kind(made["kind"]), *told_in_result(made, VOCABULARY)})
    for name, kind, record in SOURCES
    if not isinstance(made := outcome(record, context(kind)), Skip) and not may_hold_anything(made["kind"])
]
LATER = {"laterKey": PLANTED, "laterList": [{"said": PLANTED}], "laterCount": 7, "laterMode": "auto"}


@pytest.mark.parametrize("off", SWITCHES)
def test_a_key_of_a_later_version_may_hold_any_text(off: str) -> None:
    for name, kind, record, _, needs in NARROW:
        assert leaks(outcome(record | LATER, context(kind))), name
        made = normalized(record | LATER, context(kind, off=frozenset({off})))
        assert not leaks(made), name
        if off not in needs:
            assert (made["attributes"]["later_count"], made["attributes"]["later_mode"]) == (7, "auto")


@pytest.mark.parametrize("off", SWITCHES)
@pytest.mark.parametrize("name", ["attachment_an_attachment_of_tomorrow", "system_of_tomorrow", "a_type_of_tomorrow"])
def test_a_record_of_a_later_version_may_hold_any_text(name: str, off: str) -> None:
    later = ALL_RECORDS[name] | LATER
    assert leaks(normalized(later))
    assert not leaks(normalized(later, context(off=frozenset({off}))))


@pytest.mark.parametrize("off", SWITCHES[:-1])
def test_what_a_switch_does_not_cover_keeps_its_attributes(off: str) -> None:
    for name, kind, record, made, needs in NARROW:
        if off not in needs and name != "a_message_of_tomorrow":
            kept = normalized(record, context(kind, off=frozenset({off}))).get("attributes")
            assert kept == made.get("attributes"), name


def test_an_input_stands_once_and_needs_its_switch_wherever_claude_code_repeats_it() -> None:
    call = {"id": CALL, "type": "tool_use", "name": "Bash", "input": {"command": PLANTED}}
    for written_, attributes in (
        ({"command": PLANTED}, None),
        ({"command": f"cd /w && {PLANTED}"}, "input_as_written"),
    ):
        record = assistant("wire", [call], wireToolInputs={CALL: written_, "toolu_01other": {"command": PLANTED}})
        block = normalized(record)["blocks"][0]
        assert block["input"] == {"command": PLANTED}
        assert block.get("attributes") == (attributes and {attributes: written_})
        assert not leaks(normalized(record, context(off=frozenset({"tool_input"}))))


def test_a_plan_that_the_result_repeats_needs_the_switch_for_inputs_too() -> None:
    approved = f"User has approved your plan. You can now start coding.\n\n## Approved Plan:\n{PLANTED}"
    record = tool_result("approved", approved, {"plan": PLANTED, "isAgent": False})
    assert leaks(normalized(record, context(off=frozenset({"answers"}))))
    assert not leaks(normalized(record, context(off=frozenset({"tool_input"}))))


@pytest.mark.parametrize("tool", ["Task", "Agent", "TaskOutput", ""])
def test_what_a_subagent_answers_in_a_tools_result_counts_as_an_answer(tool: str) -> None:
    where = context(off=frozenset({"answers"}))
    if tool:
        normalized(assistant("call", [{"id": CALL, "type": "tool_use", "name": tool, "input": {}}]), where)
    report = {"type": "tool_result", "tool_use_id": CALL, "content": [{"type": "text", "text": PLANTED}]}
    result = {
        "status": "completed",
        "content": [{"type": "text", "text": PLANTED}],
        **({} if tool else {"agentId": "a1"}),
    }
    assert not leaks(normalized(user("report", [report], toolUseResult=result), where))
    assert leaks(
        normalized(user("output", [report], toolUseResult={"stdout": PLANTED}), context(off=where.capture.off))
    )


def test_with_every_switch_off_no_word_of_a_conversation_leaves() -> None:
    loud = {"text", "input", "patch", "details", "message", "file", "cwd", "title"}
    for name, kind, record in SOURCES:
        made = outcome(record, context(kind, off=frozenset(SWITCHES)))
        if not isinstance(made, Skip):
            assert loud.isdisjoint(made), name
            assert loud.isdisjoint(made.get("tool", {})), name
            assert all(loud.isdisjoint(block) for block in made.get("blocks", [])), name


def with_paths(value: Any, path: str) -> Any:
    """The value with this path in place of every string that is nothing but a path."""
    if isinstance(value, dict):
        return {path if name.startswith("/") else name: with_paths(part, path) for name, part in value.items()}
    if isinstance(value, list):
        return [with_paths(part, path) for part in value]
    return path if isinstance(value, str) and re.fullmatch(r"(?:~|file://)?/[\w.-]+/\S*", value) else value


@pytest.mark.parametrize("start", ["/home/dev", "~", "~dev", "C:", "file:///srv", "\\\\server\\share"])
def test_the_file_paths_switch_also_removes_paths_in_tool_inputs(start: str) -> None:
    where = context(off=frozenset({"file_paths"}))
    planted_ = {name: (kind, with_paths(record, f"{start}/{PLANTED}.txt")) for name, kind, record in SOURCES}
    made = {name: outcome(record, context(kind, off=where.capture.off)) for name, (kind, record) in planted_.items()}
    assert [name for name, event in made.items() if leaks(event)] == []
    assert sum(PLANTED in written(record) for _, record in planted_.values()) > 20
    given = {"source": f"{start}/{PLANTED}", "to": [f"{start}/{PLANTED}"], "glob": "src/*.py", "say": "/clear or a/b"}
    block = {"type": "tool_use", "id": "toolu_01abcdef", "name": "mcp__files__move", "input": given}
    record = {**ALL_RECORDS["assistant_tool_call"], "message": {"role": "assistant", "content": [block]}}
    assert normalized(record, where)["blocks"][0]["input"] == {"to": [], "glob": "src/*.py", "say": "/clear or a/b"}
    call, result = ALL_RECORDS["assistant_tool_call"], ALL_RECORDS["tool_result_edit"]
    assert "payroll" not in written(normalized(call | {"cwd": "/home/dev/payroll"}, where))
    assert "hello.py" not in written(normalized(result, where)["tool"])
