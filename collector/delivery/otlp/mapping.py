"""The names: which OpenTelemetry attribute each field of an event becomes. One table; docs/otlp.md is made from it.

In: an event. Out: its log record's attributes, its resource's, its severity. A name comes from the first of these that
has one: the GenAI conventions as they are in their own repository (November 2026), Claude Code's own telemetry,
OpenTelemetry's general conventions; otherwise it is `collector.` and our own name. Invariant: a field without a row
travels too, under `collector.` and its name, so nothing is lost when events gain fields (promise 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from collector.delivery import event_fields
from collector.delivery.otlp.records import ERROR, INFO, WARN, LogRecord

VERSION = "1"  # of this table: raised when a name changes its meaning or goes away, not when one is added
SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0"
GEN_AI, CLAUDE_CODE, GENERAL, OWN = "GenAI", "Claude Code", "general", "collector"

Event = dict[str, Any]


class Row(NamedTuple):
    """One field of an event, the attribute it becomes, whose name that is, and what there is to say about it."""

    field: str
    attribute: str
    named_by: str
    note: str = ""


RESOURCE: tuple[Row, ...] = (
    Row("client.name", "service.name", GENERAL, "`claude-code`, as in its own telemetry; `collector` in heartbeats"),
    Row("client.version", "service.version", GENERAL),
    Row("installation_id", "service.instance.id", GENERAL),
    Row("host.id", "host.id", GENERAL),
    Row("host.name", "host.name", GENERAL),
    Row("(this machine)", "host.arch", GENERAL, "as detected by the agent"),
    Row("(this machine)", "os.type", GENERAL, "as detected by the agent"),
    Row("(this machine)", "os.version", GENERAL, "as detected by the agent"),
    Row("user", "user.name", GENERAL),
    Row("labels.*", "*", OWN, "each label under its own name, such as `team`"),
)
LOG: tuple[Row, ...] = (
    Row("id", "log.record.uid", GENERAL, "deduplicate on it"),
    Row("kind", "event.name", CLAUDE_CODE, "also the record's `event_name`: `claude_code.` plus the kind"),
    Row("session_id", "session.id", CLAUDE_CODE),
    Row("session_id", "gen_ai.conversation.id", GEN_AI),
    Row("prompt_id", "prompt.id", CLAUDE_CODE),
    Row("agent_id", "agent_id", CLAUDE_CODE, "not `gen_ai.agent.id`, which names a hosted agent"),
    Row("parent_agent_id", "parent_agent_id", CLAUDE_CODE),
    Row("agent_type", "gen_ai.agent.name", GEN_AI),
    Row("agent_description", "gen_ai.agent.description", GEN_AI),
    Row("client.entrypoint", "app.entrypoint", CLAUDE_CODE),
    Row("request_id", "request_id", CLAUDE_CODE),
    Row("provider", "gen_ai.provider.name", GEN_AI, "`anthropic`, `aws.bedrock` or `gcp.vertex_ai`"),
    Row("(kind)", "gen_ai.operation.name", GEN_AI, "`chat` on rows of an answer, `execute_tool` on tool results"),
    Row("model", "gen_ai.request.model", GEN_AI, "`attributes.requested_model` if the record has it"),
    Row("model", "gen_ai.response.model", GEN_AI, "on rows of an answer"),
    Row("message_id", "gen_ai.response.id", GEN_AI, "several records share one; see below"),
    Row("stop_reason", "gen_ai.response.finish_reasons", GEN_AI, "a list with one item"),
    Row("attributes.effort", "gen_ai.request.reasoning.level", GEN_AI),
    Row(
        "usage.input_tokens",
        "gen_ai.usage.input_tokens",
        GEN_AI,
        "**including** input read from and written to a cache: the sum of `usage.input_tokens`, "
        "`usage.cache_read_tokens` and `usage.cache_creation_tokens`",
    ),
    Row("usage.cache_read_tokens", "gen_ai.usage.cache_read.input_tokens", GEN_AI),
    Row("usage.cache_creation_tokens", "gen_ai.usage.cache_write.input_tokens", GEN_AI),
    Row("usage.output_tokens", "gen_ai.usage.output_tokens", GEN_AI),
    Row("usage.thinking_tokens", "gen_ai.usage.reasoning.output_tokens", GEN_AI),
    Row("usage.speed", "speed", CLAUDE_CODE),
    Row("usage.*", "collector.usage.*", OWN, "the rest: cache lifetimes, searches, service tier, iterations"),
    Row("tool.name", "gen_ai.tool.name", GEN_AI),
    Row("tool.call_id", "gen_ai.tool.call.id", GEN_AI),
    Row("blocks (the only call)", "gen_ai.tool.call.arguments", GEN_AI, "and then not in `collector.blocks`"),
    Row("blocks (the only answer)", "gen_ai.tool.call.result", GEN_AI, "and then not in `collector.blocks`"),
    Row("tool.ok", "success", CLAUDE_CODE),
    Row("tool.duration_ms", "duration_ms", CLAUDE_CODE),
    Row("tool.*", "collector.tool.*", OWN),
    Row("attributes.api_error_status", "status_code", CLAUDE_CODE),
    Row("attributes.api_error_type", "error.type", GENERAL),
    Row("cwd", "process.working_directory", GENERAL),
    Row("git_branch", "vcs.ref.head.name", GENERAL),
    Row("repository", "vcs.repository.name", GENERAL),
    Row("pull_request.number", "vcs.change.id", GENERAL, "as text"),
    Row("account.id", "user.account_uuid", CLAUDE_CODE, "only with `capture.account = true`"),
    Row("account.organization_id", "organization.id", CLAUDE_CODE, "only with `capture.account = true`"),
    Row("account.email", "user.email", CLAUDE_CODE, "only with `capture.account = true`"),
    Row("source.path", "log.file.path", GENERAL),
    Row("attributes.*", "collector.attributes.*", OWN, "each under its own name"),
    Row("blocks", "collector.blocks", OWN, "those that remain"),
    Row("*", "collector.*", OWN, "every other field of an event, under its own name"),
)
SPANS: tuple[Row, ...] = (
    Row("(every span)", "session.id", CLAUDE_CODE),
    Row("(every span)", "gen_ai.conversation.id", GEN_AI, "the session"),
    Row("(every span)", "prompt.id", CLAUDE_CODE, "if records name it"),
    Row("(every span)", "agent_id", CLAUDE_CODE, "in a subagent"),
    Row("(every span)", "gen_ai.agent.name", GEN_AI, "the subagent's type, or the client"),
    Row("(every span)", "gen_ai.operation.name", GEN_AI, "`invoke_agent`, `chat` or `execute_tool`"),
    Row("(every span)", "gen_ai.provider.name", GEN_AI),
    Row("(every span)", "process.working_directory", GENERAL),
    Row("(every span)", "vcs.ref.head.name", GENERAL),
    Row("(requests)", "gen_ai.*", GEN_AI, "model, response, finish reasons, tokens: as in the record above"),
    Row("(requests)", "request_id", CLAUDE_CODE),
    Row("(requests)", "speed", CLAUDE_CODE),
    Row("(failed requests)", "status_code", CLAUDE_CODE),
    Row("(failures)", "error.type", GENERAL, "also an event `exception` with `exception.type` and `exception.message`"),
    Row("(tools)", "gen_ai.tool.name", GEN_AI),
    Row("(tools)", "gen_ai.tool.call.id", GEN_AI),
    Row("(tools)", "success", CLAUDE_CODE),
    Row("(tools)", "duration_ms", CLAUDE_CODE, "without waiting for permission, which the span includes"),
    Row("(tools)", "collector.tool.exit_code", OWN),
    Row("(tools)", "collector.tool.denied_by", OWN),
)

PROVIDERS = {"bedrock": "aws.bedrock", "vertex": "gcp.vertex_ai"}
USUAL_PROVIDER = "anthropic"
ANSWERS = frozenset({"assistant_response", "tool_call", "progress"})
OPERATIONS = {
    **dict.fromkeys(("assistant_response", "tool_call", "progress", "api_request", "api_error"), "chat"),
    "tool_result": "execute_tool",
}
# Fields that the record itself or its resource states: not repeated among the attributes.
ELSEWHERE = frozenset({"time", "text", "host", "installation_id", "user", "labels"})
LATEST = 2**63 - 1  # in the year 2262: OTLP's field goes further, most receivers do not
SYNTHETIC = "<synthetic>"  # written by the program itself: no model was asked


def _simple(rows: tuple[Row, ...], within: str = "") -> dict[str, str]:
    """Field -> attribute, for the rows that only rename a field; the first row for a field counts."""
    made: dict[str, str] = {}
    for row in rows:
        inner = row.field.removeprefix(f"{within}.") if within else row.field
        if (row.field.startswith(f"{within}.") if within else True) and inner.isidentifier():
            made.setdefault(inner, row.attribute)
    return made


TOP = _simple(LOG)
USAGE = _simple(LOG, "usage")
TOOL = _simple(LOG, "tool")
FREE = _simple(LOG, "attributes")
NESTED: Mapping[str, Mapping[str, str]] = {
    name: _simple(LOG, name) for name in ("client", "pull_request", "account", "source")
}
SAID_BY_THE_RESOURCE = ("collector.client.name", "collector.client.version")


def log_record(event: Event, seen: float) -> LogRecord:
    """The log record of an event. `seen` is when the agent read it."""
    source = str(event.get("client", {}).get("name", OWN))
    kind = str(event.get("kind", "unknown"))
    name = f"{source}.{kind}"
    said, time = attributes(event), event.get("time", "")
    happened = nanoseconds(time)
    if time and not happened:  # a time that OTLP's field cannot hold
        said["collector.time"] = time
    return LogRecord(
        time=happened,
        observed=int(seen * 1e6) * 1000,
        severity=severity(event),
        event_name=name,
        body=event.get("text") or name,
        attributes=said,
    )


def attributes(event: Event) -> dict[str, Any]:
    """The fields of an event, under OpenTelemetry's names."""
    made: dict[str, Any] = {}
    kind = event.get("kind", "unknown")
    for name, value in event.items():
        if name in ELSEWHERE:
            continue
        if name in TOP and type(value) is str:
            made[TOP[name]] = value
        elif name == "usage":
            _put_usage(made, value)
        elif name == "tool":
            _put(made, value, TOOL, "collector.tool.")
        elif name == "attributes":
            _put(made, value, FREE, "collector.attributes.")
        elif name in NESTED:
            _put(made, value, NESTED[name], f"collector.{name}.")
        elif name != "blocks":
            made[f"collector.{name}"] = value
    for name in SAID_BY_THE_RESOURCE:
        made.pop(name, None)
    if "vcs.change.id" in made:
        made["vcs.change.id"] = str(made["vcs.change.id"])  # a number in events; others use letters
    _put_model(made, event, kind)
    _put_blocks(made, event.get("blocks"), kind)
    return made


