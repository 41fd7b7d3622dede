"""Tables for people: figures right-aligned, names left-aligned, and no word split. Also as CSV.

In: columns, rows, the available width. Out: a table on the console, and notes on what did not fit, to print below it.
If the columns are too wide together, the least important ones are left out and titles are cut; if a row is still too
wide, the terminal may wrap it, but no cell is broken.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from collector.log import printable
from collector.store.asking import plain
from collector.store.prices import amount

BAR_WIDTH = 24
EIGHTHS = " ▏▎▍▌▋▊▉█"
LONGEST_TITLE, LEAST_TITLE = 52, 24
CUT = " ..."
BETWEEN = 3  # columns of the terminal between two cells


class Column(NamedTuple):
    """A column: its key in a row, its heading, how soon it may be left out (0: never), and its kind."""

    key: str
    heading: str
    may_go: int
    kind: str = "count"


def shown(
    console: Console,
    columns: tuple[Column, ...],
    rows: list[dict[str, Any]],
    chart: list[str] | None = None,
    *,
    title: str | None = None,
    totals: dict[str, Any] | None = None,
) -> list[str]:
    """Prints a table. Returns notes on what it does not show."""
    cells = {column: [_cell_of(row, column) for row in rows] for column in columns}
    footers = {column: _cell_of(totals, column) for column in columns} if totals else {}
    widths = {
        column: max(len(text) for text in (column.heading, footers.get(column, ""), *cells[column])) + BETWEEN
        for column in columns
    }
    least = {
        column: min(widths[column], LEAST_TITLE + BETWEEN) if column.kind == "title" else widths[column]
        for column in columns
    }
    kept, left_out = list(columns), []
    room = console.width - BETWEEN
    while sum(least[column] for column in kept) > room and any(column.may_go for column in kept):
        goes = max(kept, key=lambda column: column.may_go)
        kept.remove(goes)
        left_out.append(goes.heading)
    room -= sum(least[column] for column in kept)
    for column in kept:
        if column.kind == "title":
            more = min(widths[column] - least[column], max(0, room))
            room, widths[column] = room - more, least[column] + more
            cells[column] = [shortened(text, widths[column] - BETWEEN) for text in cells[column]]
    has_chart = chart is not None and any(chart) and room >= BAR_WIDTH and console.encoding.startswith("utf")
    table = Table(title=title, title_justify="left", show_footer=totals is not None, box=None, pad_edge=False)
    for number, column in enumerate(kept):
        footer = "" if number and column.kind == "text" else "total" if not number else footers.get(column, "")
        justify = "left" if column.kind in {"text", "title", "minute"} else "right"
        table.add_column(column.heading, footer=footer, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    if has_chart:
        table.add_column("", no_wrap=True)
    for number in range(len(rows)):
        extra = [Text(chart[number])] if has_chart and chart else []
        table.add_row(*(Text(cells[column][number]) for column in kept), *extra)
    needed = sum(widths[column] for column in kept) + (BAR_WIDTH + BETWEEN if has_chart else 0)
    Console(file=console.file, width=max(console.width, needed), highlight=False).print(table, soft_wrap=False)
    console.print()
    return [f"Not shown, too narrow a terminal: {', '.join(reversed(left_out))}."] if left_out else []


def print_csv(heading: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Prints CSV as it is, except that on a terminal, control characters that would move the cursor are escaped."""
    tame = printable if sys.stdout.isatty() else str
    cells = ([tame(value) if isinstance(value, str) else plain(value) for value in row] for row in (heading, *rows))
    csv.writer(sys.stdout, lineterminator="\n").writerows(cells)


def bars(values: list[int]) -> list[str]:
    """A bar for each value, the longest for the largest."""
    most = max(values, default=0)
    found = []
    for value in values:
        eighths = round(value / most * BAR_WIDTH * 8) if most else 0
        found.append("█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else ""))
    return found


def _cell_of(row: dict[str, Any], column: Column) -> str:
    return amount(row, column.key) if column.kind == "dollars" else cell(row.get(column.key), column.kind)


def cell(value: Any, kind: str) -> str:
    """A value as text for people."""
    if value is None:
        return "-"
    if kind == "duration":
        return duration(value)
    if kind == "minute":
        return str(value)[:16].replace("T", " ")
    if kind == "count":
        return f"{value:,}"
    text = printable(str(value)) or "(none)"
    return shortened(text, LONGEST_TITLE) if kind == "title" else text


def shortened(text: str, most: int) -> str:
    """A title of at most this many characters, cut after a word if it has one."""
    if len(text) <= most:
        return text
    words = text[: most - len(CUT) + 1]
    return (words.rpartition(" ")[0] or words[:-1]) + CUT


def duration(milliseconds: int) -> str:
    """84 ms, 1.2 s, 3 min 20 s."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes:,} min {seconds} s"
