"""Writes events as a Parquet file, if a library that can do so is installed: duckdb or pyarrow.

In: events as JSON. Out: a file with one row per event: what people group by as columns, the whole event as `event`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from collector.errors import CollectorError
from collector.store.calls import COUNTED

COLUMNS = (
    *("id", "kind", "time", "session_id", "agent_id", "agent_type", "project", "user", "origin", "model"),
    *("message_id", "request_id", "stop_reason"),
)
AT_ONCE = 5000


def write_parquet(events: Iterator[str], output: Path) -> int:
    """Writes the events; returns how many there were."""
    arrow = _library("pyarrow")
    if arrow is not None:
        return _with_arrow(arrow, events, output)
    duckdb = _library("duckdb")
    if duckdb is not None:
        return _with_duckdb(duckdb, events, output)
    raise CollectorError(
        "Writing Parquet needs a library that collector does not include: install pyarrow or duckdb next to it "
        "(`pip install duckdb`), or export NDJSON."
    )


def _library(name: str) -> Any:
    try:
        return importlib.import_module(f"{name}.parquet" if name == "pyarrow" else name)
    except ImportError:
        return None


def _with_duckdb(duckdb: Any, events: Iterator[str], output: Path) -> int:
    names = (*COLUMNS, *COUNTED, "event")
    kinds = ["VARCHAR"] * len(COLUMNS) + ["BIGINT"] * len(COUNTED) + ["VARCHAR"]
    count = 0
    with duckdb.connect() as connection:
        described = ", ".join(f'"{name}" {kind}' for name, kind in zip(names, kinds, strict=True))
        connection.execute(f"CREATE TABLE events ({described})")
        for part in _parts(events):
            columns = list(zip(*part, strict=True))
            marks = ", ".join(f"unnest(?::{kind}[])" for kind in kinds)
            connection.execute(f"INSERT INTO events SELECT {marks}", [list(column) for column in columns])
            count += len(part)
        target = str(output).replace("'", "''")
        connection.execute(f"COPY events TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    return count


def _with_arrow(parquet: Any, events: Iterator[str], output: Path) -> int:
    arrow = importlib.import_module("pyarrow")
    fields = [arrow.field(name, arrow.string()) for name in COLUMNS]
    fields += [arrow.field(name, arrow.int64()) for name in COUNTED]
    schema = arrow.schema([*fields, arrow.field("event", arrow.string())])
    count = 0
    with parquet.ParquetWriter(output, schema, compression="zstd") as writer:
        for part in _parts(events):
            columns = [list(column) for column in zip(*part, strict=True)]
            writer.write_table(arrow.table(columns, schema=schema))
            count += len(part)
    return count


def _parts(events: Iterator[str]) -> Iterator[list[tuple[Any, ...]]]:
    part: list[tuple[Any, ...]] = []
    for body in events:
        event = orjson.loads(body)
        usage = event.get("usage")
        figures = usage if isinstance(usage, dict) else {}
        part.append(
            (
                *(value if isinstance(value := event.get(name), str) else None for name in COLUMNS),
                *(value if type(value := figures.get(name)) is int else None for name in COUNTED),
                body,
            )
        )
        if len(part) == AT_ONCE:
            yield part
            part = []
    if part:
        yield part
