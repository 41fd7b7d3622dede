"""Fields for secrets on a page that a browser tool described, and what is typed into them by number alone.

In: the result that describes a page (`uid=1_4 textbox "Password"`, `textbox "Password" [ref=e12]`, `[4]<input
type=password>`), and later the input of a call (`{"uid": "1_4", "value": ...}`), which has no label. Out: the numbers
of fields for secrets, and the parts of an input that type into one of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from collector.redact.lazy import regex
from collector.redact.words.described import telling_name

FIELDS = 64  # remembered per session
MOST_DESCRIBED = 200  # read per page
NUMBERS = ("uid", "ref", "element_id", "elementId", "index", "target")
TYPED = ("value", "text", "content")
FIELDS_OF_PAGES = 'uid=|box "|textfield "|<input|input "'  # whatever `_field` matches contains one of these
_field = regex(
    r"\buid=(?P<uid>[\w-]{1,24}) \w+ \"(?P<of_uid>[^\"\n]{1,100})\""
    r"|\b(?:textbox|searchbox|input|textfield) \"(?P<of_ref>[^\"\n]{1,100})\"[^\n\[]{0,80}"
    r"\[(?:ref=)?(?P<ref>[\w-]{1,24})\]"
    r"|\[(?P<index>\d{1,5})\]\s?<input\b(?P<of_index>[^>\n]{0,300})"
)
_hides = regex(r"(?i)type\s?=\s?[\"']?password")


def fields_for_secrets(text: str) -> Iterator[str]:
    """The numbers of the fields for secrets in the description of a page."""
    for number, field in enumerate(_field.finditer(text)):
        if number >= MOST_DESCRIBED:
            return
        kind = field.lastgroup or ""
        if kind == "of_index":
            if _hides.search(field["of_index"]):
                yield field["index"]
        elif telling_name(field["of_uid"] or field["of_ref"]):
            yield field["uid"] or field["ref"]


def typing_into(given: Any, fields: Container[str]) -> Iterator[dict[str, Any]]:
    """The input of a call, or those parts of it, that name one of the fields and say what to type."""
    parts = [given] if isinstance(given, dict) else []
    parts += [part for held in parts[0].values() if isinstance(held, list) for part in held] if parts else []
    for part in parts:
        if isinstance(part, dict) and any(isinstance(part.get(key), str) for key in TYPED):
            named = (part.get(key) for key in NUMBERS)
            if any(str(name).lstrip("@") in fields for name in named if isinstance(name, str | int)):
                yield part
