"""Turns one record into an event: skip early, fill the envelope, let a handler do the rest, keep what is left over.

A handler gets the event so far, the record, and `rest`: every key that the envelope did not take. It moves what it
knows to its place; whatever it leaves in `rest` becomes `attributes`, so nothing is lost for being new (promise 6).
There is no validation here: this runs for every line, in 4 to 9 us for an ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from collector.agents.claude_code import bookkeeping, places, request, side_files
from collector.agents.claude_code.attachment import attachment
from collector.agents.claude_code.attribution import attribute, put_provider
from collector.agents.claude_code.context import Context
from collector.agents.claude_code.free_values import put_attributes
from collector.agents.claude_code.identity import identity
from collector.agents.claude_code.message import assistant, bare_block, progress, unknown, user
from collector.agents.claude_code.slug import NAMING_PLANS, leave_prompt_out
from collector.agents.claude_code.times import moment
from collector.flow import reasons
from collector.flow.frame import provenance
from collector.flow.line import Line
from collector.flow.outcome import Skip

Record = dict[str, Any]
Handler = Callable[[Record, Record, Record, Context], Any]
# Maps each key that does not go to the attributes to its field of the event; empty if other code handles the key.
Places = dict[str, str]

ENVELOPE = {
    "type": "record_type",
    "subtype": "record_subtype",
    "uuid": "uuid",
    "parentUuid": "parent_uuid",
    "sessionId": "session_id",
    "agentId": "agent_id",
    "promptId": "prompt_id",
    "requestId": "request_id",
    "cwd": "cwd",
    "gitBranch": "git_branch",
    "slug": "slug",
}


def places_of(*taken: str) -> Places:
    """The envelope's places, plus keys that other code takes. That code puts anything odd back into `rest`."""
    return ENVELOPE | dict.fromkeys(taken, "")


# Taken from the record by name in `envelope`.
STATISTICS = places_of("timestamp", "entrypoint", "isSidechain", "userType")
USUAL = STATISTICS | {"version": ""}
WITH_MESSAGE = USUAL | {"message": ""}

PROGRESS_TYPES = ("agent_progress", "bash_progress", "hook_progress", "mcp_progress", "waiting_for_task")
BARE_TYPES = ("tool_use", "tool_result", "image", "base64")

HANDLERS: dict[str, tuple[Handler, Places]] = {
    **{kind: (handler, USUAL) for kind, handler in bookkeeping.HANDLERS.items()},
    **dict.fromkeys(PROGRESS_TYPES, (progress, USUAL)),
    **dict.fromkeys(BARE_TYPES, (bare_block, USUAL)),
    "user": (user, WITH_MESSAGE | {"toolUseResult": ""}),
    "assistant": (assistant, WITH_MESSAGE),
    "attachment": (attachment, USUAL | {"attachment": ""}),
    "progress": (progress, USUAL),
    "api-request": (request.api_request, USUAL),
    "api-request-resumed": (request.api_request_resumed, USUAL),
    "api-request-shape": (request.api_request_shape, USUAL | {"shape": ""}),
    "api-request-blob": (request.api_request_blob, WITH_MESSAGE),
}
UNKNOWN: tuple[Handler, Places] = (unknown, USUAL)
PLAIN_PROGRESS = Skip(reasons.PROGRESS.name)  # shared, because every seventh line gives one
JOURNAL_TYPES = frozenset({"launched", "started", "result", "failed"})

# For a kind of source: the handlers by record type, and the handler for all other records.
Handlers = tuple[dict[str, tuple[Handler, Places]], tuple[Handler, Places]]
TRANSCRIPT: Handlers = (HANDLERS, UNKNOWN)
BY_SOURCE: dict[str, Handlers] = {
    places.HISTORY.name: ({}, (side_files.history, USUAL)),
    places.SESSION_INDEX.name: ({}, (side_files.session_index, USUAL)),
    places.STATS.name: ({}, (side_files.stats, STATISTICS)),
    places.WORKFLOW.name: ({}, (side_files.workflow, USUAL)),
    places.JOURNAL.name: (HANDLERS | dict.fromkeys(JOURNAL_TYPES, (side_files.journal, USUAL)), UNKNOWN),
}


