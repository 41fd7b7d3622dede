"""The event: what one record becomes, field by field. tests/flow generates the JSON Schemas and docs/events.md from it.

Events are not validated against these types at run time (a typed check costs more than all of normalize). Instead, the
tests check every event they see against the schema. Adding a field is compatible; changing one means version 2.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict

SCHEMA = "collector.event/1"

KINDS: dict[str, str] = {
    "user_prompt": "What a person asked for: typed, queued while the model was busy, or given to the SDK.",
    "user_context": "A message in the user role that no person typed; `origin` says whose it is.",
    "assistant_response": "One row of a model's answer that calls no tool: text, thinking, or both.",
    "tool_call": "One row of a model's answer that calls at least one tool; the calls are in `blocks`.",
    "tool_result": "The results of one or more tools, in `blocks`; the facts about them are in `tool`.",
    "api_error": "An API call failed: it was retried, or this is the message shown after the last retry.",
    "api_request": "An API call was made: to which model, why, with which parameters. It never has usage.",
    "api_message": "Text sent to the API that is nowhere else in the transcript, such as a system message.",
    "compaction": "The conversation was compacted here; the summary that follows has origin `compaction`.",
    "summary": "A summary of a session, or of what happened while the person was away.",
    "title": "A session or agent was given a name, by the model or by a person.",
    "last_prompt": "A bookkeeping copy of the newest prompt; do not count it as a prompt.",
    "queue": "A prompt or notification entered or left the queue; do not count it as a prompt.",
    "mode": "The permission mode, input mode or agent setting of a session changed.",
    "session": "Bookkeeping of a session: SDK start and result, worktree, bridge, fork, lineage, owner, tools in use.",
    "session_cost": "Claude Code's own running totals of a session, for comparison: never add them to `usage`.",
    "turn": "A turn ended, with its duration.",
    "hook": "A hook ran: what it was, how it ended, what it said.",
    "local_command": "A slash command or shell command was run locally.",
    "link": "A session was linked to a pull request or to another place.",
    "file_snapshot": "Which files have a backup at this point; their contents are not sent.",
    "file_change": "A file was created or updated.",
    "attachment": "Context added to the conversation: files, diagnostics, reminders, listings, environment.",
    "progress": "Usage of a subagent, found in a progress record; its text stays with the subagent's transcript.",
    "stream": "A piece of a streamed answer; the complete message follows as a record of its own.",
    "system": "Any other notice from Claude Code.",
    "workflow": "A step of a workflow run: its launch, an agent's start, end or failure, or the run's totals.",
    "prompt_history": "One line of the prompt history across projects; do not count it as a prompt.",
    "session_index": "One session, as an index file described it at the time.",
    "stats": "Claude Code's complete statistics cache, whenever it changes.",
    "heartbeat": "A sign of life from collector itself, with its figures; it is not made from a record.",
    "canary": "A test event from `collector doctor`, to see whether a sink accepts events; queries never count it.",
    "unknown": "A record of a type this version does not know; everything it held is in the event.",
}

Origin = Literal["human", "sdk", "scheduled", "local_command", "tool", "meta", "compaction", "task", "peer"]
FreeForm = dict[str, Any]
Count = Annotated[int, {"minimum": 0}]


class Host(TypedDict):
    """The machine."""

    id: Annotated[
        str,
        "Stable id of the machine, the same for all its users: a keyed hash of the system's machine id, or `host.id` "
        "from the configuration.",
    ]
    name: Annotated[str, "Its host name, or `host.name` from the configuration."]


class Client(TypedDict, total=False):
    """The program that wrote the record."""

    name: Required[Annotated[str, "`claude_code`; `collector` in its own heartbeat."]]
    version: Annotated[str, "Its version, if the record names it."]
    entrypoint: Annotated[str, "How it was started: cli, sdk-cli, an editor."]


class Provenance(TypedDict):
    """Where the record was read. It does not affect the id: a moved file gives the same events."""

    path: Annotated[str, "The file, with ~ for the home directory."]
    offset: Annotated[Count, "Where its line starts, in bytes; in a file that is read whole, the number of the entry."]
    length: Annotated[Count, "The length of the line in bytes; of the whole file if that is read whole."]


class Iteration(TypedDict, total=False):
    """One call to a model within an API message. The names are those of `usage`."""

    type: Required[
        Annotated[
            str,
            "`message`, `compaction` and `fallback_message` are included in the counts of `usage`; `advisor_message` "
            "is not: add it, under its own model.",
        ]
    ]
    model: Annotated[str, "The model that was called, if it is not the message's."]
    input_tokens: Annotated[Count, "Input that did not come from a cache."]
    output_tokens: Annotated[Count, "Output of this call."]
    cache_read_tokens: Annotated[Count, "Input read from the cache."]
    cache_creation_tokens: Annotated[Count, "Input written to the cache, both lifetimes together."]
    cache_creation_5m_tokens: Annotated[Count, "The part of it kept for five minutes."]
    cache_creation_1h_tokens: Annotated[Count, "The part of it kept for an hour."]
    thinking_tokens: Annotated[Count, "The part of the output that was thinking."]
    web_search_requests: Annotated[Count, "Searches made by the API itself."]
    web_fetch_requests: Annotated[Count, "Pages fetched by the API itself."]
    service_tier: Annotated[str, "The service tier that answered."]
    speed: Annotated[str, "The speed mode that answered."]
    inference_geo: Annotated[str, "Where it was answered."]
    attributes: Annotated[FreeForm, "Everything else it held, under the original names."]


class Usage(TypedDict, total=False):
    """Tokens of one API message, as of this row. Per message_id, the row with the most output is the right one."""

    input_tokens: Annotated[Count, "Input that did not come from a cache."]
    output_tokens: Annotated[Count, "Output so far; grows from row to row in older versions."]
    cache_read_tokens: Annotated[Count, "Input read from the cache."]
    cache_creation_tokens: Annotated[Count, "Input written to the cache, both lifetimes together."]
    cache_creation_5m_tokens: Annotated[Count, "The part of it kept for five minutes."]
    cache_creation_1h_tokens: Annotated[Count, "The part of it kept for an hour."]
    thinking_tokens: Annotated[Count, "The part of the output that was thinking."]
    web_search_requests: Annotated[Count, "Searches made by the API itself."]
    web_fetch_requests: Annotated[Count, "Pages fetched by the API itself."]
    service_tier: Annotated[str, "The service tier that answered."]
    speed: Annotated[str, "The speed mode that answered."]
    inference_geo: Annotated[str, "Where it was answered."]
    iterations: Annotated[
        list[Iteration],
        "The calls that made the message, in order, including those that were paused and continued. All but "
        "`advisor_message` are included in the counts above.",
    ]


class Block(TypedDict, total=False):
    """A part of a message that is not plain text. Blocks keep the message's order."""

    type: Required[
        Annotated[
            str,
            "thinking, redacted_thinking, tool_call, tool_result, image, document, paste, tool_definition, or the "
            "name the API gives it.",
        ]
    ]
    text: Annotated[str, "The text of a thinking, tool_result or paste block."]
    call_id: Annotated[str, "Joins a tool_call to its tool_result, even across events, and to telemetry."]
    name: Annotated[str, "The tool."]
    input: Annotated[Any, "What the tool was called with."]
    ok: Annotated[bool, "Whether the tool succeeded."]
    media_type: Annotated[str, "Media type of binary content."]
    bytes: Annotated[Count, "Size of binary content; the content itself is not sent."]
    sha256: Annotated[str, "Hash of binary content."]
    title: Annotated[str, "Title of a document."]
    characters: Annotated[Count, "How many characters of text `[capture]` left out here."]
    blocks: Annotated[list[FreeForm], "What a tool_result contains besides text."]
    attributes: Annotated[
        FreeForm,
        "The rest of the block, under the original names; `input_as_written` if Claude Code changed the model's input.",
    ]


