"""The tracer: follows many transcripts at once in little memory, and resumes each where it left off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector.agents.claude_code import places
from collector.delivery.otlp import conversation, json_form, protobuf, tracer
from collector.delivery.otlp.conversation import Conversation, span_id
from collector.delivery.otlp.records import Group, SpanEvent
from collector.delivery.otlp.tracer import Tracer
from collector.flow.line import End, Line, Reading
from collector.flow.outcome import Item, Sealed, Skip
from collector.flow.source import Root, Source, Stamp
from tests.delivery.otlp_receiver import decoded, plain

NOW = 1_790_000_000.0
Event = dict[str, Any]


def event(number: int, kind: str, **fields: Any) -> Event:
    """An event that happens this many seconds after ten o'clock."""
    time = f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}.000Z"
    return {"id": f"{number:032x}", "kind": kind, "time": time, "session_id": "s", "client": {"version": "1"}, **fields}


def row(number: int, message: str, *calls: str, stop: str = "", output: int = 1) -> Event:
    """One row of a model's answer, which may call tools."""
    blocks = [{"type": "tool_call", "call_id": call, "name": "Bash"} for call in calls]
    more = {"message_id": message, "stop_reason": stop, "usage": {"output_tokens": output}, "blocks": blocks}
    return event(number, "tool_call" if calls else "assistant_response", **more)


def answer(number: int, call: str, **block: Any) -> Event:
    return event(number, "tool_result", blocks=[{"type": "tool_result", "call_id": call, **block}])


def follow(*events: Event) -> list[Any]:
    """The spans of these events, in the order of completion."""
    made = Conversation()
    return [completed.span for each in events for completed in made.follow(each, {})]


def reading(key: str, silent: float) -> Reading:
    stamp = Stamp(0, int((NOW - silent) * 1e9), 1)
    source = Source(Root("/r", "r", "claude_code"), f"/r/{key}", key, places.SESSION, "-p", "s", "", stamp)
    return Reading(source, b"", stamp)


def items(key: str, events: Sequence[Event | None], silent: float, start: int = 0, length: int = 10) -> Iterator[Item]:
    """The items of a source, all of the same length; None is a line without an event."""
    read = reading(key, silent)
    for number, each in enumerate(events):
        at = start + length * number
        line = Line(read, at, at + length, {}, "", b"", b"")
        yield line, Sealed(each["id"], orjson.dumps(each), {}) if each else Skip("copy")
    yield End(read, start + length * len(events), b""), None


