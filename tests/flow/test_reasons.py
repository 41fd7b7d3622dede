"""The table of reasons is complete and is what the page shows, and no code makes up a reason of its own."""

from __future__ import annotations

import ast
from pathlib import Path

from collector.flow import reasons
from tests.flow.reason_tables import PAGE, page_text

PACKAGE = Path(reasons.__file__).resolve().parents[1]
TABLES = reasons.SKIPPED_FILES, reasons.SKIPPED_LINES, reasons.QUARANTINED


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text() == page_text(), "run: python -m tests.flow.reason_tables"


def test_a_reason_is_in_its_table_only_once() -> None:
    for table in TABLES:
        names = [reason.name for reason in table]
        assert sorted(set(names)) == sorted(names)


def test_every_row_is_in_a_table() -> None:
    rows = {row for row in vars(reasons).values() if isinstance(row, reasons.Reason)}
    assert rows - {row for table in TABLES for row in table} == set()


def test_every_row_is_used() -> None:
    named = {
        node.attr if isinstance(node, ast.Attribute) else node.id
        for path in PACKAGE.rglob("*.py")
        if path.name != "reasons.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute | ast.Name)
    }
    assert [name for name, row in vars(reasons).items() if isinstance(row, reasons.Reason) and name not in named] == []


def test_nothing_is_skipped_for_a_reason_that_has_no_row() -> None:
    names = {row.name for table in TABLES for row in table}
    assert [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {ast.unparse(node)}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in {"Skip", "SkipSource", "skip", "skip_file"}
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value not in names
    ] == []


def test_details_replace_the_ellipsis_of_a_reason() -> None:
    assert reasons.REFUSED.because("HTTP 400") == "refused by the sink (HTTP 400)"
    assert reasons.REJECTED.because("not wanted") == "rejected by the sink: not wanted"


def test_exactly_these_reasons_make_a_scan_exit_with_three() -> None:
    assert {"unreadable", "unlisted", "read_error", "incomplete", "internal_error"} == reasons.LEFT_BEHIND


def test_exactly_these_sources_are_not_opened_again_until_they_change() -> None:
    assert {"warmup", "too_large"} == reasons.UNTIL_CHANGED
