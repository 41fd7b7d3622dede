"""Turns an event as it was sent into a row of the store, or into the reason why it is rejected.

In: a line, or an element of a JSON array. Out: a Row or a Rejected. An event needs an id, a schema and a kind; any
other value of the wrong type is merely left out of the columns, and the event itself is kept as it was sent. Invariant:
a row depends on its event alone, so the same event gives the same row in every store.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import orjson

from collector.flow.event import SCHEMA
from collector.store.calls import MAX_LABEL_CHARACTERS, USAGE, billed_calls, count, label, reported_cost
from collector.store.tools import MAX_TOOLS, ToolRow, tool_rows

__all__ = ["CONTEXT", "FACTS", "MAX_TOOLS", "NOT_JSON", "Rejected", "Row", "from_line", "from_value"]

NOT_JSON = "not valid JSON"
MAX_TITLE_CHARACTERS = 160
LARGEST_MOMENT = 2**53  # in milliseconds
LARGEST_CACHED = 16_384  # bytes of an event whose context is cached

# Who and where: the same for hundreds of events, so it is stored once.
CONTEXT = (
    *("session_id", "agent_id", "agent_type", "copied_from", "project", "cwd", "git_branch"),
    *("host_id", "host_name", "user", "root", "client_version", "entrypoint", "labels"),
)
FACTS = (
    *("kind", "record_type", "time", "origin", "model", "message", "request_id", "stop_reason", "quality"),
    *("speed", "service_tier", "inference_geo"),
    *USAGE,
    *("counts", "is_final", "is_copy", "calls", "reported_cost", "started", "lines_added", "lines_removed", "title"),
    *("redactions", "bytes"),
)
NO_USAGE = (None,) * len(USAGE)
# Running totals, and rows that Claude Code makes up itself, are not messages.
TOTALS = frozenset({"session_cost", "session", "session_index", "stats"})
SYNTHETIC = "<synthetic>"
# The quality of a row that was written before the final count was known.
UNKNOWN_OUTPUT = "output_tokens_unknown"

_is_id = re.compile(r"[0-9a-f]{32}\Z").match
_is_time = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d").match
_find_id = re.compile(rb'"id"\s*:\s*"([\w-]{1,128})"').search


class Rejected(NamedTuple):
    """An event that is not stored; `id` is what the sender called it, or None if that cannot be found."""

    id: str | None
    reason: str


class Row(NamedTuple):
    """An event as it is stored: `context` in the order of CONTEXT, `facts` in the order of FACTS."""

    id: bytes
    context: tuple[str | None, ...]
    facts: tuple[str | int | None, ...]
    tools: tuple[ToolRow, ...]
    body: bytes


MESSAGE, COUNTS, OUTPUT, IS_COPY = (FACTS.index(name) for name in ("message", "counts", "output_tokens", "is_copy"))
AGENT = CONTEXT.index("agent_id")
RANKED = slice(0, FACTS.index("bytes"))


def message_of(facts: tuple[Any, ...]) -> str | None:
    """The message whose usage a row carries; None if it carries none."""
    return facts[MESSAGE] if facts[COUNTS] else None


def rank(facts: tuple[Any, ...], context: tuple[Any, ...]) -> tuple[Any, ...]:
    """Of two rows with the same id, the higher ranking one is kept, whichever came first: the one with more output,
    then an original rather than a fork's copy, then the main conversation rather than the copy that an agent on the
    side was given, then the one that says more. Equal ranks have equal facts."""
    values = (*facts[RANKED], *context)
    output = facts[OUTPUT]
    return (
        -1 if output is None else output,
        not facts[IS_COPY],
        context[AGENT] is None,
        len(values) - values.count(None),
        tuple("" if value is None else str(value) for value in values),
    )


def from_line(line: bytes) -> Row | Rejected:
    """The row of one line of NDJSON."""
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = _find_id(line)
        return Rejected(found.group(1).decode() if found else None, NOT_JSON)
    return _problem(event) or _row(event, line.strip())


def from_value(event: Any) -> Row | Rejected:
    """The row of one element of a JSON array."""
    return _problem(event) or _row(event, orjson.dumps(event))


def _problem(event: Any) -> Rejected | None:
    if not isinstance(event, dict):
        return Rejected(None, "not a JSON object")
    identity = event.get("id")
    if not isinstance(identity, str) or not _is_id(identity):
        return Rejected(label(identity), "id must be 32 hexadecimal digits")
    if event.get("schema") != SCHEMA:
        return Rejected(identity, f"schema must be {SCHEMA}")
    if not isinstance(event.get("kind"), str) or not event["kind"]:
        return Rejected(identity, "kind must be a string")
    return None


def _row(event: dict[str, Any], body: bytes) -> Row:
    get = event.get
    host, client, attributes = _table(get("host")), _table(get("client")), _table(get("attributes"))
    copied_from = _copied_from(attributes, get("session_id")) if attributes else None
    labels = get("labels")
    context = _context(
        len(body),
        *(get("session_id"), get("agent_id"), get("agent_type"), copied_from, get("project"), get("cwd")),
        *(get("git_branch"), host.get("id"), host.get("name"), get("user"), get("root")),
        *(client.get("version"), client.get("entrypoint")),
        orjson.dumps(labels, option=orjson.OPT_SORT_KEYS).decode() if labels and isinstance(labels, dict) else None,
    )
    kind, time, message = event["kind"][:MAX_LABEL_CHARACTERS], label(get("time")), label(get("message_id"))
    usage = _table(get("usage"))
    counts = bool(usage) and kind not in TOTALS and get("model") != SYNTHETIC
    figures = tuple([count(usage.get(name)) for name in USAGE]) if usage else NO_USAGE
    counts = counts and figures[:4] != NO_USAGE[:4]
    model, iterations, quality = label(get("model")), usage.get("iterations"), _quality(get("quality"))
    facts = (
        *(kind, label(get("record_type")), time if time and _is_time(time) else None, label(get("origin")), model),
        *(message or (f"#{event['id']}" if counts else None), label(get("request_id")), label(get("stop_reason"))),
        quality,
        *(label(usage.get("speed")), label(usage.get("service_tier")), label(usage.get("inference_geo"))),
        *figures,
        *(1 if counts else None, 1 if counts and UNKNOWN_OUTPUT not in (quality or "") else None),
        1 if copied_from is not None else None,
        billed_calls(model, figures, iterations) if counts and iterations else None,
        reported_cost(attributes.get("total_cost_usd" if kind == "session_cost" else "cost_usd")),
        count(attributes.get("start_time"), LARGEST_MOMENT) if kind == "session_cost" else None,
        *_lines(get("tool")),
        *(_title(kind, event), _redactions(get("redactions")), len(body)),
    )
    return Row(bytes.fromhex(event["id"]), context, facts, tool_rows(event, kind), body)


def _copied_from(attributes: dict[str, Any], session: Any) -> str | None:
    """The session that a fork copied this row from: copies name it, or (2.1.327) the session that made the request."""
    if "forked_from" in attributes:
        return label(_table(attributes["forked_from"]).get("sessionId"))
    requested_by = attributes.get("request_session_id")
    return label(requested_by) if requested_by != session else None


def _table(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _quality(value: Any) -> str | None:
    """`quality` is a word, or a list of words."""
    if isinstance(value, list):
        value = " ".join(word for word in value if isinstance(word, str))
    return label(value)


def _lines(tool: Any) -> tuple[int | None, int | None]:
    """The lines that an edit added and removed."""
    if type(tool) is not dict:
        return None, None
    return count(tool.get("lines_added")), count(tool.get("lines_removed"))


def _context(size: int, *values: Any) -> tuple[str | None, ...]:
    """Who and where. Hundreds of events share the same, so results are cached, except those of large events: any of
    these values may be what makes one large."""
    try:
        return (_labels if size <= LARGEST_CACHED else _labels.__wrapped__)(*values)
    except TypeError:  # something that cannot be a label, such as a list
        return tuple(map(label, values))


@functools.lru_cache(maxsize=4096)
def _labels(*values: Any) -> tuple[str | None, ...]:
    return tuple(map(label, values))


def _redactions(value: Any) -> str | None:
    """How many secrets were replaced, by rule, as JSON."""
    if type(value) is not dict or not value:
        return None
    counts = {label(rule): number for rule, number in value.items() if count(number) is not None}
    return orjson.dumps(counts, option=orjson.OPT_SORT_KEYS).decode()


def _title(kind: str, event: dict[str, Any]) -> str | None:
    """What a list of sessions shows: a name that the session was given, or the beginning of a prompt; `claude -p` and
    the SDK give no name."""
    if kind in {"title", "summary"} or (kind == "user_prompt" and event.get("origin") in ("human", "sdk")):
        text = event.get("text")
        if type(text) is str and text:
            return " ".join(text[: 2 * MAX_TITLE_CHARACTERS].split())[:MAX_TITLE_CHARACTERS] or None
    return None
