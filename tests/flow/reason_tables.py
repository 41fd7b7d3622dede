"""Writes the table of reasons in docs/troubleshooting.md from collector/flow/reasons.py.

python -m tests.flow.reason_tables
"""

from __future__ import annotations

from pathlib import Path

from collector.flow.reasons import QUARANTINED, SKIPPED_FILES, SKIPPED_LINES, Reason

PAGE = Path(__file__).resolve().parents[2] / "docs" / "troubleshooting.md"
BEGINNING = "<!-- python -m tests.flow.reason_tables -->\n"
END = "<!-- end of the table -->\n"
AGAIN = {"line": "no, the offset is past it", "event": "by `collector quarantine retry`"}
HEAD = "| outcome | reason | meaning | tried again | `scan` exits with |\n|---|---|---|---|---|\n"


def page_text() -> str:
    """The page with its table up to date."""
    before, _, rest = PAGE.read_text().partition(BEGINNING)
    _, _, after = rest.partition(END)
    return f"{before}{BEGINNING}{table()}{END}{after}"


def table() -> str:
    """Every reason, as Markdown."""
    parts = ("skipped", SKIPPED_FILES), ("skipped", SKIPPED_LINES), ("quarantined", QUARANTINED)
    return HEAD + "".join(row(fate, reason) for fate, reasons in parts for reason in reasons)


def row(fate: str, reason: Reason) -> str:
    """One line of the table."""
    again = AGAIN.get(reason.of, "when it changes" if reason.until_changed else "in every pass")
    return f"| {reason.of} {fate} | `{reason.name}` | {reason.meaning} | {again} | {3 if reason.is_left else ''} |\n"


if __name__ == "__main__":
    PAGE.write_text(page_text())
