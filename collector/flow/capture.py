"""Capture: removes from an event everything that a person has not allowed to leave. At the level metadata this happens
before redaction; with a switch off it happens after, because the removed text may tell redaction what is a secret.

In: an event, its agent's vocabulary, and the level with its switches. Out: the event without what must stay here, how
much that was (`omitted`, in characters), and why (`left_out`). Invariant: where text may not leave, only what a table
allows is kept: ids by their shape, words by a list, names as pseudonyms. docs/privacy.md is generated from the table
(fields.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from collector.flow.fields import (
    BY_BLOCK,
    BY_KIND,
    FIELDS,
    METADATA,
    NEEDED,
    SWITCHES,
    may_hold_anything,
    needs_of_block,
    needs_of_kind,
)
from collector.flow.json_leaves import SCALARS, size_of
from collector.flow.pseudonym import PSEUDONYM, keeps_its_id, keyed_id, pseudonym
from collector.flow.vocabulary import Vocabulary

Record = dict[str, Any]

VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){1,3}(?:-[a-z]{1,5}\.?\d{0,4})?")
WHOLE_PATH = re.compile(r"file://\S+|(?:~[\w.-]{0,64}|[A-Za-z]:)[\\/]\S+|/[^\s/]+/\S*|\\\\[^\s\\]+\\\S*")
MCP = re.compile(r"mcp__(.+?)__(.+)", re.DOTALL)
DEEPEST = 4
# The names that normalizing gives to parts it leaves out; any other name in `omitted` may be somebody's text.
OMITTED = frozenset(
    {
        *("account", "added_lines", "binary", "copies", "file_contents", "file_paths", "patch", "preview", "progress"),
        *("rendered", "script", "sealed", "signature", "system_prompt", "tool_use_result", "tools", "wire_tool_inputs"),
        *("plan_content", "other"),
    }
)


@dataclass(frozen=True, slots=True)
class Capture:
    """The level, the switches that are off, whether names become pseudonyms or are removed, and the key for pseudonyms.
    `is_whole`: everything may leave."""

    level: str = "content"
    off: frozenset[str] = frozenset()
    has_pseudonyms: bool = True
    key: bytes = b""
    is_whole: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_whole", self.level != METADATA and not self.off)

    @property
    def left_out(self) -> list[str]:
        """What events carry as `left_out`."""
        return [METADATA] if self.level == METADATA else [name for name in SWITCHES if name in self.off]


def captured(event: Record, vocabulary: Vocabulary, capture: Capture) -> Record:
    """The event reduced to what may leave. Idempotent."""
    if capture.is_whole or METADATA in event.get("left_out", []):
        return event
    before = event.get("left_out", [])
    # A record of a subtype that nobody has reviewed may hold anything, so it needs every switch.
    subtype = event.get("record_subtype")
    kind = str(event.get("kind", "")) if subtype is None or subtype in vocabulary.words else ""
    look = _Look(vocabulary, capture, kind, {}, bool(before), told_in_result(event, vocabulary))
    kept = look.event(event)
    if not keeps_its_id(event, was_redacted="redactions" in event):
        kept["id"] = keyed_id(str(event.get("id", "")), capture.key)
    kept["left_out"] = capture.left_out
    if capture.level != METADATA:
        kept["left_out"] = [name for name in SWITCHES if name in capture.off or name in before]
    return kept


def in_turn(
    event: Record, vocabulary: Vocabulary, capture: Capture
) -> tuple[Record, Callable[[Record], Record] | None]:
    """The event to redact, and the function that reduces it afterwards, or None if nothing remains to be removed. What
    a switch removes must still be seen by redaction, as it may tell which words are secrets. At the level metadata,
    everything is removed first, because no text is left to redact."""
    if capture.is_whole:
        return event, None
    if capture.level == METADATA:
        return captured(event, vocabulary, capture), None
    return event, partial(captured, vocabulary=vocabulary, capture=capture)


def captured_sender(event: Record, capture: Capture) -> Record:
    """The same for collector's own events, whose only words are the names of the machine and the account."""
    if capture.level != METADATA:
        return event
    look = _Look(Vocabulary(), capture, "heartbeat", {}, is_again=False, told=())
    sender = look.parts({name: event[name] for name in ("host", "user", "labels") if name in event}, "")
    return (
        {name: part for name, part in event.items() if name not in ("host", "user", "labels")}
        | sender
        | {"left_out": [METADATA]}
    )


