"""Parked offsets: those of sinks other than the one in force, kept in the same state file until they are used again.

In: the document of a state, or the sections of a sink that is no longer in force. Out: the parked sinks, and their part
of the next state. They are kept as bytes: as entries, they would take four times the memory for nothing.
Invariant: exactly one sink's offsets are in force, and switching takes one write of the whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from collector.errors import CollectorError
from collector.flow.sink_identity import SinkIdentity
from collector.keeping.document import NewerVersion, opened, parsed
from collector.log import timestamp

SINK, OTHERS = "sink", "other_sinks"
MOST = 8  # past sinks; one that comes back after more than this many others is new


class Parked(NamedTuple):
    """A sink that is not in force: what the state says about it, and its sections as the file has them."""

    about: dict[str, Any]
    sections: bytes

    @property
    def text(self) -> str:
        """The name of the sink."""
        return text_of(self.about)

    def files(self) -> dict[str, Any]:
        """The sections of the sink, by agent."""
        sections: dict[str, Any] = orjson.loads(self.sections)
        return sections

    def encoded(self) -> bytes:
        """The sink's element of the list in the state."""
        separator = b"," if len(self.sections) > len(b"{}") else b""
        return orjson.dumps({SINK: self.about})[:-1] + separator + self.sections[1:]


def introduced(identity: SinkIdentity) -> dict[str, Any]:
    """What a state says about a new sink."""
    since = timestamp()
    return {"type": identity.type, "address": identity.address, "since": since}


def text_of(about: dict[str, Any]) -> str:
    """The name of the sink that this is about; empty if it names none."""
    named = about.get("type"), about.get("address")
    return " ".join(map(str, named)) if all(named) else ""


def joined(identity: SinkIdentity, said: list[dict[str, Any]]) -> dict[str, Any]:
    """Merges what states have said about a sink under each of its addresses."""
    about, former = introduced(identity), dict[str, None]()
    for each in said:
        about |= {name: value for name, value in each.items() if name not in (*about, "formerly")}
        about["since"] = min(about["since"], each.get("since", about["since"]))
        former |= dict.fromkeys(each.get("formerly", ()))
        former |= {} if text_of(each) in ("", identity.text) else {each["address"]: None}
    # The latest request to leave things out counts: an earlier one would let through what the later one excludes.
    left_out = [each["left_out"] for each in said if isinstance(each.get("left_out"), dict)]
    about |= {"left_out": max(left_out, key=lambda history: str(history.get("at", "")))} if left_out else {}
    return about | ({"formerly": list(former)} if former else {})


def divided(identity: SinkIdentity, parked: list[Parked]) -> tuple[list[Parked], list[Parked]]:
    """Splits parked sinks into those that are this very sink, perhaps under a former address, and the others."""
    own = [each for each in parked if identity.is_named(each.text)]
    return own, [each for each in parked if each not in own][-MOST:]


def kept_beside(path: Path, identity: SinkIdentity) -> list[Parked]:
    """What other states in this directory say about a sink under its former addresses, after its configuration moved.

    They are left unchanged for whoever uses them. Their journals are not read, so what only a journal says is sent
    again.
    """
    found = []
    for other in sorted(path.parent.glob(f"*{path.suffix}")) if identity.formerly else ():
        if other == path:
            continue
        try:
            with opened(other) as file:
                document = parsed(file.read())
        except (OSError, ValueError, NewerVersion, CollectorError):
            continue
        about, parked = taken_out(document)
        theirs = [Parked(about, orjson.dumps(document)), *parked]
        found += [each for each in theirs if each.text and identity.is_named(each.text)]
    return found


def told(about: dict[str, Any], parked: list[Parked], *, is_new: bool) -> dict[str, Any]:
    """What `status` reports about a sink besides its address, and which other sinks have offsets here."""
    said: dict[str, Any] = {
        name: about[name] for name in ("since", "formerly", "left_out") if name in about and not is_new
    }
    return {"is_new": is_new, **said, "others": [each.text for each in parked]}


def taken_out(document: dict[str, Any]) -> tuple[dict[str, Any], list[Parked]]:
    """Removes from the document what it says about its sink, and the parked sinks. Returns both."""
    about, others = document.pop(SINK, None), document.pop(OTHERS, None)
    parked = []
    for other in others if isinstance(others, list) else ():
        if isinstance(other, dict) and isinstance(other.get(SINK), dict) and text_of(other[SINK]):
            said = other.pop(SINK)
            parked.append(Parked(said, orjson.dumps(other)))
    return about if isinstance(about, dict) else {}, parked


def written(parked: Iterable[Parked]) -> Iterator[bytes]:
    """The parked sinks as written at the end of a state, piece by piece."""
    between = b',"%s":[' % OTHERS.encode()
    for each in parked:
        yield between + each.encoded()
        between = b","
    if between == b",":
        yield b"]"
