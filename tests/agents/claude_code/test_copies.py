"""The newest writer says everything several times; we send it once, and never drop what was not seen elsewhere."""

from __future__ import annotations

from typing import Any

from collector.flow.outcome import Skip
from tests.agents.claude_code.reader import context, normalized, outcome, written
from tests.agents.claude_code.sample_attachments import SYSTEM_PROMPT, attachment, rendered
from tests.agents.claude_code.sample_requests import blob
from tests.agents.claude_code.samples import ALL_RECORDS


def test_text_rendered_from_fields_is_left_out_and_counted() -> None:
    made = normalized(ALL_RECORDS["attachment_model"])
    assert "rendered" not in made["attributes"]
    assert made["omitted"] == {"rendered": len("<system-reminder>You are powered by Opus.</system-reminder>")}


def test_a_sentence_found_only_in_rendered_text_is_kept_once() -> None:
    where = context()
    texts = ["# Environment\nYou may not leave /work/app.", "# Environment\nYou may leave now."]
    made = [normalized(rendered("environment", {"snapshot": {"cwd": "/work/app"}}, text), where) for text in texts]
    assert [event["attributes"]["rendered"] for event in made] == [texts[0], "You may leave now."]


def test_instructions_repeated_three_times_are_sent_once() -> None:
    where = context()
    rules = "# Rules\n\nUse tabs in this project.\nNever push."
    files = [{"path": "/work/app/CLAUDE.md", "type": "Project", "content": rules}]
    text = f"Codebase instructions follow.\n\nContents of /work/app/CLAUDE.md:\n\n{rules}"
    made = normalized(rendered("instructions", {"files": files}, text), where)
    assert written(made).count("Use tabs in this project.") == 1
    assert "Codebase instructions follow." in made["attributes"]["rendered"]
    sent = [{"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>"}]
    assert outcome(blob("user", sent, "b8"), where) == Skip("copy")


def test_lines_of_a_file_are_recognised_without_their_line_numbers() -> None:
    file = {"filename": "a.py", "content": {"type": "text", "file": {"content": "import os\n\nprint(os.name)"}}}
    text = "Result of calling the Read tool:\n     1\u2192import os\n     2\u2192\n     3\u2192print(os.name)"
    assert normalized(rendered("file", file, text))["attributes"]["rendered"] == "Result of calling the Read tool:"


def test_the_rendered_text_of_an_unknown_attachment_is_kept() -> None:
    made = normalized(rendered("memory_of_tomorrow", {"ids": [5]}, "Words that stand only here"))
    assert "Words that stand only here" in written(made)


def test_a_sent_message_is_a_copy_only_if_its_words_were_seen_before() -> None:
    where = context()
    sent = ALL_RECORDS["api_request_blob_copy"]
    assert normalized(sent, where)["text"] == "Fix the login bug"
    normalized(ALL_RECORDS["user_prompt"], where)
    assert outcome(sent, where) == Skip("copy")


def test_only_the_new_words_of_a_sent_message_are_kept() -> None:
    where = context()
    normalized(ALL_RECORDS["user_prompt"], where)
    parts = [{"type": "text", "text": "Fix the login bug"}, {"type": "text", "text": "Write a title for this"}]
    made = normalized(blob("user", parts, "c3"), where)
    assert (made["kind"], made["role"], made["text"]) == ("api_message", "user", "Write a title for this")
    assert made["omitted"]["copies"] > 0


def test_sent_tool_calls_and_results_are_copies() -> None:
    where = context()
    call, answer = ALL_RECORDS["assistant_tool_call"], ALL_RECORDS["tool_result_bash"]
    sent = [blob("assistant", call["message"]["content"], "d4"), blob("user", answer["message"]["content"], "e5")]
    assert [normalized(message, where)["kind"] for message in sent] == ["api_message", "api_message"]
    normalized(call, where)
    normalized(answer, where)
    assert [outcome(message, where) for message in sent] == [Skip("copy"), Skip("copy")]


def test_a_sent_image_is_a_copy_of_the_one_in_the_prompt() -> None:
    where = context()
    prompt = ALL_RECORDS["user_prompt_with_image"]
    sent = blob("user", prompt["message"]["content"], "e6")
    assert [block["type"] for block in normalized(sent)["blocks"]] == ["image", "document"]
    normalized(prompt, where)
    assert outcome(sent, where) == Skip("copy")


