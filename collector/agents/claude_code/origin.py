"""Who is behind a message in the user's role: what the record says takes precedence over any guess.

The rules apply in the order of `origin_of`; docs/events.md ("Who spoke") has them as a table. The words are Claude
Code's own: the newer `turnOrigin` says what started a turn, the older `origin.kind` who wrote the message.
"""

from __future__ import annotations

from typing import Any

from collector.agents.claude_code.context import text_of
from collector.agents.claude_code.free_values import omit

Record = dict[str, Any]

# Checked first, because a turn that the program continues by itself still has `origin.kind` human.
TURNS = {
    "scheduled": "scheduled",
    "task_notification": "task",
    "auto_continuation": "meta",
    "peer": "peer",
    "host_synthetic": "meta",
    "system": "meta",
}
KINDS = {
    "human": "human",
    "task-notification": "task",
    "peer": "peer",
    "coordinator": "peer",
    "channel": "peer",
    "observer": "peer",
    "observer-activity": "peer",
    "slack-ping": "peer",
}
SUBKINDS = {"scheduled-trigger": "scheduled", "peer-send-message": "peer", "projects-relay": "peer"}
# Typed by a person, but for the program rather than the model; and the program's answers.
COMMANDS = (
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<user-memory-input>",  # a line that began with #, in versions 1.0
)
# How the program's own messages begin, for records that do not name their origin: those of older versions, and what a
# teammate sends to its leader (2.1.328).
OPENINGS = (
    ("<task-notification>", "task"),
    ("<teammate-message", "peer"),
    ("Another Claude session sent a message", "peer"),
    ("A peer session sent a message", "peer"),
    ("<system-reminder>", "meta"),
    ("Caveat: The messages below were generated", "meta"),
    ("[Request interrupted by user", "meta"),
    ("[SYSTEM NOTIFICATION", "meta"),
    # Older versions: the answer to a command that does not exist; what a hook adds; a message without content.
    ("Unknown slash command: ", "meta"),
    ("Unknown skill: ", "meta"),
    ("<session-start-hook>", "meta"),
    ("<user-prompt-submit-hook>", "meta"),
    ("<post-tool-use-hook>", "meta"),
    ("(no content)", "meta"),
)
FIRST_CHARACTERS = frozenset(opening[0] for opening, _ in OPENINGS)
PROGRAMS = frozenset({"sdk-cli", "sdk-ts", "sdk-py"})
PROMPTS = {"human": "user_prompt", "sdk": "user_prompt", "local_command": "local_command"}


def origin_of(event: Record, record: Record, rest: Record) -> str:
    """The origin of a user record. Removes from `rest` the keys that the origin fully expresses."""
    is_meta = rest.get("isMeta")
    if type(is_meta) is bool:
        del rest["isMeta"]
    # Check this before `isMeta`, which is absent from summaries where one would expect it.
    if rest.get("isCompactSummary") is True:
        del rest["isCompactSummary"]
        return "compaction"
    said = record.get("origin")
    kind = text_of(said, "kind")
    if kind and said == {"kind": kind}:
        rest.pop("origin", None)
    if plan := text_of(rest, "planContent"):  # a plan that was approved, handed on to a session that begins with it
        if plan.strip() in event.get("text", ""):
            omit(event, "plan_content", rest.pop("planContent"))
        return "meta"
    origin = TURNS.get(text_of(record, "turnOrigin")) or kind_of(said)
    if origin is not None and origin != "human":
        return origin
    if is_meta is True and origin is None:
        return "meta"
    text = event.get("text", "")
    if text[:1] == "<" and text.startswith(COMMANDS):
        return "local_command"
    source = record.get("promptSource")
    if source == "sdk" or text_of(record, "turnOrigin") == "sdk":
        return "human" if origin == "human" and text_of(record, "entrypoint") not in PROGRAMS else "sdk"
    return origin or guess(event, record, text)


def guess(event: Record, record: Record, text: str) -> str:
    """Guesses, for versions that say nothing. For most prompts, the first character decides quickly."""
    if text[:1] in FIRST_CHARACTERS:
        for opening, origin in OPENINGS:
            if text.startswith(opening):
                return origin
    source = record.get("promptSource")
    if source == "system":
        return "meta"
    # Nobody types in a subagent's conversation: the message is the task it was given.
    if event.get("sidechain"):
        return "task"
    return "sdk" if source is None and text_of(record, "entrypoint") in PROGRAMS else "human"


def kind_of(said: Any) -> str | None:
    """The origin that an `origin` object expresses; None if it expresses none. An unknown kind is not a person."""
    kind = text_of(said, "kind")
    if not kind:
        return None
    if kind == "task-notification":
        return SUBKINDS.get(text_of(said, "subkind"), "task")
    return KINDS.get(kind, "meta")
