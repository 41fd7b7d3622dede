"""When coding agents delete their own transcripts, and how many sessions only the store still has.

In: the settings, and what was found below the roots. Out: for each root, after how many days its transcripts are
deleted; and the number of sessions in the store whose transcripts are gone. Of an agent's own settings, one number is
read and nothing is changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import orjson

from collector.agents.registry import AGENTS
from collector.assembly import frame_of, installation_of, roots_of
from collector.flow.source import Root
from collector.log import counted
from collector.reading.discover import Findings
from collector.settings import Settings
from collector.store.queries import sessions_of_host
from collector.store.report import asking

SECONDS_A_DAY = 86_400
LARGEST_SETTINGS = 4 * 2**20  # bytes
LONGEST_DAYS = 3_650_000
LAST_SECOND = 253_402_300_799.0  # of the year 9999


class Deletion(NamedTuple):
    """After how many days the transcripts below a root are deleted; `setting` says where that is set, if anywhere."""

    root: Root
    days: int
    setting: str
    first: str
    """The day on which the oldest transcript will be deleted; empty if there is none."""

    def __str__(self) -> str:
        due = f"; the oldest will be deleted on {self.first}" if self.first else ""
        return f"after {counted(self.days, 'day')} ({self.setting or 'the default'}){due}"


def deletions(settings: Settings, found: Findings) -> Iterator[Deletion]:
    """One for each root that exists and whose agent deletes transcripts."""
    missing = {root.path for root in found.missing_roots}
    for root in roots_of(settings):
        form = AGENTS[root.agent]
        if root.path in missing or not form.deleted_after_days:
            continue
        own, setting = _days_set(root)
        days = form.deleted_after_days if own is None else own
        times = [each.stamp.mtime_ns for each in found.files if each.root == root and each.session_id]
        yield Deletion(root, days, setting, _day(min(times) / 1e9 + days * SECONDS_A_DAY) if times else "")


def kept_alone(settings: Settings, found: Findings) -> int:
    """How many sessions of this machine are in the store but no longer below the roots."""
    host = frame_of(settings, installation_of(settings)).host["id"]
    there = {each.session_id for each in found.files}
    with asking(settings.database_path) as connection:
        return sum(session not in there for session in sessions_of_host(connection, host))


def until_when(settings: Settings) -> str:
    """How long the store keeps such sessions."""
    days = settings.store.retention_days
    return f"until they are {counted(days, 'day')} old" if days else "forever"


def is_late(mtime_ns: int, days: int, warning: int) -> bool:
    """Whether a file will be deleted within `warning` days."""
    return mtime_ns < (time.time() - max(1, days - warning) * SECONDS_A_DAY) * 1e9


def _days_set(root: Root) -> tuple[int | None, str]:
    """The number in the agent's own settings, and where it is set."""
    file, key = AGENTS[root.agent].deletion_setting
    path = os.path.join(root.path, file)
    if not os.path.isfile(path):
        return None, ""
    try:
        with open(path, "rb") as opened:
            value = orjson.loads(opened.read(LARGEST_SETTINGS)).get(key)
    except (OSError, ValueError, AttributeError):
        return None, ""
    if type(value) is not int or not 0 <= value <= LONGEST_DAYS:
        return None, ""
    return value, f"{key} in {path}"


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(min(max(seconds, 0.0), LAST_SECOND), UTC).date().isoformat()
