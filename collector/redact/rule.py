"""What a rule is: what one kind of secret looks like, what must stand near it, and how to be sure.

Rules are data. A pattern is a Python `re` source over Latin-1 (any other character is seen as `?`), of bounded width
and without anchors, lookaround or backreferences, so that both engines read it alike. What must not stand directly
before or after a match goes into `before` and `after` instead, because there escapes and colour codes count as
boundaries: in `\\nAKIA...` the letter n is not part of a word.

No sample is written out, or repository scanners would report it: samples are templates such as `ghp_{A-Za-z0-9:36}`,
filled from a seed, or functions that build one (for formats with a checksum).
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from collector.redact.lazy import regex

WIDEST = 2048  # characters from the start of a match to where the scanner reports it, for rules of the table
LONGEST_ESCAPE = 8  # an escape or a colour code that may stand before a match
AT_KEYS = "at keys"  # a trigger: the rule is for the values of telling keys and is looked for only there
Sample = str | Callable[[random.Random], str]
Spans = list[tuple[int, int]]
Locate = Callable[[bytes, "re.Match[bytes]", int, int], Spans]  # text, match, start, stop

_slot = regex(r"\{([^{}:]+):(\d+)\}")
_range = regex(r"(.)-(.)|(.)", re.DOTALL)


@dataclass(frozen=True)
class Rule:
    """One row of the table.

    `pattern` may name one group `secret`: then only that part is replaced, otherwise the whole match. `keywords` are
    lower case; if there are any, one of them must stand within `reach` characters before the match, in the same string
    or in the key it is the value of (`datadog` in `"datadog_key": "..."`). `check` sees the secret and may reject it
    (too little entropy, a wrong checksum). `checksum` rejects nothing, but where it holds, `redact --explain` says that
    the finding is certain. `before` and `after` are the insides of character classes that must not stand directly
    around the match; empty allows anything.

    `locate` is for the few rules whose pattern only finds the place: it says which spans, between `start` and `stop`,
    are the secret (an empty span at the end of the list only says how far it has read, so that nothing is read twice).
    Its answer depends on at most `around` characters on either side of the match (or, given two numbers, on that many
    before its start and after its end); None means no such limit is known.

    With `folds` the pattern is lower case and matches letters of either case: `re` is ten times faster on a lower-case
    copy of the text than when it ignores case. `trigger` is what the scanner looks for instead of the pattern: every
    match must begin with something it finds or, with `reach_back`, at most that many characters before its end. Rules
    that share a trigger cost the scanner one pattern. `near` is a second trigger, small enough for the scanner to say
    where it begins: a match begins there or later, which saves `re` the search. `about` says in a few words what was
    recognised, where the pattern does not show it.
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
        """How much text after its end a match depends on."""
        after = self.around[1] if isinstance(self.around, tuple) else self.around
        return after or 0

    @cached_property
    def sight(self) -> tuple[int, int] | None:
        """How much text before and after its start a match depends on; None if that is not known."""
        around = self.around if self.locate else 0
        if around is None:
            return None
        before = around[0] if isinstance(around, tuple) else around
        reach = self.reach if self.keywords else 0
        return max(before, reach) + LONGEST_ESCAPE, self.beyond + self.widths[1] + 1


@lru_cache
def width(pattern: str) -> tuple[int, int]:
    """The shortest and the longest match of a `re` source."""
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
    """One sample: every `{class:count}` of a template filled at random, always alike for the same seed."""
    chance = random.Random(f"{seed}{template if isinstance(template, str) else ''}")
    if not isinstance(template, str):
        return template(chance)

    def fill(match: re.Match[str]) -> str:
        letters = alphabet(match[1])
        return "".join(chance.choice(letters) for _ in range(int(match[2])))

    return _slot.sub(fill, template)
