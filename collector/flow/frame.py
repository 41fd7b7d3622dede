"""The frame of an event: what all events of this installation share, and all events of one source."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from collector.flow.event import SCHEMA
from collector.flow.line import Line
from collector.flow.source import Source

NO_LABELS: Mapping[str, str] = MappingProxyType({})


class Frame(NamedTuple):
    """Who sends: the machine, the account and the installation on it, and what a person calls them; whether somebody
    opted in to naming accounts of providers; and the key of what must not be tried out."""

    host: dict[str, str]
    user: str
    installation_id: str = ""
    labels: Mapping[str, str] = NO_LABELS
    names_accounts: bool = False
    key: bytes = b""

    def sender(self) -> dict[str, Any]:
        """The fields that every event of this installation has; those that say nothing are absent."""
        made = {
            "host": self.host,
            "installation_id": self.installation_id,
            "user": self.user,
            "labels": dict(self.labels),
        }
        return {name: value for name, value in made.items() if value}

    def envelope(self, source: Source) -> dict[str, Any]:
        """An event of this source that says nothing yet: every field that is known without a record."""
        made = {
            "id": "",
            "schema": SCHEMA,
            "kind": "unknown",
            "record_type": "",
            "priority": source.priority,
            "time": "",
            **self.sender(),
            "root": source.root.label,
            "client": {"name": source.root.agent},
            "session_id": source.session_id,
            "agent_id": source.agent_id,
            "project": source.project,
        }
        for name in ("root", "session_id", "agent_id", "project"):
            if not made[name]:
                del made[name]
        return made


def provenance(line: Line) -> dict[str, Any]:
    """Where a line was read; for an entry of a whole document, its number and the document's size."""
    length = line.end - line.offset if line.is_safe else line.end
    return {"path": line.reading.source.key, "offset": line.offset, "length": length}
