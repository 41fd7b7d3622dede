"""Traces: what happens in a transcript arrives as nested spans, the same ones wherever reading begins."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.delivery.otlp.conversation import span_id
from tests.build import Home, Session, Transcript, call_of
from tests.delivery.otlp_receiver import attributes_of, ids_of, records_of, spans_of
from tests.inside import Inside
from tests.sink import Answer, Request, Sink

TO_OTLP = {
    "COLLECTOR_SINK__TYPE": "otlp",
    "COLLECTOR_SINK__OTLP__TRACES": "true",
    "COLLECTOR_BATCH__LINGER": "60",  # one batch, however slow the machine
}
PROMPT = "f1e2d3c4-0000-4000-8000-000000000001"
UNREACHABLE = 75


def scan(home: Home, sink: Sink, *flags: str, silent: float = 10) -> Any:
    """Runs one pass, `silent` seconds after the last write."""
    for path in home.root.rglob("*.jsonl"):
        os.utime(path, (time.time() - silent,) * 2)
    return Inside(home, sink, TO_OTLP).scan(*flags).assert_balanced()


def spans(sink: Sink) -> list[Any]:
    return [span for post in sink.posts if "/v1/traces" in post.path for span in spans_of(post)]


def story(session: Session) -> Iterator[Transcript]:
    """Writes, in steps, a prompt, tools (one fails), a subagent, an answer in two rows, and a second prompt."""
    session.prompt("Fix the login bug", promptId=PROMPT)
    text = {"type": "text", "text": "I will look."}
    call = {"type": "tool_use", "id": "toolu_ls", "name": "Bash", "input": {"command": "ls"}}
    _, listed = session.rows(text, call, message_id="msg_1", tokens=40)
    yield session
    session.tool_result(listed, "a.py", promptId=PROMPT)
    failing = session.tool_call(given={"command": "false"}, message_id="msg_2")
    session.tool_result(failing, "Exit code 1", is_error=True, promptId=PROMPT)
    spawning = session.tool_call("Agent", {"prompt": "Explore"}, message_id="msg_3")
    yield session
    agent = session.subagent("a1234567", meta={"agentType": "Explore", "toolUseId": call_of(spawning)})
    agent.user("Explore", promptId=PROMPT)
    inner = agent.tool_call("Read", {"file_path": "a.py"}, message_id="msg_a1")
    yield agent
    agent.tool_result(inner, "x = 1", promptId=PROMPT)
    agent.reply("Found it.", message_id="msg_a2")
    yield agent
    session.tool_result(spawning, "Found it.", result={"agentId": "a1234567"}, promptId=PROMPT)
    session.rows({"type": "thinking", "thinking": "So."}, {"type": "text", "text": "Done."}, message_id="msg_4")
    yield session
    session.system("turn_duration", durationMs=9_000)
    session.prompt("Thanks")
    session.system("api_error", error={"message": "Overloaded", "status": 529}, retryAttempt=1)
    session.reply("You are welcome.", message_id="msg_5")
    yield session


def test_a_transcript_is_a_tree_of_spans(home: Home, sink: Sink) -> None:
    session = home.session()
    list(story(session))
    home.session().system("api_error", error={"message": "Overloaded"})  # of no turn
    assert scan(home, sink).ledger["not_read"] == {}
    found = {span.span_id: span for span in spans(sink)}
    assert len(found) == len(spans(sink))
    by_name = {(span.name, span.parent_span_id): span for span in found.values()}
    roots = [span for span in found.values() if not span.parent_span_id]
    assert [span.name for span in roots] == ["invoke_agent claude_code"] * 2
    model = "chat claude-opus-4-5-20251101"
    children = {
        root.span_id: sorted(span.name for span in found.values() if span.parent_span_id == root.span_id)
        for root in roots
    }
    first, second = sorted(roots, key=lambda span: span.start_time_unix_nano)
    assert children[first.span_id] == [*[model] * 4, "execute_tool Agent", "execute_tool Bash", "execute_tool Bash"]
    assert children[second.span_id] == ["chat", model]
    spawning = by_name["execute_tool Agent", first.span_id]
    explorer = by_name["invoke_agent Explore", spawning.span_id]
    inside = [span.name for span in found.values() if span.parent_span_id == explorer.span_id]
    assert sorted(inside) == [model, model, "execute_tool Read"]
    assert len({span.trace_id for span in found.values()}) == 2
    for span in found.values():
        above = found.get(span.parent_span_id, span)
        assert above.trace_id == span.trace_id
        assert above.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= above.end_time_unix_nano
    failed = {span.name: (span.status.code, span.status.message) for span in found.values() if span.status.code}
    assert failed == {"execute_tool Bash": (2, "Exit code 1"), "chat": (2, "Overloaded")}
    [event] = next(span for span in found.values() if span.name == "execute_tool Bash" and span.events).events
    assert attributes_of(event.attributes) == {"exception.type": "tool_error", "exception.message": "Exit code 1"}
    assert attributes_of(found[span_id("tool", "toolu_ls")].attributes)["success"] is True
    request = attributes_of(found[span_id("request", "msg_1")].attributes)
    assert request["gen_ai.usage.output_tokens"] == 40
    assert request["gen_ai.usage.input_tokens"] == 1203
    assert (request["prompt.id"], request["gen_ai.operation.name"]) == (PROMPT, "chat")


def test_a_resumed_request_counts_from_the_prompt_it_answers(home: Home, sink: Sink) -> None:
    session = home.session()
    asked = session.prompt("Think hard", promptId=PROMPT)
    session.record(
        {
            "type": "api-request-resumed",
            "sessionId": session.session_id,
            "timestamp": session.pen.timestamp(),
            "version": "2.1.328",
            "messageId": "msg_1",
            "pausedRequestId": "req_1",
            "resumedRequestId": "req_2",
        }
    )
    session.reply("Done.", message_id="msg_1")
    scan(home, sink)
    [chat] = [span for span in spans(sink) if span.name.startswith("chat")]
    begun = datetime.fromtimestamp(chat.start_time_unix_nano / 1e9, UTC)
    assert begun == datetime.fromisoformat(asked["timestamp"])


def test_spans_are_the_same_wherever_reading_begins(tmp_path: Path) -> None:
    with Sink() as whole, Sink() as stepwise:
        home = Home(tmp_path / "whole")
        list(story(home.session()))
        scan(home, whole)
        home = Home(tmp_path / "stepwise")
        for _ in story(home.session()):
            scan(home, stepwise)  # each scan starts with nothing in memory
        # An answer that was complete when reading stopped may be sent again when reading goes on, as the same span.
        assert {str(span) for span in spans(stepwise)} == {str(span) for span in spans(whole)}
        assert (len(spans(whole)), len(spans(stepwise))) == (15, 17)


def test_log_records_name_the_span_they_belong_to(home: Home, sink: Sink) -> None:
    list(story(home.session()))
    scan(home, sink)
    known = {(span.trace_id, span.span_id): span.name for span in spans(sink)}
    [logs] = [post for post in sink.posts if "/v1/logs" in post.path]
    named = [(told["event.name"], known.get((record.trace_id, record.span_id))) for _, record, told in records_of(logs)]
    assert named[:3] == [
        ("user_prompt", "invoke_agent claude_code"),
        ("assistant_response", "chat claude-opus-4-5-20251101"),
        ("tool_call", "chat claude-opus-4-5-20251101"),
    ]
    assert {name for event, name in named if event == "tool_result"} == {
        "execute_tool Bash",
        "execute_tool Agent",
        "execute_tool Read",
    }
    assert [event for event, name in named if name is None] == ["turn"]


def test_spans_copied_into_a_fork_are_sent_only_once(home: Home, sink: Sink) -> None:
    session = home.session()
    list(story(session))
    fork = session.fork()
    fork.prompt("And now?")
    fork.reply("Now this.", message_id="msg_fork")
    scan(home, sink)
    names = [span.span_id for span in spans(sink)]
    assert len(names) == len(set(names)) == 17


def test_an_abandoned_session_ends_with_its_last_event(home: Home, sink: Sink, tmp_path: Path) -> None:
    session = home.session()
    session.prompt("Go")
    session.tool_call(message_id="msg_1")
    scan(home, sink, silent=100)
    assert spans(sink) == []
    (tmp_path / "agent" / "state.json").unlink()
    scan(home, sink, silent=4_000)
    request, turn = spans(sink)
    assert (request.span_id, turn.end_time_unix_nano) == (span_id("request", "msg_1"), request.end_time_unix_nano)


def answering(*rules: tuple[str, Answer]) -> Callable[[Request], Answer]:
    """Chooses the answer by the end of the path."""
    return lambda request: next((answer for path, answer in rules if request.path.endswith(path)), Answer())


def test_logs_and_spans_are_acknowledged_together(home: Home, sink: Sink) -> None:
    list(story(home.session()))
    sink.then = answering(("/v1/traces", Answer(404)))
    result = scan(home, sink)
    assert result.code == UNREACHABLE
    assert "set sink.otlp.traces = false" in result.stderr
    assert result.ledger["delivered"] == 0
    sink.then = Answer()
    sink.answer(Answer(503, {"Retry-After": "0"}), Answer(), Answer(503, {"Retry-After": "0"}))
    before = len(sink.posts)
    result = scan(home, sink)
    assert result.code == 0
    traces, again, logs, once_more = sink.posts[before:]
    assert (traces.body, logs.body) == (again.body, once_more.body)
    assert len(ids_of(logs)) == result.ledger["lines"]


@pytest.mark.parametrize("status", [302, 400, 403, 410, 500, 501, 502])
def test_a_receiver_that_takes_logs_but_no_spans_is_not_blamed_on_the_events(
    home: Home, sink: Sink, status: int
) -> None:
    list(story(home.session()))
    sink.then = answering(("/v1/traces", Answer(status)))
    result = scan(home, sink, "--max-wait", "1")
    assert f"HTTP {status}" in result.stderr
    assert ", for traces" in result.stderr
    assert (result.code, result.ledger["quarantined"]) == (75, 0)
    assert {post.path for post in sink.posts} == {"/events/v1/traces"}  # no log record is stored at every try


@pytest.mark.parametrize("answer", [Answer(400), Answer(403), Answer(413), Answer(502), Answer(ending="closed")])
def test_a_span_that_a_receiver_refuses_costs_exactly_itself(home: Home, sink: Sink, answer: Answer) -> None:
    list(story(home.session()))
    bad = span_id("tool", "toolu_ls")
    sink.then = lambda request: answer if "/v1/traces" in request.path and bad in request.body else Answer()
    result = scan(home, sink)
    assert (result.code, result.ledger["quarantined"]) == (0, 0)
    assert f'"id": "span {bad.hex()}"' in result.stderr
    stored = [request for request, answered in sink.answers if answered.stores() and "/v1/traces" in request.path]
    arrived = {span.span_id for request in stored for span in spans_of(request)}
    assert {span.span_id for span in spans(sink)} - arrived == {bad}
    assert [len(ids_of(post)) for post in sink.posts if "/v1/logs" in post.path] == [result.ledger["lines"]]


@pytest.mark.parametrize("answer", [Answer(413), Answer(403)])
def test_a_receiver_of_few_spans_at_a_time_is_soon_sent_few(home: Home, sink: Sink, answer: Answer) -> None:
    for _ in range(12):
        list(story(home.session()))
    refused: list[Request] = []

    def rule(request: Request) -> Answer:
        if "/v1/traces" not in request.path or len(spans_of(request)) <= 4:
            return Answer()
        refused.append(request)
        return answer

    sink.then = rule
    one_at_a_time = {"COLLECTOR_BATCH__MAX_EVENTS": "20", "COLLECTOR_SINK__WINDOW": "1"}
    result = Inside(home, sink, {**TO_OTLP, **one_at_a_time}).scan().assert_balanced()
    assert result.code == 0
    assert len(refused) < result.ledger["batches"]


def test_rejected_spans_are_reported_and_the_events_still_count(home: Home, sink: Sink) -> None:
    list(story(home.session()))
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = 3
    response.partial_success.error_message = "too many attributes"
    body, headers = bytes(response.SerializeToString()), {"Content-Type": "application/x-protobuf"}
    sink.then = answering(("/v1/traces", Answer(200, headers, body)))
    result = scan(home, sink)
    assert (result.code, result.ledger["quarantined"]) == (0, 0)
    assert "it rejected 3 spans. too many attributes" in result.stderr
    assert len(sink.posts) == 2
