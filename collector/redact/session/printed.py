"""Which part of a command's output is the secret it was asked for.

In: the output of a command that prints one (`commands`). Out: spans. A line without blanks is taken whole, of `name:
value` the value, of a sentence only what nobody would write as a word: messages of the tool stay readable.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import Promise, promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_secret

MOST_LINES = 400
FEW_LINES = 8  # more than that are a document, in which not every line is a secret
LONGEST_LINE = 8_000
SHORTEST = 4
_line = regex(r"[^\r\n]+")
_piece = regex(r"\S+")
_named = regex(r"\s*[\"']?([A-Za-z_][\w .-]{0,60}?)[\"']?(?:\s*[:=]\s*|\s{2,}|\t)[\"']?([^\s\"']{4,4000})[\"']?,?\s*$")
_message = regex(
    r"(?i)^\W{0,3}(?:error|warn|warning|info|debug|fatal|usage|note|hint|notice|panic|traceback|exit code)\b"
    r"|^[WEIF]\d{4}\s|not found|no such|denied|could not|cannot|failed|unable|invalid|expired|forbidden"
    r"|unauthorized|does not|is not"
)
_told_nothing = frozenset(("opaque", "null", "none", "nil", "<nil>", "<none>", "true", "false", "done", "[]", "{}"))
_describing = regex(
    r"(?i)(?:user(?:name)?|login|account|host(?:name)?|protocol|url|uri|port|name|title|path|id|version|type|created\S*"
    r"|updated\S*|date|expir\S*|email|region|lease_duration|lease_renewable|renewable|policies|metadata|status|kind|namespace)$"
)
_phrase = regex(r"[a-z]{3,12}(?: [a-z]{3,12}){3,23}")
_words_of_messages = regex(r"\b(?:the|not|is|are|was|for|with|from|found|using|error|this|that|has|your)\b")
_marker = "[REDACTED:"


def secret_spans(text: str) -> list[tuple[int, int]]:
    """The spans of a command's output that are secrets."""
    spans: list[tuple[int, int]] = []
    lines = list(_line.finditer(text))[:MOST_LINES]
    for line in lines:
        spans += _of_line(line[0], line.start(), len(lines))
    return spans


def _of_line(line: str, start: int, lines: int) -> list[tuple[int, int]]:
    stripped = line.strip()
    if len(stripped) < SHORTEST or len(line) > LONGEST_LINE or _marker in line:
        return []
    if " " not in stripped and "\t" not in stripped:
        named = re.fullmatch(r"([A-Za-z_][\w.-]{0,60})=[\"']?([^\"'=][^\"']{0,3999})[\"']?", stripped)
        if named:
            return _value(named[1], line, start, line.index(named[2], line.index("=")), len(named[2]))
        low = line.index(stripped)
        bare = stripped.strip("\"',")
        low += stripped.index(bare) if bare else 0
        is_one = _is_told(bare) if lines <= FEW_LINES else is_secret(bare, Promise.PASSWORD, Notation.BARE)
        return [(start + low, start + low + len(bare))] if is_one else []
    if named := _named.fullmatch(line):
        return _value(named[1], line, start, named.start(2), len(named[2]))
    if _phrase.fullmatch(stripped) and lines == 1 and not _words_of_messages.search(stripped):
        return [(start + line.index(stripped), start + line.index(stripped) + len(stripped))]
    if _message.search(line):
        return []
    return [
        (start + low, start + low + len(value))
        for piece in _piece.finditer(line)
        if (value := piece[0].strip("\"',.;:()[]{}")) and (low := line.index(value, piece.start())) >= 0
        if len(value) >= 8 and is_secret(value, Promise.PASSWORD, Notation.BARE)
    ]


def _value(name: str, line: str, start: int, low: int, length: int) -> list[tuple[int, int]]:
    """The value of a name: any value if the name is telling, otherwise only one that looks like a secret."""
    value = line[low : low + length]
    if _describing.fullmatch(name.split(".")[-1].strip()) or not _is_told(value):
        return []
    is_telling = promise(name) in (Promise.KEY, Promise.PASSWORD)
    is_one = is_telling or is_secret(value, Promise.PASSWORD, Notation.BARE)
    return [(start + low, start + low + length)] if is_one else []


def _is_told(value: str) -> bool:
    """Whether a piece may be the secret: not a word for nothing, an address, or the name of a field or a folder."""
    if len(value) < SHORTEST or value.lower() in _told_nothing or value.endswith(("/", ":")):
        return False
    if is_placeholder(value) and not any(map(str.isdigit, value)):
        return False
    if value.isalpha() and value.isascii():  # letters only: a secret if they do not read like a word
        return len(value) >= 8 and not (value.islower() and reads_like_words(value))
    return not re.match(r"https?://|-{3,}|={3,}|[\w.-]+\.(?:com|org|io|net|internal|local)$", value)
