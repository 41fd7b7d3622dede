"""How a bare value stands beside its name: what the sign between them says, and where the two are in their line.

In: a match of `assigned`, and the whole name. Out: the notation, which tells `values` how much to expect.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from collector.redact.lazy import regex
from collector.redact.structures.value_end import WIDEST_VALUE
from collector.redact.structures.whole_name import Name
from collector.redact.words.values import Notation

_whole_line = regex(rb"[^\s\"'`<>(){},;]+(?=[ \t]*(?:[\n\r]|\\+[nr]|\Z))")
_escaped_sign = regex(rb"\\{1,4}u003[ade]|&gt;", re.IGNORECASE)  # as Gson, Go and HTML write it
_SIGNS = {b"a": b":", b"d": b"=", b"e": b">", b";": b">"}
_vague = regex(
    rb"==|!=|\[|[a-z]\s?$|[a-z]:\s$"
    rb"|\{[^,]*[\"'](?<!value[\"'])(?<![\"']s[\"'])(?<!default[\"'])(?<!content[\"'])\s?(?::|=>)\s?$"  # of somebody
)


class Sign(NamedTuple):
    """What stands between a name and its value. There are few such signs, so each is read once."""

    text: bytes
    trimmed: bytes
    is_comparison: bool
    is_blank: bool
    opens_element: bool
    tells_value: bool  # there is none, as after a flag, or it says `value` itself
    is_vague: bool  # as in a list of names or a pattern: only what looks like a key counts
    is_call: bool
    may_be_choice: bool  # between two strings
    is_vague_before_string: bool  # the string may just be the next one
    is_list: bool  # in YAML


@lru_cache(maxsize=1_000)
def read_sign(separator: bytes) -> Sign:
    """What a separator says."""
    separator = _escaped_sign.sub(lambda sign: _SIGNS[sign[0][-1:].lower()], separator)
    trimmed = separator.strip()
    return Sign(
        text=separator,
        trimmed=trimmed,
        is_comparison=b"==" in separator or b"!=" in separator,
        is_blank=separator.isspace(),
        opens_element=separator.startswith(b">"),
        tells_value=not separator or trimmed.lower().endswith((b"value:", b"value=", b"default=")),
        # In a table there are blanks around the bar.
        is_vague=separator == b"|" or (separator.endswith(b"- ") and b":" in separator),
        is_call=trimmed.startswith(b"("),
        may_be_choice=trimmed in (b"|", b":") and separator[:1] == b" ",
        is_list=separator.endswith(b"- ") and separator.startswith(b":"),
        is_vague_before_string=trimmed.startswith(b"(")
        or (trimmed.endswith(b"(") and not trimmed.lower().endswith(b"some("))
        or bool(_vague.search(separator))
        or (trimmed in (b"", b",") and separator != b""),
    )


def notation_of(text: bytes, last: int, first: int, stop: int, name: Name, sign: Sign) -> Notation:
    """How a bare value that begins at `first` stands beside its name, which ends at `last`."""
    if sign.tells_value:
        return Notation.ENVIRONMENT
    if text[last] in b"`]":  # in a document, or a key that is computed
        return Notation.BARE
    if sign.trimmed == b":":
        return Notation.CONFIGURATION if name.is_constant or name.is_compound else Notation.BARE
    if sign.trimmed != b"=":
        return Notation.BARE
    if sign.text != b"=":  # with blanks around it
        return Notation.CONFIGURATION if name.is_constant else Notation.BARE
    if name.is_constant or name.text[0] == "-":
        return Notation.ENVIRONMENT
    at = last - len(name.text)
    before = text[at - 1] if at else 0x0A
    if before in b";?&" or (before == 0x3A and name.text[0] == "_"):
        return Notation.ENVIRONMENT
    is_line = before in b"\n\r\x90" and _whole_line.match(text, first, min(stop, first + WIDEST_VALUE))
    return Notation.ENVIRONMENT if is_line else Notation.BARE
