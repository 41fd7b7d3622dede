"""Which project a file or a record belongs to.

Claude Code names a project's directory after the working directory in which a session was started: every character but
A-Z, a-z and 0-9 becomes `-` (two of them for a character beyond the BMP, which its language counts as two), and what is
longer than 200 characters is cut and hashed. So a name can be made of a path, but never a path of a name: only what the
records say of their directory tells for certain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from collector.agents.claude_code import places
from collector.flow.source import Source

LONGEST = 200
DIRECTORY_KEYS = {places.HISTORY: "project", places.SESSION_INDEX: "projectPath"}

_not_kept = re.compile(r"[^A-Za-z0-9]")
# What stands for more than itself in a glob: `**/`, `*`, `?`, a set of characters.
_wild = re.compile(r"(\*\*/|\*+|\?|\[[^]]+\])")


def encoded(path: str) -> str:
    """A path as it stands in the name of a project's directory, before that is cut."""
    return _not_kept.sub(lambda match: "--" if match[0] > "\uffff" else "-", path)


def key_of(directory: str) -> str:
    """The name of a project's directory; of one that is cut, what stands before the hash."""
    return encoded(directory)[:LONGEST]


def may_name(project: str, glob: str) -> bool:
    """Whether a project of this name may lie in a directory that the glob matches, or below one."""
    if len(project) <= LONGEST:
        return _pattern(glob).fullmatch(project) is not None
    # Cut: only what stands before the first wildcard can be compared, as far as it reaches.
    literal = encoded(_wild.split(glob)[0])[:LONGEST]
    return project.startswith(literal)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    """The names that projects in or below the directories of a glob may have."""
    parts = _wild.split(glob.rstrip("/"))
    pattern = "".join(_of_wildcard(part) if number % 2 else encoded(part) for number, part in enumerate(parts))
    return re.compile(f"{pattern}(?:-.*)?")


def _of_wildcard(part: str) -> str:
    return ".{1,2}" if part == "?" or part.startswith("[") else ".*"


def directory_of(source: Source, record: Mapping[str, Any]) -> str | None:
    """Where a record happened. Statistics are of all projects together."""
    if source.kind == places.STATS:
        return None
    value = record.get(DIRECTORY_KEYS.get(source.kind, "cwd"))
    return value if type(value) is str else ""
