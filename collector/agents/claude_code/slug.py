"""The slug: Claude Code's short name for a session that has a plan, which is also the name of the plan's file.

Older versions make up all of it. Newer ones (seen in 2.1.327) begin it with the first words of the prompt, in lower
case and with a hyphen for whatever is not a letter or a digit, so redaction cannot recognise a secret among them. In:
an event. Out: the same event with only the made-up part of the name, wherever the name occurs but in PLACES.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import PurePath
from typing import Any

from collector.agents.claude_code.context import Context
from collector.agents.claude_code.free_values import omit
from collector.agents.claude_code.identity import canonical

# These may also be its adjectives (2.1.328), so the word before one of them may be all of a prompt.
ADJECTIVES = (
    "buzzing|dazzling|drifting|flickering|floating|fluttering|frolicking|gleaming|glimmering|glistening|glowing|humming"
    "|purring|rippling|rustling|shimmering|shimmying|sparkling|swirling|twinkling"
)
# An adjective, a verb and a noun. After the words of a prompt there are only an adjective and a noun.
MADE_UP = f"[a-z]+-(?!(?:{ADJECTIVES})-)[a-z]+ing-[a-z]+"
is_made_up = re.compile(MADE_UP).fullmatch
# A worktree may be named after the plan. Here its path stays whole, as in records without a slug: `forget` has to find
# all of them. `capture.file_paths` holds these fields back.
PLACES = frozenset({"project", "cwd", "source"})
# The session that a plan belongs to, where several share a directory.
OF_SESSION = "-of-[0-9a-f-]{36}"
is_of_session = re.compile(OF_SESSION).fullmatch
# They have no slug, and name the files that a session changed, or repeat what the model was told.
NAMING_PLANS = frozenset({"file-history-snapshot", "file-history-delta", "api-request-blob"})


def leave_prompt_out(event: dict[str, Any], context: Context) -> None:
    """Shortens the name of the session's plan."""
    slug = event.get("slug", "")
    session = slug[-40:] if is_of_session(slug[-40:]) else ""
    name = slug.removesuffix(session)
    if name.count("-") >= 2 and not is_made_up(name):
        made_up = "-".join(name.split("-")[-2:]) + session
        omit(event, "slug", slug.removesuffix(made_up))
        for key in event.keys() - PLACES:
            event[key] = changed(event[key], lambda text: text.replace(slug, made_up))
    # Few of them name a plan, and writing one takes 8 us, going through all its strings 80.
    elif event.get("record_type") in NAMING_PLANS and b"plans" in canonical(event):
        plans = paths_of_plans(PurePath(context.reading.source.root.path).name)
        changed(event, lambda text: plans.sub("", text))


@cache
def paths_of_plans(root: str) -> re.Pattern[str]:
    """Finds the words of a prompt in the path of a plan below a root of this name."""
    suffix = rf"(?:{OF_SESSION})?(?:-agent-[\w-]{{1,80}})?\.md"
    return re.compile(
        rf"(?<=[/\\]{re.escape(root)}[/\\]plans[/\\])(?!{MADE_UP}{suffix})"
        rf"[a-z0-9-]{{1,80}}-(?=[a-z]{{1,40}}-[a-z]{{1,40}}{suffix})"
    )


def changed(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every string in it changed, keys included; an object is changed in place."""
    kind = type(value)
    if kind is str:
        return change(value)
    if kind is dict:
        parts = [(change(key), changed(part, change)) for key, part in value.items()]
        value.clear()
        value.update(parts)
    elif kind is list:
        return [changed(part, change) for part in value]
    return value
