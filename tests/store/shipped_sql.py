"""Writes the SQL that the repository ships for PostgreSQL, DuckDB and ClickHouse, from the parts in engines/.

    python -m tests.store.shipped_sql       # config/*.sql

All engines share the columns, the views, the cost formula and the prices; the formula and the prices are those of the
embedded store. A test fails when a file is out of date.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from collector.store import prices
from collector.store.prices import Price
from collector.store.schema import with_formula

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG = REPOSITORY / "config"
PRICES = REPOSITORY / "collector/store/prices.toml"
PARTS = Path(__file__).parent / "engines"
FILES = (
    "postgresql.sql",
    "duckdb.sql",
    "duckdb-load.sql",
    "clickhouse.sql",
    "questions.sql",
    "fleet.sql",
    "prices.sql",
)
MILLISECONDS = {
    "postgresql.sql": "CAST(round(extract(epoch FROM CAST(result.time AS timestamptz) - CAST(call.time AS timestamptz))"
    " * 1000) AS bigint)",
    "clickhouse.sql": "dateDiff('millisecond', parseDateTime64BestEffortOrNull(call.time, 3),"
    " parseDateTime64BestEffortOrNull(result.time, 3))",
    "duckdb.sql": "date_diff('millisecond', CAST(call.time AS timestamp), CAST(result.time AS timestamp))",
}
# The time a heartbeat was sent, and the current time, in seconds since 1970.
SECONDS = {
    "postgresql.sql": "CAST(extract(epoch FROM CAST(time AS timestamptz)) AS bigint)",
    "clickhouse.sql": "toInt64(toUnixTimestamp(happened))",
    "duckdb.sql": "CAST(epoch(CAST(time AS timestamp)) AS bigint)",
}
NOW = {
    "postgresql.sql": "CAST(extract(epoch FROM now()) AS bigint)",
    "clickhouse.sql": "toInt64(toUnixTimestamp(now()))",
    "duckdb.sql": "CAST(epoch(now()) AS bigint)",
}


def shipped(name: str) -> str:
    """The text of one file."""
    if name == "prices.sql":
        return price_rows()
    columns = part("columns.sql").rstrip("\n")
    names = re.findall(r"AS (\w+),?$", columns, re.MULTILINE)
    text = part(name)
    if name == "clickhouse.sql":
        text = in_clickhouse(text, columns)
    text = text.replace("/* heartbeats */", part("heartbeats.sql"))
    text = text.replace("/* seconds */", SECONDS.get(name, "")).replace("/* now */", NOW.get(name, ""))
    text = text.replace("/* columns */", columns).replace("/* tables */", tables(name, columns, names))
    (copied_from,) = re.findall(r"coalesce\([^;]*?(?= AS copied_from)", columns)
    text = text.replace("/* copied_from */", " ".join(copied_from.split()))
    text = text.replace("/* views */", part("views.sql")).replace("/* milliseconds */", MILLISECONDS.get(name, ""))
    text = text.replace("/* names */", ", ".join(names[1:]))
    text = text.replace("/* excluded */", ", ".join(f"excluded.{column}" for column in names[1:]))
    return without_comments_in_formula(with_formula(text))


# Columns with few distinct values, however many events there are.
FEW = {
    *("kind", "record_type", "agent_type", "project", "git_branch", "host_id", "host_name", "user_name"),
    *("client_version", "origin", "model", "stop_reason", "quality", "speed", "service_tier", "inference_geo", "day"),
}
EXTRACTED = re.compile(r"\b(\w+)((?:->'\w+')*)->>('?\w+'?)")
JOINED = re.compile(
    r"(?<!\()\b(most|earliest|finals|whole|usage|call)\.(\w+)(?=,|\nFROM)"
)  # without an alias, ClickHouse keeps the prefix in the column's name
VIEW = re.compile(r"(CREATE VIEW [^;]+);")


def in_clickhouse(text: str, columns: str) -> str:
    """Fills in what ClickHouse needs differently: columns that it computes itself, and settings for the views."""
    listed = [
        "    " + clickhouse_column(*column)
        for column in re.findall(r"(?:^|,\n)\s*((?:.|\n)+?) AS (\w+)(?=,\n|\Z)", columns)[1:]
    ]
    text = text.replace("/* clickhouse columns */", "\n".join(listed))
    texts = {"model", "starts", "ends", "speed"}
    prices = ", ".join(f"{field} {'String' if field in texts else 'Int64'}" for field in Price._fields)
    text = text.replace("/* price columns */", prices)
    # As in standard SQL: rows an outer join does not find are null, a cast keeps null, and column names beat aliases.
    manner = "\nSETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;"
    views = JOINED.sub(r"\1.\2 AS \2", part("views.sql"))
    heartbeats = re.sub(r"^    (.*?->.*?) AS (\w+)(?=,?$)", _from_heartbeat, part("heartbeats.sql"), flags=re.MULTILINE)
    text = text.replace("/* heartbeats */", VIEW.sub(rf"\1{manner}", heartbeats))
    return text.replace("/* clickhouse views */", VIEW.sub(rf"\1{manner}", views))


def _from_heartbeat(found: re.Match[str]) -> str:
    """A column of heartbeats.sql: a value from the event is a number where the SQL casts it to one, else text."""
    return (
        f"    {in_json(found[1], 'Nullable(Int64)' if 'AS bigint)' in found[1] else 'Nullable(String)')} AS {found[2]}"
    )


def in_json(told: str, kind: str) -> str:
    """Rewrites JSON operators as JSONExtract with a path; the given type makes a value a number, not a cast."""
    told = re.sub(r"CAST\((.*) AS bigint\)", r"\1", " ".join(told.split()))

    def extracted(match: re.Match[str]) -> str:
        last = match[3] if match[3].startswith("'") else str(int(match[3]) + 1)
        path = [*re.findall(r"'\w+'", match[2]), last]
        return f"JSONExtract({match[1]}, {', '.join(path)}, '{kind}')"

    return EXTRACTED.sub(extracted, told)


def clickhouse_column(told: str, name: str) -> str:
    """A column of columns.sql, with its type and how it is computed from the event."""
    kind = "Nullable(Int64)" if "AS bigint)" in told else "Nullable(String)"
    if name == "reported_cost":
        # From raw text straight to a decimal, because a binary fraction would not be exact.
        found = "JSONExtractRaw(event, 'attributes', if(kind = 'session_cost', 'total_cost_usd', 'cost_usd'))"
        found = f"extract({found}, '^[0-9]{{1,6}}(?:[.][0-9]+)?(?:e-[0-9]+)?$')"
        told = f"CAST(round(toDecimal128OrNull({found}, 12) * 100000000000) AS Nullable(Int64))"
    else:
        told = in_json(told, kind).replace("substr(trim", "substringUTF8(trim")
    kind = kind if name not in FEW else f"LowCardinality({kind})"
    kind = "LowCardinality(String)" if name == "kind" else kind
    if name == "kind":
        told = "JSONExtractString(event, 'kind')"
    return f"{name} {kind} DEFAULT {told},"


def without_comments_in_formula(text: str) -> str:
    """Drops the formula's own comment, which belongs to its file only."""
    return re.sub(r"-- What usage costs, in hundred-thousandths.*?\n(--.*\n)*", "\n", text)


