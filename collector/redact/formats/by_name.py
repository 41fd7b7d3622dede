"""Rules for secrets that only their name gives away: 32 hex digits are Datadog's key after `DD_API_KEY=`, else an md5.

The provider's word, a telling word and the value's exact shape must stand together as an assignment: in a shell, a
configuration, code, a header, JSON at any level of escaping, or as a dict key before its value.
"""

from __future__ import annotations

from collector.redact.formats.shapes import has_digit
from collector.redact.rule import Rule

TELLING = "key|token|secret|passw(?:or)?d|pass|pwd|auth|credentials?|license|dsn|pat"

# The end of the name, the separator, and the value's opening quote.
BETWEEN = (
    r"""(?:\\{0,3}["'`])?[\])]?"""
    r"""(?:\x91{1,2}|[ \t]{0,8}(?:=>|:=|[=]{1,2}|[:,>])[ \t]{0,8}|[ \t]{1,4})"""
    r"""(?:\\{0,3}["'`])?"""
)


def _is_drawn(secret: str) -> bool:
    """No name in code of just that length, and no uuid of zeros."""
    return has_digit(secret) and len(set(secret)) >= 6


def assignment(words: str, value: str, telling: str = TELLING) -> str:
    """The pattern of a value behind a name with one of the provider's words and a telling one."""
    name = rf"(?:{words})[0-9a-z_. -]{{0,24}}(?:{telling})(?:[_. -]?(?:v?[0-9]|value|prod|dev|test|live))?"
    return rf"{name}{BETWEEN}(?P<secret>{value})"


def by_name(
    rule_id: str, provider: str, words: str, value: str, sample: str, *, telling: str = TELLING, name: str = "API_KEY"
) -> Rule:
    """The rule, with examples of how such an assignment is written and what must not be taken for one."""
    word = words.split("|")[0].replace("[_-]?", "_").replace("[ _-]?", "_")
    return Rule(
        rule_id,
        provider,
        assignment(words, value, telling).lower().replace("?p<", "?P<"),
        folds=True,
        check=_is_drawn,
        before="" if min(map(len, words.split("|"))) > 4 else "0-9A-Za-z",
        after="0-9A-Za-z_/+=-",
        examples=(
            f"{word.upper()}_{name}={sample}",
            f"{word}.{name.lower()}: {sample}",
            f"--{word}-{name.lower().replace('_', '-')} {sample}",
            f"os.environ['{word.upper()}_{name}'] = '{sample}",
        ),
        near_misses=(
            f"{word} version {sample}",
            f"{word}-{sample}",
            f"{word}.tar.gz: {sample}",
            sample,
        ),
    )
