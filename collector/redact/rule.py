"""What a rule is: what one kind of secret looks like, what must stand near it, and how to be sure.

Rules are data. A pattern is a Python `re` source over Latin-1 (any other character is seen as `?`), of bounded width
and without anchors, lookaround or backreferences, so that both engines read it alike. What must not stand directly
before and after a match is said in `before` and `after` instead, because escapes and colour codes count as boundaries
there: in `\\nAKIA...` the letter n is not part of a word.

No sample is written out, or scanners of repositories would report it: samples are templates such as
`ghp_{A-Za-z0-9:36}`, filled from a seed, or functions that build one (for formats with a checksum).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

WIDEST = 2048  # from where a match begins to where the scanner sees it, for the rules of the table
LONGEST_ESCAPE = 8  # an escape or a colour code that may stand before a match
AT_KEYS = "at keys"  # a trigger: the rule is for values of telling keys, and is only looked for behind those
Sample = str | Callable[[random.Random], str]
Spans = list[tuple[int, int]]
Locate = Callable[[bytes, "re.Match[bytes]", int, int], Spans]  # text, match, start, stop

_slot = re.compile(r"\{([^{}:]+):(\d+)\}")
_range = re.compile(r"(.)-(.)|(.)", re.DOTALL)


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    `pattern` may name one group `secret`: then only that part is replaced, else the whole match. `keywords` are
    lower case; where there are any, one of them must stand within `reach` characters before the match, in the same
    string or in the key it is the value of (`datadog` in `"datadog_key": "..."`). `check` sees the secret and may
    refuse it (too little entropy, a wrong checksum); `checksum` refuses nothing, but where it holds, `redact
    --explain` says that the finding is certain. `before` and `after` are the insides of character classes that must
    not stand directly around the match; empty means anything may. `locate` is for the few rules whose pattern only
    finds the place: it says which spans, between `start` and `stop`, are the secret (an empty span at its end says
    only how far it has looked, so that nobody looks again); what it says depends on at most `around` characters on
    either side of the match (or, given two numbers, on so many before its begin and after its end), unless that is
    None. With `folds` the pattern is lower case and letters of either case are alike: `re` finds it ten times
    faster in a lower-case copy of the text than by ignoring case. `trigger` is what the scanner looks for in place
    of the pattern: every match must begin with something it finds or, with `reach_back`, at most that many
    characters before its end. Rules with the same trigger cost the scanner only one. `near` is a second trigger,
    small enough that the scanner can say where it begins: a match begins there or behind, which saves `re` the
    search. `about` says in a few words what was recognised, where the pattern does not show it.
    """

    provider: str
    id: str
    pattern: str
    keywords: tuple[str, ...] = ()
    check: Callable[[str], bool] | None = None
    examples: tuple[Sample, ...] = ()
    near_misses: tuple[Sample, ...] = ()
    before: str = "0-9A-Za-z"
    after: str = "0-9A-Za-z"
    reach: int = 100
    locate: Locate | None = None
    around: int | tuple[int, int] | None = None
    folds: bool = False
    trigger: str = ""
    near: str = ""
    reach_back: int = 0
    about: str = ""
    checksum: Callable[[str], bool] | None = None

    @cached_property
    def widths(self) -> tuple[int, int]:
        """The shortest and the longest match, in characters."""
        return width(self.pattern)

    @property
    def beyond(self) -> int:
        """How much text after its end decides on a match."""
        after = self.around[1] if isinstance(self.around, tuple) else self.around
        return after or 0

    @cached_property
    def sight(self) -> tuple[int, int] | None:
        """How much text before and after its begin decides on a match; None where nobody can say."""
        around = self.around if self.locate else 0
        if around is None:
            return None
        before = around[0] if isinstance(around, tuple) else around
        reach = self.reach if self.keywords else 0
        return max(before, reach) + LONGEST_ESCAPE, self.beyond + self.widths[1] + 1


def width(pattern: str) -> tuple[int, int]:
    """How short and how long a match of a `re` source can be."""
    from re import _parser  # type: ignore[attr-defined]  # there is no public way to ask

    shortest, longest = _parser.parse(pattern).getwidth()
    return int(shortest), int(longest)


def alphabet(inside: str) -> str:
    """The characters a class such as `A-Za-z0-9_-` stands for."""
    letters = ""
    for match in _range.finditer(inside):
        first, last, single = match.groups()
        letters += single or "".join(map(chr, range(ord(first), ord(last) + 1)))
    return letters


def sample(template: Sample, seed: int) -> str:
    """One sample: every `{class:count}` of a template filled at random, always the same for the same seed."""
    chance = random.Random(f"{seed}{template if isinstance(template, str) else ''}")
    if not isinstance(template, str):
        return template(chance)

    def fill(match: re.Match[str]) -> str:
        letters = alphabet(match[1])
        return "".join(chance.choice(letters) for _ in range(int(match[2])))

    return _slot.sub(fill, template)
