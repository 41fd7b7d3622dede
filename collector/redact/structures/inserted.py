"""The rule for rows of SQL: `INSERT INTO users (name, password) VALUES ('bob', X)`.

The names of the columns tell. Each literal in such a column must still look like what its name says; a call or a
reference stays. Bounded: at most AROUND characters of a statement are read.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.names import Promise, promise
from collector.redact.words.phrases import is_worded
from collector.redact.words.values import Notation, is_secret

AROUND = 16_000
_BLANKS = r"(?:\s|\\{1,3}[nrt]){0,8}"
_head = regex(
    rf"insert[a-z ]{{1,24}}[^\s(]{{1,120}}{_BLANKS}\((?P<columns>[^()]{{1,1500}})\){_BLANKS}values?{_BLANKS}".encode(),
    re.IGNORECASE,
)
_row = regex(rf",?{_BLANKS}\(".encode())
# Each sign of a text is read in one way only: two ways to read a backslash would be 2^n to read n of them.
_value = regex(
    rf"{_BLANKS}(?:[ENen]?\\{{0,7}}'(?P<text>(?:[^'\\]|''|\\+[^'\\])*)\\{{0,64}}'"
    rf"|[^,()'\"\x90\x91]{{0,80}}(?:\([^()]{{0,80}}\)[^,()]{{0,20}})?){_BLANKS}(?P<end>[,)])".encode()
)


def _inserted(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The literals in columns with telling names, of every row."""
    stop = min(stop, match.start() + AROUND)
    head = _head.match(text, match.start(), stop)
    if not head:
        return []
    names = [name.strip(b' \t\r\n`"[]\\').decode("latin-1") for name in head["columns"].split(b",")]
    promised = [promise(name) for name in names]
    if max(promised) < Promise.KEY:
        return []
    spans: Spans = []
    at = head.end()
    while row := _row.match(text, at, stop):
        at, column = row.end(), 0
        while value := _value.match(text, at, stop):
            at = value.end()
            said = promised[column] if column < len(promised) else Promise.NOTHING
            if value["text"] and said >= Promise.KEY:
                spans += _judged(text, *value.span("text"), said, names[column])
            column += 1
            if value["end"] == b")":
                break
        else:
            break
    return [*spans, (at, at)] if spans else []


def _judged(text: bytes, first: int, last: int, promised: Promise, name: str) -> Spans:
    value = text[first:last].decode("latin-1")
    is_one = is_secret(value, promised, Notation.QUOTED) or is_worded(value, Notation.QUOTED, name)
    return [(first, last)] if is_one else []


INSERTED_RULES = (
    Rule(
        "structure",
        "inserted-secret",
        r"insert (?:ignore |or replace )?into [^\s()]{1,120}",
        locate=_inserted,
        around=(0, AROUND),
        folds=True,
        after="",
        about="a value inserted into a column with a telling name",
        examples=(
            "INSERT INTO users (name, password) VALUES ('bob', '{A-Z:1}{a-z:7}!4');",
            "insert into api (id, api_key) values (1, 'a'), (2, '{A-Za-z0-9:31}7')",
        ),
        near_misses=(
            "INSERT INTO users (name, password) VALUES ('bob', $1);",
            "INSERT INTO users (name, password) VALUES ('bob', crypt($1, gen_salt('bf')));",
            "INSERT INTO users (name, mail) VALUES ('password', '{A-Za-z0-9:31}7');",
        ),
    ),
)
