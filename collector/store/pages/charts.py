"""Charts: computed here, drawn as SVG by the templates.

In: rows of figures. Out: shapes with their positions. Widths are percentages and heights pixels, so that a chart fits
any screen while its text keeps its size. Invariant: every shape has a label that says in words what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

HEIGHT = 220  # pixels of the plot
SERIES = 7  # shown one by one; the rest are shown together
OTHERS = "others"
LABELS = 5  # names below a chart; a phone has no room for more
STEPS, MOST_STEPS = (1, 2, 5, 10), 5  # distances between lines, and the most lines
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
GAP = 0.18  # share of a bar's room


class Part(NamedTuple):
    """One colored part of a bar."""

    number: int
    y: float
    height: float


class Bar(NamedTuple):
    """One bar: `x` and `width` in percent; `name` is written below it, and empty for most bars."""

    x: float
    width: float
    parts: list[Part]
    label: str
    name: str


class Chart(NamedTuple):
    """A chart of stacked bars: the series in order of size, the bars, and the lines behind them."""

    series: list[tuple[str, float]]
    bars: list[Bar]
    ticks: list[tuple[float, str]]
    height: int

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to see."""
        return not any(bar.parts for bar in self.bars)


def stacked(
    rows: Sequence[dict[str, Any]],
    buckets: Sequence[str],
    keys: tuple[str, str, str],
    say: Callable[[float], str],
    *,
    name: Callable[[str], str] = str,
    order: Sequence[str] = (),
    height: int = HEIGHT,
) -> Chart:
    """Rows as bars: `keys` names the fields of bucket, series and value. Without `order`, series are sorted by size."""
    at, of, value = keys
    sums: dict[str, float] = dict.fromkeys(order, 0)
    table: dict[str, dict[str, float]] = {}
    for row in rows:
        if row[value]:
            sums[row[of]] = sums.get(row[of], 0) + row[value]
            cell = table.setdefault(row[at], {})
            cell[row[of]] = cell.get(row[of], 0) + row[value]
    ranked = list(order) or sorted(sums, key=lambda key: (-sums[key], key))
    shown, rest = ranked[:SERIES], ranked[SERIES:]
    series = [(name(key), sums[key]) for key in shown] + ([(OTHERS, sum(sums[key] for key in rest))] if rest else [])
    most, ticks = _scale(max((sum(cell.values()) for cell in table.values()), default=0), height, say)
    bars, room = [], 100 / max(1, len(buckets))
    step = max(1, -(-len(buckets) // LABELS))
    for number, bucket in enumerate(buckets):
        cell = table.get(bucket, {})
        values = [cell.get(key, 0) for key in shown] + ([sum(cell.get(key, 0) for key in rest)] if rest else [])
        said = ", ".join(f"{title} {say(part)}" for (title, _), part in zip(series, values, strict=True) if part)
        label = f"{bucket}: {say(sum(values))}" + (f" ({said})" if len(series) > 1 and said else "")
        bars.append(
            Bar(
                round((number + GAP / 2) * room, 3),
                round((1 - GAP) * room, 3),
                _parts(values, most, height),
                label,
                short_name(bucket) if number % step == step // 2 else "",
            )
        )
    return Chart(series, bars, ticks, height)


def _parts(values: Sequence[float], most: float, height: int) -> list[Part]:
    parts, top = [], float(height)
    for number, value in enumerate(values):
        if value > 0:
            tall = max(0.5, value / most * height)
            top -= tall
            parts.append(Part(number, round(max(0.0, top), 1), round(tall, 1)))
    return parts


def _scale(most: float, height: int, say: Callable[[float], str]) -> tuple[float, list[tuple[float, str]]]:
    """The value at the top, and round values to draw lines at."""
    if most <= 0:
        return 1.0, []
    size = 10.0 ** (len(str(int(most))) - 2) if most >= 10 else 1.0
    for step in (size * factor for factor in (*STEPS, *(10 * each for each in STEPS))):
        count = int(-(-most // step))
        names = [say(step * number) for number in range(1, count + 1)]
        if count <= MOST_STEPS and len({*names}) == count:  # $0.01 may also stand for one cent and a half
            break
    return step * count, [(round(height - height * number / count, 1), name) for number, name in enumerate(names, 1)]


def short_name(bucket: str) -> str:
    """A day as `Mar 4`, a month as `Mar 2026`."""
    try:
        day = date.fromisoformat(bucket if len(bucket) > len("2026-03") else f"{bucket}-01")
    except ValueError:
        return bucket
    return f"{MONTHS[day.month - 1]} {day.day if len(bucket) > len('2026-03') else day.year}"


class Cell(NamedTuple):
    """One hour of the week; `level` is 0 to 6."""

    day: int
    hour: int
    level: int
    label: str


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
LEVELS = 6


def heatmap(values: dict[tuple[int, int], float], say: Callable[[float], str], minutes: int = 0) -> list[list[Cell]]:
    """A row for each day of the week (0 is Monday), with a cell for each hour, which begins `minutes` past the hour."""
    most = max(values.values(), default=0)
    return [
        [
            Cell(
                day,
                hour,
                _level(values.get((day, hour), 0), most),
                f"{name} {hour:02}:{minutes:02}: {say(values.get((day, hour), 0))}",
            )
            for hour in range(24)
        ]
        for day, name in enumerate(WEEKDAYS)
    ]


def _level(value: float, most: float) -> int:
    return 0 if value <= 0 else max(1, min(LEVELS, -(-int(value * LEVELS * 1000) // int(most * 1000 or 1))))
