"""An attachment as the model saw it: `rendered` repeats its fields, in sentences that may exist nowhere else.

In: an attachment and its record. Out: `rendered` in the attributes, with only those lines that are in no field and in
no earlier record of this pass; the rest is counted. So a CLAUDE.md that is in `files`, in `rendered` and in the copy of
the request is sent once, while a reminder that exists only as rendered text is sent. Redaction comes later and needs
context: a line of one word keeps the lines before it, and a text with a key in it is kept or left out as a whole,
because a private key cannot be recognised without its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from collector.agents.claude_code.context import FRAME, Context
from collector.agents.claude_code.free_values import omit

Record = dict[str, Any]

PLACES = ("rendered", "renderedInHumanTurn")
NUMBERED = re.compile(r"\s*\d+(?:\t|\u2192)")
# Searching every field for a short line costs more than it saves: a short line must equal a whole line to be left out.
LEAST_SEARCHED = 12
LINES_BEFORE = 2  # they may tell what a single word is: `Password:`
OF_MANY_LINES = re.compile(r"-----BEGIN|^[ \t]*(?:\d+[\t\u2192])?[\w+/=-]{40,}[ \t]*$", re.MULTILINE)
MAX_SEARCHED = 20_000


def put_rendered(event: Record, attachment: Record, rest: Record, context: Context) -> None:
    """Keeps the rendered text that exists nowhere else, and remembers all of it to recognise the API's own copies."""
    copies = [rest.pop(place) for place in PLACES if type(rest.get(place)) is list]
    if not copies:
        return
    told = list(strings(attachment))
    lines = {bare(line) for text in told for line in text.splitlines()}
    haystack = "\n".join(told) if sum(map(len, told)) <= MAX_SEARCHED else ""
    kept: list[str] = []
    left_out: list[str] = []
    for text in strings(copies):
        context.remember_rendered(text)
        written = text.splitlines()
        fresh: list[int] = []
        for number, line in enumerate(written):
            words = bare(line)
            mark = hash(("rendered", words))
            is_field = words in lines or (len(words) >= LEAST_SEARCHED and words in haystack)
            if words and not is_field and mark not in context.seen:
                context.remember(mark)
                fresh.append(number)
        if fresh and OF_MANY_LINES.search(text):
            fresh = list(range(len(written)))
        shown = set(fresh)
        for number in fresh:
            if " " not in bare(written[number]):
                shown.update(range(number - LINES_BEFORE, number))
        for number, line in enumerate(written):
            if number in shown and bare(line):
                kept.append(line.strip().removeprefix(FRAME[0]).removesuffix(FRAME[1]))
            else:
                left_out.append(line)
    omit(event, "rendered", left_out)
    if kept:
        rest["rendered"] = "\n".join(kept)


def strings(value: Any) -> Iterator[str]:
    """Every string in a value, not counting keys."""
    stack = [value]
    while stack:
        part = stack.pop()
        if type(part) is str:
            yield part
        elif type(part) is dict:
            stack.extend(reversed(part.values()))
        elif type(part) is list:
            stack.extend(reversed(part))


def bare(line: str) -> str:
    """A line without its number, its frame and surrounding space."""
    words = line.strip().removeprefix(FRAME[0]).removesuffix(FRAME[1])
    match = NUMBERED.match(words)
    return (words[match.end() :] if match else words).strip()
