"""The rule for values beside a telling word in capitals, and little else: `acme SECRET 1f0c...`, `acme_ACCESS=8dKq...`.

In capitals such a word is a label, while in lower case it would be prose. So a value that looks random is taken for
what the label says, hex digits and uuids too. Where `assigned` judges as well (NAME_KEY=x), both agree.
"""

from __future__ import annotations

import re

from collector.redact.formats.shapes import UUID
from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.drawn import has_digit_and_letter
from collector.redact.words.names import Promise, promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import entropy, looks_random

_hash_or_uuid = regex(r"[0-9a-fA-F-]+")
_word_before = regex(rb"([A-Za-z][A-Za-z0-9]{1,30})[ _.-]?$")
_AROUND = 40


def _labelled(text: bytes, match: re.Match[bytes], start: int, _stop: int) -> Spans:
    """The value, if the label is one: something must be named before TOKEN, KEY, PRIVATE and ACCESS."""
    label, value = match["label"].decode(), match["secret"].decode()
    is_hash = bool(_hash_or_uuid.fullmatch(value))
    if match["sep"] in (b"-", b".") and not is_hash:
        return []
    owner = _word_before.search(text[max(start, match.start("label") - _AROUND) : match.start("label")])
    if not label.startswith("SECRET") and (not owner or not _owns(owner[1].decode(), label)):
        return []
    is_drawn = has_digit_and_letter(value) and entropy(value) >= 3.0 and looks_random(value)
    is_fingerprint = len(value) == 40 and is_hash and value.isupper()
    return [match.span("secret")] if is_drawn and not is_fingerprint and not is_placeholder(value) else []


def _owns(owner: str, label: str) -> bool:
    """Whether this is the key of something with a name of its own, and not of a table, a request or a lock."""
    if label in ("ACCESS", "PRIVATE"):
        return not owner.isupper()
    promised = promise(f"{owner} key")
    return (label != "TOKEN" and promised is Promise.OWNED) if owner.isupper() else promised >= Promise.OWNED


CAPITAL_LABEL_RULES = (
    Rule(
        "structure",
        "shouted-secret",
        r"(?P<label>(?:SECRET|PRIVATE|ACCESS|TOKEN|KEY)(?:[ _-]?(?:SECRET|PRIVATE|ACCESS|TOKEN|KEY|[Kk]ey|token))?)"
        rf"(?P<sep>[ .-]| ?[:=] ?)(?P<secret>{UUID}|[A-Za-z0-9]{{20,160}})",
        locate=_labelled,
        around=_AROUND,
        before="",
        after="0-9A-Za-z_/+=-",
        about="something that looks random, beside a label in capitals",
        examples=("acme KEY {0-9a-f:64}", "acmePRIVATE={0-9a-f:40}", "acme_ACCESS={A-Za-z0-9:32}"),
        near_misses=("PRIMARY KEY {0-9a-f:32}", "KEY {0-9A-F:40}", "INVALID TOKEN {0-9a-f:32}", "SECRET {a-z:24}"),
    ),
)
