"""What an attachment looked like to the model: `rendered` repeats its fields, in sentences that may stand nowhere else.

In: an attachment and its record. Out: `rendered` in the attributes holds only the lines that neither a field nor an
earlier record of this pass holds; the rest is counted. So a CLAUDE.md that stands in `files`, in `rendered` and in the
copy of the request is sent once, and a reminder that exists only as rendered text is sent. Redaction comes later, so
what is kept must show what it is: a line of one word has the lines before it, and a text with a key in it is left out
as a whole or not at all, for nobody knows a private key without its first line.
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
# Comparing a short line with every field costs more than the line: only those that are equal to a whole line go.
LEAST_SEARCHED = 12
LINES_BEFORE = 2  # that may tell what a single word is: `Password:`
OF_MANY_LINES = re.compile(r"-----BEGIN|^[ \t]*(?:\d+[\t\u2192])?[\w+/=-]{40,}[ \t]*$", re.MULTILINE)
MAX_SEARCHED = 20_000


def put_rendered(event: Record, attachment: Record, rest: Record, context: Context) -> None:
    """Leaves of the rendered texts what stands nowhere else, and remembers all of it for the API's own copies."""
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
    """Every string in a value, keys aside."""
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
    """A line without its number, its frame and the space around it."""
    words = line.strip().removeprefix(FRAME[0]).removesuffix(FRAME[1])
    match = NUMBERED.match(words)
    return (words[match.end() :] if match else words).strip()
