"""Rules for whole groups of secrets: Kubernetes Secrets, recognised by their kind, and Terraform variables."""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.names import Promise, promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_secret

WIDEST_MANIFEST = 16_384

_BREAK = rb"(?:\r?\n|\\+r\\+n|\\+n)"
_data = regex(rb"(?:data|stringData)\\{0,7}[\"']?:\s{0,2}(?:\{|" + _BREAK + rb")")
_date = regex(rb"\d{4}-\d\d-\d\dT\d\d:")
_end = regex(_BREAK + rb"(?:---|[A-Za-z])|\}")
_line = regex(_BREAK + rb"([ \t+-]*)(?=[^\s\\])")
_entry = regex(
    rb"(?:"
    + _BREAK
    + rb"[ ]{1,8}|[{,]\s{0,8}(?:"
    + _BREAK
    + rb")?\s{0,16})\\{0,7}[\"']?([A-Za-z0-9_.-]{1,100})\\{0,7}[\"']?:\s{0,4}"
    rb"(?:[|>][-+]?" + _BREAK + rb"\s{0,12})?\\{0,7}[\"']?([^\s\"'\\,}\x91\x90]{4,8192})"
)


def _manifest(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """Every value below `data` and `stringData` of a Secret, whether before or after its kind."""
    low, high = max(start, match.start() - WIDEST_MANIFEST), min(stop, match.end() + WIDEST_MANIFEST)
    above = max(text.rfind(b"\n---", low, match.start()), low)
    below = text.find(b"\n---", match.end(), high)
    high = below if below >= 0 else high
    spans: Spans = []
    for data in _data.finditer(text, above, high):
        opening = data.end() - 1 if text[data.end() - 1 : data.end()] == b"{" else _break_before(text, data.end())
        limit = _block_end(text, data, above, high)
        if opening < match.start() < limit:
            continue
        for entry in _entry.finditer(text, opening, limit):
            if not is_placeholder(entry[2].decode("latin-1")) and not _date.match(entry[2]):
                spans.append(entry.span(2))
    return [*spans, (high, high)]


def _block_end(text: bytes, data: re.Match[bytes], above: int, high: int) -> int:
    """The end of the block below `data`: a bracket, or a line that is indented no further."""
    end = _end.search(text, data.end(), high)
    limit = end.start() if end else high
    if text[data.end() - 1 : data.end()] == b"{":
        return limit
    before = max(text.rfind(b"\n", above, data.start()), text.rfind(b"\\n", above, data.start()) + 1) + 1
    column = data.start() - max(before, above)
    opening = _break_before(text, data.end())
    for line in _line.finditer(text, opening, limit):
        if len(line[1]) <= column:
            return line.start()
    return limit


def _break_before(text: bytes, end: int) -> int:
    """Where the line break that ends at `end` begins, escaped or not."""
    start = end - 1
    while start > 0 and text[start - 1 : start] in (b"\\", b"\r"):
        start -= 1
    return start


def _default(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The default of a variable with a telling name."""
    name = text[match.start("name") : match.end("name")].decode("latin-1")
    end = text.find(match["quote"], match.end("quote"), min(stop, match.end() + 512))
    promised = promise(name)
    if end < 0 or promised is Promise.NOTHING:
        return []
    value = text[match.end("quote") : end].decode("latin-1")
    return [(match.end("quote"), end)] if is_secret(value, promised, Notation.QUOTED) else []


MANIFEST_RULES = (
    Rule(
        id="kubernetes-secret",
        provider="structure",
        pattern=r"kind\\{0,7}[\"']?:\s{0,2}\\{0,7}[\"']?Secret(?:\s|\\|,|\"|')",
        locate=_manifest,
        after="",
        about="a value in the data of a Kubernetes Secret",
        examples=("kind: Secret\ndata:\n  settings: {A-Za-z0-9:24}\n",),
        near_misses=("kind: ConfigMap\ndata:\n  settings: {A-Za-z0-9:24}\n",),
    ),
    Rule(
        id="variable-default",
        provider="structure",
        pattern=(
            r"variable\s\\{0,7}[\"'](?P<name>[a-z0-9_-]{1,80})\\{0,7}[\"']\s?\{[^}\x91\x90]{0,300}?"
            r"default\s{0,12}=\s?(?P<quote>\\{0,7}[\"'])[^\"'\x91\x90]"
        ),
        locate=_default,
        folds=True,
        after="",
        about="the default of a Terraform variable with a telling name",
        examples=('variable "db_password" {\n  type = string\n  default = "{a-z:6}{0-9:4}"\n}',),
        near_misses=('variable "db_password" {\n  type = string\n}',),
    ),
)
