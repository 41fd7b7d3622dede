"""Precomputed totals for reports: tokens by hour, activity by hour, tool calls one by one and by day.

In: a transaction on the store, and what it touches. Out: totals in step with the rows. Invariant: the totals are what
the rows and the queries billed.sql and called.sql add up to, in whatever order and however often the events came. That
holds by construction: before a batch changes the rows, what the touched messages add up to is taken out; afterwards,
the same statement puts in what they add up to now. A sum that triggers add to would count repeats and growing rows
twice.

Crash window: none of its own. Rows and totals are written in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources

import orjson

from collector.store.calls import USAGE

THRESHOLDS = (100_000, 200_000)  # prompts above these may cost more; see prices.py
FIGURES = ("messages", *USAGE, "unknown_output")
_OF_THE_CALL = "coalesce(CASE WHEN call.key IS NULL THEN most.{0} ELSE json_extract(call.value, '$.{0}') END, 0) AS {0}"


def statement(name: str) -> str:
    """The text of a file in sql/."""
    text = (resources.files(__package__) / "sql" / name).read_text(encoding="utf-8")
    text = text.replace("/* usage of the call */", ",\n    ".join(_OF_THE_CALL.format(each) for each in USAGE))
    return text.replace("/* usage */", ", ".join(USAGE))


TOUCHED = "IN (SELECT value FROM json_each(:touched))"


def _of_touched(name: str, key: str) -> str:
    return statement(name).replace("/* touched */", f"AND {key} {TOUCHED}")


PROMPT = "input_tokens + cache_read_tokens + cache_creation_tokens"
PROMPT_OVER = (
    "CASE " + " ".join(f"WHEN {PROMPT} > {limit} THEN {limit}" for limit in reversed(THRESHOLDS)) + " ELSE 0 END"
)
KEY = ("hour", "context", "model", "speed", "percent", "prompt_over", "is_reported")
SUMMED = (*FIGURES, "reported_cost")


def _adds(names: Iterable[str]) -> str:
    return ", ".join(f"{name} = {name} + excluded.{name}" for name in names)


def _usage(sign: str) -> str:
    sums = ", ".join(f"{sign}sum({name})" for name in FIGURES)
    return f"""
INSERT INTO usage_totals ({", ".join((*KEY, *SUMMED))})
SELECT hour, context, model, speed, percent, {PROMPT_OVER}, reported_cost IS NOT NULL,
    {sums}, {sign}sum(coalesce(reported_cost, 0))
FROM ({_of_touched("billed.sql", "message")}) WHERE true GROUP BY 1, 2, 3, 4, 5, 6, 7
ON CONFLICT DO UPDATE SET {_adds(SUMMED)}
"""  # noqa: S608 - our own names


ADD_USAGE, SUBTRACT_USAGE = _usage("+"), _usage("-")
DROP_EMPTY = f"""
DELETE FROM usage_totals WHERE messages = 0 AND {" AND ".join(f"{name} = 0" for name in SUMMED[1:])}
"""  # noqa: S608
CALLED = ("calls", "answered", "failed", "duration_ms", "timed", "computed")


def _calls_of_days(sign: str, change: str) -> str:
    return f"""
INSERT INTO call_days (day, place, name, target, {", ".join(CALLED)}, durations)
SELECT coalesce(substr(call.time, 1, 10), ''), context.place, coalesce(call.name, ''), coalesce(call.target, ''),
    {sign}count(*), {sign}count(call.ok), {sign}count(*) FILTER (WHERE call.ok = 0),
    {sign}coalesce(sum(call.duration_ms), 0), {sign}count(call.duration_ms),
    {sign}count(*) FILTER (WHERE call.duration_from = 'computed'),
    durations_with('', coalesce(group_concat(call.duration_ms), ''))
