"""The vocabulary of one coding agent: the words that its program writes, rather than anybody who uses it.

In: an agent's tables. Out: what may be kept of a value when no text may leave. Invariant: anything not in a table is
assumed to come from a person, a model or a project.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

NOTHING = re.compile(r"(?!)")


class Vocabulary(NamedTuple):
    """`words` are values, and keys inside attributes. `attributes` are attributes whose numbers, flags and words are
    kept. `reviewed` are more attributes known to hold only what the kind of their event says; any other may hold any
    text. `names` are attributes that name something of a person's, with the kind of thing. `tools` are the built-in
    tools. `paths` are keys that hold paths. A person answers through the tools in `answers`; `answer` matches how such
    a result begins, since its tool may be unknown. The results of the tools in `reports` are other agents' answers.
    `id` and `model` are the shapes of ids and model names."""

    words: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    reviewed: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    tools: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    answer: re.Pattern[str] = NOTHING
    reports: frozenset[str] = frozenset()
    id: re.Pattern[str] = NOTHING
    model: re.Pattern[str] = NOTHING
