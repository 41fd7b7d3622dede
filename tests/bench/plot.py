"""A small plot as SVG: measured points and the straight line that fits them best. Readable in light and dark mode."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 18, 34, 46
STYLE = """
  svg { font: 12px system-ui, sans-serif; --ink: #1f2328; --faint: #d0d7de; --mark: #0969da; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --faint: #30363d; --mark: #58a6ff; } }
  text { fill: var(--ink); } .title { font-weight: 600; font-size: 13px; }
  .grid { stroke: var(--faint); } .fit { stroke: var(--ink); stroke-dasharray: 4 4; opacity: .6; }
  circle { fill: var(--mark); }
"""


class Point(NamedTuple):
    """How much there was, and what it cost."""

    amount: float
    cost: float


def fitted(points: Sequence[Point]) -> tuple[float, float]:
    """The least-squares line: its start (what no work costs) and its slope (what each unit adds)."""
    count = len(points)
    amounts, costs = sum(point.amount for point in points), sum(point.cost for point in points)
    products = sum(point.amount * point.cost for point in points)
    squares = sum(point.amount**2 for point in points)
    slope = (count * products - amounts * costs) / (count * squares - amounts**2)
    return (costs - slope * amounts) / count, slope


def ticks(most: float) -> list[float]:
    """Three to six round numbers, from 0 to at least `most`."""
    step = 10.0 ** floor(log10(most))
    step = next(size for size in (step / 5, step / 2, step, 2 * step) if most / size <= 5)
    return [step * number for number in range(int(-(-most // step)) + 1)]


def said(value: float) -> str:
    """A number as an axis shows it."""
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def drawn(title: str, unit: str, cost: str, points: Sequence[Point]) -> str:
    """The plot as SVG, with both axes from 0."""
    across, up = ticks(max(point.amount for point in points)), ticks(max(point.cost for point in points))

    def x(amount: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * amount / across[-1]

    def y(height: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * height / up[-1]

    start, slope = fitted(points)
    parts = [f'<text class="title" x="{LEFT}" y="20">{escape(title)}</text>']
    for tick in up:
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y(tick) + 4:.1f}" text-anchor="end">{said(tick)}</text>')
    parts += [
        f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{said(tick)}</text>'
        for tick in across
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 9}" text-anchor="middle">{escape(unit)}</text>')
    parts.append(f'<text x="14" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">')
    parts.append(f"{escape(cost)}</text>")
    first, last = points[0].amount, points[-1].amount
    parts.append(f'<line class="fit" x1="{x(first):.1f}" y1="{y(start + slope * first):.1f}"')
    parts.append(f' x2="{x(last):.1f}" y2="{y(start + slope * last):.1f}"/>')
    parts += [f'<circle cx="{x(point.amount):.1f}" cy="{y(point.cost):.1f}" r="4"/>' for point in points]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'{head} role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )
