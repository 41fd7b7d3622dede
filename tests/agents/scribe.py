"""A fictitious coding agent, with everything the collector needs to know to read its files.

    ~/.scribe/desks/{desk}/{session}.log     lines {"at": seconds, "where": directory, "who": ..., "words": ...}
    ~/.scribe/desks/{desk}/{session}.about   beside it: {"style": ...}
    ~/.scribe/ledger.json                    one document: {"pages": [...]}

Run as a program, it is the `collector` command with this format in its registry.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from collector.__main__ import main
from collector.agents.format import Normalizer
from collector.agents.registry import AGENTS
from collector.flow.anchor import Anchor
from collector.flow.frame import Frame, provenance
from collector.flow.line import Line, Reading
from collector.flow.outcome import Skip
from collector.flow.source import Place, Source, SourceKind
from collector.flow.vocabulary import Vocabulary

LEDGER, LOG = SourceKind("ledger", 0, is_document=True), SourceKind("log", 1)


class Scribe:
    """The format of the Scribe agent."""

    name, title = "scribe", "Scribe"
    priorities: Mapping[int, tuple[str, str]] = {0: ("ledger", "ledgers"), 1: ("log", "logs")}
    deleted_after_days = 0
    deletion_setting = ("", "")
    usual_roots: tuple[str, ...] = ("~/.scribe",)
    root_marks = frozenset({"desks", "ledger.json"})
    root_variable = "SCRIBE_HOME"
    watched: tuple[str, ...] = ("desks",)
    suffixes: tuple[str, ...] = (".log", ".json")
    record_keys = frozenset({"at", "who"})
    vocabulary = Vocabulary(attributes=frozenset({"style"}))
    shapes: Mapping[str, re.Pattern[str]] = {"id": re.compile("[0-9a-f]{32}")}

    def enter(self, place: Place, name: str) -> Place | None:
        return (Place(1) if name == "desks" else None, Place(2, name), None)[place.depth]

    def classify(self, place: Place, name: str) -> SourceKind | None:
        if place.depth == 0:
            return LEDGER if name == "ledger.json" else None
        return LOG if place.depth == 2 and name.endswith(".log") else None

    def ids(self, place: Place, name: str, kind: SourceKind) -> tuple[str, str]:
        return name.partition(".")[0] if kind == LOG else "", ""

    def companion(self, source: Source) -> str:
        return source.path.rpartition("/")[2].rpartition(".")[0] + ".about" if source.kind == LOG else ""

    def is_companion(self, name: str) -> bool:
        return name.endswith(".about")

    def is_stub(self, source: Source, record: Mapping[str, Any]) -> bool:
        return record == {"blank": True}

    def entries(self, source: Source, document: Any) -> Iterable[Any]:
        return document.get("pages", []) if isinstance(document, dict) else []

    def key_of(self, directory: str) -> str:
        return directory.rpartition("/")[2]

    def is_key_of(self, project: str, directory: str) -> bool:
        return project == self.key_of(directory)

    def may_name(self, project: str, glob: str) -> bool:
        return True

    def directory_of(self, source: Source, record: Mapping[str, Any]) -> str:
        return str(record.get("where", "")) if source.kind == LOG else ""

    def tells_since(self, source: Source, record: Mapping[str, Any]) -> str | None:
        return None

    def follows(self, record: Mapping[str, Any]) -> bool | None:
        return None

    def session_of(self, source: Source, record: Mapping[str, Any]) -> str:
        return ""

    def transcripts_of(self, session: str) -> str:
        return ""

    def example(self, secret: str, chance: random.Random, now: datetime) -> Mapping[str, bytes]:
        return {"desks/novel/s1.log": b'{"words": "%s"}\n' % secret.encode()}

    def anchor_after(self, before: Anchor, record: dict[str, Any]) -> Anchor:
        return before._replace(since=before.since + 1)

    def normalizer(self, reading: Reading, frame: Frame) -> Normalizer:
        def event(line: Line) -> dict[str, Any] | Skip:
            record = line.record or {}
            if record.get("who") == "nobody":
                return Skip("copy")
            made = frame.envelope(reading.source) | {
                "record_type": "page",
                "kind": "unknown",
                "source": provenance(line),
            }
            made["id"] = hashlib.blake2b(repr(sorted(record.items())).encode(), digest_size=16).hexdigest()
            made["time"] = datetime.fromtimestamp(record.get("at", 0), UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            made["text"] = str(record.get("words", ""))
            return made | {"attributes": dict(reading.meta)} if reading.meta else made

        return event


if __name__ == "__main__":
    AGENTS["scribe"] = Scribe()
    main()
