"""Writes docs/otlp.md: the prose of otlp_page.md, with the tables of names generated from the mapping itself.

python -m tests.delivery.otlp_page
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from collector.delivery.otlp import mapping

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE_PATH = REPOSITORY / "docs" / "otlp.md"
TEXT_PATH = Path(__file__).with_name("otlp_page.md")


def page_text() -> str:
    """The whole page."""
    text = TEXT_PATH.read_text().replace("<!-- version -->", mapping.VERSION)
    for name, rows in (("resource", mapping.RESOURCE), ("log", mapping.LOG), ("spans", mapping.SPANS)):
        text = text.replace(f"<!-- {name} -->", "\n".join(table(rows)))
    return text


def table(rows: Sequence[mapping.Row]) -> Iterator[str]:
    """One table of names."""
    yield "| field | attribute | named by | note |"
    yield "| --- | --- | --- | --- |"
    for row in rows:
        field = row.field if row.field.startswith("(") else f"`{row.field}`"
        yield f"| {field} | `{row.attribute}` | {row.named_by} | {row.note} |"


if __name__ == "__main__":
    PAGE_PATH.write_text(page_text())
