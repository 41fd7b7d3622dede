"""The state file as a document: which bytes are a state, and what stands in it for each agent.

In: a path, or its bytes. Out: the document, or an error that says why it is none. Nothing is changed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from collector.errors import StateError

VERSION = 1


class NewerVersion(Exception):
    """The file was written by a later version."""


def read(path: Path) -> bytes:
    """Reads a plain file only: a device or a pipe would be read for ever, or moved aside as damaged."""
    if path.exists() and not path.is_file():
        raise StateError(f"The state {path} is not a file. Nothing was sent. Name a file with --state.")
    return path.read_bytes()


def parsed(data: bytes) -> dict[str, Any]:
    """The document of a state; raises ValueError if the data is not one."""
    document = orjson.loads(data)
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    version = document.pop("version", VERSION)
    if isinstance(version, int) and version > VERSION:
        raise NewerVersion(version)
    return document


def sections_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The files of each agent in it."""
    found = {agent: section.get("files") for agent, section in document.items() if isinstance(section, dict)}
    return {agent: files for agent, files in found.items() if isinstance(files, dict)}
