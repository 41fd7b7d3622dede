"""The queries behind reports and pages, by name, with a period and filters as parameters.

In: an open connection (report.asking), a Selection. Out: plain rows, as dictionaries. Every figure of tokens and cost
in a report comes from here, so that all of them agree. Days are UTC; costs are integers in micro-dollars, rounded once,
after adding up. Invariant: a person's input is only ever a parameter of a statement, never part of its text.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from collector.store.prices import micros
from collector.store.schema import with_formula
from collector.store.totals import FIGURES, SUMMED

Rows = list[dict[str, Any]]

# What the cache saved: without it, everything read from it or written to it would have been input.
SAVED = """(
    usage.cache_read_tokens * (price.input - price.cache_read)
    - (usage.cache_creation_tokens - usage.cache_creation_1h_tokens) * (price.cache_write_5m - price.input)
    - usage.cache_creation_1h_tokens * (price.cache_write_1h - price.input)
) * usage.percent"""
PRICED_BY = ("model", "speed", "percent", "prompt_over", "is_reported")
DAY = "substr(hour, 1, 10)"
# The dimensions that figures can be asked for `by`, as SQL. A week is named by its Monday.
DIMENSIONS = {
    "day": DAY,
    "week": f"CASE WHEN hour = '' THEN '' ELSE date({DAY}, 'weekday 0', '-6 days') END",
    "month": "substr(hour, 1, 7)",
    "model": "model",
    "project": "coalesce(project, '')",
    "session": "coalesce(session_id, '')",
    "host": "coalesce(host_name, host_id, '')",
    "user": "coalesce(user, '')",
    "agent": "agent",
}
# The dimensions that the totals by day and place know; those totals are a twentieth of the ones by hour and session.
BY_DAY = frozenset({"day", "week", "month", "model", "project", "host", "user", "agent"})
OF_PLACE = frozenset({"project", "host", "user", "agent"})
SAYS_WHEN = frozenset({"day", "week", "month"})


class Selection(NamedTuple):
    """What a query is about: the days from `since` up to and including `until`, and only these values."""

    since: str = ""
    until: str = ""
    project: str | None = None
    model: str | None = None
    host: str | None = None
    user: str | None = None
    agent: str | None = None
    session: str | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a statement."""
        return self._asdict()

    def where(self, *, hour: str = "hour", has_model: bool = False) -> str:
        """The condition on rows that have an hour (or time) and a context. An event without a time has no day, and
        counts only if no period is given."""
        parts = ["true"]
        if self.since:
            parts.append(f"{hour} >= :since")
        if self.until:
            parts.append(f"{hour} < :until || '~'")  # `~` sorts after everything that can follow a day
        named = ("project", "host", "user", "agent")
        parts += [f"{DIMENSIONS[key]} = :{key}" for key in named if getattr(self, key) is not None]
        if self.session is not None:
            parts.append("session_id = :session")  # the bare column, so that the index is used
        if has_model and self.model is not None:
            parts.append("model = :model")
        return " AND ".join(parts)


EVERYTHING = Selection()


def usage_by(
    connection: sqlite3.Connection,
    dimensions: tuple[str, ...],
    chosen: Selection = EVERYTHING,
    *,
    is_exact: bool = False,
) -> Rows:
    """Tokens and cost by these dimensions: the figures, `cost_micros`, and the part of that which Claude Code itself
    reported (`cost_reported_micros`); `messages_without_price` have no cost. Rows with `is_exact` can be added up
    further, and are rounded by `added_up`."""
    costed, edges = _costed(connection, dimensions, chosen)
    text = f"""
{costed}
SELECT {_shown(dimensions)}{", ".join(f"coalesce(sum({name}), 0) AS {name}" for name in FIGURES)},
    {_micros("cost")} AS cost_micros, {_micros("reported_cost")} AS cost_reported_micros,
    {"coalesce(sum(cost), 0) AS cost_exact, coalesce(sum(reported_cost), 0) AS reported_exact," if is_exact else ""}
    coalesce(sum(messages) FILTER (WHERE is_unknown), 0) AS messages_without_price
FROM costed {_grouped(dimensions)}
"""  # noqa: S608 - our own names
    return rows_of(connection, with_formula(text), chosen, **edges)


