"""Draws docs/pictures/terminal.svg: the output of a scan of the demo's sessions and of reports on the sample events.

python -m tests.docs.picture
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import orjson

from collector.agents.registry import AGENTS
from collector.store.writer import Writer
from tests.build import Home
from tests.inside import Inside
from tests.store.sample_set import SAMPLE
from tests.store.samples import row_of

PICTURE = SAMPLE.parents[1] / "docs" / "pictures" / "terminal.svg"
COLUMNS, LINE, SIZE, LEFT, TOP = 102, 19, 13, 22, 58
BLOCKS = "█▏▎▍▌▋▊▉\N{NO-BREAK SPACE}"
KEY = "AKIA" + "Q" * 16
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SAYS = "A terminal: collector scan, and two reports"
COLOURS = {"ground": "#16181d", "bar": "#23262e", "text": "#d7dae0", "prompt": "#7fb88f", "block": "#d9a05b"}


def session() -> Iterator[str]:
    """The lines of the picture; those that begin with `$` are typed by the user."""
    with tempfile.TemporaryDirectory() as directory:
        home = Home(Path(directory))
        form = next(iter(AGENTS.values()))
        for name, content in form.example(KEY, random.Random(1), datetime.now(UTC)).items():
            path = home.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        agent = Inside(home, None, {"COLUMNS": str(COLUMNS), "COLLECTOR_BATCH__LINGER": "60"})
        yield "$ collector scan"
        yield from agent.run("scan").stdout.splitlines()
        database = home.path / ".local" / "share" / "collector" / "events.db"
        for each in database.parent.glob("events.db*"):
            each.unlink()
        with closing(Writer(database)) as writer:
            writer.store(map(row_of, map(orjson.loads, SAMPLE.read_bytes().splitlines())))
        for words in ("report --by model --cost", "report --by tool"):
            yield ""
            yield f"$ collector {words}"
            yield from (line.rstrip() for line in agent.run(*words.split()).stdout.splitlines() if line.strip())


def drawn(lines: list[str]) -> str:
    """The SVG of a terminal with these lines."""
    width, height = LEFT * 2 + max(map(len, lines)) * 8, TOP + LINE * len(lines) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{SAYS}">',
        f'<rect width="{width}" height="{height}" rx="10" fill="{COLOURS["ground"]}"/>',
        f'<path d="M0 36V10A10 10 0 0 1 10 0H{width - 10}A10 10 0 0 1 {width} 10V36Z" fill="{COLOURS["bar"]}"/>',
        *(f'<circle cx="{22 + 20 * number}" cy="18" r="6" fill="#454a55"/>' for number in range(3)),
        f'<g font-family="{FONT}" font-size="{SIZE}" fill="{COLOURS["text"]}">',
    ]
    for number, spaced in enumerate(lines):
        line = spaced.replace(" ", "\N{NO-BREAK SPACE}")  # SVG collapses runs of ordinary spaces
        text, blocks = line.rstrip(BLOCKS), line[len(line.rstrip(BLOCKS)) :]
        inner = escape(text) + (
            f'<tspan fill="{COLOURS["block"]}">{blocks}</tspan>' if blocks.strip("\N{NO-BREAK SPACE}") else ""
        )
        if spaced.startswith("$ "):
            inner = f'<tspan fill="{COLOURS["prompt"]}">$</tspan>{escape(line[1:])}'
        parts.append(f'<text x="{LEFT}" y="{TOP + LINE * number}">{inner}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(list(session())))
