"""Prints which parts of each record type reach no event, leaf by leaf: `python -m tests.leaves [ROOT]`.

In: the records below a Claude config directory, or the samples if none is given. Out: for every record type, each path
whose value appears in no event, how often, and what the event counts as left out. Values that are false, null or empty
say nothing and are ignored. Values are never printed, only their paths. Nothing is sent or changed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from collector.agents.claude_code import ClaudeCode, places
from collector.agents.claude_code.context import FRAME
from collector.flow.frame import Frame
from collector.flow.line import Line, Reading
from collector.flow.outcome import Skip
from collector.flow.source import Place, Root, Source, Stamp
from collector.reading.parse import load

Record = dict[str, Any]
Report = dict[str, Counter[str]]

FORM = ClaudeCode()
# Implied by another field or by the kind, or the same on every record.
IMPLIED = {"external", "message", "text", "user", "base64", "error", *FRAME}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is not a container, with its path; all items of a list share one path."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, f"{path}[]")
    else:
        yield path, value


def missing(record: Record, made: Record | Skip) -> Iterator[str]:
    """The paths of a record's leaves that appear nowhere in the event."""
    if isinstance(made, Skip):
        yield "(everything)"
        return
    said = {value for _, value in leaves(made) if not isinstance(value, str)}
    texts = "\n".join(value for _, value in leaves(made) if isinstance(value, str))
    for path, value in leaves(record):
        if value in ("", None, False) or value in IMPLIED:
            continue
        if isinstance(value, str):
            if not all(line.strip() in texts or line.strip() in IMPLIED for line in value.splitlines()):
                yield path
        elif value not in said:
            yield path


def type_of(record: Record, kind: str) -> str:
    """What the report calls a record: its type and subtype, or the kind of source it is in."""
    if kind not in ("session", "subagent"):
        return f"{kind}: {record.get('type', 'whole')}"
    inner = record.get("attachment") or record.get("data")
    subtype = inner.get("type") if isinstance(inner, dict) else record.get("subtype")
    return f"{record.get('type')}/{subtype}" if subtype else str(record.get("type"))


def sources(root: Path) -> Iterator[tuple[Source, list[Record], Record]]:
    """Every source below a root, with its records and its companion."""
    for path in sorted(root.rglob("*.json*")):
        place: Place | None = Place()
        for part in path.relative_to(root).parts[:-1]:
            place = FORM.enter(place, part) if place is not None else None
        kind = FORM.classify(place, path.name) if place is not None else None
        if place is None or kind is None:
            continue
        session_id, agent_id = FORM.ids(place, path.name, kind)
        stamp = Stamp(path.stat().st_size, path.stat().st_mtime_ns, 0)
        source = Source(
            Root(str(root), "", FORM.name), str(path), str(path), kind, place.project, session_id, agent_id, stamp
        )
        data = path.read_bytes()
        found = FORM.entries(source, load(data)) if kind.is_document else map(load, data.splitlines())
        meta = path.with_name(FORM.companion(source) or "-")
        yield (
            source,
            [each for each in found if isinstance(each, dict)],
            load(meta.read_bytes()) if meta.is_file() else {},
        )


def samples() -> Iterator[tuple[Source, list[Record], Record]]:
    """The tests' samples, each as a file of its own."""
    from tests.agents.claude_code import samples as known

    for kind, records in (
        (places.SESSION, known.ALL_RECORDS),
        (places.HISTORY, known.HISTORY_LINES),
        (places.JOURNAL, known.JOURNAL_LINES),
        (places.SESSION_INDEX, known.INDEX_ENTRIES),
        (places.WORKFLOW, {"run": known.WORKFLOW_RUN}),
        (places.STATS, {"stats": known.STATS}),
    ):
        for record in records.values():
            source = Source(Root("/", "", FORM.name), "/", "/", kind, "", "", "", Stamp(1, 0, 0))
            yield source, [json.loads(json.dumps(record))], {}


def report(found: Iterator[tuple[Source, list[Record], Record]]) -> tuple[Report, Counter[str], Report]:
    """By record type: what is missing, how many records there were, and what their events count as left out."""
    lost: Report = {}
    seen: Counter[str] = Counter()
    counted: Report = {}
    for source, records, meta in found:
        reading = Reading(source, b"", source.stamp, meta)
        normalize = FORM.normalizer(reading, Frame({"id": "", "name": ""}, ""))
        for number, record in enumerate(records):
            name = type_of(record, source.kind.name)
            made = normalize(Line(reading, number, number, record, "", b"", b""))
            if isinstance(made, Skip):
                name += f" (skipped: {made.reason})"
            else:
                counted.setdefault(name, Counter()).update(made.get("omitted", {}))
            seen[name] += 1
            lost.setdefault(name, Counter()).update(set(missing(record, made)))
    return lost, seen, counted


def main() -> None:
    """Prints the report."""
    lost, seen, counted = report(sources(Path(sys.argv[1])) if len(sys.argv) > 1 else samples())
    for name in sorted(seen):
        omitted = ", ".join(f"{key} {size:,}" for key, size in sorted(counted.get(name, {}).items()))
        print(f"{name}: {seen[name]}" + (f"   (left out: {omitted})" if omitted else ""))
        for path, count in sorted(lost[name].items()):
            print(f"    {count:6}  {path}")


if __name__ == "__main__":
    main()