def event(line: Line, context: Context) -> Record | Skip:
    """The event of one line, or the reason why there is none."""
    record = line.record
    if record is None:
        raise ValueError("a line without a record: the reader has to quarantine it")
    by_type, otherwise = BY_SOURCE.get(context.kind, TRANSCRIPT)
    kind = record.get("type")
    handler, taken = by_type.get(kind, otherwise) if type(kind) is str else otherwise
    if handler is progress and is_plain_progress(record):
        return PLAIN_PROGRESS
    made, rest = envelope(line, record, taken, context)
    skip = handler(made, record, rest, context)
    if skip is not None:
        return skip  # type: ignore[no-any-return]
    if "model" in made:
        put_provider(made)
    if rest:
        if "session_id" in rest:
            settle_session(made, record, rest)
        attribute(made, rest, context)
        put_attributes(made, rest)
    # Forks and compaction copy records along with their original session, and some files hold records of two sessions.
    own = context.session_id
    if own and made["session_id"] != own:
        made["file_session_id"] = own
    if "slug" in made or made["record_type"] in NAMING_PLANS:
        leave_prompt_out(made, context)
    if not made["record_type"]:
        del made["record_type"]
    if not made["time"]:
        settle_time(made, line, context)
    return made


def is_plain_progress(record: Record) -> bool:
    """Whether a progress record cannot carry usage. Checked before any work is done on it."""
    data = record.get("data")
    return (data if type(data) is dict else record).get("type") != "agent_progress"


def envelope(line: Line, record: Record, taken: Places, context: Context) -> tuple[Record, Record]:
    """The event with all the fields that records have in common, and what is left of the record."""
    made = context.prefix.copy()
    rest: Record = {}
    for key, value in record.items():
        place = taken.get(key)
        if place:
            if type(value) is str:
                if value:
                    made[place] = value
            elif value is not None:  # not the expected type, so keep it as it is (promise 6)
                rest[key] = value
        elif place is None and value is not None:  # absent rather than null: one case fewer for receivers
            rest[key] = value
    made["id"] = identity(record, line.anchor, context.names_file)
    # Copy these: all events share them, and redaction changes events in place.
    made["host"] = made["host"].copy()
    made["client"] = client = made["client"].copy()
    made["source"] = provenance(line)
    stamp = record.get("timestamp")
    if stamp is not None:
        made["time"] = moment(stamp)
        if not made["time"]:
            rest["timestamp"] = stamp
    put_client(client, record, rest, taken)
    is_sidechain = record.get("isSidechain")
    if is_sidechain is True:
        made["sidechain"] = True
    elif is_sidechain is not None and is_sidechain is not False:
        rest["isSidechain"] = is_sidechain
    # Every user's records say `external`; only another value is worth keeping.
    user_type = record.get("userType")
    if user_type is not None and user_type != "external":
        rest["userType"] = user_type
    return made, rest


def put_client(client: Record, record: Record, rest: Record, taken: Places) -> None:
    """The program that wrote the record. A value that is not a string goes to `rest` instead."""
    for key in ("version", "entrypoint"):
        value = record.get(key)
        if type(value) is str:
            if value and key in taken:
                client[key] = value
        elif value is not None:
            rest[key] = value


def settle_session(made: Record, record: Record, rest: Record) -> None:
    """Uses `session_id` if it is a record's only session, as in the SDK's own stream. In a transcript it is beside
    `sessionId`, and names the session that the program was started with: another one since `/clear` or `/branch`."""
    told = rest["session_id"]
    if type(told) is str and told and not record.get("sessionId"):
        made["session_id"] = told
    if told == made["session_id"]:
        del rest["session_id"]


def settle_time(made: Record, line: Line, context: Context) -> None:
    """Gives a record without a time that of the nearest record that has one, else the file's, and notes which."""
    # 7.5 % of real records have neither uuid nor time. The record before is minutes away at most, while the file's time
    # is that of the newest bookkeeping, or of a rewrite.
    for time, origin in ((line.anchor.time, "previous_record"), (line.reading.next_time, "next_record")):
        made["time"] = moment(time)
        if made["time"]:
            made["time_from"] = origin
            return
    made["time"], made["time_from"] = context.time_of_file(), "file_mtime"