class Followed:
    """A tracer; `read` gives the names of the spans that travel beside each event it passes on."""

    def __init__(self, **options: Any) -> None:
        self.now = NOW
        self.reaches: list[int] = []
        self.tracer = Tracer({}, lambda: self.now, **options)

    def read(
        self, key: str, *events: Event | None, silent: float = 0.0, offset: int = 0, before: Sequence[Event] = ()
    ) -> list[list[str]]:
        def earlier(reach: int) -> Iterator[Item]:
            self.reaches.append(reach)
            for line, outcome in items(key, before, 0.0, length=offset // len(before)):
                if isinstance(line, Line) and line.offset >= offset - reach:
                    yield line, outcome

        passed = list(self.tracer.follow(key, offset, items(key, events, silent, offset), earlier))
        assert [line.end for line, _ in passed] == [line.end for line, _ in items(key, events, silent, offset)]
        outcomes = [outcome for _, outcome in passed if isinstance(outcome, Sealed)]
        beside = [[made.beside for made in outcome.beside if isinstance(made, Sealed)] for outcome in outcomes]
        return [[made.span.name for [made] in each] for each in beside]


# One conversation


def test_the_rows_of_one_message_are_one_request_even_with_tool_results_in_between() -> None:
    spans = follow(
        event(1, "user_prompt"),
        row(2, "m1", "c1", stop="tool_use", output=5),
        answer(3, "c1", ok=True),
        row(4, "m1", "c2", stop="tool_use", output=9),
        answer(5, "c2", ok=True),
        row(6, "m2", stop="end_turn"),
        row(7, "m1", output=99),  # a straggler: its request is over
        event(8, "hook"),
    )
    assert [span.name for span in spans] == ["execute_tool Bash", "execute_tool Bash", "chat", "chat", "invoke_agent"]
    first = spans[2]
    assert (first.span_id, first.end - first.start) == (span_id("request", "m1"), 3_000_000_000)
    assert first.attributes["gen_ai.usage.output_tokens"] == 9


def test_a_request_begins_when_the_model_was_asked() -> None:
    asked = event(4, "api_request", time="2026-03-01T10:00:04.500Z")
    spans = follow(event(1, "user_prompt"), row(3, "m1", "c"), answer(4, "c"), asked, row(5, "m2"), event(9, "turn"))
    lengths = {span.span_id: (span.end - span.start) // 1_000_000 for span in spans}
    assert (lengths[span_id("request", "m1")], lengths[span_id("request", "m2")]) == (2_000, 500)


def test_an_unfinished_tool_call_gives_no_span_and_a_new_turn_forgets_it() -> None:
    spans = follow(
        event(1, "user_prompt"),
        row(2, "m1", "c1"),
        event(3, "user_prompt"),  # the person interrupted
        answer(4, "c1", ok=True),
        row(5, "m2", stop="end_turn"),
        event(6, "turn"),
    )
    assert [span.name for span in spans] == ["chat", "invoke_agent", "chat", "invoke_agent"]
    assert [span.name for span in follow(event(1, "user_prompt"), event(2, "user_prompt"))] == []


@pytest.mark.parametrize(
    "between", [[row(7, "m1", "c1"), answer(3, "c1"), row(8, "m2")], [row(7, "m1")], [event(5, "api_error")]]
)
def test_times_that_run_backwards_still_nest(between: list[Event]) -> None:
    spans = follow(event(9, "user_prompt"), *between, event(9, "turn"))
    turn = spans[-1]
    assert len(spans) > 1
    for span in spans:
        assert turn.start <= span.start <= span.end <= turn.end


def test_the_number_of_open_calls_is_bounded() -> None:
    made = Conversation()
    made.follow(event(1, "user_prompt"), {})
    for number in range(conversation.MOST_CALLS + 50):
        made.follow(row(2, f"m{number}", f"c{number}"), {})
    assert (len(made.calls), len(made.done)) == (conversation.MOST_CALLS, conversation.MOST_DONE)


def test_spans_are_encoded_as_the_published_types_encode_them() -> None:
    failed = answer(3, "c1", ok=False, text="no such file")
    spans = follow(event(1, "user_prompt"), row(2, "m1", "c1"), failed, row(4, "m2"), event(5, "turn"))
    spans.append(spans[0]._replace(failure="", parent_id=b"", events=[SpanEvent(7, "x", {"a": [1, {"b": None}]})]))
    groups = [Group({"host.id": "h"}, spans)]
    written = protobuf.traces(groups, ("collector", "1"), "url")
    read = decoded(written, ExportTraceServiceRequest, is_json=False)
    assert read.SerializeToString() == written
    assert len(read.resource_spans[0].scope_spans[0].spans) == len(spans) == 5
    as_json = json_form.traces(groups, ("collector", "1"), "url")
    assert plain(decoded(as_json, ExportTraceServiceRequest, is_json=True)) == plain(read)


# Many conversations, as they are read


def test_a_final_answer_in_a_silent_file_completes_its_turn() -> None:
    followed = Followed()
    told = followed.read("a", event(1, "user_prompt"), row(2, "m1", stop="end_turn"), None, silent=60)
    assert told == [[], ["chat", "invoke_agent"]]


def test_a_fresh_final_answer_completes_later_and_travels_with_another_event() -> None:
    followed = Followed()
    assert followed.read("a", event(1, "user_prompt"), row(2, "m1", stop="end_turn")) == [[], []]
    assert followed.read("b", event(3, "user_prompt")) == [[]]
    followed.now += tracer.QUIET_SECONDS
    assert followed.read("b", event(4, "queue"), offset=10) == [["chat", "invoke_agent"]]
    assert followed.read("b", event(5, "queue"), offset=20) == [[]]


def test_a_turn_that_continues_in_the_next_pass_is_remembered_without_rereading() -> None:
    followed = Followed()
    followed.read("a", event(1, "user_prompt"), row(2, "m1", "c1"))
    assert followed.read("a", answer(3, "c1"), event(4, "turn"), offset=20) == [
        ["execute_tool Bash"],
        ["chat", "invoke_agent"],
    ]
    assert followed.reaches == []


def test_unacknowledged_events_are_followed_again() -> None:
    followed = Followed()
    events = [event(1, "user_prompt"), row(2, "m1", "c1"), answer(3, "c1"), event(4, "turn")]
    first = followed.read("a", *events)
    assert followed.read("a", *events[2:], offset=20, before=events[:2]) == first[2:]
    assert followed.read("a", *events) == first  # from the start again, as after a rewrite
    assert followed.reaches == [tracer.FIRST_REACH]


def test_a_long_turn_is_reread_from_its_beginning() -> None:
    followed = Followed()
    before = [event(1, "user_prompt"), row(2, "m1", "c1"), *[event(2, "queue")] * 18]
    told = followed.read("a", answer(3, "c1"), event(4, "turn"), offset=20 * tracer.FIRST_REACH, before=before)
    assert told == [["execute_tool Bash"], ["chat", "invoke_agent"]]
    assert followed.reaches == [tracer.FIRST_REACH, 8 * tracer.FIRST_REACH, 64 * tracer.FIRST_REACH]


def test_the_number_of_remembered_conversations_is_bounded() -> None:
    followed = Followed(most_known=30)
    for number in range(50):
        followed.read(str(number), event(1, "user_prompt"), row(2, "m", stop="end_turn"))
    assert len(followed.tracer._known) == len(followed.tracer._due) == 30
