"""The gate: whatever comes out is redacted, fits, and is JSON; what cannot be redacted is withheld."""

from __future__ import annotations

import ast
from pathlib import Path
from time import sleep
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

import collector
from collector.agents.claude_code import places
from collector.flow.line import Line, Reading
from collector.flow.source import Root, Source, Stamp
from collector.redact import Options, Redactor, seal, to_quarantine
from collector.redact.disguises.pieces import DISGUISES
from collector.redact.redactor import SIGN_OF_A_PAGE, chosen_rules
from collector.redact.scan.engines import Python
from collector.redact.scan.matching import Zones
from collector.redact.seal import say_withheld
from tests.redact.secrets import secret
from tests.redactors import KEY
from tests.scopes import FORM

DRAWN = secret("drawn", 11)
COLLECTOR = Path(collector.__file__).parent
EVENT: dict[str, Any] = {
    "id": "0123456789abcdef0123456789abcdef",
    "uuid": "89abcdef-0123-4567-89ab-cdef01234567",
    "schema": "collector.event/1",
    "kind": "assistant_response",
    "time": "2026-01-02T03:04:05.678Z",
    "session_id": "01234567-89ab-4def-8123-456789abcdef",
    "message_id": "msg_01ABCDEFGHIJKLMNOPQRSTUV",
    "model": "claude-opus-4-5-20251101",
    "usage": {"input_tokens": 5, "output_tokens": 7, "service_tier": "standard"},
    "source": {"path": "~/x.jsonl", "offset": 0, "length": 10},
    "git_branch": "main",
}


def line(raw: bytes, problem: str = "torn") -> Line:
    root = Root("/r", "r", "claude_code")
    stamp = Stamp(1, 2, 3)
    source = Source(root, "/r/x", "~/r/x", places.SESSION, "p", "s", "", stamp)
    return Line(Reading(source, b"", stamp), 17, 17 + len(raw), None, problem, raw, b"")


def test_a_sealed_event_is_redacted_and_counted(redactor: Redactor) -> None:
    sealed = seal({**EVENT, "text": f"API_TOKEN={DRAWN}"}, redactor, 1_000_000)
    assert sealed.id == EVENT["id"]
    assert DRAWN.encode() not in sealed.body
    assert sealed.redactions == {"named-secret": 1} == orjson.loads(sealed.body)["redactions"]


def test_cutting_an_event_never_exposes_a_secret(redactor: Redactor) -> None:
    for size in range(400, 1200, 37):
        event = {**EVENT, "text": "x" * 300 + f" API_TOKEN={DRAWN} " + "y" * 900, "truncated": {}}
        body = seal(event, redactor, size).body
        assert len(body) <= size
        assert DRAWN[:8].encode() not in body


@pytest.fixture(autouse=True)
def _nothing_was_said() -> None:
    say_withheld.cache_clear()


class Unknown:
    """A kind of value that JSON does not have."""

    def __str__(self) -> str:
        return DRAWN


@pytest.mark.parametrize("wrong", [b"bytes", Unknown(), {1, 2}, {"deep": [b"x"]}])
def test_an_event_that_cannot_be_redacted_is_withheld(redactor: Redactor, wrong: object) -> None:
    broken = {**EVENT, "text": f"token {DRAWN}", "attributes": wrong, "role": f"{DRAWN}"}
    sealed = seal(broken, redactor, 100_000, FORM.shapes)
    event = orjson.loads(sealed.body)
    kept = {key: EVENT[key] for key in ("id", "schema", "kind", "time", "session_id", "message_id", "model")}
    assert DRAWN.encode() not in sealed.body
    assert {key: event[key] for key in kept} == kept
    assert event["usage"] == {"input_tokens": 5, "output_tokens": 7}
    assert event["source"] == {"offset": 0, "length": 10}
    assert "text" not in event
    assert "git_branch" not in event
    assert sealed.redactions == event["redactions"]
    assert sealed.redactions["withheld"] >= 1


def test_running_out_of_memory_does_not_withhold_the_event(redactor: Redactor) -> None:
    def reduced(_: dict[str, Any]) -> dict[str, Any]:
        raise MemoryError

    with pytest.raises(MemoryError):  # so that the record is read again later
        seal(dict(EVENT), redactor, 10_000, reduced=reduced)


class BrokenEngine:
    """Fails on every text, with a secret in its error message."""

    name = "broken"

    def zones(self, text: bytes) -> dict[int, Zones]:
        raise RuntimeError(text.decode())


def test_a_failing_engine_withholds_the_text() -> None:
    redactor = Redactor(Options(key=KEY), BrokenEngine())
    sealed = seal({**EVENT, "text": DRAWN}, redactor, 100_000)
    assert DRAWN.encode() not in sealed.body
    assert sealed.redactions["withheld"] >= 1
    assert DRAWN not in to_quarantine(line(DRAWN.encode()), redactor).payload


def test_the_reason_for_withholding_is_logged_once_without_the_text(redactor: Redactor) -> None:
    with capture_logs() as said:
        for wrong in (Unknown(), Unknown()):
            seal({**EVENT, "text": DRAWN, "attributes": {"deep": [wrong]}}, redactor, 100_000)
    assert [(line["event"], line["reason"]) for line in said] == [
        ("text withheld, it could not be redacted", "TypeError")
    ]
    assert DRAWN not in str(said)


