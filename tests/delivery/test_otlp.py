"""The otlp sink: OpenTelemetry's own library can read its requests, and it classifies answers as OTLP defines them."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse

from collector.delivery.channel import Channel
from collector.delivery.lenient_json import CUT_SHORT
from collector.delivery.otlp import json_form, mapping, protobuf
from collector.delivery.otlp.records import Group
from collector.delivery.settle import Policy
from collector.delivery.sink import Accepted, Answer, Halt, Refused, Retry, TooLarge, Verdict
from collector.delivery.sinks.otlp import OtlpOptions, OtlpSink
from collector.delivery.statuses import CHECK_ACCESS
from collector.delivery.transport import Transport
from collector.delivery.window import Deliverer
from collector.errors import SinkHalted
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings
from tests.delivery import otlp_page
from tests.delivery.otlp_receiver import decoded, plain, records_of
from tests.delivery.sending import batch, names, patient
from tests.sink import Request

SAMPLES = [json.loads(line) for line in Path("config/sample-events.ndjson").read_text().splitlines()]
SEEN = 1_790_000_000.25
BYTES = {"Content-Type": "application/x-protobuf"}
JSON = {"Content-Type": "application/json"}


def sealed(event: dict[str, Any]) -> Sealed:
    return Sealed(event["id"], orjson.dumps(event), {}, SEEN)


def arrived(events: Sequence[dict[str, Any]], encoding: Any = "protobuf") -> Request:
    """The request for these events, as the receiver sees it."""
    made = OtlpSink(OtlpOptions(encoding=encoding)).render([sealed(event) for event in events], "key")
    headers = {name.lower(): value for name, value in made.headers.items()}
    return Request(made.method, made.path, headers, made.body, 0.0)


def record_of(**fields: Any) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """The resource attributes, the log record and its attributes for one event."""
    event = {"id": "a" * 32, "kind": "system", "time": "2026-03-01T10:00:00.123Z", **fields}
    [record] = records_of(arrived([event]))
    return record


# Requests

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=120), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1, max_size=120), values, max_size=5), st.text(max_size=300))
def test_any_values_are_encoded_as_the_published_types_encode_them(attributes: dict[str, Any], text: str) -> None:
    record = mapping.log_record({"id": "x", "text": text, "time": "2026-03-01T10:00:00.123Z"}, SEEN)
    groups = [Group({"host.id": "h"}, [record._replace(attributes=attributes)])]
    written = protobuf.logs(groups, ("collector", "1"), "url")
    read = decoded(written, ExportLogsServiceRequest, is_json=False)
    assert read.SerializeToString() == written
    as_json = decoded(json_form.logs(groups, ("collector", "1"), "url"), ExportLogsServiceRequest, is_json=True)
    assert plain(as_json) == plain(read)


def test_both_encodings_of_real_events_are_equivalent() -> None:
    as_bytes, as_json = arrived(SAMPLES), arrived(SAMPLES, "json")
    read = decoded(as_bytes.body, ExportLogsServiceRequest, is_json=False)
    assert read.SerializeToString() == as_bytes.body
    assert plain(decoded(as_json.body, ExportLogsServiceRequest, is_json=True)) == plain(read)


def leaves(part: Any) -> list[Any]:
    if isinstance(part, dict):
        return [leaf for inner in part.values() for leaf in leaves(inner)]
    if isinstance(part, list):
        return [leaf for inner in part for leaf in leaves(inner)]
    return [part]


def test_every_value_of_an_event_is_in_its_record() -> None:
    for event in [*SAMPLES, {**SAMPLES[0], "field_of_tomorrow": {"a": ["not known yet"]}}]:
        [(resource, record, attributes)] = records_of(arrived([event]))
        said = {str(leaf) for leaf in leaves([resource, attributes])} | {record.body.string_value}
        # Times and the client's name are written in another form, and input tokens are summed.
        own_form = {event["time"], event["client"]["name"], str(event.get("usage", {}).get("input_tokens"))}
        own_form |= {event["provider"]} if "provider" in event else set()
        assert {str(leaf) for leaf in leaves(event)} - said - own_form - {"tool_call", "tool_result"} == set(), event


def test_a_record_has_its_event_time_its_observed_time_and_a_severity() -> None:
    _, record, attributes = record_of(kind="user_prompt", text="Hello", client={"name": "claude_code"})
    assert (record.time_unix_nano, record.observed_time_unix_nano) == (1772359200_123000000, 1790000000_250000000)
    assert (record.severity_number, record.severity_text) == (9, "INFO")
    assert (record.event_name, attributes["event.name"]) == ("claude_code.user_prompt", "user_prompt")
    assert (record.body.string_value, attributes["log.record.uid"]) == ("Hello", "a" * 32)
    assert record_of(kind="api_error")[1].severity_text == "ERROR"
    assert record_of(kind="tool_result", tool={"ok": False})[1].severity_text == "WARN"
    for odd in ("no time at all", "1969-12-31T23:59:59.999Z", "2262-04-12T00:00:00.000Z", "9999-12-31T23:59:59.999Z"):
        _, record, attributes = record_of(time=odd)
        assert (record.time_unix_nano, attributes["collector.time"]) == (0, odd)
    assert record_of(kind="mode")[1].body.string_value == "collector.mode"


def test_an_event_too_old_for_the_engine_is_filed_under_the_time_it_was_read() -> None:
    sink = OtlpSink(OtlpOptions(event_time_days=6))
    old, recent = "2026-03-01T10:00:00.123Z", "2026-09-20T10:00:00.000Z"  # the day before it was read
    events = [sealed({"id": name, "kind": "mode", "time": name}) for name in (old, recent)]
    made = sink.render(events, "key")
    headers = {name.lower(): value for name, value in made.headers.items()}
    found = records_of(Request(made.method, made.path, headers, made.body, 0.0))
    told = {attributes["log.record.uid"]: (record, attributes) for _, record, attributes in found}
    assert told[old][0].time_unix_nano == (SEEN // 600) * 600 * 10**9
    assert told[old][1]["collector.time"] == old
    assert told[recent][0].time_unix_nano == mapping.nanoseconds(recent)
    assert "collector.time" not in told[recent][1]


def test_an_unpaired_surrogate_does_not_lose_the_event() -> None:
    body = b'{"id":"a","kind":"user_prompt","time":"2026-03-01T10:00:00.123Z","text":"half \\ud83d"}'
    made = OtlpSink().render([Sealed("a", body, {}, SEEN)], "key")
    assert "half \ufffd".encode() in made.body


def test_a_resource_names_the_sender_and_groups_its_events() -> None:
    sender = {"host": {"id": "1", "name": "m"}, "user": "ada", "installation_id": "i", "labels": {"team": "platform"}}
    first = {"id": "1", "kind": "title", "client": {"name": "claude_code", "version": "2.1.9"}, **sender}
    other = {"id": "2", "kind": "heartbeat", "client": {"name": "collector", "version": "1"}, **sender}
    found = records_of(arrived([first, other, {**first, "id": "3"}]))
    assert [attributes["log.record.uid"] for _, _, attributes in found] == ["1", "3", "2"]
    resource = found[0][0]
    assert resource | {"host.arch": "", "os.type": "", "os.version": ""} == {
        "service.name": "claude-code",
        "service.version": "2.1.9",
        "service.instance.id": "i",
        "host.id": "1",
        "host.name": "m",
        "host.arch": "",
        "os.type": "",
        "os.version": "",
        "user.name": "ada",
        "team": "platform",
    }
    assert found[2][0]["service.name"] == "collector"
    assert all(resource[name] for name in ("host.arch", "os.type", "os.version"))


def test_token_counts_follow_the_semantic_conventions() -> None:
    usage: dict[str, Any] = {
        "input_tokens": 3,
        "cache_read_tokens": 1000,
        "cache_creation_tokens": 200,
        "output_tokens": 40,
    }
    usage |= {"thinking_tokens": 9, "web_search_requests": 1, "speed": "fast"}
    given = {"kind": "assistant_response", "model": "m", "message_id": "msg_1", "stop_reason": "end_turn"}
    more = {"session_id": "s", "attributes": {"requested_model": "asked", "effort": "high"}, "agent_type": "Explore"}
    _, _, told = record_of(usage=usage, **given, **more, provider="bedrock", agent_id="a1")
    assert {name: value for name, value in told.items() if name.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.conversation.id": "s",
        "gen_ai.agent.name": "Explore",
        "gen_ai.request.model": "asked",
        "gen_ai.request.reasoning.level": "high",
        "gen_ai.response.model": "m",
        "gen_ai.response.id": "msg_1",
        "gen_ai.response.finish_reasons": ["end_turn"],
        "gen_ai.usage.input_tokens": 1203,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.cache_write.input_tokens": 200,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.usage.reasoning.output_tokens": 9,
    }
    assert (told["speed"], told["collector.usage.web_search_requests"], told["agent_id"]) == ("fast", 1, "a1")
    assert "gen_ai.provider.name" in record_of(kind="tool_result")[2]  # required for every operation
    assert "gen_ai.operation.name" not in record_of(kind="assistant_response", model="<synthetic>")[2]


def test_a_single_tool_call_or_result_has_attributes_of_its_own() -> None:
    call = {"type": "tool_call", "call_id": "c", "name": "Bash", "input": {"command": "ls", "timeout": 5}}
    thought = {"type": "thinking", "text": "hm"}
    tool = {"name": "Bash", "call_id": "c"}
    _, _, told = record_of(kind="tool_call", tool=tool, blocks=[thought, call])
    assert (told["gen_ai.tool.name"], told["gen_ai.tool.call.id"]) == ("Bash", "c")
    assert told["gen_ai.tool.call.arguments"] == {"command": "ls", "timeout": 5}
    assert told["collector.blocks"] == [thought]
    answer = {"type": "tool_result", "call_id": "c", "ok": True, "text": "a.py"}
    _, _, told = record_of(kind="tool_result", tool={**tool, "ok": True, "duration_ms": 7}, blocks=[answer])
    assert (told["gen_ai.tool.call.result"], told["success"], told["duration_ms"]) == ("a.py", True, 7)
    assert "collector.blocks" not in told
    two = [answer, {**answer, "call_id": "d"}]
    assert record_of(kind="tool_result", tool=tool, blocks=two)[2]["collector.blocks"] == two


def published_names() -> set[str]:
    """Every attribute name found in the packages of the semantic conventions."""
    found: set[str] = set()
    for package in ("opentelemetry.util.genai", "opentelemetry.semconv"):
        spec = importlib.util.find_spec(package)
        assert spec
        assert spec.submodule_search_locations
        for path in Path(spec.submodule_search_locations[0]).rglob("*.py"):
            found |= set(re.findall(r'"([a-z_]+(?:\.[a-z_]+)+)"', path.read_text()))
    return found


def test_every_name_attributed_to_the_conventions_is_in_them() -> None:
    all_rows = (*mapping.RESOURCE, *mapping.LOG, *mapping.SPANS)
    rows = [row for row in all_rows if row.named_by in (mapping.GEN_AI, mapping.GENERAL)]
    assert {row.attribute for row in rows} - published_names() == {"gen_ai.*"}
    assert len(rows) > 30


# Answers


def rejecting(count: int, why: str = "") -> bytes:
    """A partial success, built with the published types."""
    response = ExportLogsServiceResponse()
    response.partial_success.rejected_log_records = count
    response.partial_success.error_message = why
    return bytes(response.SerializeToString())


BAD_BASE = "Check sink.url: it must be the address to which /v1/logs is added, such as http://localhost:4318."
ANSWERS: list[tuple[int, dict[str, str], bytes, Verdict]] = [
    (200, {}, b"", Accepted()),
    (200, BYTES, b"", Accepted()),
    (201, {}, b"", Accepted()),
    (200, JSON, b"{}", Accepted()),
    (200, JSON, b'{"partialSuccess":{}}', Accepted()),
    (200, BYTES, rejecting(0), Accepted()),
    (200, BYTES, rejecting(0, "soon full"), Accepted(remark="soon full")),
    (200, BYTES, rejecting(3, "too old"), Accepted(unnamed=3, remark="too old")),
    (200, {}, rejecting(3), Accepted(unnamed=3)),
    (
        *(200, JSON, b'{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}'),
        Accepted(unnamed=2, remark="too old"),
    ),
    (
        200,
        JSON,
        b'{"partialSuccess":{"rejectedLogRecords":1,"errorMessage":"\\ud83d"}}',
        Accepted(unnamed=1, remark="\ufffd"),
    ),
    (200, JSON, b'{"partialSuccess":{"rejectedLogRec', Retry(CUT_SHORT, may_be_poison=True)),
    (200, {"Content-Type": "text/plain"}, b"ok", Accepted()),
    (
        200,
        {"Content-Type": "text/html"},
        b"<title>Welcome</title>",
        Halt("a page instead of an OTLP response, HTTP 200: Welcome", BAD_BASE),
    ),
    (429, {"Retry-After": "7"}, b"", Retry("HTTP 429", 7.0, may_be_poison=False)),
    (502, {}, b"", Retry("HTTP 502", None, may_be_poison=True)),
    (503, {"Retry-After": "7"}, b"", Retry("HTTP 503", 7.0, may_be_poison=False)),
    (504, {}, b"", Retry("HTTP 504", None, may_be_poison=True)),
    (500, {}, b"", Refused("HTTP 500")),
    (408, {}, b"", Refused("HTTP 408")),
    (400, BYTES, b"\x08\x03\x12\x07invalid", Refused("HTTP 400: invalid")),
    (400, BYTES, b"\x08\x03\x12\x1chttp: request body too large", TooLarge("HTTP 400, the request is too large")),
    (400, JSON, b'{"code":3, "message":"unknown"}', Refused('HTTP 400: {"code":3, "message":"unknown"}')),
    (400, {"Content-Type": "text/plain"}, b"no JSON, please\n", Refused("HTTP 400: no JSON, please")),
    (400, BYTES, b"\x12", Refused("HTTP 400")),
    (413, {}, b"", TooLarge("HTTP 413")),
    (401, {}, b"", Halt("HTTP 401", CHECK_ACCESS)),
    (401, BYTES, b"\x08\x10\x12\x09no tenant", Halt("HTTP 401: no tenant", CHECK_ACCESS)),
    (503, BYTES, b"\x08\x0e\x12\x0dqueue is full", Retry("HTTP 503: queue is full")),
    (404, {}, b"", Halt("HTTP 404", BAD_BASE, may_be_poison=True)),
]


@pytest.mark.parametrize(("status", "headers", "body", "verdict"), ANSWERS)
def test_every_answer_is_classified_as_otlp_defines_it(
    status: int, headers: dict[str, str], body: bytes, verdict: Verdict
) -> None:
    assert OtlpSink().classify(Answer(status, httpx.Headers(headers), body)) == verdict


def deliverer(answer: Any) -> Deliverer:
    transport = Transport(SinkSettings(compression="none"), "http://localhost", None, httpx.MockTransport(answer))
    return Deliverer(Channel(OtlpSink(), transport), Policy(patient(5.0), window=1))


def test_unnamed_rejections_quarantine_the_whole_batch_and_nothing_is_resent() -> None:
    sent: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(1)
        return httpx.Response(200, content=rejecting(1, "too old"), headers=BYTES)

    [receipt] = deliverer(answer).deliver([batch(*names(5))])
    reason = "perhaps rejected by the sink: 1 of 5. too old"
    assert [(thing.id, thing.reason) for thing in receipt.refused] == [(name, reason) for name in names(5)]
    assert len(sent) == 1


@pytest.mark.parametrize("taken", [0, 1])
def test_a_sink_that_rejects_every_event_halts(taken: int) -> None:
    bodies = itertools.chain([b""] * taken, itertools.repeat(rejecting(1000, "no such tenant")))

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=next(bodies), headers=BYTES)

    with pytest.raises(SinkHalted, match="no such tenant"):
        list(deliverer(answer).deliver([batch("a"), batch(*names(40))]))


def test_a_sinks_remark_is_logged_once(capfd: pytest.CaptureFixture[str]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=rejecting(0, "the disk is nearly full"), headers=BYTES)

    receipts = list(deliverer(answer).deliver([batch("a"), batch("b")]))
    assert [receipt.refused for receipt in receipts] == [[], []]
    assert "".join(capfd.readouterr()).count("the disk is nearly full") == 1


def test_the_documentation_page_matches_the_mapping() -> None:
    assert otlp_page.PAGE_PATH.read_text() == otlp_page.page_text(), "run: python -m tests.delivery.otlp_page"
