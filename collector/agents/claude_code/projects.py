"""Which project a file or a record belongs to.

Claude Code names a project's directory after the working directory in which a session was started: every character but
A-Z, a-z and 0-9 becomes `-` (two of them for a character beyond the BMP, which its language counts as two), and what is
longer than 200 characters is cut and hashed. So a name can be made of a path, but never a path of a name: only what the
records say of their directory tells for certain.
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
# The parts of a glob: a sign that stands for itself, a run of anything, one sign or one of a set, anything else.
_part = re.compile(r"\\(.)|(\*\*/|\*+)|(\?|\[[!^]?\]?[^]]*\])|([^\\*?\[]+|.)", re.DOTALL)


def encoded(path: str) -> str:
    """A path as it stands in the name of a project's directory, before that is cut."""
    return _not_kept.sub(lambda match: "--" if match[0] > "\uffff" else "-", path)


def key_of(directory: str) -> str:
    """The name of a project's directory; of one that is cut, what stands before the hash."""
    return encoded(directory)[:LONGEST]


def is_key_of(project: str, directory: str) -> bool:
    """Whether this may be what the project of a working directory is called. In doubt it is: nobody knows the hash of
    one that is cut, nor what a file system makes of case and of composed letters."""
    project = project.lower()
    for spelling in _spellings(directory):
        key = encoded(spelling).lower()
        if project == key or (len(key) > LONGEST and project.startswith(key[:LONGEST] + "-")):
            return True
    return False


def may_name(project: str, glob: str) -> bool:
    """Whether a project of this name may lie in a directory that the glob matches, or below one."""
    whole, beginnings = _understood(glob)
    if len(project) <= LONGEST:
        return whole.fullmatch(project) is not None
    # Cut: only what stands before the first wildcard can be compared, as far as it reaches.
    return project.lower().startswith(beginnings)


@cache  # as many as are configured; with a bound, one more than that would have all compiled for every project
def _understood(glob: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """The names that projects in or below the directories of a glob may have, and what all of them begin with."""
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
    # In any case: a file system may not tell them apart.
    whole = re.compile(f"(?:{'|'.join(patterns)})(?:-.*)?", re.DOTALL | re.IGNORECASE)
    return whole, tuple(beginnings)


def _spellings(path: str) -> tuple[str, str, str]:
    return path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path)


def directory_of(source: Source, record: Mapping[str, Any]) -> str:
    """Where a record happened; empty where it does not say, as statistics, which add up all projects."""
    if sums_up(record):
        return ""  # of the whole session, wherever it was when this was written
    value = record.get(DIRECTORY_KEYS.get(source.kind, "cwd"))
    if value is None:  # it moved: to another directory, or to a worktree
        worktree = record.get("worktreeSession")
        value = record.get("relocatedCwd") or (worktree.get("worktreePath") if type(worktree) is dict else None)
    return value if type(value) is str else ""


def sums_up(record: Mapping[str, Any]) -> bool:
    """Whether a record says what was said in all of its session so far."""
    return record.get("isCompactSummary") is True or record.get("subtype") == "away_summary"


def tells_since(source: Source, record: Mapping[str, Any]) -> str | None:
    """Since when what a record tells of has been going on. What has no time of its own in a transcript is of all of
    it: a title, the last prompt, what it cost. A fork begins with copies of what was said before. Statistics add up all
    that ever was."""
    if source.kind == places.HISTORY:
        return None
    if source.kind == places.STATS:
        return ""
    if source.kind.is_document:
        return moment(record.get("created" if source.kind == places.SESSION_INDEX else "startTime"))
    session = record.get("sessionId") or source.session_id
    if source.kind == places.SESSION and ("forkedFrom" in record or session != source.session_id):
        return moment(record.get("timestamp"))
    # The messages of a call are written down with it, however old they are: all of them when a session is resumed that
    # an earlier version wrote, or one whose context has changed.
    is_of_one_moment = any(record.get(key) for key in ("timestamp", "uuid", "message"))
    return None if is_of_one_moment and not sums_up(record) and record.get("type") != "api-request-blob" else ""


def follows(record: Mapping[str, Any]) -> bool | None:
    """Whether a record comes after another one; the boundary of a compaction names that in a way of its own."""
    return bool(record.get("parentUuid") or record.get("logicalParentUuid")) if record.get("uuid") else None


def session_of(source: Source, record: Mapping[str, Any]) -> str:
    """The session that a line of the history, an entry of an index or the end of a workflow's run is about."""
    value = record.get("sessionId")
    return value if type(value) is str and value else source.session_id


def transcripts_of(session: str) -> str:
    """Where a session may lie: in its project, and in that of a fork or of a place to which it was moved."""
    is_name = "/" not in session and session.isprintable()
    return f"{places.PROJECTS}/*/{escape(session)}{places.TRANSCRIPT}" if is_name else ""
