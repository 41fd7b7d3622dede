"""Writes what is generated from the definition of the event: the JSON Schemas in the package, and docs/events.md.

    python -m tests.flow.event_pages

The tables come from collector.flow.event, the mapping and the example from normalizing the samples, so neither can be
wrong without a test failing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.agents.claude_code import places
from collector.flow.event import KINDS
from collector.flow.outcome import Skip
from collector.flow.reasons import SKIPPED_LINES
from tests.agents.claude_code.reader import context, normalized, outcome
from tests.agents.claude_code.record_types import SEEN
from tests.agents.claude_code.samples import (
    ALL_RECORDS,
    HISTORY_LINES,
    INDEX_ENTRIES,
    JOURNAL_LINES,
    STATS,
    WORKFLOW_RUN,
)
from tests.flow.event_schema import json_schema, open_schema

REPOSITORY = Path(__file__).resolve().parents[2]
STRICT_PATH = REPOSITORY / "collector" / "flow" / "event.strict.schema.json"
OPEN_PATH = REPOSITORY / "collector" / "flow" / "event.schema.json"
PAGE_PATH = REPOSITORY / "docs" / "events.md"
TEXT_PATH = REPOSITORY / "tests" / "flow" / "events_page.md"

PARTS = ("usage", "usage.iterations", "tool", "blocks", "source", "client", "host")


def schema_text(schema: dict[str, Any]) -> str:
    """A JSON Schema as the text of its file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def page_text() -> str:
    """docs/events.md: the prose of tests/flow/events_page.md with the tables filled in."""
    text = TEXT_PATH.read_text()
    for mark, lines in (
        ("kinds", kinds_table()),
        ("skips", table(("reason", "what was skipped"), ((reason.name, reason.meaning) for reason in SKIPPED_LINES))),
        ("fields", fields_table(json_schema())),
        ("parts", parts_tables()),
        ("records", records_table()),
        ("versions", versions_table()),
        ("example", example()),
    ):
        text = text.replace(f"<!-- {mark} -->", "\n".join(lines))
    return text


def table(head: tuple[str, ...], rows: Any) -> Iterator[str]:
    """A Markdown table whose first column is code."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for first, *others in rows:
        yield f"| `{first}` | " + " | ".join(others) + " |"


def kinds_table() -> Iterator[str]:
    """Every kind, with its description."""
    return table(("kind", "what happened"), KINDS.items())


def fields_table(schema: dict[str, Any]) -> Iterator[str]:
    """The fields of one object."""
    required = set(schema["required"])
    rows = (
        (name, type_of(part), "yes" if name in required else "", part.get("description", "").replace("|", "\\|"))
        for name, part in schema["properties"].items()
    )
    return table(("field", "type", "always", "meaning"), rows)


def parts_tables() -> Iterator[str]:
    """The fields of the objects inside an event."""
    properties = json_schema()["properties"]
    for name in PARTS:
        outer, _, inner = name.partition(".")
        part = properties[outer]["properties"][inner] if inner else properties[outer]
        yield f"### {name}\n"
        yield from fields_table(part.get("items", part))
        yield ""


def type_of(part: dict[str, Any]) -> str:
    """What a field holds, in a word or two."""
    if "enum" in part and len(part["enum"]) <= 8:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if part.get("type") == "array":
        return f"list of {type_of(part['items'])}"
    return str(part.get("type", "any"))


def records_table() -> Iterator[str]:
    """Which records become which kind."""
    names: dict[str, dict[str, None]] = {}
    where = context()
    for name, record in ALL_RECORDS.items():
        made = outcome(record, where)
        kind = f"{made.reason}` (skipped)" if isinstance(made, Skip) else f"{made['kind']}`"
        if "tomorrow" not in name and name != "no_type":
            names.setdefault(kind, {})[name_of(record)] = None
    for source, records, name in (
        (places.HISTORY, HISTORY_LINES, "lines of `history.jsonl`"),
        (places.JOURNAL, JOURNAL_LINES, "lines of a workflow's `journal.jsonl`"),
        (places.SESSION_INDEX, INDEX_ENTRIES, "entries of `sessions-index.json`"),
        (places.WORKFLOW, {"run": WORKFLOW_RUN}, "a workflow's `wf_*.json`"),
        (places.STATS, {"stats": STATS}, "`stats-cache.json`"),
    ):
        for record in records.values():
            names.setdefault(f"{normalized(record, context(source))['kind']}`", {})[name] = None
    names["unknown`"] = {"any other type, or none": None}
    yield "| kind | made from |"
    yield "| --- | --- |"
    yield from (f"| `{kind} | {', '.join(found)} |" for kind, found in names.items())


def versions_table() -> Iterator[str]:
    """Which versions write which record types, and what each becomes, judging by the samples."""
    kinds: dict[str, dict[str, None]] = {}
    where = context()
    for record in ALL_RECORDS.values():
        made = outcome(record, where)
        kind = f"skipped: {made.reason}" if isinstance(made, Skip) else f"`{made['kind']}`"
        kinds.setdefault(str(record.get("type")), {})[kind] = None
    yield from table(
        ("record type", "seen in", "becomes"), ((name, seen, ", ".join(kinds[name])) for name, seen in SEEN.items())
    )


def name_of(record: dict[str, Any]) -> str:
    """What the table calls a record: its type, with the subtype where that decides the kind."""
    kind = record.get("type")
    inner = record.get("attachment") or record.get("data")
    subtype = inner.get("type") if isinstance(inner, dict) else record.get("subtype")
    return f"{kind}/`{subtype}`" if subtype and kind != "result" else f"`{kind}`"


def example() -> Iterator[str]:
    """One event in full."""
    yield "```json"
    yield json.dumps(normalized(ALL_RECORDS["assistant_tool_call"]), indent=1)
    yield "```"


def main() -> None:
    """Writes all three files."""
    OPEN_PATH.write_text(schema_text(open_schema()))
    STRICT_PATH.write_text(schema_text(json_schema()))
    PAGE_PATH.write_text(page_text())


if __name__ == "__main__":
    main()