def added_up(rows: Rows) -> dict[str, Any]:
    """The sum of exact rows of `usage_by`: the same as a query for the total, but without reading everything again."""
    exact = {name: sum(row[name] for row in rows) for name in (*FIGURES, "cost_exact", "reported_exact")}
    return {name: exact[name] for name in FIGURES} | {
        "cost_micros": micros(exact["cost_exact"]),
        "cost_reported_micros": micros(exact["reported_exact"]),
        "messages_without_price": sum(row["messages_without_price"] for row in rows),
    }


def cache_by(connection: sqlite3.Connection, dimensions: tuple[str, ...], chosen: Selection = EVERYTHING) -> Rows:
    """What was read from the cache and written to it, and what that saved compared with sending it all as input:
    negative if more was written than read. What `messages_without_price` saved is unknown, and not in the sum."""
    costed, edges = _costed(connection, dimensions, chosen)
    text = f"""
{costed}
SELECT {_shown(dimensions)}
    coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(cache_read_tokens), 0) AS cache_read_tokens,
    coalesce(sum(cache_creation_tokens), 0) AS cache_creation_tokens,
    coalesce(sum(cache_creation_1h_tokens), 0) AS cache_creation_1h_tokens, {_micros("saved")} AS saved_micros,
    coalesce(sum(messages), 0) AS messages,
    coalesce(sum(messages) FILTER (WHERE saved IS NULL), 0) AS messages_without_price
FROM costed {_grouped(dimensions)}
"""  # noqa: S608
    return rows_of(connection, with_formula(text), chosen, **edges)


def _costed(
    connection: sqlite3.Connection, dimensions: tuple[str, ...], chosen: Selection
) -> tuple[str, dict[str, str]]:
    """Usage by dimensions, with its cost: first added up by everything that decides the price, then multiplied. That is
    exact, because everything that is added up has the same price. Only the days on which some price changed matter."""
    found = connection.execute("SELECT DISTINCT starts FROM prices WHERE starts <> '' ORDER BY starts DESC")
    edges = {f"edge_{number}": day for number, (day,) in enumerate(found)}
    is_by_day = chosen.session is None and set(dimensions) <= BY_DAY
    day = "hour" if is_by_day else DAY
    since = "".join(f"WHEN {day} >= :{name} THEN :{name} " for name in edges)
    period = f"CASE {since}ELSE '' END" if edges else "''"
    # In the totals by day, the numbers of places are sorted instead of their names.
    places = [name for name in dimensions if name in OF_PLACE and is_by_day]
    keys = {f"by_{name}": DIMENSIONS[name] for name in dimensions if name not in places}
    keys |= {"place": "place"} if places else {}
    shown = ", ".join(f"{said} AS {name}" for name, said in [*keys.items(), ("period", period)])
    text = f"""
WITH usage AS MATERIALIZED (
    SELECT {shown}, {", ".join(PRICED_BY)}, {", ".join(f"sum({name}) AS {name}" for name in SUMMED)}
    FROM {_source("usage", tuple(name for name in dimensions if name not in places), chosen, has_place=bool(places))}
    WHERE {chosen.where(has_model=True)}
    GROUP BY {", ".join([*keys, "period", *PRICED_BY])}
),
costed AS (
    SELECT
        {"".join(f"{DIMENSIONS[name]} AS by_{name}, " for name in places)} usage.*,
        price.model IS NULL AND NOT usage.is_reported AS is_unknown,
        CASE WHEN usage.is_reported THEN usage.reported_cost ELSE /* cost */ END AS cost, {SAVED} AS saved
    FROM usage {"JOIN places ON places.number = usage.place" if places else ""}
    LEFT JOIN price_names AS known ON known.name = usage.model
    LEFT JOIN prices AS price
        ON price.model = known.model AND price.speed = usage.speed AND price.prompt_over = usage.prompt_over
        AND price.starts <= usage.period AND usage.period < price.ends
)"""  # noqa: S608
    return text, edges