def _put(made: dict[str, Any], part: Any, names: Mapping[str, str], prefix: str) -> None:
    if type(part) is not dict:
        made[prefix.removesuffix(".")] = part
        return
    for name, value in part.items():
        made[names.get(name) or prefix + name] = value


def _put_usage(made: dict[str, Any], usage: Any) -> None:
    _put(made, usage, USAGE, "collector.usage.")
    if type(usage) is dict and "input_tokens" in usage:
        made["gen_ai.usage.input_tokens"] = whole_input(usage)


def whole_input(usage: Mapping[str, Any]) -> int:
    """All input tokens of a call: Anthropic counts those read from and written to a cache apart from `input_tokens`."""
    return sum(int(usage.get(name, 0)) for name in ("input_tokens", "cache_read_tokens", "cache_creation_tokens"))


def _put_model(made: dict[str, Any], event: Event, kind: str) -> None:
    """What the GenAI conventions ask of every operation: its name, its provider, the model."""
    operation = OPERATIONS.get(kind) if event.get("model") != SYNTHETIC else None
    if operation:
        made["gen_ai.operation.name"] = operation
    if operation or "gen_ai.provider.name" in made:
        made["gen_ai.provider.name"] = provider(event)
    if "session_id" in event:
        made["gen_ai.conversation.id"] = event["session_id"]
    if "gen_ai.response.finish_reasons" in made:
        made["gen_ai.response.finish_reasons"] = [made["gen_ai.response.finish_reasons"]]
    asked = made.pop("collector.attributes.requested_model", None)
    if "model" in event and kind in ANSWERS:
        made["gen_ai.response.model"] = event["model"]
    if asked:
        made["gen_ai.request.model"] = asked