def test_a_timeout_withholds_the_text() -> None:
    now = iter(range(0, 10_000, 100))
    redactor = Redactor(Options(key=KEY, engine="python", seconds=50, clock=lambda: next(now)))
    sealed = seal({**EVENT, "text": f"API_TOKEN={DRAWN} " * 3}, redactor, 100_000)
    assert DRAWN.encode() not in sealed.body
    assert sealed.redactions["withheld"] >= 1


def test_a_machine_that_pauses_during_redaction_withholds_nothing() -> None:
    """The machine may sleep or be busy with other work: only CPU time counts."""

    class Sleepy(Python):
        def zones(self, text: bytes) -> dict[int, Zones]:
            sleep(0.3)
            return super().zones(text)

    options = Options(key=KEY, engine="python", seconds=0.25)
    redactor = Redactor(options, Sleepy((*chosen_rules(options), *(each.rule for each in DISGUISES), SIGN_OF_A_PAGE)))
    sealed = seal({**EVENT, "text": f"API_TOKEN={DRAWN} " + "and so on, " * 100}, redactor, 100_000)
    assert "withheld" not in sealed.redactions
    assert sealed.redactions["named-secret"] == 1


def test_an_event_is_withheld_before_a_service_manager_loses_patience() -> None:
    now = iter(range(0, 10_000, 250))
    redactor = Redactor(Options(key=KEY, engine="python", seconds=1e9, clock=lambda: next(now)))
    assert seal({**EVENT, "text": f"API_TOKEN={DRAWN} " * 3}, redactor, 100_000).redactions["withheld"] >= 1


def test_lone_surrogates_and_huge_integers_are_sent(redactor: Redactor) -> None:
    body = seal({**EVENT, "text": "a\ud800b", "attributes": {"n": 10**30}}, redactor, 100_000).body
    event = orjson.loads(body)
    assert event["text"] == "a\ufffdb"
    assert event["attributes"] == {"n": str(10**30)}


@pytest.mark.parametrize(
    "raw",
    [
        b'{"text": "API_TOKEN=%b", "mess',
        b'"}{"text": "{\\"api_key\\": \\"%b\\"}", "x',
        b'{"text": "{\\\\\\"api_key\\\\\\": \\\\\\"%b\\\\\\"}", "x',
        b'{"api\\u005fkey": "%b"',
        b"\xff\xfe API_TOKEN=%b \x00\x00",
    ],
)
def test_a_torn_line_is_quarantined_without_its_secrets(redactor: Redactor, raw: bytes) -> None:
    torn = line(raw.replace(b"%b", DRAWN.encode()))
    quarantined = to_quarantine(torn, redactor)
    assert DRAWN not in quarantined.payload
    assert (quarantined.reason, quarantined.source, quarantined.offset) == ("torn", "~/r/x", 17)
    assert quarantined.id == to_quarantine(torn._replace(offset=99), redactor).id


def test_an_escaped_secret_in_a_torn_line_is_found(redactor: Redactor) -> None:
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in DRAWN)
    assert DRAWN not in to_quarantine(line(f'{{"api_key": "{hidden}"'.encode()), redactor).payload
    assert hidden not in to_quarantine(line(f'{{"api_key": "{hidden}"'.encode()), redactor).payload


def test_a_quarantined_payload_has_at_most_16_kilobytes(redactor: Redactor) -> None:
    assert len(to_quarantine(line(b"\xf0\x9f\x98\x80x" * 50_000), redactor).payload.encode()) <= 16_384


def test_only_the_seal_module_makes_sealed_events() -> None:
    makers = {"Sealed": {"redact/seal.py"}}
    for name, allowed in makers.items():
        found = set()
        for path in COLLECTOR.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
                    found.add(path.relative_to(COLLECTOR).as_posix())
                if isinstance(node, ast.Attribute) and ast.unparse(node).endswith(f"{name}._make"):
                    found.add(path.relative_to(COLLECTOR).as_posix())
        assert found == allowed


def test_a_torn_line_keeps_whole_emoji_and_replaces_half_of_one(redactor: Redactor) -> None:
    quarantined = to_quarantine(line(rb'{"text": "\ud83d\ude00 said \ud83d'), redactor)
    assert quarantined.payload == '{"text": "\N{GRINNING FACE} said \ufffd'


def test_the_id_of_a_withheld_event_does_not_depend_on_its_content() -> None:
    redactor = Redactor(Options(key=KEY), BrokenEngine())
    named = seal({**EVENT, "text": DRAWN}, redactor, 100_000)
    unnamed = seal({key: part for key, part in EVENT.items() if key != "uuid"} | {"text": DRAWN}, redactor, 100_000)
    assert named.id == orjson.loads(named.body)["id"] == EVENT["id"]
    assert unnamed.id == orjson.loads(unnamed.body)["id"] != EVENT["id"]


def test_an_event_redacted_before_keeps_its_id(redactor: Redactor) -> None:
    """An event from the store or the quarantine may now meet rules that find more."""
    before = {key: part for key, part in EVENT.items() if key != "uuid"} | {"redactions": {"named-secret": 1}}
    sealed = seal({**before, "text": f"API_TOKEN={DRAWN}"}, redactor, 1_000_000)
    assert sealed.id == orjson.loads(sealed.body)["id"] == EVENT["id"]
