"""A conversation: turns the events of one transcript, in order, into spans. Pure: events in, completed spans out.

A turn begins with a prompt, or with whatever an agent is given, and ends with the answer that calls no tool. It
contains the requests to the model (the rows of one message are one request) and the tool calls. A subagent's turn is
the child of the call that started it. Ids are hashes of the events' own ids, so a repeat is the same span. A span is
made once it is over. Only open spans are remembered, and a new turn forgets what the last one left open, so memory
stays small and reading again from the beginning of a turn restores it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from collector.delivery.otlp import mapping
from collector.delivery.otlp.records import CLIENT, INTERNAL, Context, Span, SpanEvent

Event = dict[str, Any]
MOST_CALLS = 1_000  # open at once in a turn; the oldest are forgotten first
MOST_DONE = 100  # messages whose requests are over
MOST_SAID = 500  # characters kept of a failure
GIVEN = frozenset({"task", "peer"})  # origins of the records that begin a subagent's turn
GOES_ON = frozenset({"", "tool_use", "pause_turn"})  # stop reasons after which the model is asked again
# Kinds that follow an answer and never stand between its rows.
FOLLOWS_AN_ANSWER = frozenset({"user_prompt", "user_context", "hook", "session_cost", "compaction", "api_error"})
# The attributes of a record that its span has too.
ON_REQUESTS = frozenset({"session.id", "prompt.id", "request_id", "agent_id", "speed", "status_code", "error.type"})
ON_CALLS = frozenset({"success", "duration_ms", "collector.tool.exit_code", "collector.tool.denied_by"})
ASKS = frozenset({"user_prompt", "user_context", "tool_result", "api_request"})


class Completed(NamedTuple):
    """A span and its resource."""

    resource: dict[str, Any]
    span: Span


class Call(NamedTuple):
    """A tool call that has no answer yet."""

    start: int
    attributes: dict[str, Any]


@dataclass(slots=True)
class Asked:
    """A request to the model; more rows of its answer may follow."""

    message_id: str
    start: int
    end: int
    output: int
    row: Event  # the one with the most output: it has the final counts


@dataclass(slots=True)
class Turn:
    """Everything from a prompt to its answer."""

    span_id: bytes
    trace_id: bytes
    start: int
    last: int
    who: dict[str, Any]
    parent_id: bytes
    is_answered: bool = False
    has_work: bool = False
    failure: str | None = None
    failed_at: int = 0


@dataclass(slots=True)
class Conversation:
    """One transcript, followed up to the offset `at`."""

    at: int = 0
    is_certain: bool = False  # whether the beginning or the end of a turn has been seen
    turn: Turn | None = None
    request: Asked | None = None
    calls: dict[str, Call] = field(default_factory=dict)
    done: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_DONE))
    asked_at: int = 0  # when the model was last given something to answer
    prompt_id: str = ""
    resource: dict[str, Any] = field(default_factory=dict)

    def follow(self, event: Event, machine: dict[str, str]) -> list[Completed]:
        """Takes the next event; returns the spans that it completes."""
        if _is_copy(event):  # from another session, which reports it itself
            return []
        kind, spans = event.get("kind"), []
        time = mapping.nanoseconds(event["time"]) if "time_from" not in event else 0
        version = event.get("client", {}).get("version")
        if not self.resource or (version and version != self.resource.get("service.version")):
            self.resource = mapping.resource(event, machine)
        self.prompt_id = event.get("prompt_id", "" if kind == "user_prompt" else self.prompt_id)
        turn = self.turn
        # It ends with its last activity, not with the event that shows it: the answer may be all there was to read.
        if turn and (kind == "turn" or (turn.is_answered and kind in FOLLOWS_AN_ANSWER)):
            spans = self.close()
        if kind == "user_prompt" or (kind == "user_context" and event.get("origin") in GIVEN and not self.turn):
            spans += self.close()
            self._begin(event, time)
        elif kind in ("assistant_response", "tool_call") and event.get("model") != mapping.SYNTHETIC:
            spans += self._row(event, time)
        elif kind == "tool_result":
            spans += self._answers(event, time)
        elif kind == "api_error":
            spans += self._failure(event, time)
        if time and kind in ASKS and "message_id" not in event:  # a request that resumes an answer asks nothing new
            self.asked_at = time
        return spans

    def context(self, event: Event) -> Context | None:
        """The span that an event belongs to, once followed: its request, its tool call, or else the turn."""
        turn, kind, tool = self.turn, event.get("kind"), event.get("tool", {})
        if turn is None or _is_copy(event):
            return None
        if kind in ("assistant_response", "tool_call") and "message_id" in event:
            return Context(turn.trace_id, span_id("request", event["message_id"]))
        if kind == "tool_result" and "call_id" in tool:
            return Context(turn.trace_id, span_id("tool", tool["call_id"]))
        return Context(turn.trace_id, turn.span_id)

    def close(self) -> list[Completed]:
        """Ends the turn; a call that has no answer has no end, so it is left out."""
        turn = self.turn
        if turn is None:
            return []
        spans = self._close_request()
        if turn.has_work:
            failed = [_exception(turn.failed_at, "api_error", turn.failure)] if turn.failure is not None else []
            attributes = {"gen_ai.operation.name": "invoke_agent", **turn.who}
            name = f"invoke_agent {turn.who['gen_ai.agent.name']}".strip()
            ids = (turn.trace_id, turn.span_id, turn.parent_id)
            made = Span(*ids, name, INTERNAL, turn.start, turn.last, attributes, failed, turn.failure)
            spans.append(Completed(self.resource, made))
        self.turn, self.is_certain, self.asked_at = None, True, 0
        self.calls.clear()
        return spans

    def _begin(self, event: Event, time: int) -> Turn:
        called_by = event.get("parent_call_id")
        self.turn = Turn(
            span_id=span_id("turn", event["id"]),
            trace_id=trace_id(event, self.prompt_id),
            start=time,
            last=time,
            who=_who(event, self.prompt_id),
            parent_id=span_id("tool", called_by) if called_by else b"",
        )
        self.is_certain, self.asked_at = True, time
        return self.turn

    def _row(self, event: Event, time: int) -> list[Completed]:
        """Takes a row of an answer, which belongs to the open request or begins the next one."""
        message_id = event.get("message_id", "")
        if not time or not message_id or message_id in self.done:
            return []
        turn, spans = self.turn, []
        request = self.request
        if request is None or request.message_id != message_id:
            if turn and turn.is_answered:
                spans = self.close()
                turn = None
            spans += self._close_request()
            if turn is None:  # the program went on by itself, as after a hook
                turn = self._begin(event, min(self.asked_at or time, time))
            start = min(max(self.asked_at, turn.start), time)
            request = self.request = Asked(message_id, start, time, -1, event)
        assert turn is not None  # noqa: S101 - a request is open only within a turn
        output = event.get("usage", {}).get("output_tokens", 0)
        if output > request.output:
            request.output, request.row = output, event
        request.end = turn.last = max(request.end, turn.last, time)
        turn.start, turn.has_work = min(turn.start, request.start), True
        turn.who["gen_ai.provider.name"] = mapping.provider(event)
        turn.is_answered = event.get("stop_reason", "") not in GOES_ON
        for block in event.get("blocks", ()):
            if block.get("type") == "tool_call" and "call_id" in block:
                self._call(event, block, time)
        return spans

    def _call(self, event: Event, block: Event, time: int) -> None:
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": mapping.provider(event),
            "gen_ai.tool.name": str(block.get("name", "")),
            "gen_ai.tool.call.id": block["call_id"],
        }
        while len(self.calls) >= MOST_CALLS:
            del self.calls[next(iter(self.calls))]
        self.calls[block["call_id"]] = Call(time, attributes | _who(event, self.prompt_id))

    def _close_request(self) -> list[Completed]:
        request, self.request = self.request, None
        if request is None or self.turn is None:
            return []
        self.done.append(request.message_id)
        name = f"chat {request.row.get('model', '')}".strip()
        ids = (self.turn.trace_id, span_id("request", request.message_id), self.turn.span_id)
        made = Span(*ids, name, CLIENT, request.start, request.end, self.turn.who | _of_request(request.row))
        return [Completed(self.resource, made)]

    def _answers(self, event: Event, time: int) -> list[Completed]:
        """A tool's answer ends its call. If the call is not known, the span has no beginning and is left out."""
        turn, spans = self.turn, []
        if turn is None or not time:
            return []
        turn.last = max(turn.last, time)
        facts = mapping.attributes({"kind": "tool_result", "tool": event.get("tool", {})})
        for block in event.get("blocks", ()):
            call_id = block.get("call_id", "")
            call = self.calls.pop(call_id, None) if block.get("type") == "tool_result" else None
            if call is None:
                continue
            attributes = dict(call.attributes)
            if facts.get("gen_ai.tool.call.id") == call_id:
                attributes |= {name: value for name, value in facts.items() if name in ON_CALLS}
            failure, failed = None, []
            if block.get("ok") is False:
                failure = str(block.get("text", ""))[:MOST_SAID]
                attributes["error.type"] = "tool_error"
                failed = [_exception(time, "tool_error", failure)]
            ids = (turn.trace_id, span_id("tool", call_id), turn.span_id)
            name = f"execute_tool {attributes['gen_ai.tool.name']}".strip()
            start = min(call.start, time)
            turn.start = min(turn.start, start)
            made = Span(*ids, name, INTERNAL, start, time, attributes, failed, failure)
            spans.append(Completed(self.resource, made))
        return spans

    def _failure(self, event: Event, time: int) -> list[Completed]:
        """A failed request is a span too. The error that is finally shown in place of an answer fails the turn."""
        if self.turn is None or not time:
            return []
        turn, said = self.turn, str(event.get("text", ""))[:MOST_SAID]
        turn.last, turn.has_work = max(turn.last, time), True
        if event.get("model") == mapping.SYNTHETIC:
            turn.failure, turn.failed_at, turn.is_answered = said, time, True
            return []
        attributes = turn.who | _of_request(event)
        attributes.setdefault("error.type", "api_error")
        ids = (turn.trace_id, span_id("failure", event["id"]), turn.span_id)
        start = min(max(self.asked_at, turn.start), time)
        turn.start = min(turn.start, start)
        failed = [_exception(time, str(attributes["error.type"]), said)]
        self.asked_at = time
        return [Completed(self.resource, Span(*ids, "chat", CLIENT, start, time, attributes, failed, said))]