def test_a_system_message_made_of_attachments_is_a_copy() -> None:
    where = context()
    normalized(rendered("date", {"date": "2026-11-18"}, "Today's date is 2026-11-18."), where)
    normalized(rendered("model", {"text": "You are Opus."}, "You are Opus."), where)
    sent = [{"type": "text", "text": "You are Opus.\n\nToday's date is 2026-11-18."}]
    assert outcome(blob("system", sent, "f6"), where) == Skip("copy")
    more = [{"type": "text", "text": "You are Opus.\n\nAnd do not tell anybody."}]
    assert "do not tell anybody" in normalized(blob("system", more, "a7"), where)["text"]


def test_the_system_prompt_is_sent_once_per_pass() -> None:
    where = context()
    first = normalized(ALL_RECORDS["attachment_prompt_snapshot"], where)
    second = normalized(ALL_RECORDS["attachment_prompt_snapshot_tools"], where)
    shape = normalized(ALL_RECORDS["api_request_shape"], where)
    assert first["text"] == "\n\n".join(SYSTEM_PROMPT)
    assert "text" not in second
    assert second["omitted"]["system_prompt"] == sum(map(len, SYSTEM_PROMPT))
    assert shape["text"] == "You are a Claude agent."


def test_the_changed_part_of_a_system_prompt_is_sent() -> None:
    where = context()
    normalized(ALL_RECORDS["attachment_prompt_snapshot"], where)
    changed = attachment("prompt_snapshot", {"systemPrompt": [*SYSTEM_PROMPT, "A new rule."]})
    assert normalized(changed, where)["text"] == "A new rule."


def test_a_tool_definition_is_sent_once_per_pass() -> None:
    where = context()
    first = normalized(ALL_RECORDS["attachment_prompt_snapshot_tools"], where)
    shape = normalized(ALL_RECORDS["api_request_shape"], where)
    assert first["blocks"][0]["attributes"]["description"] == "Runs a command"
    assert "blocks" not in shape
    assert shape["attributes"]["tools"] == ["Bash"]
    assert shape["omitted"]["tools"] > 0


def test_an_api_request_says_which_model_and_why() -> None:
    made = normalized(ALL_RECORDS["api_request"])
    assert (made["model"], made["attributes"]["query_source"]) == ("claude-opus-5-5", "sdk")
    assert made["attributes"]["tail_count"] == len(made["attributes"]["tail"]) == 2


def test_keyed_hashes_still_join_but_reveal_no_original_hash() -> None:
    attributes = normalized(ALL_RECORDS["api_request"])["attributes"]
    system = normalized(ALL_RECORDS["api_request_blob_system"])["attributes"]["hash"]
    shape = normalized(ALL_RECORDS["api_request_shape"])["attributes"]["shape_hash"]
    assert attributes["tail"][1] == system
    assert attributes["shape_hash"] == shape
    found = {*attributes["tail"], attributes["shape_hash"], attributes["request_digest"]}
    assert len(found) == 4
    told = ALL_RECORDS["api_request"]
    assert found.isdisjoint({*told["tail"], told["shapeHash"], told["requestDigest"]})


def test_contents_of_tracked_files_are_left_out() -> None:
    made = normalized(ALL_RECORDS["file_snapshot_contents"])
    assert sorted(made["attributes"]["files"]) == ["/work/app/a.py", "/work/app/b.py"]
    assert made["omitted"] == {"file_contents": len("original file contents") + len("was") + len("is")}


def test_a_hooks_output_is_sent_once() -> None:
    made = normalized(ALL_RECORDS["attachment_hook_success"])
    assert written(made).count("formatted") == 1
    assert (made["attributes"]["exit_code"], made["attributes"]["hook_event"]) == (0, "PostToolUse")


def test_the_memory_of_a_long_source_stays_small() -> None:
    where = context()
    for number in range(5000):
        record: Any = ALL_RECORDS["user_prompt"] | {"message": {"role": "user", "content": f"prompt {number}"}}
        normalized(record, where) if number % 1000 == 0 else where.remember(number)
        where.remember_rendered(f"<system-reminder>{number}</system-reminder>")
    assert (len(where.seen), len(where.rendered)) == (4096, 32)
