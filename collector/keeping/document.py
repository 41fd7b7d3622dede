"""The state file as a document: which bytes are a state, and what it holds for each agent.

In: a file. Out: its entries, agent by agent and some at a time, and then everything else in it; or an error that says
why it is not a state. Nothing is changed here. A file laid out as we write it is never in memory as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from collector.errors import StateError

VERSION = 1
READ_AT_ONCE = 1 << 16
_SECTION = b'":{"files":{'
_NEXT_SECTION = re.compile(rb'\}\},"([^"\\]+)":\{"files":\{')

Members = dict[str, Any]


class NewerVersion(Exception):
    """The file was written by a later version."""


def opened(path: Path) -> IO[bytes]:
    """Opens a plain file only: a device or a pipe would be read forever, or moved aside as damaged."""
    if path.exists() and not path.is_file():
        raise StateError(f"The state {path} is not a regular file. Nothing was sent. Name a file with --state.")
    return path.open("rb")


def parsed(data: bytes) -> dict[str, Any]:
    """Parses a state. Raises ValueError if the data is not one."""
    document = orjson.loads(data)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    _check_version(document)
    return document


def sections_of(document: dict[str, Any]) -> dict[str, Members]:
    """The files of each agent in the document."""
    found = {agent: section.get("files") for agent, section in document.items() if isinstance(section, dict)}
    return {agent: files for agent, files in found.items() if isinstance(files, dict)}


class Pieces:
    """Reads a state laid out as we write it. Yields each agent once without entries, then with some of its entries at a
    time. At the end, `rest` holds everything else.

    Raises ValueError on any other layout, and on damage. The text is cut wherever it looks like the boundary between
    two entries. If that was inside a string or an entry, the piece is not JSON and the parser rejects it. So anything
    that passes means the same here as to a parser of the whole file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.rest: dict[str, Any] = {}
        self._file = file
        self._text = b""

    def __iter__(self) -> Iterator[tuple[str, Members]]:
        self._read_on()
        head, section, self._text = self._text.partition(_SECTION)
        # With three brackets, this is an object only if the section is at the top level of the document, not deeper.
        self.rest = parsed(head + section + b"}}}")
        agent = list(self.rest)[-1]
        if self.rest.pop(agent) != {"files": {}} or sections_of(self.rest):
            raise ValueError("a section stands where none should")
        seen = {agent}
        while True:
            yield agent, {}
            for members in self._members():
                yield agent, members
            self._read_on()
            following = _NEXT_SECTION.match(self._text)
            if following is None:
                break
            agent, self._text = following[1].decode(), self._text[following.end() :]
            if agent in seen:
                raise ValueError("a section stands there twice")
            seen.add(agent)
        last = orjson.loads(b'{"":{"":{' + self._text + self._file.read())
        if last.pop("") != {"": {}} or sections_of(last) or last.keys() & self.rest.keys():
            raise ValueError("a section stands where none should")
        self.rest |= last

    def _members(self) -> Iterator[Members]:
        """The entries from here to the end of the section."""
        while not self._text.startswith(b"}}"):
            self._read_on()
            end = self._text.find(b"}}}") + 1
            cut = end or self._text.rfind(b'},"') + 1
            if not cut:
                raise ValueError("an entry does not end")
            yield orjson.loads(b"{%s}" % self._text[:cut])
            self._text = self._text[cut:] if end else self._text[cut + 1 :]

    def _read_on(self) -> None:
        if len(self._text) < READ_AT_ONCE:
            self._text += self._file.read(READ_AT_ONCE)


def _check_version(document: dict[str, Any]) -> None:
    version = document.pop("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise NewerVersion(version)