def provider(event: Event) -> str:
    """Whose API answered, in the words of the conventions."""
    named = str(event.get("provider", USUAL_PROVIDER))
    return PROVIDERS.get(named, named)


def _put_blocks(made: dict[str, Any], blocks: Any, kind: str) -> None:
    """A single call or answer gets attributes of its own; everything else stays a list."""
    if type(blocks) is not list:
        return
    wanted, inner, attribute = {
        "tool_call": ("tool_call", "input", "gen_ai.tool.call.arguments"),
        "tool_result": ("tool_result", "text", "gen_ai.tool.call.result"),
    }.get(kind, ("", "", ""))
    found = [block for block in blocks if type(block) is dict and block.get("type") == wanted]
    if len(found) == 1 and inner in found[0]:
        made[attribute] = found[0][inner]
        rest = {name: value for name, value in found[0].items() if name not in (inner, "name", "call_id", "ok")}
        blocks = [block if block is not found[0] else rest for block in blocks]
        if len(rest) == 1:  # its type
            blocks = [block for block in blocks if block is not rest]
    if blocks:
        made["collector.blocks"] = blocks


def severity(event: Event) -> tuple[int, str]:
    """A failed API call is an error, a failed tool call a warning, everything else information."""
    kind = event.get("kind")
    if kind == "api_error":
        return ERROR
    tool = event.get("tool")
    if kind == "tool_result" and type(tool) is dict and tool.get("ok") is False:
        return WARN
    return INFO


def resource(event: Event, machine: Mapping[str, str]) -> dict[str, Any]:
    """The sender: the same for all events of one client on one installation."""
    client = event.get("client", {})
    host = event.get("host", {})
    made = {
        "service.name": str(client.get("name", OWN)).replace("_", "-"),
        "service.version": client.get("version"),
        "service.instance.id": event.get("installation_id"),
        "host.id": host.get("id"),
        "host.name": host.get("name"),
        **machine,
        "user.name": event.get("user"),
        **event.get("labels", {}),
    }
    return {name: value for name, value in made.items() if value}


def nanoseconds(time: str) -> int:
    """RFC 3339 in UTC as nanoseconds since 1970; 0, which OTLP reads as unknown, for anything else and for times out of
    its range."""
    told = event_fields.nanoseconds(time)
    return told if told is not None and 0 <= told <= LATEST else 0
