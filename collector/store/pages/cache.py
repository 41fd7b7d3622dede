"""The prompt cache: what was read from it, what was written to it, and what that saved."""

from __future__ import annotations

from typing import Any

from collector.store import queries
from collector.store.pages import charts, shown
from collector.store.pages.asked import Asked
from collector.store.pages.chosen import DIMENSIONS, every_bucket
from collector.store.pages.overview import name_of
from collector.store.prices import amount

MOST_ROWS = 40
PARTS = {
    "read": "read from cache",
    "short": "written, kept 5 min",
    "long": "written, kept 1 h",
    "input": "not cached",
}


def view(asked: Asked) -> dict[str, Any]:
    """The values of the template."""
    connection, chosen = asked.connection, asked.chosen
    days = queries.cache_by(connection, (chosen.bucket,), chosen.selection)
    rows = queries.cache_by(connection, (chosen.by,), chosen.selection)
    for row in rows:
        row["prompt"] = _prompt(row)
    rows.sort(key=lambda row: (-row["prompt"], row[chosen.by]))
    whole = queries.cache_by(connection, (), chosen.selection)[0]
    before = queries.cache_by(connection, (), chosen.before)[0] if chosen.before else None
    return {
        "title": "Cache",
        "tiles": [
            {
                "name": "saved",
                "value": amount(whole, "saved_micros"),
                "change": f"{amount(before, 'saved_micros')} before" if before else "",
            },
            {
                "name": "prompt tokens from cache",
                "value": shown.percent(whole["cache_read_tokens"], _prompt(whole)),
                "change": f"{shown.percent(before['cache_read_tokens'], _prompt(before))} before" if before else "",
            },
            {"name": "read", "value": shown.short(whole["cache_read_tokens"]), "change": "tokens"},
            {"name": "written", "value": shown.short(whole["cache_creation_tokens"]), "change": "tokens"},
            {
                "name": "of that, kept for 1 h",
                "value": shown.percent(whole["cache_creation_1h_tokens"], whole["cache_creation_tokens"]),
                "change": "",
            },
        ],
        "chart": charts.stacked(
            [part for day in days for part in _parts(day, chosen.bucket)],
            every_bucket(chosen.since, chosen.until, chosen.bucket),
            ("bucket", "part", "tokens"),
            lambda value: shown.short(int(value)),
            name=PARTS.__getitem__,
            order=tuple(PARTS),
        ),
        "whole": whole,
        "without_price": queries.models_without_price(connection, chosen.selection),
        "rows": rows[:MOST_ROWS],
        "left_out": max(0, len(rows) - MOST_ROWS),
        "name_of": name_of(chosen.by),
        "dimensions": DIMENSIONS,
    }


def _prompt(row: dict[str, Any]) -> int:
    return int(row["input_tokens"] + row["cache_read_tokens"] + row["cache_creation_tokens"])


def _parts(row: dict[str, Any], bucket: str) -> list[dict[str, Any]]:
    amounts = {
        "read": row["cache_read_tokens"],
        "short": row["cache_creation_tokens"] - row["cache_creation_1h_tokens"],
        "long": row["cache_creation_1h_tokens"],
        "input": row["input_tokens"],
    }
    return [{"bucket": row[bucket], "part": part, "tokens": amount} for part, amount in amounts.items()]
