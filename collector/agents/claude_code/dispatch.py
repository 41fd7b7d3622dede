"""What happens to one record: skip early, fill the envelope, let its handler do the rest, keep what is left over.

A handler gets the event so far, the record, and `rest`: every key that the envelope did not take. It moves what it
knows to its place; whatever it leaves in `rest` becomes `attributes`, so nothing is lost by being new (promise 6).
No validation happens here: this runs for every line, in 5 to 10 us for an ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.agents.claude_code import bookkeeping, places, request, side_files
from collector.agents.claude_code.attachment import attachment
from collector.agents.claude_code.attribution import attribute
from collector.agents.claude_code.context import Context
from collector.agents.claude_code.free_values import put_attributes
from collector.agents.claude_code.identity import identity
from collector.agents.claude_code.message import assistant, bare_block, progress, unknown, user
from collector.agents.claude_code.times import moment
from collector.flow import reasons
from collector.flow.frame import provenance
from collector.flow.line import Line
from collector.flow.outcome import Skip
from collector.flow.source import SourceKind

Record = dict[str, Any]
Handler = Callable[[Record, Record, Record, Context], Any]

ENVELOPE = {
    "type": "record_type",
    "subtype": "record_subtype",
    "uuid": "uuid",
    "parentUuid": "parent_uuid",
    "sessionId": "session_id",
    "session_id": "session_id",
    "agentId": "agent_id",
    "promptId": "prompt_id",
    "requestId": "request_id",
    "cwd": "cwd",
    "gitBranch": "git_branch",
    "slug": "slug",
}
# Taken from the record by name below, or by the handlers that know them; anything odd under them is put back.
ALWAYS_TAKEN = frozenset({"timestamp", "version", "entrypoint", "isSidechain", "userType"})
WITH_MESSAGE = ALWAYS_TAKEN | {"message"}

PROGRESS_TYPES = ("agent_progress", "bash_progress", "hook_progress", "mcp_progress", "waiting_for_task")
BARE_TYPES = ("tool_use", "tool_result", "image", "base64")

HANDLERS: dict[str, tuple[Handler, frozenset[str]]] = {
    **{kind: (handler, ALWAYS_TAKEN) for kind, handler in bookkeeping.HANDLERS.items()},
    **dict.fromkeys(PROGRESS_TYPES, (progress, ALWAYS_TAKEN)),
    **dict.fromkeys(BARE_TYPES, (bare_block, ALWAYS_TAKEN)),
    "user": (user, WITH_MESSAGE | {"toolUseResult"}),
    "assistant": (assistant, WITH_MESSAGE),
    "attachment": (attachment, ALWAYS_TAKEN | {"attachment"}),
    "progress": (progress, ALWAYS_TAKEN),
    "api-request": (request.api_request, ALWAYS_TAKEN),
    "api-request-shape": (request.api_request_shape, ALWAYS_TAKEN | {"shape"}),
    "api-request-blob": (request.api_request_blob, WITH_MESSAGE),
}
UNKNOWN: tuple[Handler, frozenset[str]] = (unknown, ALWAYS_TAKEN)

BY_SOURCE: dict[SourceKind, tuple[Handler, frozenset[str]]] = {
    places.HISTORY: (side_files.history, ALWAYS_TAKEN),
    places.SESSION_INDEX: (side_files.session_index, ALWAYS_TAKEN),
    places.STATS: (side_files.stats, ALWAYS_TAKEN - {"version"}),
    places.WORKFLOW: (side_files.workflow, ALWAYS_TAKEN),
}
JOURNAL_TYPES = frozenset({"launched", "started", "result", "failed"})


def event(line: Line, context: Context) -> Record | Skip:
    """The event of one line, or why there is none."""
    record = line.record
    if type(record) is not dict:
        return Skip(reasons.NOT_A_RECORD.name)
    handler, taken = handler_of(record, context)
    if handler is progress and is_plain_progress(record):
        return Skip(reasons.PROGRESS.name)
    made, rest = envelope(line, record, taken, context)
    skip = handler(made, record, rest, context)
    if skip is not None:
        return skip  # type: ignore[no-any-return]
    attribute(made, rest, context)
    if rest:
        put_attributes(made, rest)
    settle_session(made, context)
    settle_time(made, line, context)
    return made


def handler_of(record: Record, context: Context) -> tuple[Handler, frozenset[str]]:
    """The handler for this record: by its source, else by its type."""
    by_source = BY_SOURCE.get(context.kind)
    if by_source is not None:
        return by_source
    kind = record.get("type")
    if type(kind) is not str:
        return UNKNOWN
    if context.is_journal and kind in JOURNAL_TYPES:
        return side_files.journal, ALWAYS_TAKEN
    return HANDLERS.get(kind, UNKNOWN)


def is_plain_progress(record: Record) -> bool:
    """Whether a progress record cannot carry usage; asked before any work is done on it."""
    data = record.get("data")
    return (data if type(data) is dict else record).get("type") != "agent_progress"


def envelope(line: Line, record: Record, taken: frozenset[str], context: Context) -> tuple[Record, Record]:
    """The event with all that records have in common, and what is left of the record."""
    made = context.prefix.copy()
    rest: Record = {}
    for key, value in record.items():
        if value is None:  # absent rather than null: a receiver has one case less
            continue
        place = ENVELOPE.get(key)
        if place is None:
            if key not in taken:
                rest[key] = value
        elif type(value) is str:
            if value:
                made[place] = value
        else:  # not what it should be, so it is kept as it came (promise 6)
            rest[key] = value
    made["id"] = identity(record, line.anchor, context.names_file)
    # A copy, because redaction changes events in place and this one is shared by all of them.
    made["host"] = context.frame.host.copy()
    made["source"] = provenance(line)
    stamp = record.get("timestamp")
    if stamp is not None:
        made["time"] = moment(stamp)
        if not made["time"]:
            rest["timestamp"] = stamp
    put_client(made, record, rest, taken)
    is_sidechain = record.get("isSidechain")
    if is_sidechain is True:
        made["sidechain"] = True
    elif is_sidechain is not None and is_sidechain is not False:
        rest["isSidechain"] = is_sidechain
    # `external` stands on every record of everybody; anything else would be news.
    user_type = record.get("userType")
    if user_type is not None and user_type != "external":
        rest["userType"] = user_type
    return made, rest


def put_client(made: Record, record: Record, rest: Record, taken: frozenset[str]) -> None:
    """Which program wrote the record; anything but a string is not believed."""
    made["client"] = client = made["client"].copy()  # shared, as the host is
    for key in ("version", "entrypoint"):
        value = record.get(key)
        if type(value) is str:
            if value and key in taken:
                client[key] = value
        elif value is not None:
            rest[key] = value


def settle_session(made: Record, context: Context) -> None:
    """Notes the file's own session when the record belongs to another; drops what turned out empty."""
    # Forks and compaction copy records with the session they came from, and some files hold records of two sessions.
    own = context.session_id
    if own and made["session_id"] != own:
        made["file_session_id"] = own
    if not made["record_type"]:
        del made["record_type"]


def settle_time(made: Record, line: Line, context: Context) -> None:
    """Gives a record without a time that of the nearest one that has one, else the file's, and says which."""
    # 7.5 % of real records have neither uuid nor time; the one before is minutes away at most, while the file's time is
    # that of the newest bookkeeping, or of a rewrite.
    if made["time"]:
        return
    for time, origin in ((line.anchor.time, "previous_record"), (line.reading.next_time, "next_record")):
        made["time"] = moment(time)
        if made["time"]:
            made["time_from"] = origin
            return
    made["time"], made["time_from"] = context.time_of_file(), "file_mtime"
