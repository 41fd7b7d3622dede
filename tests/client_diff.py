"""Finds what the real Claude Code writes that our tables do not name: `make client-diff VERSION=2.1.326,2.1.327`.

In: versions of its npm package (by default the two newest) or files. Out: for each vocabulary, the words in the program
that none of our tables names; the exit code is 1 if there are any, or if a vocabulary can no longer be found.

The program is one minified script inside a binary. Its identifiers change with every version, but the words it writes
into records do not. So each vocabulary has a few anchors, and every list, table, switch or comparison that holds at
least two of them is taken to be about that vocabulary. Nothing of the program is kept.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from collector.agents.claude_code import attachment, bookkeeping, dispatch, origin, vocabulary

PACKAGE = "@anthropic-ai/claude-code-linux-x64"
LEAST_SCRIPT = 4_096  # bytes without a NUL: a shorter run is not program text
FURTHEST = 12_000  # characters from an anchor to the beginning of its table
LEAST_ANCHORS = 2
MOST_PLACES = 1_500  # where one anchor is looked at: a word found everywhere says nothing

WORD = re.compile(r"[a-z][A-Za-z0-9_-]{1,40}")
TOOL = re.compile(r"[A-Z][a-z]+(?:[A-Z][A-Za-z]*)*|[A-Z]{2,4}")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`|[{}()\[\],]|[^"\'`{}()\[\],]+')
KEY = re.compile(r'(?:([\w$]+)|"([^"\\]+)")(?=:)|\.\.\.')
ITEM = r'(?:"[^"\\]*"|\.{0,3}[\w$][\w$.]*)'
LIST = re.compile(rf"\[{ITEM}(?:,{ITEM})*\]")
CHAIN = re.compile(r'(?:[\w$.?]+[!=]=="[\w-]+"(?:\|\||&&)?){2,}')
STRING = re.compile(r'"([^"\\]+)"')


class Vocabulary(NamedTuple):
    """The words of one place in a record: what to look for, what we name, and what was found to be something else."""

    name: str
    anchors: tuple[str, ...]
    known: Collection[str]
    mentions: tuple[str, ...] = ()
    """Patterns that each capture one such word on its own."""
    others: Collection[str] = ()
    is_called: bool = False
    """Whether the words are arguments of one function, as in `note("enqueue")`, rather than in a table."""
    shape: re.Pattern[str] = WORD


# Kept among the attributes and not otherwise read; figures of a load report, which no transcript contains.
MESSAGE_KEYS = frozenset(
    {
        "abandonedByStreamRetry", "carriesOnTurnOf", "context_management", "resumable", "stop_details",
        "stop_sequence",
        *("application_utilization", "cpu_utilization", "eps", "mem_utilization", "named_metrics", "request_cost"),
        *("rps_fractional", "utilization"),
    }
)  # fmt: skip

VOCABULARIES = (
    Vocabulary(
        "record types",
        ("file-history-snapshot", "custom-title", "last-prompt", "queue-operation", "ai-title"),
        dispatch.HANDLERS.keys(),
        (r'\{type:"([a-z]+(?:-[a-z]+)+)",[^{}]{0,80}\bsessionId\b',),
    ),
    Vocabulary(
        "attachment kinds",
        ("critical_system_reminder", "deferred_tools_delta", "nested_memory", "todo_reminder", "edited_text_file"),
        attachment.KINDS,
        (r'\battachment\??\.type==="(\w+)"',),
    ),
    Vocabulary(
        "origins",
        ("task-notification", "coordinator", "slack-ping", "voice-call"),
        origin.KINDS.keys(),
        others={
            "establishedAt",
            "own",
            "peerInstance",
            "sidB64",  # these four: the handshake between two sessions
            "auto-continuation",
            "plugin",
            "unclassified",
            "voice-call",  # these four: nobody in particular, so meta
        },
    ),
    Vocabulary(
        "origins of a turn",
        ("task_notification", "auto_continuation", "host_synthetic"),
        {*origin.TURNS, "human", "sdk", "unknown"},
    ),
    Vocabulary(
        "sources of a prompt",
        ("typed", "queued", "suggestion_accepted"),
        {"typed", "queued", "suggestion_accepted", "sdk", "system"},
    ),
    Vocabulary(
        "operations of the queue",
        ("dequeue", "popAll"),
        {"enqueue", "dequeue", "remove", "popAll", "popOne"},
        is_called=True,
    ),
    Vocabulary(
        "calls within a message",
        ("advisor_message", "fallback_message", "compaction"),
        {"message", "compaction", "fallback_message", "advisor_message"},
    ),
    Vocabulary(
        "system subtypes",
        ("stop_hook_summary", "turn_duration", "away_summary", "microcompact_boundary"),
        bookkeeping.SYSTEM_KINDS.keys() | bookkeeping.NOTICES,
        (r'type:"system",subtype:"(\w+)"',),
    ),
    Vocabulary(
        "tools",
        ("ExitPlanMode", "NotebookEdit", "TaskStop", "ToolSearch", "AskUserQuestion", "CronCreate", "SendMessage"),
        vocabulary.TOOLS,
        others={"JavaScript"},  # the name people see for REPL
        shape=TOOL,
    ),
    Vocabulary(
        "hooks",
        ("PreToolUse", "SubagentStop", "PreCompact"),
        vocabulary.HOOKS,
        shape=TOOL,
    ),
    Vocabulary(
        "sources of a request",
        (),
        vocabulary.QUERIES,
        (r'\bquerySource:"([a-z_]+)"',),
    ),
    Vocabulary(
        "keys put on a message",
        (),
        {"content", "id", "model", "pausedResponses", "stop_reason", "usage"},
        (r"\.message\.([A-Za-z]\w+)=(?!=)",),
        others=MESSAGE_KEYS,
    ),
    Vocabulary(
        "states in a workflow's journal",
        (),
        dispatch.JOURNAL_TYPES,
        (r'\{type:"([a-z]+)",key:\w+,agentId:', r'\{type:"([a-z]+)",hiddenScriptSha256:'),
    ),
)


def scripts(binary: bytes) -> str:
    """The program text inside a binary."""
    runs = (match[0] for match in re.finditer(rb"[^\x00]{%d,}" % LEAST_SCRIPT, binary))
    return "\n".join(run.decode("utf-8", "replace") for run in runs if b"function" in run)


def words_of(sought: Vocabulary, text: str) -> set[str]:
    """Every word of the program found where words of this vocabulary occur."""
    found: set[str] = set()
    for word in map(re.escape, sought.anchors):
        places = re.finditer(rf'"{word}"|(?<![\w"-]){word}(?![\w"-])', text)
        for match in itertools.islice(places, MOST_PLACES):
            at = match.start()
            if sought.is_called:
                found |= calls_around(text, at)
                continue
            for group in groups_around(text, at):
                if len(group.intersection(sought.anchors)) >= LEAST_ANCHORS:
                    found |= group
    for pattern in sought.mentions:
        found.update(match[1] for match in re.finditer(pattern, text))
    return {word for word in found if sought.shape.fullmatch(word)}


def groups_around(text: str, at: int) -> Iterator[set[str]]:
    """The table, the switch, the list and the comparison that hold a word at this place, each as a set of words."""
    if text[at] == '"' and text.endswith("case", 0, at):
        yield switch_around(text, at)
    elif text[at] == '"':
        yield list_around(text, at)
        yield chain_around(text, at)
    if text[at - 1] in "{,":
        yield table_around(text, at)


def beginnings(text: str, at: int, opening: str) -> Iterator[int]:
    """Where something that holds this place may begin, nearest first."""
    start = at
    while (start := text.rfind(opening, max(0, at - FURTHEST), start)) >= 0:
        yield start


def table_around(text: str, at: int) -> set[str]:
    """The keys of the object that has one of its keys at this place."""
    for start in beginnings(text, at, "{"):
        keys = keys_of(text, start + 1, at)
        if at in keys:
            return set(keys.values())
    return set()


def keys_of(text: str, at: int, least: int) -> dict[int, str]:
    """The keys of an object, with their places; empty if this is not an object or it ends before `least`."""
    keys: dict[int, str] = {}
    depth, is_start = 0, True
    while match := TOKEN.match(text, at):
        token = match[0]
        if token == "}" and depth == 0:
            return keys if at > least else {}
        if is_start and depth == 0:
            key = KEY.match(text, at)
            if key is None:
                return {}
            keys[at] = key[1] or key[2] or "..."
        is_start = token == "," and depth == 0
        depth += (token in "{[(") - (token in "}])") if len(token) == 1 else 0
        at = match.end()
    return {}


def switch_around(text: str, at: int) -> set[str]:
    """The cases of the switch that has a case at this place."""
    for start in beginnings(text, at, "switch("):
        cases = cases_of(text, text.find("{", start) + 1)
        if at in cases:
            return set(cases.values())
    return set()


def cases_of(text: str, at: int) -> dict[int, str]:
    """The cases of a switch whose body begins here, with their places."""
    cases: dict[int, str] = {}
    depth, before = 0, ""
    while match := TOKEN.match(text, at):
        token = match[0]
        if token == "}" and depth == 0:
            return cases
        if depth == 0 and token[0] == '"' and before.endswith("case"):
            cases[at] = token[1:-1]
        depth += (token in "{[(") - (token in "}])") if len(token) == 1 else 0
        at, before = match.end(), token
    return {}


def list_around(text: str, at: int) -> set[str]:
    """The words of the list that holds this place."""
    start = text.rfind("[", max(0, at - FURTHEST), at)
    match = LIST.match(text, start) if start >= 0 else None
    return set(STRING.findall(match[0])) if match and match.end() > at else set()


def chain_around(text: str, at: int) -> set[str]:
    """The words of the chain of comparisons around this place."""
    for match in CHAIN.finditer(text, max(0, at - 400), at + 400):
        if match.start() < at < match.end():
            return set(STRING.findall(match[0]))
    return set()


def calls_around(text: str, at: int) -> set[str]:
    """The words that the function called with this word is called with nearby."""
    before = re.search(r"[\w$]+\($", text[max(0, at - 20) : at])
    if before is None:
        return set()
    call = re.compile(rf'(?<![\w$.]){re.escape(before[0])}"(\w+)"[,)]')
    return set(call.findall(text, max(0, at - FURTHEST), at + FURTHEST))


def differences(text: str) -> Iterator[tuple[Vocabulary, set[str]]]:
    """Every vocabulary, with the words found for it."""
    for each in VOCABULARIES:
        yield each, words_of(each, text)


def binary_of(version: str, scratch: Path) -> Path:
    """The program of one version, from npm."""
    command = ["npm", "pack", f"{PACKAGE}@{version}", "--silent", "--pack-destination", str(scratch)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]
    with tarfile.open(scratch / name) as package:
        package.extract("package/claude", scratch / version, filter="data")
    return scratch / version / "package" / "claude"


def newest() -> list[str]:
    """The two newest versions on npm."""
    command = ["npm", "view", PACKAGE, "versions", "--json"]
    versions: list[str] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return versions[-2:]


def main(arguments: list[str]) -> int:
    """Prints what is new in each version or file named."""
    is_complete = True
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments or newest():
            path = Path(name) if Path(name).is_file() else binary_of(name, Path(scratch))
            print(name)
            for each, found in differences(scripts(path.read_bytes())):
                new = sorted(found - set(each.known) - set(each.others))
                if not found:
                    new = ["not found: its anchors are gone from the program"]
                is_complete = is_complete and not new
                print(f"  {each.name}: {len(found)} found" + (", not named:" if new else ", all named"))
                print("".join(f"    {word}\n" for word in new), end="")
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]).replace(",", " ").split()))
