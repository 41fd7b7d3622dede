"""Builders for the two commonest kinds of rows: a telling prefix with a body, and a value that only its name gives
away.

As for the latter: 32 hex digits are Datadog's key after `DD_API_KEY=`, but an md5 anywhere else. So the provider's
word, a telling word and a value of the exact shape must stand together as an assignment: in a shell, a configuration,
code, a header, JSON at any level of escaping, or as a dict key before its value.
"""

from __future__ import annotations

from collector.redact.formats.checks import is_drawn
from collector.redact.formats.shapes import A_UUID, NOT_IN_A_NAME, NOT_IN_A_SLUG, UUID
from collector.redact.rule import Rule
from collector.redact.words.drawn import has_digit

TELLING = "key|token|secret|passw(?:or)?d|pass|pwd|auth|credentials?|license|dsn|pat"

# The end of the name, the separator, and the value's opening quote.
BETWEEN = (
    r"""(?:\\{0,3}["'`])?[\])]?"""
    r"""(?:\x91{1,2}|[ \t]{0,8}(?:=>|:=|[=]{1,2}|[:,>])[ \t]{0,8}|[ \t]{1,4})"""
    r"""(?:\\{0,3}["'`])?"""
)


def prefixed(
    provider: str, rule_id: str, prefix: str, body: str, shortest: int, *examples: str, before: str = NOT_IN_A_NAME
) -> Rule:
    """A telling prefix and a body of one alphabet, which may be up to 160 characters longer than today."""
    return Rule(
        provider,
        rule_id,
        rf"(?:{prefix})[{body}]{{{shortest},{shortest + 160}}}",
        before=before,
        check=has_digit,
        examples=examples,
        near_misses=tuple(example.split("{")[0] + "{a-z:5}" for example in examples),
    )


def prefixed_uuid(provider: str, rule_id: str, prefix: str, example: str) -> Rule:
    """A telling prefix and a uuid."""
    return Rule(
        provider,
        rule_id,
        rf"(?:{prefix}){UUID}",
        before=NOT_IN_A_SLUG,
        examples=(f"{example}{A_UUID}",),
        near_misses=(f"{example}{{0-9a-f:8}}", f"my-{example}{A_UUID}"),
    )


def by_name(
    provider: str, rule_id: str, words: str, value: str, sample: str, *, telling: str = TELLING, name: str = "API_KEY"
) -> Rule:
    """A value after a name with one of the provider's words and a telling one, as such assignments are written."""
    word = words.split("|")[0].replace("[_-]?", "_").replace("[ _-]?", "_")
    named = rf"(?:{words})[0-9a-z_. -]{{0,24}}(?:{telling})(?:[_. -]?(?:v?[0-9]|value|prod|dev|test|live))?"
    return Rule(
        provider,
        rule_id,
        rf"{named}{BETWEEN}(?P<secret>{value})".lower().replace("?p<", "?P<"),
        folds=True,
        check=is_drawn,
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
