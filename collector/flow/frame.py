"""The frame of an event: the fields shared by all events of this installation, and those shared by one source."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from collector.flow.event import SCHEMA
from collector.flow.line import Line
from collector.flow.source import Source

NO_LABELS: Mapping[str, str] = MappingProxyType({})


class Frame(NamedTuple):
    """The sender: the machine, the user account, the installation, and the labels a person gave them. `names_accounts`
    says whether somebody opted in to naming provider accounts; `key` is for hashes that must not be guessable."""

    host: dict[str, str]
    user: str
    installation_id: str = ""
    labels: Mapping[str, str] = NO_LABELS
    names_accounts: bool = False
    key: bytes = b""

    def sender(self) -> dict[str, Any]:
        """The fields that every event of this installation has. Empty ones are absent."""
        made = {
            "host": self.host,
            "installation_id": self.installation_id,
            "user": self.user,
            "labels": dict(self.labels),
        }
        return {name: value for name, value in made.items() if value}

    def envelope(self, source: Source) -> dict[str, Any]:
        """A blank event of this source, with every field that is known without a record."""
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
    """Where a line was read. For an entry of a whole document: its number, and the document's size."""
    length = line.end - line.offset if line.is_safe else line.end
    return {"path": line.reading.source.key, "offset": line.offset, "length": length}