def _source(what: str, dimensions: tuple[str, ...], chosen: Selection, *, has_place: bool = False) -> str:
    """The smallest totals that can answer: by day, by day and place, or else by hour and context; in the first two,
    `hour` is a day. `has_place`: the place is wanted by its number, not by its names."""
    if chosen.session is not None or not set(dimensions) <= BY_DAY:
        return f"{what}_totals JOIN contexts ON contexts.number = {what}_totals.context"
    if set(dimensions) <= {*SAYS_WHEN, "model"} and not any((chosen.project, chosen.host, chosen.user, chosen.agent)):
        return _days("model_days" if what == "usage" and not has_place else f"{what}_days")
    return f"{_days(f'{what}_days')} JOIN places ON places.number = {what}_days.place"


def _days(table: str) -> str:
    return f"(SELECT day AS hour, * FROM {table}) AS {table}"  # noqa: S608


def _shown(dimensions: tuple[str, ...]) -> str:
    return "".join(f"by_{name} AS {name}, " for name in dimensions)


def _grouped(dimensions: tuple[str, ...]) -> str:
    names = ", ".join(f"by_{name}" for name in dimensions)
    return f"GROUP BY {names} ORDER BY {names}" if names else ""


def _micros(column: str) -> str:
    """A sum in micro-dollars, rounded to the nearest."""
    return f"(coalesce(sum({column}), 0) + 50000) / 100000"


def totals(connection: sqlite3.Connection, chosen: Selection = EVERYTHING) -> dict[str, Any]:
    """Total tokens and cost."""
    return usage_by(connection, (), chosen)[0]


def models_without_price(connection: sqlite3.Connection, chosen: Selection = EVERYTHING) -> list[str]:
    """The models whose cost is unknown."""
    return [row["model"] for row in usage_by(connection, ("model",), chosen) if row["messages_without_price"]]


def sessions_with_usage(connection: sqlite3.Connection, dimension: str, chosen: Selection) -> dict[str, int]:
    """How many sessions used tokens, by one dimension."""
    source, is_so = _source("session", (dimension,), chosen), "used"
    if chosen.model is not None or chosen.session is not None:
        source, is_so = _source("usage", ("session",), chosen), "true"
    text = f"""
SELECT {DIMENSIONS[dimension]} AS key, count(DISTINCT session_id) AS sessions
FROM {source} WHERE {is_so} AND {chosen.where(has_model=True)} GROUP BY 1
"""  # noqa: S608
    return {row["key"]: row["sessions"] for row in rows_of(connection, text, chosen)}


def extent(connection: sqlite3.Connection) -> dict[str, Any]:
    """How much there is in the store: events, their sizes when sent, sessions, and the first and the last time."""
    text = """
SELECT
    coalesce(sum(events), 0) AS events, coalesce(sum(bytes), 0) AS bytes,
    count(DISTINCT CASE WHEN events > mentions THEN session_id END) AS sessions,
    min(first_time) AS first_time, max(last_time) AS last_time
FROM activity_totals JOIN contexts ON contexts.number = activity_totals.context
"""
    return rows_of(connection, text)[0]


def activity(connection: sqlite3.Connection, chosen: Selection) -> dict[str, Any]:
    """What happened besides tokens: events, prompts, sessions, lines, errors. None of these has a model."""
    text = f"""
SELECT
    coalesce(sum(events), 0) AS events, coalesce(sum(prompts), 0) AS prompts,
    coalesce(sum(api_errors), 0) AS api_errors, coalesce(sum(compactions), 0) AS compactions,
    coalesce(sum(lines_added), 0) AS lines_added, coalesce(sum(lines_removed), 0) AS lines_removed,
    (
        SELECT count(*) FROM (
            SELECT DISTINCT session_id FROM {_source("session", (), chosen)} WHERE active AND {chosen.where()}
        )
    ) AS sessions
FROM {_source("activity", (), chosen)} WHERE {chosen.where()}
"""  # noqa: S608
    return rows_of(connection, text, chosen)[0]


