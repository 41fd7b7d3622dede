"""Which project a file or a record belongs to.

Claude Code names a project's directory after the working directory in which a session was started: every character but
A-Z, a-z and 0-9 becomes `-` (two of them for a character beyond the BMP, which JavaScript counts as two), and a name
longer than 200 characters is cut, with a hash appended. So a path gives a name, but a name never gives a path: only the
directory that the records name is certain.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from glob import escape
from typing import Any

from collector.agents.claude_code import places
from collector.agents.claude_code.times import moment
from collector.flow.source import Source

LONGEST = 200
DIRECTORY_KEYS = {places.HISTORY: "project", places.SESSION_INDEX: "projectPath"}

_not_kept = re.compile(r"[^A-Za-z0-9]")
# The parts of a glob: an escaped character, a run of anything, one character or one of a set, anything else.
_part = re.compile(r"\\(.)|(\*\*/|\*+)|(\?|\[[!^]?\]?[^]]*\])|([^\\*?\[]+|.)", re.DOTALL)


def encoded(path: str) -> str:
    """A path as it is encoded in the name of a project's directory, before that is cut."""
    return _not_kept.sub(lambda match: "--" if match[0] > "\uffff" else "-", path)


def key_of(directory: str) -> str:
    """The name of a project's directory; if it is cut, the part before the hash."""
    return encoded(directory)[:LONGEST]


def is_key_of(project: str, directory: str) -> bool:
    """Whether this may be the project name of a working directory. True if in doubt: the hash of a cut name is unknown,
    and file systems differ in how they treat case and composed letters."""
    project = project.lower()
    for spelling in _spellings(directory):
        key = encoded(spelling).lower()
        if project == key or (len(key) > LONGEST and project.startswith(key[:LONGEST] + "-")):
            return True
    return False


def may_name(project: str, glob: str) -> bool:
    """Whether a project with this name may be in a directory that the glob matches, or below one."""
    whole, beginnings = _understood(glob)
    if len(project) <= LONGEST:
        return whole.fullmatch(project) is not None
    # The name is cut, so compare only the part before the first wildcard, as far as the name reaches.
    return project.lower().startswith(beginnings)


@cache  # unbounded, for all configured globs: with a bound, one glob more would recompile them all for every project
def _understood(glob: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern for the names of projects in or below the directories of a glob, and how these names may begin."""
    patterns, beginnings = [], []
    for spelling in dict.fromkeys(_spellings(glob.rstrip("/"))):
        pattern, beginning, is_literal = "", "", True
        for itself, run, _, other in _part.findall(spelling):
            literal = encoded(itself or other)
            pattern += literal or (".*" if run else ".{1,2}")
            is_literal = is_literal and bool(literal)
            beginning += literal if is_literal else ""
        patterns.append(pattern)
        beginnings.append(beginning[:LONGEST].lower())
    # Ignore case, because the file system may.
    whole = re.compile(f"(?:{'|'.join(patterns)})(?:-.*)?", re.DOTALL | re.IGNORECASE)
    return whole, tuple(beginnings)


def _spellings(path: str) -> tuple[str, str, str]:
    return path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path)


def directory_of(source: Source, record: Mapping[str, Any]) -> str:
    """The directory where a record happened. Empty if it does not say, like statistics, which add up all projects."""
    if sums_up(record):
        return ""  # about the whole session, wherever it was when this was written
    value = record.get(DIRECTORY_KEYS.get(source.kind, "cwd"))
    if value is None:  # the session moved to another directory or to a worktree
        worktree = record.get("worktreeSession")
        value = record.get("relocatedCwd") or (worktree.get("worktreePath") if type(worktree) is dict else None)
    return value if type(value) is str else ""


def sums_up(record: Mapping[str, Any]) -> bool:
    """Whether a record summarizes all of its session so far."""
    return record.get("isCompactSummary") is True or record.get("subtype") == "away_summary"


def tells_since(source: Source, record: Mapping[str, Any]) -> str | None:
    """When the events that a record tells of began. A record in a transcript without a time of its own covers all of
    it: a title, the last prompt, the cost. A fork begins with copies of what was said before. Statistics add up
    everything that ever happened."""
    if source.kind == places.HISTORY:
        return None
    if source.kind == places.STATS:
        return ""
    if source.kind.is_document:
        return moment(record.get("created" if source.kind == places.SESSION_INDEX else "startTime"))
    session = record.get("sessionId") or source.session_id
    if source.kind == places.SESSION and ("forkedFrom" in record or session != source.session_id):
        return moment(record.get("timestamp"))
    # The messages of an API call are recorded along with it, however old they are: all of them, if the session that is
    # resumed was written by an earlier version or its context has changed.
    is_of_one_moment = any(record.get(key) for key in ("timestamp", "uuid", "message"))
    return None if is_of_one_moment and not sums_up(record) and record.get("type") != "api-request-blob" else ""


def follows(record: Mapping[str, Any]) -> bool | None:
    """Whether a record follows another one. A compaction boundary names it under a different key."""
    return bool(record.get("parentUuid") or record.get("logicalParentUuid")) if record.get("uuid") else None


def session_of(source: Source, record: Mapping[str, Any]) -> str:
    """The session that a history line, an index entry or the end of a workflow run is about."""
    value = record.get("sessionId")
    return value if type(value) is str and value else source.session_id


def transcripts_of(session: str) -> str:
    """A glob for a session's transcripts: in its own project, that of a fork, or one that it was moved to."""
    is_name = "/" not in session and session.isprintable()
    return f"{places.PROJECTS}/*/{escape(session)}{places.TRANSCRIPT}" if is_name else ""