class Tool(TypedDict, total=False):
    """The facts about a tool call (in kind tool_call, the first one) or a result, without the text in `blocks`."""

    name: Annotated[str, "The tool. On a result only if its call was read in the same pass; otherwise join on call_id."]
    call_id: Annotated[str, "The id of the call."]
    ok: Annotated[bool, "Whether it succeeded."]
    duration_ms: Annotated[float, "How long it took."]
    exit_code: Annotated[int, "Exit code of a command that failed."]
    interrupted: Annotated[bool, "True if it was stopped; absent otherwise."]
    denied_by: Annotated[str, "Who refused the call, if it was refused."]
    file: Annotated[str, "The file it worked on."]
    agent_id: Annotated[str, "The subagent it started."]
    lines_added: Annotated[Count, "Lines an edit added."]
    lines_removed: Annotated[Count, "Lines an edit removed."]
    patch: Annotated[str, "What an edit changed, as a unified diff of at most 50,000 characters."]
    message: Annotated[str, "What Claude Code noted along with the result, if it differs from the result."]
    details: Annotated[
        FreeForm,
        "The rest of the structured result: counts, states, text found only here. False flags are left out.",
    ]


class PullRequest(TypedDict, total=False):
    """A pull request that a session worked on."""

    number: Annotated[Count, "Its number."]
    url: Annotated[str, "Its address."]
    repository: Annotated[str, "The repository it is in."]


class Account(TypedDict, total=False):
    """The account that a record names. Left out, and counted in `omitted`, unless `capture.account = true`."""

    id: Annotated[str, "The account's id."]
    organization_id: Annotated[str, "The organisation's id."]
    organization: Annotated[str, "The organisation's name."]
    email: Annotated[str, "The account's e-mail address."]


