"""One session: what was asked, answered and done, in order; its subagents as a tree; one event in full.

In: the id of a session, perhaps a subagent of it, and how far down to begin. Out: as many events as a page can hold.
Only these are unpacked, so a page takes the same time however large its session is.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import orjson
from markupsafe import Markup

from collector.store.pages.asked import Asked, NotThere
from collector.store.pages.questions import length, pull_requests, sessions_of
from collector.store.pages.rendering import macros
from collector.store.pages.timeline import (
    CONVERSATION,
    SAID_BY_OTHERS,
    Answer,
    Item,
    answer_in,
    calls_in,
    compact,
    item_of,
    plain,
)
from collector.store.queries import rows_of

MOST_EVENTS, MOST_BYTES = 150, 200_000  # of one page
MOST_AGENTS, DEEPEST = 200, 6
MOST_OF_AN_EVENT = 120_000
NOTHING_SPENT = {"cost_micros": 0, "output_tokens": 0, "messages": 0, "messages_without_price": 0}
THESE = "IN (SELECT value FROM json_each(:calls))"
# A result is shown with its call, unless the call is not in the store.
NOT_TOLD = """NOT (kind = 'tool_result' AND NOT EXISTS (
    SELECT 1 FROM tool_rows AS result WHERE result.number = row.number AND result.is_result AND NOT EXISTS (
        SELECT 1 FROM tool_rows AS call WHERE call.call_id = result.call_id AND NOT call.is_result
    )
))"""


class Agent(NamedTuple):
    """A subagent; those that it started follow it, one level deeper."""

    id: str
    type: str
    description: str
    time: str | None
    length_ms: float | None
    events: int
    spent: dict[str, Any]
    depth: int = 0


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    session = asked.chosen.text("id")
    found = sessions_of(asked.connection, [session])
    if not found:
        raise NotThere
    row = found[0]
    agent, is_all, start = asked.chosen.text("in"), bool(asked.chosen.text("all")), asked.chosen.number("from")
    agents = _agents(asked, session)
    named = {each.id: each for each in agents}
    if agent and agent not in named:
        raise NotThere
    tree = _tree(agents[:MOST_AGENTS], asked, session)
    described = named | {each.id: each for each in tree}
    numbers = _numbers(asked, session, agent, is_all=is_all)
    start = min(start, max(0, len(numbers) - 1))
    items, end = _items(asked, numbers, start, frozenset(named))
    return {
        "title": row["title"] or "Session",
        "session": row,
        "pull_request": pull_requests(asked.connection, [session]).get(session),
        "reported": _reported(asked, session),
        "by_program": _by_program(asked, session),
        "agents": tree,
        "agents_left_out": len(agents) - len(tree),
        "agent": described.get(agent),
        "is_all": is_all,
        "items": items,
        "count": len(numbers),
        "start": start,
        "end": end,
        "next": end if end < len(numbers) else None,
        "last": max(0, len(numbers) - MOST_EVENTS),
    }


def event_view(asked: Asked) -> dict[str, Any]:
    """One event in full."""
    text = """
SELECT row.number, context.session_id, context.agent_id, unpacked(body) AS body
FROM event_rows AS row
JOIN contexts AS context ON context.number = row.context
JOIN packed_bodies ON packed_bodies.number = row.number
WHERE row.id = :id AND context.session_id = :session
"""
    given = asked.chosen.text("id")
    session = asked.chosen.text("session")
    is_id = len(given) == 32 and all(letter in "0123456789abcdef" for letter in given)
    found = rows_of(asked.connection, text, id=bytes.fromhex(given) if is_id else b"", session=session)
    if not found:
        raise NotThere
    event = orjson.loads(found[0]["body"])
    return {
        "title": "Event",
        "item": item_of(event, _answers(asked, calls_in(event, "tool_call"))),
        "session_id": found[0]["session_id"],
        "agent_id": found[0]["agent_id"],
        "whole": compact(event),
        "most": MOST_OF_AN_EVENT,
    }


def _numbers(asked: Asked, session: str, agent: str, *, is_all: bool) -> list[int]:
    """The numbers of the events on this page and on those before and after it, in order."""
    kinds = ", ".join(f"'{kind}'" for kind in sorted(CONVERSATION))
    origins = ", ".join(f"'{origin}'" for origin in sorted(SAID_BY_OTHERS))
    shown = (
        "true" if is_all else f"(kind IN ({kinds}) OR kind = 'user_context' AND origin IN ({origins})) AND {NOT_TOLD}"
    )
    whose = "agent_id = :agent" if agent else "agent_id IS NULL"
    text = f"""
