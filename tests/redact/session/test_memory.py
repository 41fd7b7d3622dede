"""What one event reveals counts for later events of its session and no other; words are never remembered."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from collector.redact import Options, Redactor
from collector.redact.session.memory import CALLS, SESSIONS, VALUES, Found, Session, is_certain
from tests.redact.secrets import secret
from tests.redactors import CACHE, KEY

VALUE = secret("drawn", 11)


@pytest.fixture
def fresh() -> Redactor:
    """A redactor that remembers nothing yet."""
    return Redactor(Options(key=KEY, engine="python", cache_dir=CACHE / "collector"))


def event(session: str, **fields: Any) -> dict[str, Any]:
    return {"id": "0" * 32, "session_id": session, **fields}


def call(session: str, call_id: str, command: str) -> dict[str, Any]:
    block = {"type": "tool_call", "call_id": call_id, "name": "Bash", "input": {"command": command}}
    return event(session, kind="tool_call", blocks=[block])


def result(session: str, call_id: str, text: str, **details: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "call_id": call_id, "ok": True, "text": text}
    return event(session, kind="tool_result", blocks=[block], tool={"call_id": call_id, "details": details})


def redacted(redactor: Redactor, made: dict[str, Any]) -> str:
    redactor.event(made)
    return json.dumps(made)


def test_the_output_of_a_command_that_prints_a_secret_is_redacted_in_every_copy(fresh: Redactor) -> None:
    fresh.event(call("s", "toolu_1", "kubectl get secret db -o jsonpath='{.data.password}'"))
    fresh.event(call("s", "toolu_2", "ls"))
    other = result("s", "toolu_2", "granite-harbor\nREADME.md")
    assert "granite-harbor" in redacted(fresh, other)
    answer = result("s", "toolu_1", "Using context prod\nfalcon-otter-12", stdout="falcon-otter-12\n")
    after = redacted(fresh, answer)
    assert "falcon-otter-12" not in after
    assert "Using context prod" in after
    assert answer["redactions"]["printed-secret"] >= 1


def test_results_of_calls_in_one_message_are_told_apart_in_any_order(fresh: Redactor) -> None:
    fresh.event(call("s", "a", "gh auth token"))
    fresh.event(call("s", "b", "cat names.txt"))
    assert "falcon-otter-12" in redacted(fresh, result("s", "b", "falcon-otter-12"))
    assert VALUE not in redacted(fresh, result("s", "a", VALUE))


def test_a_found_secret_is_redacted_bare_in_later_events_of_its_session_only(fresh: Redactor) -> None:
    found = event("s", text=f"DB_PASSWORD={VALUE}")
    fresh.event(found)
    marker = found["text"].partition("=")[2]
    later = event("s", text=f"app 4211 ./probe {VALUE} --fast", blocks=[{"text": f'{{"x": "{VALUE}"}}'}])
    assert VALUE not in redacted(fresh, later)
    assert marker in later["text"], "the marker is the same, so that the secret can be followed"
    assert VALUE in redacted(fresh, event("other", text=f"app 4211 ./probe {VALUE} --fast"))


PAGES: dict[str, dict[str, Any]] = {
    'uid=12_3 textbox "Email"\nuid=12_4 textbox "Password" required\n': {"uid": "12_4", "value": "falcon-otter-12"},
    '- textbox "Password" [ref=e12]\n- button "Log in" [ref=e13]': {"ref": "e12", "text": "falcon-otter-12"},
    'textbox "API key" [ref_7] type="text"': {"target": "ref_7", "content": "falcon-otter-12"},
    "[4]<input type=password name=pw>": {"index": 4, "text": "falcon-otter-12"},
    'uid=1_5 textbox "Passcode"': {
        "elements": [{"uid": "1_4", "value": "bob"}, {"uid": "1_5", "value": "falcon-otter-12"}]
    },
}


def test_what_stood_encoded_in_a_url_is_redacted_as_it_is_in_later_events(fresh: Redactor) -> None:
    value = f"{VALUE}/k@9!"
    url = f"psql postgresql://app:{quote(value, safe='')}@db.internal/app"
    assert quote(value, safe="") not in redacted(fresh, call("s", "a", url))
    assert value not in redacted(fresh, result("s", "a", f"FATAL: no such login, tried {value} twice"))


def test_text_typed_into_a_field_that_a_page_showed_as_a_secret_one_is_redacted(fresh: Redactor) -> None:
    def typed(session: str, given: dict[str, Any]) -> str:
        block = {"type": "tool_call", "call_id": "c", "name": "fill", "input": json.loads(json.dumps(given))}
        return redacted(fresh, event(session, kind="tool_call", text="Filling the form.", blocks=[block]))

    for session, (page, given) in enumerate(PAGES.items()):
        assert "falcon-otter-12" in typed(f"s{session}", given)
        fresh.event(result(f"s{session}", "b", page))
        after = typed(f"s{session}", given)
        assert "falcon-otter-12" not in after
        assert "Filling the form." in after
        assert "falcon-otter-12" in typed("another session", given)
    other = {"uid": "12_3", "value": "falcon-otter-12"}
    assert "falcon-otter-12" in typed("s0", other), "the field beside it is not for a secret"


def test_plain_words_are_never_remembered(fresh: Redactor) -> None:
    for word in ("carefully", "production", "strictly", "--mode", "sha256sum", "utf8mb4_unicode_ci"):
        fresh.event(event("s", text=f"password: {word}\nDB_PASSWORD={word}"))
        text = f"It is {word}, and stays so."
        assert text in redacted(fresh, event("s", text=text))


def test_a_value_found_by_a_weak_name_is_not_certain() -> None:
    value = secret("hex", 3)
    assert is_certain(Found("named-secret", value, "DB_PASSWORD="))
    assert not is_certain(Found("named-secret", value, "checkpoint session "))
    assert not is_certain(Found("named-key", value, "cacheKey = "))


def test_the_memory_is_bounded(fresh: Redactor) -> None:
    session = Session()
    for number in range(CALLS + 10):
        session.note_calls(call("s", f"toolu_{number}", "gh auth token"), may_describe=False)
    session.note_values(Found("github-token", f"{secret('drawn', seed)}", "") for seed in range(VALUES + 10))
    assert len(session._calls) == CALLS
    assert len(session._values) == VALUES
    for number in range(SESSIONS + 10):
        fresh.event(event(f"session {number}", text="nothing"))
    assert len(fresh._sessions._sessions) == SESSIONS


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "/srv/shop/config/master.key", "content": VALUE + "\n"},
        {"file_path": "/home/me/.vault_pass", "content": "Birnbaum"},
        {"file_path": "/home/me/.config/sync/pass.txt", "old_string": "Birnbaum", "new_string": VALUE},
        {"file_path": "/run/secrets/db", "edits": [{"old_string": "Birnbaum", "new_string": VALUE}]},
    ],
)
def test_text_written_to_a_file_that_contains_only_a_secret_is_redacted(fresh: Redactor, given: dict[str, Any]) -> None:
    block = {"type": "tool_call", "call_id": "w", "name": "Write", "input": given}
    after = redacted(fresh, event("s", kind="tool_call", blocks=[block]))
    assert (VALUE in after, "Birnbaum" in after) == (False, False)
    assert str(given["file_path"]) in after


def test_what_the_model_wrote_is_redacted_where_the_agent_changed_the_input(fresh: Redactor) -> None:
    page, typed = next(iter(PAGES.items()))
    fresh.event(result("s", "b", page))
    for written in (typed, {"file_path": "/home/me/.vault_pass", "content": "falcon-otter-12"}):
        block = {"type": "tool_call", "call_id": "w", "input": {}, "attributes": {"input_as_written": {**written}}}
        assert "falcon-otter-12" not in redacted(fresh, event("s", kind="tool_call", blocks=[block]))


SETTINGS: list[dict[str, Any]] = [
    {"file_path": "/srv/shop/.env.production", "old_string": "Birnbaum7", "new_string": VALUE},
    {"file_path": "/srv/shop/.env", "edits": [{"old_string": "Birnbaum7", "new_string": VALUE}]},
    {"file_path": "/srv/My Shop/prod.env", "old_string": VALUE, "new_string": ""},
]
OF_SETTINGS: list[dict[str, Any]] = [
    {"file_path": "/srv/shop/.env", "old_string": "PORT=8080", "new_string": "LOG_FORMAT=json2"},
    {"file_path": "/srv/shop/.env", "old_string": "gpt-4o-mini-2024-07-18", "new_string": "claude-sonnet-4-5-20250929"},
    {"file_path": "/srv/shop/.env", "old_string": "https://a2.acme.test/v1", "new_string": "registry.acme.test:5000"},
    {"file_path": "/srv/shop/.env", "old_string": "i-0abcd1234ef567890", "new_string": "eu-central-1"},
    {"file_path": "/srv/shop/.env", "old_string": "en-US,de-DE,fr-FR,es-419", "new_string": "/var/lib/shop2/data"},
    {"file_path": "/srv/shop/.env", "old_string": "# the port of 2024", "new_string": ""},
    {"file_path": "/srv/shop/.env.example", "old_string": "change-me", "new_string": VALUE},
    {"file_path": "/srv/shop/src/env.py", "old_string": "Birnbaum7", "new_string": VALUE},
]


@pytest.mark.parametrize("given", SETTINGS)
def test_random_values_in_an_edit_of_a_settings_file_are_redacted(fresh: Redactor, given: dict[str, Any]) -> None:
    block = {"type": "tool_call", "call_id": "w", "name": "Edit", "input": json.loads(json.dumps(given))}
    after = redacted(fresh, event("s", kind="tool_call", blocks=[block]))
    assert (VALUE in after, "Birnbaum" in after) == (False, False)
    assert str(given["file_path"]) in after
    assert "TLS_MIN=1.2" in redacted(fresh, result("s", "w", "updated:\n1 TLS_MIN=1.2"))


def test_base64_padding_does_not_turn_a_value_into_a_name(fresh: Redactor) -> None:
    value = secret("drawn", 5)[:22] + "=="
    fresh.event(call("s", "a", "openssl rand -base64 16"))
    assert value not in redacted(fresh, result("s", "a", value))
    given = {"file_path": "/srv/.env", "old_string": value, "new_string": "Birnbaum7"}
    block = {"type": "tool_call", "call_id": "w", "name": "Edit", "input": given}
    assert value not in redacted(fresh, event("other", kind="tool_call", blocks=[block]))


@pytest.mark.parametrize("given", OF_SETTINGS)
def test_other_edits_of_settings_files_stay(fresh: Redactor, given: dict[str, Any]) -> None:
    block = {"type": "tool_call", "call_id": "w", "name": "Edit", "input": json.loads(json.dumps(given))}
    fresh.event(event("s", kind="tool_call", blocks=[block]))
    assert block["input"] == given


def test_text_written_to_other_files_stays(fresh: Redactor) -> None:
    given = {"file_path": "/srv/shop/src/token.py", "content": "Birnbaum"}
    block = {"type": "tool_call", "call_id": "w", "name": "Write", "input": given}
    assert "Birnbaum" in redacted(fresh, event("s", kind="tool_call", blocks=[block]))


def test_an_answer_recorded_with_its_question_for_a_secret_is_redacted(fresh: Redactor) -> None:
    def answered(question: str, answer: str) -> str:
        return redacted(fresh, event("s", kind="tool_result", tool={"details": {"answers": {question: answer}}}))

    assert "Birnbaum-7x" not in answered("What is the password of the database?", "Birnbaum-7x")
    assert "Birnbaum-7x" in answered("Which branch should be built?", "Birnbaum-7x")
    assert "I will set it" in answered("What is the password of the database?", "I will set it")


def test_a_disabled_rule_leaves_printed_secrets_alone() -> None:
    off = Redactor(
        Options(key=KEY, engine="python", disabled=frozenset({"printed-secret"}), cache_dir=CACHE / "collector")
    )
    off.event(call("s", "a", "pass show work/db"))
    assert "falcon-otter-12" in redacted(off, result("s", "a", "falcon-otter-12"))


def test_an_answer_to_a_question_for_a_secret_is_redacted(fresh: Redactor) -> None:
    def asked(question: str, answer: str) -> str:
        fresh.event(event("s", kind="assistant_response", role="assistant", text=question))
        return redacted(fresh, event("s", kind="user_prompt", role="user", text=answer))

    assert VALUE not in asked("The login fails. What is the password for the admin account?", VALUE)
    assert VALUE not in asked("Please paste your API key:", VALUE)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the password of the database?", "production"),
        ("What is the password of the database?", "it is in config2.yaml"),
        ("Please paste the token.", "docs/token2.md"),
        ("Which token should I use, the access token or the refresh token?", "refresh2token"),
        ("I read the key. What is the next step?", "step2deploy"),
        ("Do you want me to rotate the secret?", "yes"),
        ("What is the token limit?", "gpt-4o-mini2x"),
        ("What is the API key name?", "ACME_V2_API_KEY2"),
    ],
)
def test_other_answers_stay(fresh: Redactor, question: str, answer: str) -> None:
    fresh.event(event("s", kind="assistant_response", role="assistant", text=question))
    assert answer in redacted(fresh, event("s", kind="user_prompt", role="user", text=answer))
    after = event("s", kind="user_prompt", role="user", text=VALUE)
    assert VALUE in redacted(fresh, after)
