"""The frame of an event: what all events of this installation share, and all events of one source."""

from __future__ import annotations

from typing import Any, NamedTuple

from collector.flow.event import SCHEMA
from collector.flow.line import Line
from collector.flow.source import Source


class Frame(NamedTuple):
    """Who sends: the machine and the account on it; and whether somebody opted in to naming accounts of providers."""

    host: dict[str, str]
    user: str
    names_accounts: bool = False

    def envelope(self, source: Source) -> dict[str, Any]:
        """An event of this source that says nothing yet: every field that is known without a record."""
        made = {
            "id": "",
            "schema": SCHEMA,
            "kind": "unknown",
            "record_type": "",
            "priority": source.priority,
            "time": "",
            "host": self.host,
            "user": self.user,
            "root": source.root.label,
            "client": {"name": source.root.agent},
            "session_id": source.session_id,
            "agent_id": source.agent_id,
            "project": source.project,
        }
        for name in ("user", "root", "session_id", "agent_id", "project"):
            if not made[name]:
                del made[name]
        return made


def provenance(line: Line) -> dict[str, Any]:
    """Where a line was read; for an entry of a whole document, its number and the document's size."""
    length = line.end - line.offset if line.is_safe else line.end
    return {"path": line.reading.source.key, "offset": line.offset, "length": length}
