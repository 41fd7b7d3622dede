"""Writes the SQL for PostgreSQL and DuckDB that the repository ships, from the parts in engines/.

    python -m tests.store.shipped_sql       # config/*.sql

The columns, the views, the formula of the cost and the prices are the same for both engines, and the formula and the
prices are those of the embedded store. A test fails when a file is out of date.
"""

from __future__ import annotations

import re
from pathlib import Path

from collector.store import prices
from collector.store.prices import Price
from collector.store.schema import with_formula

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG = REPOSITORY / "config"
PARTS = Path(__file__).parent / "engines"
FILES = ("postgresql.sql", "duckdb.sql", "duckdb-load.sql", "questions.sql", "prices.sql")
MILLISECONDS = {
    "postgresql.sql": "CAST(round(extract(epoch FROM CAST(result.time AS timestamptz) - CAST(call.time AS timestamptz))"
    " * 1000) AS bigint)",
    "duckdb.sql": "date_diff('millisecond', CAST(call.time AS timestamp), CAST(result.time AS timestamp))",
}


def shipped(name: str) -> str:
    """The text of one file."""
    if name == "prices.sql":
        return price_rows()
    columns = part("columns.sql").rstrip("\n")
    names = re.findall(r"AS (\w+),?$", columns, re.MULTILINE)
    text = part(name)
    text = text.replace("/* columns */", columns).replace("/* tables */", tables(name, columns, names))
    text = text.replace("/* views */", part("views.sql")).replace("/* milliseconds */", MILLISECONDS.get(name, ""))
    text = text.replace("/* names */", ", ".join(names[1:]))
    text = text.replace("/* excluded */", ", ".join(f"excluded.{column}" for column in names[1:]))
    text = text.replace("/* updates */", ", ".join(f"{column} = excluded.{column}" for column in names[1:]))
    return without_comments_in_formula(with_formula(text))


def without_comments_in_formula(text: str) -> str:
    """The formula's own comment belongs to its file."""
    return re.sub(r"-- What usage costs, in hundred-thousandths.*?\n(--.*\n)*", "\n", text)


def tables(name: str, columns: str, names: list[str]) -> str:
    """The tables, and what is in those of the prices."""
    document = "jsonb" if name == "postgresql.sql" else "JSON"
    kinds = [
        "bigint" if re.search(rf"bigint\) AS {column}\b", columns) else "text NOT NULL" if column == "kind" else "text"
        for column in names
    ]
    listed = ",\n".join(f"    {column} {kind}" for column, kind in list(zip(names, kinds, strict=True))[1:])
    return (
        "-- One row an event, with what reports ask for, and the event as it was sent.\n"
        f"CREATE TABLE events (\n    id text PRIMARY KEY,\n{listed},\n    event {document} NOT NULL,\n"
        "    has_calls integer NOT NULL\n);\n\n"
        "-- What models cost: prices.sql fills these, and may be run again whenever it has changed.\n" + price_tables()
    )


def price_tables() -> str:
    """Where the prices go."""
    texts = {"model", "starts", "ends", "speed"}
    columns = ", ".join(f"{field} {'text' if field in texts else 'bigint'} NOT NULL" for field in Price._fields)
    return f"CREATE TABLE prices ({columns});\nCREATE TABLE price_names (name text PRIMARY KEY, model text NOT NULL);"


def price_rows() -> str:
    """The prices, in billionths of a dollar a token."""
    table = prices.load()
    rows = ",\n".join("    " + values(price) for price in table.prices)
    names = ",\n".join("    " + values(pair) for pair in table.names)
    return (
        f"-- What models cost, in billionths of a dollar a token (as of {table.checked}), and the names they go by.\n"
        "-- Made by `python -m tests.store.shipped_sql` from collector/store/prices.toml, which names its sources.\n"
        f"DELETE FROM prices;\nINSERT INTO prices VALUES\n{rows};\n\n"
        f"DELETE FROM price_names;\nINSERT INTO price_names VALUES\n{names};\n"
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
