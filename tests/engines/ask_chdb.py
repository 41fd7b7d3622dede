"""Queries the current ClickHouse engine, chDB, which runs in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.engines.running import installed
from tests.store.shipped_sql import CONFIG

MANNER = "SETTINGS prefer_column_name_to_alias = 1, cast_keep_nullable = 1, output_format_json_quote_64bit_integers = 0"


def statements(name: str) -> list[str]:
    """The statements of a file in config/."""
    text = re.sub(r"^--.*\n", "", (CONFIG / name).read_text(), flags=re.MULTILINE)
    return [statement for statement in text.split(";\n") if statement.strip()]


def schema() -> list[str]:
    """The shipped table, views and prices."""
    return [*statements("clickhouse.sql"), *statements("prices.sql")]


def asked(query: str) -> str:
    """A query, with the settings that make ClickHouse follow standard SQL."""
    return query.rstrip("; \n") + " " + MANNER


def loading(rows: Iterable[dict[str, str]], path: Path) -> str:
    """Writes rows of (id, event) to a file; returns the statement that inserts them as the sink does."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"INSERT INTO event_rows (id, event) FROM INFILE '{path}' FORMAT JSONEachRow"


def ask_chdb(directory: Path, *given: str) -> list[Any]:
    """Runs the statements; returns the rows of each. An error fails the test."""
    python = installed("python")
    script = Path(__file__).with_name("chdb_session.py")
    told = subprocess.run(
        [python, script, directory / "chdb"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={"HOME": str(directory), "PATH": "/usr/bin:/bin"},
    )
    answers: list[Any] = json.loads(told.stdout)
    assert [answer for answer in answers if isinstance(answer, str)] == []
    return answers