SELECT row.number AS number FROM contexts JOIN event_rows AS row ON row.context = contexts.number
WHERE session_id = :session AND {whose} AND {shown} AND kind NOT IN ('prompt_history', 'session_index')
ORDER BY coalesce(row.time, ''), row.number
"""  # noqa: S608 - our own words
    return [row["number"] for row in rows_of(asked.connection, text, session=session, agent=agent)]


def _items(asked: Asked, numbers: list[int], start: int, agents: frozenset[str]) -> tuple[list[Markup], int]:
    """As many rows of the timeline as a page can hold, and where the next page begins."""
    row, session = macros("items.html").row, asked.chosen.text("id")
    rows: list[Markup] = []
    before: Item | None = None
    size = 0
    for number in numbers[start : start + MOST_EVENTS]:
        event = _event(asked, number)
        item = item_of(event, _answers(asked, calls_in(event, "tool_call")))
        made = Markup(row(item, before, session, agents))  # noqa: S704 - a template has made it
        size += len(made.encode())
        if rows and size > MOST_BYTES:
            break
        rows.append(made)
        before = item
    return rows, start + len(rows)


def _event(asked: Asked, number: int) -> dict[str, Any]:
    """An event as it was sent."""
    row = asked.connection.execute("SELECT unpacked(body) FROM packed_bodies WHERE number = ?", (number,)).fetchone()
    event = orjson.loads(row[0]) if row else {}
    return event if isinstance(event, dict) else {}


def _answers(asked: Asked, calls: list[str]) -> dict[str, Answer]:
    """The answers to these calls, as far as they are in the store."""
    if not calls:
        return {}
    given = json.dumps(calls)
    known = {
        row["call_id"]: row
        for row in rows_of(
            asked.connection,
            f"SELECT call_id, ok, duration_ms, duration_from, result_time FROM call_totals WHERE call_id {THESE}",  # noqa: S608
            calls=given,
        )
    }
    text = f"""
SELECT call_id, min(number) AS number FROM tool_rows WHERE is_result AND call_id {THESE} GROUP BY 1
"""  # noqa: S608
    answers = {}
    for row in rows_of(asked.connection, text, calls=given):
        event = _event(asked, row["number"])
        answers[row["call_id"]] = answer_in(event, row["call_id"], known.get(row["call_id"], {}))
    return answers


def _agents(asked: Asked, session: str) -> list[Agent]:
    text = """
SELECT agent_id, min(agent_type) AS type, min(first_time) AS time, max(last_time) AS last_time, sum(events) AS events
FROM contexts JOIN activity_totals ON activity_totals.context = contexts.number
WHERE session_id = :session AND agent_id IS NOT NULL GROUP BY 1 ORDER BY 3, 1
"""
    spent = """
SELECT agent_id, (sum(cost_exact) + 50000) / 100000 AS cost_micros, sum(output_tokens) AS output_tokens,
    sum(messages) AS messages, coalesce(sum(messages) FILTER (WHERE cost_from = 'unknown'), 0) AS messages_without_price
FROM contexts JOIN usage_costs ON usage_costs.context = contexts.number
WHERE session_id = :session AND agent_id IS NOT NULL GROUP BY 1
"""
    costs = {row["agent_id"]: row for row in rows_of(asked.connection, spent, session=session)}
    return [
        Agent(
            row["agent_id"],
            row["type"] or "",
            "",
            row["time"],
            length(row["time"], row["last_time"]),
            row["events"],
            costs.get(row["agent_id"], NOTHING_SPENT),
        )
        for row in rows_of(asked.connection, text, session=session)
    ]


def _tree(agents: list[Agent], asked: Asked, session: str) -> list[Agent]:
    """The subagents that the session started, each followed by those that it started itself."""
    text = """
SELECT unpacked(body) AS body FROM packed_bodies WHERE number = (
    SELECT min(row.number) FROM contexts JOIN event_rows AS row ON row.context = contexts.number
    WHERE session_id = :session AND agent_id = :agent
)
"""
    named, parents = {}, {}
    for agent in agents:
        found = rows_of(asked.connection, text, session=session, agent=agent.id)
        event = orjson.loads(found[0]["body"]) if found else {}
        named[agent.id] = agent._replace(description=plain(event.get("agent_description")))
        parents[agent.id] = plain(event.get("parent_agent_id"))
    below: dict[str, list[str]] = {}
    for name, parent in parents.items():
        is_known = parent in named and not _is_above(name, parent, parents)
        below.setdefault(parent if is_known else "", []).append(name)
    listed, open_ones = [], [(name, 0) for name in reversed(below.get("", []))]
    while open_ones:
        name, depth = open_ones.pop()
        listed.append(named[name]._replace(depth=min(depth, DEEPEST)))
        open_ones += [(child, depth + 1) for child in reversed(below.get(name, []))]
    return listed


def _is_above(name: str, other: str, parents: dict[str, str]) -> bool:
    """Whether a subagent is recorded as being above another one: then they form a circle."""
    seen: set[str] = set()
    while other and other not in seen:
        if other == name:
            return True
        seen.add(other)
        other = parents.get(other, "")
    return False


def _reported(asked: Asked, session: str) -> int | None:
    """Claude Code's own total, in micro-dollars, without what a fork took over from its parent."""
    text = """
SELECT (row.reported_cost + 50000) / 100000 AS cost
FROM contexts JOIN event_rows AS row ON row.context = contexts.number
WHERE session_id = :session AND row.kind = 'session_cost' AND row.reported_cost IS NOT NULL
ORDER BY coalesce(row.time, '') DESC, row.number DESC LIMIT 1
"""
    if rows_of(asked.connection, "SELECT 1 FROM forks WHERE session_id = :session", session=session):
        # Reads all sessions, so the others are spared it.
        text = "SELECT (reported - inherited + 50000) / 100000 AS cost FROM session_costs WHERE session_id = :session"
    found = rows_of(asked.connection, text, session=session)
    return found[0]["cost"] if found else None


def _by_program(asked: Asked, session: str) -> int:
    """How many prompts a program gave, with `claude -p` or the SDK; the session's `prompts` are those of people."""
    text = """
SELECT count(*) AS prompts FROM contexts JOIN event_rows AS row ON row.context = contexts.number
WHERE session_id = :session AND row.kind = 'user_prompt' AND row.origin = 'sdk'
"""
    return int(rows_of(asked.connection, text, session=session)[0]["prompts"])
