"""Hostile events: scripts, escape sequences, hidden and reversed text, and any shape of JSON."""

from __future__ import annotations

from typing import Any

from tests.store.samples import Event, event

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
BREAKS_OUT = "\"'></title></textarea></select></svg></style><svg onload=document.title='owned'>"
TEMPLATE = "{{ 7 * 191 }}{% raw %}${7*191}"
ESCAPES = "\x1b]0;owned\x07\x1b[31mred\x1b[0m"
TURNED = "invoice\u202egpj.exe\u2066hidden\u2069 \u200b\U000e0041\U000e0042"
SQL = "'; DROP TABLE event_rows; --"
LINK = "javascript:document.title='owned'"
TEXTS = (SCRIPT, BREAKS_OUT, TEMPLATE, ESCAPES, TURNED, SQL, LINK)
ALL = " ".join(TEXTS)
SHAPES: tuple[Any, ...] = (None, 0, -1.5, True, [], {}, [[]], [None, 1, "x"], {"a": {"b": [1]}}, ALL, "x" * 300_000)


def nested(depth: int) -> Any:
    """Nests lists this deep."""
    made: Any = ALL
    for _ in range(depth):
        made = [made]
    return made


def hostile_events() -> list[Event]:
    """One session in which every name and text is hostile, with every field in every shape."""
    who: dict[str, Any] = {
        "session_id": f"s/../{ALL}"[:500],
        "project": f"-work-{ALL}"[:500],
        "cwd": ALL,
        "git_branch": ALL,
        "user": ALL,
        "host": {"id": ALL, "name": ALL},
        "client": {"name": "claude_code", "version": ALL},
    }
    agent = who | {"agent_id": f"a?&#/{ALL}"[:500], "agent_type": ALL, "agent_description": ALL}
    usage = {"input_tokens": 10**15, "output_tokens": 5, "cache_read_tokens": 1}
    call = {"type": "tool_call", "call_id": ALL, "name": f"mcp__{ALL}", "input": {"command": ALL, ALL: nested(300)}}
    result = {"type": "tool_result", "call_id": ALL, "ok": False, "text": ALL}
    pull = {"number": ALL, "url": LINK, "repository": ALL}
    facts = {"call_id": ALL, "exit_code": ALL, "denied_by": ALL, "agent_id": ALL, "lines_added": ALL}
    made = [
        event("title", text=ALL, **who),
        event("user_prompt", text=ALL, origin="human", redactions={ALL: 1, "rule": ALL}, **who),
        event("assistant_response", text=ALL, model=ALL, message_id="m1", usage=usage, **who),
        event("tool_call", blocks=[call, {"type": "thinking", "text": ALL}], **who),
        event("tool_result", blocks=[result], tool=facts, **who),
        event("link", pull_request=pull, **who),
        event("user_prompt", text=ALL, origin="human", **agent),
        event(ALL[:200], text=ALL, record_subtype=ALL, attributes={ALL: ALL}, **who),
        event("unknown", attributes={"deep": nested(900)}, **who),
    ]
    for field in ("text", "blocks", "tool", "attributes", "redactions", "origin", "model", "pull_request", "time"):
        made += [event("unknown", **who | {field: shape}) for shape in SHAPES]
    times = ("0000-00-00T00:00:00Z", "2026-13-39T29:59:59Z", "9999-12-31T23:59:59Z", "2026-02-30T10:00:00Z")
    made += [event("user_prompt", **who, origin="human", time=time) for time in times]
    made += [
        event("tool_call", **who | {"blocks": [{"type": shape, "input": shape, "call_id": shape}]}) for shape in SHAPES
    ]
    return made
