"""Writes docs/privacy.md: what leaves at which level, field by field, from the same rows that decide it.

python -m tests.flow.privacy_page
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.agents.registry import AGENTS
from collector.flow.event import KINDS
from collector.flow.fields import BLOCKS_NEED, FIELDS, NEEDED, SWITCHES, Field, needs_of_kind
from collector.flow.frame import Frame
from collector.redact.personal import PERSONAL_RULES
from collector.service.heartbeat import NAMES, Beat, heartbeat
from tests.flow.event_pages import REPOSITORY, table

PAGE_PATH = REPOSITORY / "docs" / "privacy.md"
TEXT_PATH = REPOSITORY / "tests" / "flow" / "privacy_page.md"
REPORT = {
    **dict.fromkeys(NAMES, "x"),
    "redactions": {},
    "priorities": {},
    "held": {"files": 0},
    "quarantine": 0,
    "configuration": "",
    "writers": {},
    "watcher": {"mode": "events"},
    "problem": {"kind": "halted"},
}


def page_text() -> str:
    """The prose of tests/flow/privacy_page.md with the tables filled in."""
    text = TEXT_PATH.read_text()
    for mark, lines in (
        ("fields", fields_table()),
        ("kinds", kinds_table()),
        ("blocks", table(("block", "switches"), ((name, listed(needs)) for name, needs in BLOCKS_NEED.items()))),
        ("attributes", [", ".join(f"`{name}`" for name in sorted(attributes())) + "."]),
        ("heartbeat", [", ".join(f"`{name}`" for name in figures()) + "."]),
        ("families", [", ".join(f"`{name}`" for name in PERSONAL_RULES)]),
    ):
        text = text.replace(f"<!-- {mark} -->", "\n".join(lines))
    return text


def fields_table() -> Iterator[str]:
    """Every field, except those that only contain others."""
    rows = (
        (path, at_metadata(path, field), needed(field)) for path, field in FIELDS.items() if field.action != "parts"
    )
    return table(("field", "at `metadata`", "switches at `content`"), rows)


def at_metadata(path: str, field: Field) -> str:
    """What happens to a field at the level metadata, where words may not leave."""
    pseudonym = f"pseudonym `{field.kind}-…`"
    match field.action:
        case "kept":
            return "kept"
        case "id":
            return "kept if it looks like an id; else pseudonym `id-…`"
        case "model":
            return "kept if it looks like one of the provider's models; else pseudonym `model-…`"
        case "tool":
            return "Claude Code's own are kept; a server's become `mcp__mcp-…__tool-…`; else pseudonym `tool-…`"
        case "name":
            return pseudonym + (f" (omitted: `{field.kind}`)" if path in NEEDED else "")
        case "version":
            return "kept if it is a version number"
        case "counts":
            return "sizes; names that are not ours as `other`"
        case "attributes":
            return "numbers, flags and Claude Code's own words, for the attributes below"
        case "word":
            other = {"": "left out", "unknown": "`unknown`"}.get(field.kind, pseudonym)
            return f"kept if it is one of Claude Code's own words; else {other}"
        case _:
            return "**left out**"


def needed(field: Field) -> str:
    """The switches that decide about a field at the level content."""
    words = {"kind": "by kind, below", "block": "by block, below"}
    return ", ".join(words.get(name, f"`{name}`") for name in field.needs)


def kinds_table() -> Iterator[str]:
    """The switches that each kind's words need."""
    return table(("kind", "switches"), ((kind, listed(needs_of_kind(kind))) for kind in KINDS))


def listed(needs: tuple[str, ...]) -> str:
    """The switches as a list, or in words if there are none or all of them."""
    return "all of them" if needs == SWITCHES else ", ".join(f"`{name}`" for name in needs) or "none: it holds no text"


def attributes() -> set[str]:
    """Every agent's attributes that are kept at the level metadata."""
    return {name for form in AGENTS.values() for name in (*form.vocabulary.attributes, *form.vocabulary.names)}


def figures() -> list[str]:
    """The attributes of a heartbeat."""
    frame = Frame({"id": "", "name": ""}, "")
    made = heartbeat(REPORT, frame, Beat(0.0, 0.0, 300.0, is_last=True))
    return sorted(made["attributes"])


if __name__ == "__main__":
    PAGE_PATH.write_text(page_text())
