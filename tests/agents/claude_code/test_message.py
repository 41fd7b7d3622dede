"""What people, the program and the model say: the text, the blocks, and whose words they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.claude_code.reader import context, normalized, written
from tests.agents.claude_code.sample_shapes import CALL, PNG, SIGNATURE, assistant, user
from tests.agents.claude_code.samples import ALL_RECORDS

ORIGINS = {
    "user_prompt": "human",
    "user_prompt_first_writer": "human",
    "user_prompt_with_image": "human",
    "user_prompt_newest": "human",
    "user_slash_command": "local_command",
    "user_command_output": "local_command",
    "user_meta": "meta",
    "user_skill": "meta",
    "user_interrupt": "meta",
    "user_compaction_summary": "compaction",
    "user_plan": "meta",
    "user_task_notification": "task",
    "user_peer": "peer",
    "user_subagent_task": "task",
    "tool_result_bash": "tool",
    "tool_results_in_one_record": "tool",
    "attachment_queued_prompt": "human",
    "attachment_queued_task": "task",
}


@pytest.mark.parametrize(("name", "origin"), ORIGINS.items())
def test_the_origin_says_whose_words_they_are(name: str, origin: str) -> None:
    assert normalized(ALL_RECORDS[name])["origin"] == origin


HUMAN = {"kind": "human"}


@pytest.mark.parametrize(
    ("keys", "origin", "kind"),
    [
        ({"turnOrigin": "scheduled", "origin": HUMAN}, "scheduled", "user_context"),
        ({"turnOrigin": "task_notification"}, "task", "user_context"),
        ({"turnOrigin": "auto_continuation", "origin": HUMAN}, "meta", "user_context"),
        ({"turnOrigin": "peer"}, "peer", "user_context"),
        ({"turnOrigin": "host_synthetic", "origin": HUMAN}, "meta", "user_context"),
        ({"turnOrigin": "system", "isMeta": True}, "meta", "user_context"),
        ({"turnOrigin": "human", "promptSource": "typed"}, "human", "user_prompt"),
        ({"turnOrigin": "sdk", "promptSource": "sdk", "entrypoint": "sdk-cli"}, "sdk", "user_prompt"),
        ({"turnOrigin": "unknown"}, "human", "user_prompt"),
        ({"planContent": ""}, "human", "user_prompt"),
        ({"promptSource": "sdk"}, "sdk", "user_prompt"),
        ({"promptSource": "sdk", "origin": HUMAN, "entrypoint": "claude-vscode"}, "human", "user_prompt"),
        ({"promptSource": "sdk", "origin": HUMAN, "entrypoint": "sdk-ts"}, "sdk", "user_prompt"),
        ({"entrypoint": "sdk-cli"}, "sdk", "user_prompt"),
        ({"entrypoint": "sdk-cli", "isSidechain": True}, "task", "user_context"),
        ({"entrypoint": "sdk-cli", "promptSource": "typed"}, "human", "user_prompt"),
        ({"origin": {"kind": "observer"}}, "peer", "user_context"),
        ({"origin": {"kind": "observer-activity"}}, "peer", "user_context"),
        ({"origin": {"kind": "slack-ping"}}, "peer", "user_context"),
        ({"origin": {"kind": "task-notification", "subkind": "scheduled-trigger"}}, "scheduled", "user_context"),
    ],
)
def test_the_origin_and_kind_distinguish_people_from_machines(keys: Any, origin: str, kind: str) -> None:
    made = normalized(user("who", "Fix the login bug", **keys))
    assert (made["origin"], made["kind"]) == (origin, kind)


@pytest.mark.parametrize(
    "opening", ["<command-name>", "<bash-input>", "<bash-stdout>", "<local-command-stdout>", "<user-memory-input>"]
)
def test_a_local_command_is_not_a_prompt(opening: str) -> None:
    made = normalized(user("command", f"{opening}/clear", origin=HUMAN, promptSource="typed"))
    assert (made["origin"], made["kind"]) == ("local_command", "local_command")


@pytest.mark.parametrize(("kind", "origin"), [("human", "human"), ("coordinator", "peer"), ("something-new", "meta")])
def test_the_records_own_origin_takes_precedence_over_any_guess(kind: str, origin: str) -> None:
    record = user("own word", "<task-notification>quoted by a person", origin={"kind": kind})
    assert normalized(record)["origin"] == origin


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>\nx",
        "<teammate-message from='x'>",
        "<system-reminder>x",
        # What a teammate sends to the session that leads its team carries no origin in 2.1.328.
        'Another Claude session sent a message:\n<teammate-message teammate_id="ada">\nDone\n</teammate-message>',
        "A peer session sent a message while you were working:\nDone",
        # Older versions.
        "Unknown slash command: reveiw",
        "Unknown skill: reveiw",
        "<session-start-hook>The team's rules</session-start-hook>",
        "<user-prompt-submit-hook>The team's rules</user-prompt-submit-hook>",
        "<post-tool-use-hook>Formatted one file</post-tool-use-hook>",
        "(no content)",
    ],
)
def test_the_programs_own_words_are_recognised_without_a_field_that_says_so(text: str) -> None:
    assert normalized(user("own words", text))["kind"] == "user_context"


def test_a_prompt_that_begins_like_markup_is_still_a_prompt() -> None:
    for text in ("<div> is broken", "[1] first, [2] second", "Caveats apply", "Another bug", "(or) it", "Unknown bug"):
        assert normalized(user("markup", text))["kind"] == "user_prompt"


def test_texts_are_joined_and_everything_else_becomes_blocks() -> None:
    made = normalized(user("several", [{"type": "text", "text": "one"}, "two", {"type": "video", "url": "x"}, 7]))
    assert made["text"] == "one\ntwo"
    assert made["blocks"] == [
        {"type": "video", "attributes": {"url": "x"}},
        {"type": "value", "attributes": {"value": 7}},
    ]


def test_a_reply_may_be_a_plain_string() -> None:
    assert normalized(ALL_RECORDS["assistant_plain_string"])["text"] == "A plain string."


def test_thinking_is_kept_and_its_signature_is_not() -> None:
    made = normalized(ALL_RECORDS["assistant_thinking"])
    assert made["blocks"] == [{"type": "thinking", "text": "Let me look."}]
    assert made["omitted"] == {"signature": len(SIGNATURE)}
    assert SIGNATURE not in written(made)


def test_every_call_of_a_row_is_a_block_and_the_first_is_the_tool() -> None:
    made = normalized(ALL_RECORDS["assistant_text_and_calls"])
    assert [(block["name"], block["call_id"]) for block in made["blocks"]] == [
        ("Bash", "toolu_01first"),
        ("Read", "toolu_01second"),
    ]
    assert made["tool"] == {"name": "Bash", "call_id": "toolu_01first"}
    assert made["text"] == "Two things at once."


def test_binary_becomes_its_type_size_and_hash() -> None:
    made = normalized(ALL_RECORDS["user_prompt_with_image"])
    image = made["blocks"][0]
    assert (image["type"], image["media_type"], image["bytes"], len(image["sha256"])) == (
        "image",
        "image/png",
        2056,
        64,
    )
    assert made["blocks"][1]["title"] == "Plan"
    assert PNG[:100] not in written(made)
    assert made["omitted"]["binary"] == 2 * len(PNG)


def test_a_document_given_as_text_stays_text() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "Not base64: words."}
    made = normalized(user("document", [{"type": "document", "source": source, "title": "Note"}]))
    assert made["blocks"] == [
        {"type": "document", "text": "Not base64: words.", "media_type": "text/plain", "title": "Note"}
    ]


def test_an_image_given_by_url_keeps_its_url() -> None:
    made = normalized(
        user("address", [{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}])
    )
    assert made["blocks"] == [{"type": "image", "attributes": {"source": {"url": "https://example.com/a.png"}}}]


def test_base64_inside_a_tools_input_is_described() -> None:
    record = assistant(
        "upload",
        [{"type": "tool_use", "id": CALL, "name": "mcp__files__upload", "input": {"data": PNG, "name": "a.png"}}],
    )
    given = normalized(record)["blocks"][0]["input"]
    assert given["name"] == "a.png"
    assert given["data"]["bytes"] == 2056


@pytest.mark.parametrize(
    "text", ["word " * 500, "a" * 3000, "deadbeef" * 300, "\n".join(["Apple1"] * 400), "/usr/lib" * 200]
)
def test_long_text_is_not_taken_for_binary(text: str) -> None:
    made = normalized({"type": "new", "value": text})
    assert made["attributes"]["value"] == text


def test_the_model_of_a_failed_call_is_the_program_itself() -> None:
    made = normalized(ALL_RECORDS["assistant_api_error"])
    assert (made["kind"], made["model"], made["text"]) == ("api_error", "<synthetic>", "API Error: 529 overloaded")
    assert made["attributes"]["api_error_status"] == 529


def test_the_session_id_of_the_file_is_given_where_it_differs() -> None:
    made = normalized(ALL_RECORDS["user_prompt"], context(session_id="file-session"))
    assert (made["session_id"], made["file_session_id"]) == (ALL_RECORDS["user_prompt"]["sessionId"], "file-session")
    assert "file_session_id" not in normalized(ALL_RECORDS["user_prompt"])


@pytest.mark.parametrize("order", [("session_id", "sessionId"), ("sessionId", "session_id")])
def test_a_record_that_names_two_sessions_belongs_to_its_own(order: tuple[str, str]) -> None:
    named = {"sessionId": "after-clear", "session_id": "before-clear"}
    record = {key: value for key, value in ALL_RECORDS["user_prompt"].items() if key != "sessionId"}
    made = normalized(record | {key: named[key] for key in order}, context(session_id="after-clear"))
    assert (made["session_id"], made["attributes"]["session_id"]) == ("after-clear", "before-clear")
    same = normalized(record | dict.fromkeys(order, "after-clear"), context(session_id="after-clear"))
    assert same["session_id"] == "after-clear"
    assert "session_id" not in same.get("attributes", {})
    alone = normalized(record | {"session_id": "streamed"}, context(session_id="after-clear"))
    assert (alone["session_id"], alone["file_session_id"]) == ("streamed", "after-clear")


def test_a_record_without_a_session_id_gets_that_of_its_file() -> None:
    made = normalized(ALL_RECORDS["summary"], context(session_id="file-session"))
    assert made["session_id"] == "file-session"
    assert "file_session_id" not in made


def test_a_subagent_is_recognised_by_its_file() -> None:
    where = context(agent_id="a1b2", meta={"agentType": "Explore", "toolUseId": CALL})
    made = normalized(ALL_RECORDS["assistant_first_writer"], where)
    assert (made["agent_id"], made["agent_type"], made["parent_call_id"]) == ("a1b2", "Explore", CALL)


def test_a_teammates_type_is_not_its_name() -> None:
    meta = {"agentType": "ada", "name": "ada", "taskKind": "in_process_teammate", "spawnedAgentType": "Explore"}
    assert normalized(ALL_RECORDS["summary"], context(agent_id="aada-1", meta=meta))["agent_type"] == "Explore"


@pytest.mark.parametrize("meta", [{"agentType": None, "toolUseId": 7}, {"agentType": ["x"]}])
def test_a_malformed_meta_file_of_a_subagent_does_no_harm(meta: Any) -> None:
    assert "agent_type" not in normalized(ALL_RECORDS["summary"], context(agent_id="a1", meta=meta))


def test_the_envelope_says_who_where_and_with_which_client() -> None:
    made = normalized(ALL_RECORDS["user_prompt"], offset=300)
    assert made["host"] == {"id": "machine-1", "name": "laptop"}
    assert made["client"] == {"name": "claude_code", "version": "2.1.140", "entrypoint": "cli"}
    assert made["source"] == {"path": "~/.claude/projects/-work-app/session.jsonl", "offset": 300, "length": 100}
    assert (made["user"], made["root"], made["project"], made["cwd"]) == ("dev", "main", "-work-app", "/work/app")
    assert (made["git_branch"], made["priority"], made["schema"]) == ("main", 0, "collector.event/1")


def test_events_share_no_mutable_parts() -> None:
    where = context()
    first, second = normalized(ALL_RECORDS["user_prompt"], where), normalized(ALL_RECORDS["summary"], where)
    first["host"]["name"] = first["client"]["name"] = "changed"
    assert (second["host"]["name"], second["client"]["name"]) == ("laptop", "claude_code")
    assert normalized(ALL_RECORDS["mode"], where)["host"]["name"] == "laptop"
