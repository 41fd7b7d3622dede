"""The sub-rooms of collector/redact: what may import what. collector/redact/__init__.py has the diagram."""

from __future__ import annotations

from tests.test_rooms import OURS, imports_of, module_of, name_of

# Each module or sub-room, and what it may import from the room besides itself and `lazy`.
MAY_IMPORT: dict[str, set[str]] = {
    "lazy": set(),
    "rule": set(),
    "marker": set(),
    "words": set(),
    "formats": {"rule", "words.drawn", "words.letter_pairs"},
    "structures": {"rule", "marker", "words", "formats.shapes"},
    "all_rules": {"rule", "formats", "structures"},
    "scan": {"rule", "marker", "words.asked", "words.described", "words.names", "words.placeholders"},
    "session": {"words"},
    "personal": {"rule"},
    "disguises": {"rule", "words"},
    "own_rules": {"rule", "scan"},
    "exempt": set(),
    "findings": {"marker"},
    "copies": {"exempt", "findings", "marker", "scan.segments", "words.distinctive"},
    "redactor": {
        "rule",
        "marker",
        "all_rules",
        "scan",
        "session",
        "disguises",
        "own_rules",
        "personal",
        "exempt",
        "findings",
        "copies",
        "structures.identity",
        "words.labels",
    },
    "withhold": set(),
    "seal": {"redactor", "withhold"},
    "redact": {"findings", "redactor", "seal", "scan.matching", "structures.identity"},  # collector/redact/__init__.py
}


def inner(module: str) -> str:
    """A module's name within the room: `scan.engines` for `redact.scan.engines`."""
    return module.removeprefix("redact.")


def is_allowed(importing: str, imported: str) -> bool:
    """Whether the table lets one module import another."""
    place = importing.partition(".")[0]
    allowed = MAY_IMPORT.get(place, set()) | {place, "lazy"}
    return any(imported == each or imported.startswith(f"{each}.") for each in allowed)


def test_every_module_imports_only_what_its_sub_room_may() -> None:
    ours = {path: inner(module_of(path)) for path in OURS if f"{module_of(path)}.".startswith("redact.")}
    assert {module.partition(".")[0] for module in ours.values()} == set(MAY_IMPORT)
    assert [
        f"{name_of(path)}:{line} imports {inner(imported)}"
        for path, module in ours.items()
        for line, imported in imports_of(path)
        if f"{imported}.".startswith("redact.") and not is_allowed(module, inner(imported))
    ] == []