def told_in_result(event: Record, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The switches for what a tool's result really is: a person's reply to a question, a plan or a call, which repeats
    what was asked, or another agent's answer."""
    tool, blocks = event.get("tool"), event.get("blocks")
    if event.get("kind") != "tool_result" or type(tool) is not dict:
        return ()
    results = [block for block in blocks if type(block) is dict] if type(blocks) is list else []
    names = {str(each.get("name")) for each in (tool, *results)}
    has_begun_so = any(vocabulary.answer.match(str(each.get("text"))) for each in results)
    is_reply = has_begun_so or "denied_by" in tool or not names.isdisjoint(vocabulary.answers)
    is_report = "agent_id" in tool or not names.isdisjoint(vocabulary.reports)
    return (*("prompts", "tool_input") * is_reply, *("answers",) * is_report)


def without_paths(value: Any, paths: frozenset[str], depth: int = 0) -> Any:
    """Removes everything under keys that hold paths, and every value or key that is itself a path: the keys that tools
    of arbitrary servers use cannot be known."""
    if type(value) is dict and depth < 32:
        kept = {key: part for key, part in value.items() if key not in paths and not is_path(key) and not is_path(part)}
        return {key: without_paths(part, paths, depth + 1) for key, part in kept.items()}
    if type(value) is list and depth < 32:
        return [without_paths(part, paths, depth + 1) for part in value if not is_path(part)]
    return value


def is_path(value: Any) -> bool:
    """Whether a value is an absolute path (from the root, a home or a drive) and nothing else."""
    return type(value) is str and WHOLE_PATH.fullmatch(value) is not None


class _Look(NamedTuple):
    """One event being looked at."""

    vocabulary: Vocabulary
    capture: Capture
    kind: str
    sizes: dict[str, int]
    is_again: bool
    told: tuple[str, ...]

    def event(self, event: Record) -> Record:
        kept = self.parts(event, "")
        omitted = kept.pop("omitted", {})
        for name, size in self.sizes.items():
            omitted[name] = omitted.get(name, 0) + size
        if omitted:
            kept["omitted"] = omitted
        return kept

    def parts(self, value: Record, above: str, block: str = "") -> Record:
        """An object, field by field."""
        kept: Record = {}
        for name, part in value.items():
            made = self.field(part, above + name, block)
            if made is not None:
                kept[name] = made
        return kept

    def field(self, part: Any, path: str, block: str) -> Any:
        """What is kept of a field, or None. What is removed is counted."""
        field = FIELDS.get(path)
        if field is not None and field.action == "parts":
            return self.inner(part, path)
        if field is not None and not self.is_reduced(field.needs, block):
            return self.without_paths(self.reviewed(part) if path == "attributes" else part)
        made = ACTIONS[field.action](self, part, field.kind, path) if field is not None else None
        if not block and (made is None or path == "attributes"):  # a block counts for itself
            self.leave(path.partition(".")[0], part, size_of(made))
        return made

    def inner(self, part: Any, path: str) -> Any:
        if type(part) is dict:
            return self.parts(part, f"{path}.") or None
        if type(part) is list:
            inner = self.block if path == "blocks" else lambda each: self.parts(each, f"{path}.")
            return [inner(each) for each in part if type(each) is dict]
        return None

    def block(self, block: Record) -> Record:
        """The type and size of a block, and its text if that may leave."""
        kept = self.parts(block, "blocks.", str(block.get("type", "")) or "unknown")
        kept.setdefault("type", "unknown")
        words = ("text", "input", "title", "blocks", "attributes")
        size = size_of([block[name] for name in words if name in block and name not in kept])
        if size:
            kept["characters"] = kept.get("characters", 0) + size
        return kept

    def is_reduced(self, needs: tuple[str, ...], block: str) -> bool:
        if self.capture.level == METADATA:
            return True
        if needs == (BY_KIND,):
            needs = needs_of_kind(self.kind)
        elif needs == (BY_BLOCK,):
            needs = needs_of_block(block, self.kind)
        if "tool_output" in needs:
            needs = (*needs, *self.told)
        return not self.capture.off.isdisjoint(needs)

    def reviewed(self, part: Any) -> Any:
        """The attributes, where the kind says what they hold. One that nobody has reviewed may hold any text, such as a
        prompt beside an answer: only numbers, flags, ids and the agent's own words are kept of it."""
        if type(part) is not dict or may_hold_anything(self.kind):
            return part
        kept = {
            name: value if self.is_known(name) or self.is_id(value) else self.words(value, 0)
            for name, value in part.items()
        }
        kept = {name: value for name, value in kept.items() if value is not None}
        self.leave("attributes", part, size_of(kept))
        return kept or None

    def is_known(self, name: str) -> bool:
        return name in self.vocabulary.attributes or name in self.vocabulary.reviewed or name in self.vocabulary.names

    def without_paths(self, part: Any) -> Any:
        if "file_paths" not in self.capture.off or type(part) not in (dict, list):
            return part
        kept = without_paths(part, self.vocabulary.paths)
        self.leave("file_paths", part, size_of(kept))
        return kept

    def leave(self, name: str, part: Any, kept: int) -> None:
        size = size_of(part) - kept
        if size > 0:
            self.sizes[name] = self.sizes.get(name, 0) + size

    # One method per action of the table

    def kept(self, part: Any, _kind: str, _path: str) -> Any:
        return part

    def nothing(self, _part: Any, _kind: str, _path: str) -> None:
        return None

    def name(self, part: Any, kind: str, path: str) -> str | None:
        """A pseudonym. A value that already is one is kept."""
        if type(part) is not str or not part:
            return None
        if not self.capture.has_pseudonyms:
            return kind if path in NEEDED else None
        if self.is_again and PSEUDONYM.fullmatch(part):
            return part
        return pseudonym(kind, part, self.capture.key)

    def identifier(self, part: Any, _kind: str, path: str) -> str | None:
        """An id, if it has the shape of one. Otherwise a pseudonym, which serves for joins just as well."""
        return part if self.is_id(part) else self.hashed(part, "id", path)

    def is_id(self, part: Any) -> bool:
        return type(part) is str and self.vocabulary.id.fullmatch(part) is not None

    def hashed(self, part: Any, kind: str, _path: str) -> str | None:
        """A pseudonym in any case: such values rarely name anything personal, so `has_pseudonyms` does not apply."""
        return pseudonym(kind, part, self.capture.key) if type(part) is str and part else None

    def word(self, part: Any, kind: str, path: str) -> str | None:
        """A word of the agent's own vocabulary. Any other becomes what the `kind` of its field says."""
        if type(part) is not str:
            return None
        if part in self.vocabulary.words:
            return part
        match kind:
            case "unknown":
                return kind
            case "agent":
                return self.name(part, kind, path)
            case "":
                return None
        return self.hashed(part, kind, path)

    def model(self, part: Any, _kind: str, path: str) -> str | None:
        if type(part) is str and self.vocabulary.model.fullmatch(part):
            return part
        return self.hashed(part, "model", path)

    def version(self, part: Any, _kind: str, _path: str) -> str | None:
        return part if type(part) is str and VERSION.fullmatch(part) else None

    def tool(self, part: Any, _kind: str, path: str) -> str | None:
        """The name of a built-in tool. For an MCP tool, pseudonyms of server and tool; otherwise a pseudonym."""
        if type(part) is not str:
            return None
        if part in self.vocabulary.tools:
            return part
        found = MCP.fullmatch(part)
        if not found:
            return self.name(part, "tool", path)
        server, tool = self.name(found[1], "mcp", path), self.name(found[2], "tool", path)
        return f"mcp__{server}__{tool}" if server and tool else "mcp"

    def counts(self, part: Any, _kind: str, _path: str) -> Record | None:
        """Sizes by name. Unknown names become `other`, because they may be somebody's text."""
        if type(part) is not dict:
            return None
        known: Record = {}
        for name, size in part.items():
            if type(size) is int:
                told = name if name in OMITTED or name in FIELDS else "other"
                known[told] = known.get(told, 0) + size
        return known

    def attributes(self, part: Any, _kind: str, path: str) -> Record | None:
        if type(part) is not dict:
            return None
        kept: Record = {}
        for name, value in part.items():
            kind = self.vocabulary.names.get(name)
            if kind is not None:
                made = self.names(value, kind, path)
            else:
                made = self.words(value, 0) if name in self.vocabulary.attributes else None
            if made is not None:
                kept[name] = made
        return kept or None

    def names(self, value: Any, kind: str, path: str) -> Any:
        change = self.tool if kind == "tool" else self.name
        if type(value) is list:
            return [made for each in value if (made := change(each, kind, path)) is not None] or None
        return change(value, kind, path)

    def words(self, value: Any, depth: int) -> Any:
        """A value reduced to numbers, flags and words of the vocabulary; None if nothing is left."""
        kind = type(value)
        if kind is str:
            return value if self.is_word(value) else None
        if kind in SCALARS:
            return value
        if depth >= DEEPEST:
            return None
        if kind is dict:
            inner = {key: self.words(part, depth + 1) for key, part in value.items() if self.is_word(key)}
            return {key: part for key, part in inner.items() if part is not None} or None
        if kind is not list:
            return None
        parts = [self.words(part, depth + 1) for part in value]
        return [part for part in parts if part is not None] or None

    def is_word(self, text: str) -> bool:
        known = text in self.vocabulary.words or text in self.vocabulary.attributes
        return known or any(shape.fullmatch(text) for shape in (self.vocabulary.model, VERSION))


ACTIONS: Mapping[str, Callable[[_Look, Any, str, str], Any]] = {
    "kept": _Look.kept,
    "id": _Look.identifier,
    "word": _Look.word,
    "model": _Look.model,
    "tool": _Look.tool,
    "name": _Look.name,
    "version": _Look.version,
    "counts": _Look.counts,
    "attributes": _Look.attributes,
    "left out": _Look.nothing,
}
