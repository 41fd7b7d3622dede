"""The sources that are not transcripts: prompt history, workflow journals, session indexes and the statistics cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collector.agents.claude_code.bookkeeping import take_text
from collector.agents.claude_code.context import Context
from collector.agents.claude_code.free_values import binary, omit, plain
from collector.agents.claude_code.projects import LONGEST, encoded
from collector.agents.claude_code.times import moment

Record = dict[str, Any]

KNOWN_INDEX_KEYS = {"version", "entries", "originalPath"}


def index_entries(document: Record) -> Iterator[Any]:
    """The entries of a session index, followed by the rest of it if that has unknown keys."""
    entries = document.get("entries")
    if not isinstance(entries, list):
        yield document
        return
    yield from entries
    more = {key: value for key, value in document.items() if key != "entries"}
    if more.keys() - KNOWN_INDEX_KEYS:
        yield more


def history(event: Record, _record: Record, rest: Record, context: Context) -> None:
    """One prompt of the history, with what was pasted into it."""
    path = rest.pop("project", None)
    if type(path) is not str:
        if path is not None:
            rest["project"] = path
        path = ""
    event["kind"] = "prompt_history"
    if path:
        event["cwd"] = path
        key = encoded(path)
        if len(key) <= LONGEST:  # the hash of a longer one is unknown
            event["project"] = key
    take_text(event, rest, "display")
    pasted = rest.pop("pastedContents", None)
    if type(pasted) is dict:
        blocks = [paste(event, part, context) for part in pasted.values()]
        if blocks:
            event["blocks"] = blocks
    elif pasted is not None:
        rest["pastedContents"] = pasted


def paste(event: Record, part: Any, context: Context) -> Record:
    """Something pasted: its text, or a description of the image."""
    if type(part) is not dict:
        return {"type": "paste", "attributes": {"value": plain(part)}}
    block: Record = {"type": "paste"}
    rest = {key: value for key, value in part.items() if value is not None}
    context.key_hashes(rest, "contentHash")
    content = rest.get("content")
    described = binary(content) if type(content) is str and rest.get("type") == "image" else None
    if described is not None:
        block |= described
        omit(event, "binary", rest.pop("content"))
    elif type(content) is str and content:
        block["text"] = rest.pop("content")
    media_type = rest.get("mediaType")
    if type(media_type) is str:
        block["media_type"] = rest.pop("mediaType")
    if rest:
        block["attributes"] = plain(rest)
    return block


def journal(event: Record, _record: Record, rest: Record, context: Context) -> None:
    """A workflow run was launched, or one of its agents started, finished or failed."""
    context.key_hashes(rest, "hiddenScriptSha256")
    event["kind"] = "workflow"
    take_text(event, rest, "result")


def workflow(event: Record, record: Record, rest: Record, _context: Context) -> None:
    """A workflow run, as of when its file was last written: its totals, and the state of each agent.

    The script is a separate file beside this one, so it is left out, as contents of files are.
    """
    event["kind"] = "workflow"
    event.setdefault("record_subtype", "run")
    script = rest.get("script")
    if type(script) is str:
        omit(event, "script", rest.pop("script"))
    take_text(event, rest, "result")
    model = rest.get("defaultModel")
    if type(model) is str and model:
        event["model"] = rest.pop("defaultModel")
    if not event["time"]:
        event["time"] = ended(record)


def ended(record: Record) -> str:
    """When a workflow run ended: its start plus its duration, or just its start if there is no duration."""
    start, duration = record.get("startTime"), record.get("durationMs")
    if isinstance(start, int) and isinstance(duration, int | float):
        return moment(start + duration)
    return moment(start)


def session_index(event: Record, record: Record, rest: Record, _context: Context) -> None:
    """One session, as the index described it when the index last changed."""
    event["kind"] = "session_index"
    path = rest.get("projectPath")
    if type(path) is str and path:
        event["cwd"] = rest.pop("projectPath")
    take_text(event, rest, "summary")
    for key in ("modified", "created", "fileMtime"):
        time = moment(record.get(key))
        if time:
            event["time"] = time
            break


def stats(event: Record, _record: Record, _rest: Record, _context: Context) -> None:
    """The statistics cache, whole."""
    event["kind"] = "stats"
