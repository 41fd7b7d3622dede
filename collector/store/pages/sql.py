"""Questions in SQL: one read-only statement, limited in time and rows; answered as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
from starlette.responses import Response

from collector.store.asking import Answer, ask, plain
from collector.store.database import StoreError
from collector.store.pages.asked import Asked, NotUnderstood
from collector.store.pages.rendering import weighed

SECONDS, ROWS = 5.0, 500  # for a page
FILE_SECONDS, FILE_ROWS = 20.0, 100_000
LONGEST = 8000  # characters of a statement
MOST_BYTES = 200_000
FORMULA = ("=", "+", "-", "@", "\t", "\r")
VIEWS = ("messages", "sessions", "tool_calls", "events", "session_costs", "usage_costs", "bookkeeping", "bodies")
EXAMPLES = {
    "Cost by user and day": "SELECT user, day, (sum(cost_exact) + 50000) / 100000 AS cost_micros\n"
    "FROM messages GROUP BY 1, 2 ORDER BY 2 DESC, 3 DESC",
    "The tools that fail most": "SELECT name, count(*) AS calls, sum(ok = 0) AS failed\n"
    "FROM tool_calls GROUP BY 1 ORDER BY 3 DESC",
    "What people asked for": "SELECT time, project, json_extract(body, '$.text') AS prompt\n"
    "FROM events JOIN bodies USING (number)\n"
    "WHERE kind = 'user_prompt' AND origin = 'human' ORDER BY time DESC LIMIT 50",
    "The longest sessions": "SELECT title, project, time, last_time, events\n"
    "FROM sessions ORDER BY events DESC LIMIT 50",
}


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    statement = asked.chosen.text("q", LONGEST)
    answer, wrong = None, ""
    if statement.strip():
        try:
            answer = ask(asked.site.database, statement, prices=asked.site.prices, seconds=SECONDS, most=ROWS)
        except StoreError as error:
            wrong = str(error)
    rows, is_cut = weighed("parts.html", "cells", answer.rows, MOST_BYTES) if answer else ([], False)
    return {
        "title": "SQL",
        "statement": statement,
        "answer": answer,
        "rows": rows,
        "numbers": _numbers(answer),
        "is_cut": is_cut or bool(answer and answer.is_cut),
        "wrong": wrong,
        "examples": EXAMPLES,
        "columns": _columns(asked),
        "seconds": f"{SECONDS:g}",
    }


def csv_file(asked: Asked) -> Response:
    """The answer as CSV. A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    answer = _whole(asked)
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    writer.writerow(answer.columns)
    writer.writerows([_cell(value) for value in row] for row in answer.rows)
    return _file(made.getvalue().encode("utf-8", "replace"), "text/csv; charset=utf-8", "collector.csv")


def json_file(asked: Asked) -> Response:
    """The answer as JSON: an array with one object for each row."""
    return _file(orjson.dumps(list(_whole(asked).objects)), "application/json", "collector.json")


def _numbers(answer: Answer | None) -> list[bool]:
    """Which columns hold nothing but numbers."""
    rows = answer.rows if answer else []
    return [all(isinstance(value, int | float) for value in column) for column in zip(*rows, strict=True)]


def _whole(asked: Asked) -> Answer:
    statement = asked.chosen.text("q", LONGEST)
    try:
        return ask(asked.site.database, statement, prices=asked.site.prices, seconds=FILE_SECONDS, most=FILE_ROWS)
    except StoreError as error:
        raise NotUnderstood(str(error)) from None


def _file(content: bytes, media_type: str, name: str) -> Response:
    return Response(content, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})


def _cell(value: Any) -> Any:
    value = plain(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _columns(asked: Asked) -> list[tuple[str, list[str]]]:
    """The views, and their columns."""
    found = []
    for name in VIEWS:
        rows = asked.connection.execute("SELECT name FROM pragma_table_info(?)", (name,)).fetchall()
        found.append((name, [str(row[0]) for row in rows]))
    return found