def span_id(kind: str, name: str) -> bytes:
    """The same id for the same thing, wherever and however often it is seen."""
    return blake2b(f"{kind}\0{name}".encode(), digest_size=8).digest()


def trace_id(event: Event, prompt_id: str) -> bytes:
    """A trace is one prompt and everything it led to, including subagents: their records name the same prompt. Records
    from before Claude Code wrote prompt ids name only the session, which then is the trace."""
    what = f"prompt\0{prompt_id}" if prompt_id else f"session\0{event.get('session_id', '')}"
    return blake2b(f"trace\0{what}".encode(), digest_size=16).digest()


def _who(event: Event, prompt_id: str) -> dict[str, Any]:
    """The attributes by which the spans of a turn say where they belong."""
    told = mapping.attributes(
        {name: event[name] for name in ("kind", "session_id", "agent_id", "cwd", "git_branch") if name in event}
    )
    told = {name: value for name, value in told.items() if name not in ("event.name", "gen_ai.operation.name")}
    told["gen_ai.agent.name"] = event.get("agent_type") or event.get("client", {}).get("name", "")
    if prompt_id:
        told["prompt.id"] = prompt_id
    return told


def _of_request(row: Event) -> dict[str, Any]:
    """A request span's attributes: what the GenAI conventions ask for, and what joins it with other telemetry."""
    told = mapping.attributes({name: value for name, value in row.items() if name not in ("blocks", "tool")})
    return {name: value for name, value in told.items() if name in ON_REQUESTS or name.startswith("gen_ai.")}


def _is_copy(event: Event) -> bool:
    """Whether a fork copied this event from another session."""
    free = event.get("attributes")
    if type(free) is not dict:
        return False
    asked_by = free.get("request_session_id")
    return "forked_from" in free or (asked_by is not None and asked_by != event.get("session_id"))


def _exception(time: int, kind: str, said: str | None) -> SpanEvent:
    """A span event for what OpenTelemetry calls an exception."""
    return SpanEvent(time, "exception", {"exception.type": kind, "exception.message": said or kind})