FROM call_totals AS call CROSS JOIN contexts AS context ON context.number = call.context
WHERE call.call_id {TOUCHED} GROUP BY 1, 2, 3, 4
ON CONFLICT DO UPDATE SET {_adds(CALLED)}, durations = {change}(durations, excluded.durations)
"""  # noqa: S608 - our own names


ADD_CALLS_OF_DAYS = _calls_of_days("+", "durations_with")
SUBTRACT_CALLS_OF_DAYS = _calls_of_days("-", "durations_without")
DROP_EMPTY_DAYS = "DELETE FROM call_days WHERE calls = 0"
FORGET_CALLS = f"DELETE FROM call_totals WHERE call_id {TOUCHED}"  # noqa: S608
ADD_CALLS = f"""
INSERT INTO call_totals (call_id, context, time, name, target, result_time, ok, duration_ms, duration_from)
{_of_touched("called.sql", "call_id")}
"""
MENTIONS = "('prompt_history', 'session_index')"
OF_THE_AGENT = "('heartbeat', 'canary')"  # about the agent, not about anybody's work: fleet.sql leaves them out as well
# The plus keeps SQLite from walking the whole index on contexts just because it is in the order of the groups.
ACTIVITY = f"""
SELECT +context AS context, coalesce(substr(time, 1, 13), '') AS hour, count(*) AS events, sum(bytes) AS bytes,
    count(*) FILTER (WHERE kind = 'user_prompt' AND origin = 'human') AS prompts,
    count(*) FILTER (WHERE kind = 'api_error') AS api_errors,
    count(*) FILTER (WHERE kind = 'compaction') AS compactions,
    coalesce(sum(lines_added), 0) AS lines_added, coalesce(sum(lines_removed), 0) AS lines_removed,
    count(*) FILTER (WHERE kind IN {MENTIONS}) AS mentions,
    min(time) FILTER (WHERE kind NOT IN {MENTIONS}) AS first_time,
    max(time) FILTER (WHERE kind NOT IN {MENTIONS}) AS last_time
FROM event_rows WHERE kind NOT IN {OF_THE_AGENT} AND {{}} GROUP BY 1, 2
"""  # noqa: S608
ADDED_UP = ("events", "bytes", "prompts", "api_errors", "compactions", "lines_added", "lines_removed", "mentions")
ADD_ACTIVITY = f"""
INSERT INTO activity_totals (context, hour, {", ".join(ADDED_UP)}, first_time, last_time)
{ACTIVITY.format("number >= :first")}
ON CONFLICT DO UPDATE SET {_adds(ADDED_UP)},
    first_time = coalesce(min(first_time, excluded.first_time), first_time, excluded.first_time),
    last_time = coalesce(max(last_time, excluded.last_time), last_time, excluded.last_time)
"""
FORGET_ACTIVITY = f"DELETE FROM activity_totals WHERE context {TOUCHED}"  # noqa: S608
REDO_ACTIVITY = f"""
INSERT INTO activity_totals (context, hour, {", ".join(ADDED_UP)}, first_time, last_time)
{ACTIVITY.format(f"context {TOUCHED}")}
"""
KINDS = "SELECT coalesce(substr(time, 1, 10), ''), kind, {}count(*) FROM event_rows WHERE {} GROUP BY 1, 2"
ADD_KINDS = f"""
INSERT INTO kind_totals (day, kind, events) {KINDS.format("", "number >= :first")}
ON CONFLICT DO UPDATE SET events = events + excluded.events
"""
SUBTRACT_KINDS, PUT_BACK_KINDS = (
    f"""
INSERT INTO kind_totals (day, kind, events) {KINDS.format(sign, f"number {TOUCHED}")}
ON CONFLICT DO UPDATE SET events = events + excluded.events
"""
    for sign in "-+"
)


def _following(name: str, source: str, target: str, keys: Mapping[str, str], summed: Sequence[str]) -> str:
    """The triggers by which one table follows a finer one: whatever comes, changes or goes there changes its sums.

    `keys` are its other columns, each as an expression on `row`, the row of the finer table.
    """

    def add(row: str, amount: str) -> str:
        values = [*(key.replace("row.", f"{row}.") for key in keys.values()), *(amount.format(each) for each in summed)]
        return (
            f"INSERT INTO {target} ({', '.join((*keys, *summed))}) VALUES ({', '.join(values)}) "  # noqa: S608
            f"ON CONFLICT DO UPDATE SET {_adds(summed)};"
        )

    there = [f"{column} = {key.replace('row.', 'old.')}" for column, key in keys.items()]
    return f"""
