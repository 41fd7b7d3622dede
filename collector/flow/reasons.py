"""Reasons: why something was not sent, and what that means for exit codes and for later passes.

One row per reason. A module that skips or quarantines something refers to a row; the ledger, the state, the quarantine
and `scan --json` carry its name. The tables in docs/troubleshooting.md and docs/events.md are generated from them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Reason(NamedTuple):
    """One row. `…` in a name stands for details that vary, such as the sink's own words.

    `is_left`: something that should have been sent was not, so `scan` exits with 3. `until_changed`: not examined again
    until the file changes; otherwise every pass tries again.
    """

    name: str
    of: Literal["file", "directory", "line", "event"]
    meaning: str
    is_left: bool = False
    until_changed: bool = False

    def because(self, detail: str) -> str:
        """The name with the details filled in."""
        return self.name.replace("…", detail)


def _skipped_line(name: str, meaning: str) -> Reason:
    """The offset moves past it, so no later pass sees it again."""
    return Reason(name, "line", meaning, until_changed=True)


def _quarantined(name: str, of: Literal["line", "event"], meaning: str) -> Reason:
    return Reason(name, of, meaning, is_left=True, until_changed=True)


# Skipped files: because of what shows before they are opened, while they are opened and read, or in their content.
EMPTY = Reason("empty", "file", "It holds no bytes yet.")
PROJECT = Reason("project", "file", "It belongs, or may belong, to a project outside the filter.")
OUTSIDE_ROOT = Reason("outside_root", "file", "A symbolic link leads out of the root, or loops.")
NOT_A_FILE = Reason("not_a_file", "file", "A FIFO, socket, device or directory has the name of a source.")
UNLISTED = Reason("unlisted", "directory", "It cannot be listed. Nothing below it is taken for deleted.", is_left=True)
VANISHED = Reason("vanished", "file", "It disappeared before it could be opened.")
UNREADABLE = Reason("unreadable", "file", "Its permissions do not let collector read it.", is_left=True)
READ_ERROR = Reason("read_error", "file", "Reading failed partway; what was read before that counts.", is_left=True)
INTERNAL_ERROR = Reason("internal_error", "file", "A fault in collector; the log says where.", is_left=True)
WARMUP = Reason("warmup", "file", "It holds nothing yet, such as a subagent that only says Warmup.", until_changed=True)
TOO_LARGE = Reason("too_large", "file", "A file that is read whole is larger than 64 MB.", until_changed=True)
INCOMPLETE = Reason(
    "incomplete",
    "file",
    "A file that is read whole is not valid JSON yet; it was written just now, perhaps only in part.",
    is_left=True,
)
SKIPPED_FILES = (
    *(EMPTY, PROJECT, OUTSIDE_ROOT, NOT_A_FILE, UNLISTED, VANISHED, UNREADABLE, READ_ERROR, INTERNAL_ERROR),
    *(WARMUP, TOO_LARGE, INCOMPLETE),
)

# Skipped lines: they are counted, and the offset moves past them.
PROGRESS = _skipped_line(
    "progress", "A progress record without usage. It is transient; its text is in the result that follows."
)
COPY = _skipped_line("copy", "A message as sent to the API, all of whose parts are in records read in the same pass.")
LINE_OF_A_PROJECT = _skipped_line(
    "project", "It belongs to a project outside the filter, or names no project where it has to."
)
LINE_OF_A_TIME = _skipped_line(
    "left_out",
    "You asked to leave it out (`--from-now`), or it may reveal what you left out: a title, a summary, an index entry.",
)
SKIPPED_LINES = (PROGRESS, COPY, LINE_OF_A_PROJECT, LINE_OF_A_TIME)

# Quarantined: kept, redacted, for a person to look at; `collector quarantine retry` sends events once more.
TORN = _quarantined(
    "torn line", "line", "The rest of the record never arrived; whole records on the same line are sent."
)
NOT_AN_OBJECT = _quarantined(
    "not a JSON object", "line", "Valid JSON, but not a record, or not an entry of a file that is read whole."
)
DAMAGED = _quarantined(
    "damaged file", "line", "A file that is read whole is not valid JSON, and has not been written to for a minute."
)
NUL_BYTES = _quarantined("NUL bytes", "line", "NUL bytes where data should be, as a power cut leaves them.")
LINE_TOO_LONG = _quarantined("line too long", "line", "It is longer than 100 MB; the first 64 kB are kept.")
TOO_MANY_VALUES = _quarantined(
    "too many values in a line", "line", "It holds more than 250,000 values, too many to spend memory on."
)
NOT_UNDERSTOOD = _quarantined(
    "not understood (…)", "line", "A fault in collector, caused by this record; the log says where."
)
REJECTED = _quarantined("rejected by the sink: …", "event", "The sink accepted the request, but rejected this event.")
UNNAMED = _quarantined(
    "perhaps rejected by the sink: …",
    "event",
    "The sink rejected some events of a request without saying which, so all of them are kept. They are not sent again "
    "automatically; when you retry them one by one, the sink says which it was.",
)
REFUSED = _quarantined("refused by the sink (…)", "event", "The sink refused a request that held only this event.")
TOO_LARGE_FOR_SINK = _quarantined(
    "too large for the sink (…)", "event", "The sink does not accept the event even when cut to 2 kB."
)
POISON = _quarantined(
    "the sink fails on it and takes others (…)", "event", "Requests with this event fail, while others succeed."
)
QUARANTINED = (
    *(TORN, NOT_AN_OBJECT, DAMAGED, NUL_BYTES, LINE_TOO_LONG, TOO_MANY_VALUES, NOT_UNDERSTOOD),
    *(REJECTED, UNNAMED, REFUSED, TOO_LARGE_FOR_SINK, POISON),
)

LEFT_BEHIND = frozenset(reason.name for reason in SKIPPED_FILES if reason.is_left)
UNTIL_CHANGED = frozenset(reason.name for reason in SKIPPED_FILES if reason.until_changed)
