"""Extracts the command lines that a page shows, in order, each with the output shown below it.

In a code block, a line that begins with `$` is a command, and the lines up to the next one are its output. A block
that no test can run says why in the line before it: `<!-- not run: the reason -->`. Its words are checked all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md")))
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")


@dataclass
class Shown:
    """One command as a page shows it."""

    page: str
    line: int
    command: str
    why_not: str = ""  # why no test runs it
    output: list[str] = field(default_factory=list)


def shown_in(page: str) -> list[Shown]:
    """Every command of a page."""
    found: list[Shown] = []
    current: Shown | None = None
    why_not, is_fenced = "", False
    for number, text in enumerate((REPOSITORY / page).read_text().splitlines(), 1):
        if text.startswith("```"):
            is_fenced, current = not is_fenced, None
            if not is_fenced:
                why_not = ""
            continue
        if not is_fenced and not text.startswith("    "):
            current = None
            if mark := NOT_RUN.fullmatch(text):
                why_not = mark[1]
            elif text.strip():
                why_not = ""
            continue
        line = text if is_fenced else text[4:]
        if line.startswith("$ "):
            current = Shown(page, number, line[2:].split("  #")[0].strip(), why_not)
            found.append(current)
        elif current is not None and line.strip():
            current.output.append(line.rstrip())
    return found


def missing_from(shown: list[str], printed: str) -> list[str]:
    """The shown lines that were not printed in this order; any number matches any other."""
    lines = iter(printed.splitlines())
    return [line for line in shown if not any(_pattern(line).search(each) for each in lines)]


def _pattern(line: str) -> re.Pattern[str]:
    parts = re.split(r"(\d[\d.,]*|:[0-9a-f]{12}\]|\.\.\.|…|\s+)", line)
    return re.compile("".join(map(_part, parts)))


def _part(text: str) -> str:
    """The pattern of one part: a number or a marker's hash matches any other, and an ellipsis matches any text."""
    if text[:1].isdigit():
        return r"\d[\d.,]*"
    if text.startswith(":") and text.endswith("]"):
        return r":[0-9a-f]{12}\]"
    if text in {"...", "…"}:
        return ".*"
    return r"\s+" if text.isspace() else re.escape(text)


def links_in(page: str) -> Iterator[tuple[str, str]]:
    """The file and the heading that each link on a page leads to."""
    for target in re.findall(r"\]\(([^)\s]+)\)", (REPOSITORY / page).read_text()):
        if "://" not in target:
            path, _, heading = target.partition("#")
            place = (REPOSITORY / page).parent / path if path else REPOSITORY / page
            yield str(place.resolve().relative_to(REPOSITORY)), heading


def headings_of(page: str) -> set[str]:
    """The anchors of a page, as GitHub generates them."""
    titles = re.findall(r"^#+ (.+)$", (REPOSITORY / page).read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