CREATE TRIGGER {name}_come AFTER INSERT ON {source} BEGIN {add("new", "new.{0}")} END;
CREATE TRIGGER {name}_change AFTER UPDATE ON {source} BEGIN {add("new", "new.{0} - old.{0}")} END;
CREATE TRIGGER {name}_go AFTER DELETE ON {source} BEGIN
    {add("old", "-old.{0}")}
    DELETE FROM {target} WHERE {" AND ".join((*there, *(f"{each} = 0" for each in summed)))};
END;
"""  # noqa: S608


_DAY, _PLACE = "substr(row.hour, 1, 10)", "(SELECT place FROM contexts WHERE number = row.context)"
_PRICED = {each: f"row.{each}" for each in KEY[2:]}
FOLLOWING = (
    _following("usage", "usage_totals", "usage_days", {"day": _DAY, "place": _PLACE, **_PRICED}, SUMMED)
    + _following("activity", "activity_totals", "activity_days", {"day": _DAY, "place": _PLACE}, ADDED_UP)
    + _following("model", "usage_days", "model_days", {"day": "row.day", **_PRICED}, SUMMED)
)


def listed(values: Iterable[str | int]) -> dict[str, str]:
    """The parameter `touched` of the statements above."""
    return {"touched": orjson.dumps(list(values)).decode()}


def add_functions(connection: sqlite3.Connection) -> None:
    """Gives a writing connection the functions that the statements above call."""
    connection.create_function("durations_with", 2, _with, deterministic=True)
    connection.create_function("durations_without", 2, _without, deterministic=True)


def take_out(connection: sqlite3.Connection, messages: Iterable[str]) -> None:
    """Takes out what these messages add up to, before their rows change."""
    connection.execute(SUBTRACT_USAGE, listed(messages))


def put_in(connection: sqlite3.Connection, messages: Iterable[str], calls: Iterable[str], first: int) -> None:
    """Puts in what these messages and calls add up to now, and all events from the number `first` on."""
    connection.execute(ADD_USAGE, listed(messages))
    connection.execute(DROP_EMPTY)
    touched = listed(calls)
    connection.execute(SUBTRACT_CALLS_OF_DAYS, touched)
    connection.execute(FORGET_CALLS, touched)
    connection.execute(ADD_CALLS, touched)
    connection.execute(ADD_CALLS_OF_DAYS, touched)
    connection.execute(DROP_EMPTY_DAYS)
    connection.execute(ADD_ACTIVITY, {"first": first})
    connection.execute(ADD_KINDS, {"first": first})


def take_out_events(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Takes these events out of the counts by kind, before they change or go."""
    connection.execute(SUBTRACT_KINDS, listed(numbers))


def put_in_events(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Puts these events into the counts by kind again, now that they have changed."""
    connection.execute(PUT_BACK_KINDS, listed(numbers))
    connection.execute("DELETE FROM kind_totals WHERE events = 0")


def recount(connection: sqlite3.Connection, contexts: Iterable[int]) -> None:
    """Counts the activity of these contexts again, after events in them were changed or removed."""
    touched = listed(contexts)
    connection.execute(FORGET_ACTIVITY, touched)
    connection.execute(REDO_ACTIVITY, touched)


def _with(durations: str, more: str) -> str:
    """Both lists of durations as one, in order."""
    return _said(_numbers(durations) + _numbers(more)) if more else durations


def _without(durations: str, gone: str) -> str:
    """The durations, with each of those in `gone` taken out once."""
    if not gone:
        return durations
    left = Counter(_numbers(durations))
    left.subtract(_numbers(gone))
    return _said(list(left.elements()))


def _numbers(durations: str) -> list[int]:
    found: list[int] = orjson.loads(f"[{durations}]")
    return found


def _said(durations: list[int]) -> str:
    return orjson.dumps(sorted(durations)).decode()[1:-1]