def kinds(connection: sqlite3.Connection, chosen: Selection = EVERYTHING) -> dict[str, int]:
    """Events by kind, in the period; the other filters do not apply."""
    when = Selection(since=chosen.since, until=chosen.until)
    text = f"SELECT kind, sum(events) AS events FROM kind_totals WHERE {when.where(hour='day')} GROUP BY 1 HAVING sum(events) ORDER BY 2 DESC, 1"  # noqa: S608, E501
    return {row["kind"]: row["events"] for row in rows_of(connection, text, when)}


def sessions(connection: sqlite3.Connection, chosen: Selection = EVERYTHING, *, limit: int = 50) -> Rows:
    """Sessions with activity in the period, newest first: title, times, project, prompts, lines, tools, tokens and
    cost, each for the whole session."""
    text = f"""
SELECT session_id FROM (
    SELECT DISTINCT session_id FROM activity_totals JOIN contexts ON contexts.number = activity_totals.context
    WHERE session_id IS NOT NULL AND events > mentions AND {chosen.where()}
        {"" if chosen.model is None else f"AND session_id IN ({WITH_MODEL})"}
) JOIN contexts USING (session_id) JOIN activity_totals ON activity_totals.context = contexts.number
GROUP BY session_id ORDER BY max(last_time) DESC, session_id LIMIT :limit
"""  # noqa: S608
    ids = [row["session_id"] for row in rows_of(connection, text, chosen, limit=limit)]
    found = [row for each in ids for row in rows_of(connection, ONE_SESSION, Selection(session=each))]
    for row in found:
        alone = Selection(session=row["session_id"])
        row.update(totals(connection, alone))
        row.update(rows_of(connection, CALLS_OF_ONE_SESSION, alone)[0])
    return found


WITH_MODEL = """
SELECT session_id FROM usage_totals JOIN contexts ON contexts.number = usage_totals.context WHERE model = :model
"""
CALLS_OF_ONE_SESSION = """
SELECT count(*) AS tool_calls, count(*) FILTER (WHERE ok = 0) AS tool_failures
FROM call_totals JOIN contexts ON contexts.number = call_totals.context WHERE session_id = :session
"""
ONE_SESSION = "SELECT * FROM sessions WHERE session_id = :session"


def sessions_of_host(connection: sqlite3.Connection, host_id: str) -> list[str]:
    """The ids of the sessions that left a transcript on a machine."""
    text = """
SELECT DISTINCT session_id FROM contexts JOIN activity_totals ON activity_totals.context = contexts.number
WHERE host_id = :host_id AND session_id IS NOT NULL AND events > mentions
"""
    return [row["session_id"] for row in rows_of(connection, text, host_id=host_id)]


def redactions(connection: sqlite3.Connection, chosen: Selection = EVERYTHING) -> Rows:
    """How many secrets were replaced, by rule."""
    text = f"""
SELECT rule.key AS rule, sum(rule.value) AS times, count(*) AS events
FROM event_rows AS row JOIN contexts ON contexts.number = row.context, json_each(row.redactions) AS rule
WHERE row.redactions IS NOT NULL AND {chosen.where(hour="row.time")} GROUP BY 1 ORDER BY 2 DESC, 1
"""  # noqa: S608
    return rows_of(connection, text, chosen)


def removals(connection: sqlite3.Connection) -> Rows:
    """What was removed from the store on purpose, newest first."""
    return rows_of(connection, "SELECT * FROM removals ORDER BY number DESC")


def rows_of(connection: sqlite3.Connection, text: str, chosen: Selection = EVERYTHING, **more: Any) -> Rows:
    """The rows of one statement as dictionaries; the selection and `more` are its parameters."""
    cursor = connection.execute(text, chosen.parameters | more)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]