def tables(name: str, columns: str, names: list[str]) -> str:
    """The tables of the events and of the prices."""
    document = "jsonb" if name == "postgresql.sql" else "JSON"
    kinds = [
        "bigint" if re.search(rf"bigint\) AS {column}\b", columns) else "text NOT NULL" if column == "kind" else "text"
        for column in names
    ]
    listed = ",\n".join(f"    {column} {kind}" for column, kind in list(zip(names, kinds, strict=True))[1:])
    return (
        "-- One row per event: the columns that reports use, and the event as it was sent.\n"
        f"CREATE TABLE events (\n    id text PRIMARY KEY,\n{listed},\n    event {document} NOT NULL,\n"
        "    has_calls integer NOT NULL\n);\n\n"
        "-- Which session was forked from which. A fork of a fork names both.\n"
        "CREATE TABLE forks (session_id text, parent_session_id text, PRIMARY KEY (session_id, parent_session_id));\n\n"
        "-- What models cost. prices.sql fills these; run it again whenever it has changed.\n" + price_tables()
    )


def price_tables() -> str:
    """The tables that hold the prices."""
    texts = {"model", "starts", "ends", "speed"}
    columns = ", ".join(f"{field} {'text' if field in texts else 'bigint'} NOT NULL" for field in Price._fields)
    return f"CREATE TABLE prices ({columns});\nCREATE TABLE price_names (name text PRIMARY KEY, model text NOT NULL);"


def price_rows() -> str:
    """The statements that fill in the prices, in billionths of a dollar a token."""
    table, checked = prices.load(), tomllib.loads(PRICES.read_text())["checked"]
    rows = ",\n".join("    " + values(price) for price in table.prices)
    names = ",\n".join("    " + values(pair) for pair in table.names)
    return (
        f"-- What models cost, in billionths of a dollar per token (as of {checked}), and the names they go by.\n"
        "-- Made by `python -m tests.store.shipped_sql` from collector/store/prices.toml, which names its sources.\n"
        f"DELETE FROM prices WHERE true;\nINSERT INTO prices VALUES\n{rows};\n\n"
        f"DELETE FROM price_names WHERE true;\nINSERT INTO price_names VALUES\n{names};\n"
    )


def values(row: tuple[str | int, ...]) -> str:
    """A row of VALUES."""
    return "(" + ", ".join(f"'{value}'" if isinstance(value, str) else str(value) for value in row) + ")"


def part(name: str) -> str:
    """A file of engines/."""
    return (PARTS / name).read_text()


if __name__ == "__main__":
    for name in FILES:
        (CONFIG / name).write_text(shipped(name))
