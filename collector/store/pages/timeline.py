"""Turns one event into a part of a session that a person can read.

In: events as they were sent, and what is known about the tool calls in them. Out: items with pieces: text, thinking,
calls with their outcome, notes. Invariant: any JSON gives an item. A receiver takes events from anybody who has the
token, so no field is assumed to have the shape that it should.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from collector.store.pages.shown import weight

MOST_TEXT, MOST_SIDE = 4000, 2000  # characters of one text on the page, and of a tool's input or answer
MOST_OF_AN_ITEM = 60_000  # bytes
MOST_BLOCKS = 50
# The kinds that make up a session to a person. Everything else is bookkeeping, shown on request.
CONVERSATION = frozenset(
    {
        *("user_prompt", "assistant_response", "tool_call", "tool_result", "api_error", "compaction", "summary"),
        *("local_command", "link", "workflow", "unknown"),
    }
)
SAID_BY_OTHERS = frozenset({"compaction", "task", "peer", "scheduled"})  # origins of user_context that are shown
NAMES = {
    "user_prompt": "Prompt",
    "assistant_response": "Answer",
    "tool_call": "Tools",
    "tool_result": "Result",
    "api_error": "API error",
    "compaction": "Compacted",
    "local_command": "Command",
    "link": "Link",
    "user_context": "Context",
}
# The fields of a tool's input that say most about it, in the order in which they are tried.
TELLING = (
    *("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "subagent_type"),
    *("description", "prompt", "task_id", "title"),
)


class Answer(NamedTuple):
    """What came of a call: how it ended, how long it took, what it returned, which subagent it started."""

    ok: bool | None = None
    duration_ms: int | None = None
    duration_from: str | None = None
    text: str = ""
    agent_id: str = ""
    redactions: dict[str, int] = {}  # noqa: RUF012 - never changed
    facts: dict[str, Any] = {}  # noqa: RUF012 - never changed


class Piece(NamedTuple):
    """A part of an item: `kind` is text, thinking, call, result, binary or other."""

    kind: str
    title: str = ""
    text: str = ""
    more: str = ""
    answer: Answer | None = None


class Item(NamedTuple):
    """An event on the page."""

    id: str
    kind: str
    name: str
    time: str
    pieces: list[Piece]
    redactions: dict[str, int]
    truncated: bool
    facts: list[str]


def item_of(event: dict[str, Any], answers: dict[str, Answer]) -> Item:
    """The event as an item."""
    kind = plain(event.get("kind"))
    pieces = []
    text = plain(event.get("text"))
    if text:
        pieces.append(Piece("text", text=text))
    blocks = blocks_of(event)
    for number, block in enumerate(blocks):
        if sum(map(_weight, pieces)) > MOST_OF_AN_ITEM:
            pieces.append(Piece("binary", "not shown", f"{len(blocks) - number} more parts; see the whole event"))
            break
        pieces.append(_piece(block, answers))
    origin = plain(event.get("origin"))
    facts = [fact for fact in (plain(event.get("model")), plain(event.get("record_subtype"))) if fact]
    if origin and origin not in {"human", "tool"}:
        facts.insert(0, origin)
    if kind == "link" and isinstance(pull := event.get("pull_request"), dict):
        pieces.append(Piece("link", plain(pull.get("repository")), plain(pull.get("url")), plain(pull.get("number"))))
    if not pieces or (kind == "unknown" and not text):
        pieces.append(Piece("other", text=compact(event.get("attributes") or event.get("tool") or {})))
    return Item(
        plain(event.get("id")),
        kind,
        NAMES.get(kind, kind.replace("_", " ").capitalize()),
        plain(event.get("time")),
        pieces,
        redactions_of(event),
        bool(event.get("truncated")),
        facts,
    )


def redactions_of(event: dict[str, Any]) -> dict[str, int]:
    """How many secrets were taken out of an event, by rule."""
    found = event.get("redactions")
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(rule): number for rule, number in pairs if isinstance(number, int)}


def calls_in(event: dict[str, Any], kind: str) -> list[str]:
    """The ids of the calls (tool_call) or of the results (tool_result) in an event."""
    calls = [block.get("call_id") for block in blocks_of(event) if block.get("type") == kind]
    return [call for call in calls if isinstance(call, str)]


def answer_in(event: dict[str, Any], call_id: str, known: dict[str, Any]) -> Answer:
    """The answer to a call, from the event that holds its result; `known` is the row of the call."""
    tool = event.get("tool")
    facts: dict[str, Any] = tool if isinstance(tool, dict) and tool.get("call_id") in {call_id, None} else {}
    said = ""
    for block in blocks_of(event):
        if block.get("call_id") == call_id:
            said = plain(block.get("text")) or (compact(block["blocks"]) if block.get("blocks") else "")
    ok = known.get("ok")
    return Answer(
        None if ok is None else bool(ok),
        known.get("duration_ms"),
        known.get("duration_from"),
        said or plain(facts.get("message")),
        plain(facts.get("agent_id")),
        redactions_of(event),
        {name: facts[name] for name in ("exit_code", "denied_by", "lines_added", "lines_removed") if facts.get(name)},
    )


def _piece(block: dict[str, Any], answers: dict[str, Answer]) -> Piece:
    kind = plain(block.get("type"))
    if kind in {"thinking", "redacted_thinking"}:
        text = plain(block.get("text"))
        return Piece("thinking", text=text or "(not readable)")
    if kind == "tool_call":
        given = block.get("input")
        answer = answers.get(plain(block.get("call_id")))
        return Piece("call", plain(block.get("name")) or "tool", _telling(given), compact(given), answer)
    if kind == "tool_result":
        return Piece("result", plain(block.get("name")), plain(block.get("text")) or compact(block.get("blocks") or ""))
    if isinstance(block.get("bytes"), int):
        return Piece("binary", kind, f"{plain(block.get('media_type'))}, {block['bytes']:,} bytes, not kept")
    return Piece("other", kind, plain(block.get("text")) or compact(block))


def _telling(given: Any) -> str:
    """The part of a tool's input that tells a person what it was for."""
    if isinstance(given, dict):
        for name in TELLING:
            if isinstance(given.get(name), str) and given[name].strip():
                return str(given[name])
        return compact(given)
    return plain(given)


def plain(value: Any) -> str:
    """A value as text; empty if there is none."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact(value)


def blocks_of(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of an event, without any that are malformed."""
    blocks = event.get("blocks")
    return [block for block in blocks[:MOST_BLOCKS] if isinstance(block, dict)] if isinstance(blocks, list) else []


def compact(value: Any) -> str:
    """A value as JSON that a person can read."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() if value not in (None, {}, []) else ""
    except orjson.JSONEncodeError:
        return "(nested too deeply to be shown)"


def _weight(piece: Piece) -> int:
    """About how many bytes a piece takes on the page."""
    text = weight(piece.text, MOST_TEXT) + weight(piece.more, MOST_SIDE)
    return 700 + text + (weight(piece.answer.text, MOST_SIDE) if piece.answer else 0)
