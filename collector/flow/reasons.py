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
EMPTY = Reason("empty", "file", "It is still empty.")
PROJECT = Reason("project", "file", "It belongs, or may belong, to a project outside the filter.")
OUTSIDE_ROOT = Reason("outside_root", "file", "A symbolic link leads out of the root, or in a circle.")
NOT_A_FILE = Reason("not_a_file", "file", "A FIFO, socket, device or directory has the name of a source.")
UNLISTED = Reason("unlisted", "directory", "It cannot be listed. Nothing below it counts as deleted.", is_left=True)
VANISHED = Reason("vanished", "file", "It disappeared between being found and being opened.")
UNREADABLE = Reason("unreadable", "file", "Its permissions keep collector out.", is_left=True)
READ_ERROR = Reason("read_error", "file", "Reading failed partway; what came before that counts.", is_left=True)
INTERNAL_ERROR = Reason("internal_error", "file", "A fault in collector; the log says where.", is_left=True)
WARMUP = Reason("warmup", "file", "It holds nothing yet, like a subagent that only says Warmup.", until_changed=True)
TOO_LARGE = Reason("too_large", "file", "A file that is read whole is larger than 64 MB.", until_changed=True)
INCOMPLETE = Reason(
    *("incomplete", "file", "A file that is read whole is not valid JSON, but was written just now: perhaps half."),
    is_left=True,
)
SKIPPED_FILES = (
    *(EMPTY, PROJECT, OUTSIDE_ROOT, NOT_A_FILE, UNLISTED, VANISHED, UNREADABLE, READ_ERROR, INTERNAL_ERROR),
    *(WARMUP, TOO_LARGE, INCOMPLETE),
)

# Skipped lines: they are counted, and the offset moves past them.
PROGRESS = _skipped_line(
    "progress", "A progress record without usage: transient, and its text is in the result that follows."
)
COPY = _skipped_line("copy", "A message as sent to the API; all its parts are in records read in the same pass.")
LINE_OF_A_PROJECT = _skipped_line(
    "project", "It belongs to a project outside the filter, or names none although one is needed."
)
LINE_OF_A_TIME = _skipped_line(
    "left_out",
    "Somebody wanted it left out (`--from-now`), or it may describe what was: a title, a summary, an index entry.",
)
SKIPPED_LINES = (PROGRESS, COPY, LINE_OF_A_PROJECT, LINE_OF_A_TIME)

# Quarantined: kept, redacted, for a person to look at; `collector quarantine retry` sends events once more.
TORN = _quarantined("torn line", "line", "The rest of the record never came; complete records in the line are sent.")
NOT_AN_OBJECT = _quarantined(
    "not a JSON object", "line", "Valid JSON, but not a record; also an entry of a file that is read whole."
)
DAMAGED = _quarantined(
    "damaged file", "line", "A file that is read whole is not valid JSON, and nobody has written to it for a minute."
)
NUL_BYTES = _quarantined("NUL bytes", "line", "What a power cut leaves where data should be.")
LINE_TOO_LONG = _quarantined("line too long", "line", "More than 100 MB; its first 64 kB are kept.")
TOO_MANY_VALUES = _quarantined("too many values in a line", "line", "More than 250,000, which needs too much memory.")
NOT_UNDERSTOOD = _quarantined("not understood (…)", "line", "A fault in collector on this record; the log says where.")
REJECTED = _quarantined("rejected by the sink: …", "event", "The sink accepted the request, but rejected this event.")
UNNAMED = _quarantined(
    "perhaps rejected by the sink: …",
    "event",
    "The sink rejected some events of a request without saying which, so all of them are kept. They are not sent "
    "again automatically; `collector quarantine retry` sends them one by one, which shows which was rejected.",
)
REFUSED = _quarantined("refused by the sink (…)", "event", "The sink refused a request with this event alone.")
TOO_LARGE_FOR_SINK = _quarantined(
    "too large for the sink (…)", "event", "The sink does not accept the event even when it is cut to 2 kB."
)
POISON = _quarantined(
    "the sink fails on it and takes others (…)", "event", "Requests with this event fail, while others are accepted."
)
QUARANTINED = (
    *(TORN, NOT_AN_OBJECT, DAMAGED, NUL_BYTES, LINE_TOO_LONG, TOO_MANY_VALUES, NOT_UNDERSTOOD),
    *(REJECTED, UNNAMED, REFUSED, TOO_LARGE_FOR_SINK, POISON),
)

LEFT_BEHIND = frozenset(reason.name for reason in SKIPPED_FILES if reason.is_left)
UNTIL_CHANGED = frozenset(reason.name for reason in SKIPPED_FILES if reason.until_changed)
