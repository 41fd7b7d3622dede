"""The vocabulary of one coding agent: the words that its program writes itself, and so nobody has said.

In: an agent's tables. Out: what may stay of a value when no text may leave. Invariant: what is not in a table is taken
for something that a person, a model or a project said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

NOTHING = re.compile(r"(?!)")


class Vocabulary(NamedTuple):
    """`words` are values, and keys inside of attributes; `attributes` are names of attributes whose numbers, flags and
    words stay; `names` are attributes that name something of a person's, with the kind of thing; `tools` are the
    program's own; `paths` are keys under which a path stands. A person answers through the tools in `answers`; how
    such a result begins says `answer`, for its tool may not be known. `id` and `model` say how those look."""

    words: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    tools: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    answer: re.Pattern[str] = NOTHING
    id: re.Pattern[str] = NOTHING
    model: re.Pattern[str] = NOTHING