class Event(TypedDict, total=False):
    """One thing that happened."""

    id: Required[
        Annotated[
            str,
            "Depends on the record alone (its uuid, else its content and its anchor): the same record gives the same "
            "id from every copy, fork, machine and re-read. Keyed with the installation's or the fleet's key if it "
            "would otherwise reveal parts of the record that stay here. Deduplicate on it.",
            {"pattern": "^[0-9a-f]{32}$"},
        ]
    ]
    schema: Required[Annotated[Literal["collector.event/1"], "The name and version of this schema."]]
    kind: Required[Annotated[str, "What happened; see the table of kinds.", {"enum": list(KINDS)}]]
    record_type: Annotated[str, "The type Claude Code gave the record."]
    record_subtype: Annotated[str, "Its subtype, the kind of an attachment, or the kind of progress."]
    priority: Required[Annotated[Count, "0 to 3: the priority of its source."]]
    time: Required[
        Annotated[
            str,
            "When it happened, RFC 3339 in UTC with milliseconds.",
            {"pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"},
        ]
    ]
    time_from: Annotated[
        Literal["previous_record", "next_record", "file_mtime"],
        "Where `time` comes from if the record has none: from the nearest record before it in the file; at the head of "
        "a file, from the next record with a time; failing both, from the file's mtime.",
    ]
    host: Required[Annotated[Host, "The machine."]]
    installation_id: Annotated[str, "The installation: one collector state on that machine. Random, generated once."]
    user: Annotated[str, "The account on that machine: the system's name for its user id."]
    labels: Annotated[dict[str, str], "The configuration's [labels], such as a team or a site."]
    root: Annotated[str, "The label of the Claude config directory."]
    client: Required[Annotated[Client, "The program that wrote the record."]]
    session_id: Annotated[str, "The session the record names, otherwise the session of its file."]
    file_session_id: Annotated[str, "The session of the file, if the record names another one (forks, copies)."]
    agent_id: Annotated[str, "The subagent, if the record is in a subagent's transcript or about one."]
    agent_type: Annotated[str, "The type of that subagent."]
    agent_description: Annotated[str, "What that subagent was started for, in a few words."]
    agent_model: Annotated[str, "The model that subagent was started with."]
    parent_agent_id: Annotated[str, "The subagent that started it, if a subagent did."]
    parent_call_id: Annotated[str, "The tool call that started that subagent."]
    spawn_depth: Annotated[Count, "How deeply nested it is: 1 if the session itself started it."]
    workflow_phase: Annotated[str, "The phase of the workflow it belongs to."]
    uuid: Annotated[str, "The record's uuid."]
    parent_uuid: Annotated[str, "The record it answers or follows."]
    prompt_id: Annotated[str, "The prompt it belongs to."]
    sidechain: Annotated[bool, "True in a subagent's conversation; absent otherwise."]
    project: Annotated[str, "The project's directory name below projects/; it cannot be turned back into a path."]
    cwd: Annotated[str, "The working directory at that moment."]
    git_branch: Annotated[str, "The branch at that moment."]
    repository: Annotated[str, "The repository, if the record names one."]
    pull_request: Annotated[PullRequest, "The pull request, if the record names one."]
    account: Annotated[Account, "The account at the provider; only with `capture.account = true`."]
    slug: Annotated[str, "The session's short name, or the part of it that is made up and not taken from the prompt."]
    role: Annotated[str, "The role of the message."]
    origin: Annotated[
        Origin,
        "Who is behind a message in the user role: a person (human), a program that uses the SDK (sdk), a schedule, "
        "a command run locally and its output (local_command), a tool, Claude Code itself (meta), a compaction "
        "summary, a task given to or reported by an agent, another session or an observer (peer).",
    ]
    text: Annotated[str, "What a person would read: the string, or the text blocks joined by newlines."]
    blocks: Annotated[list[Block], "Everything else in the message."]
    tool: Annotated[Tool, "The facts of a tool call or result."]
    attributes: Annotated[FreeForm, "Everything else in the record, with names in snake_case and unchanged values."]
    provider: Annotated[
        Literal["anthropic", "bedrock", "vertex"],
        "Whose API answered, as far as ids and model names show; a gateway in between does not show.",
    ]
    model: Annotated[str, "The model. `<synthetic>` is the program itself."]
    message_id: Annotated[str, "The API message; several rows share one."]
    request_id: Annotated[str, "The API request; missing on some rows, so never a key."]
    stop_reason: Annotated[str, "Why the model stopped. If absent, the model may still have stopped."]
    usage: Annotated[Usage, "Tokens of the API message, repeated on each of its rows."]
    quality: Annotated[
        list[Literal["output_tokens_unknown"]],
        "What cannot be trusted. output_tokens_unknown: this row was written before the final count was known. The "
        "output of a message is unknown if every one of its rows says so.",
    ]
    source: Required[Annotated[Provenance, "Where the record was read."]]
    omitted: Annotated[dict[str, Count], "What was left out as a copy or as binary data, in characters of text."]
    replaced: Annotated[
        dict[str, Count],
        "How many characters that stores refuse were replaced by U+FFFD, by name: `nul` is U+0000.",
    ]
    redactions: Annotated[dict[str, Count], "How many secrets were replaced, by rule."]
    truncated: Annotated[dict[str, Count], "Fields that were cut, with their original size in bytes."]
    left_out: Annotated[
        list[Literal["metadata", "prompts", "answers", "thinking", "tool_input", "tool_output", "file_paths"]],
        "What `[capture]` holds back: `metadata` for that level, or the switches that are off. Absent if everything "
        "may leave.",
    ]
