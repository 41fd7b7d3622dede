"""Which commands pick a secret by name out of a file, an answer or a table, so that it is printed without its name.

`jq -r .password`, `grep DB_PASSWORD .env | cut -d= -f2`, `psql -c 'select api_token from users'`. In: one program of a
pipeline, and the one before it. Out: whether it prints the value of a telling name.
"""

from __future__ import annotations

from collector.redact.lazy import regex
from collector.redact.words.names import Promise, promise

PICKING = frozenset(b"jq yq awk gawk sed grep egrep rg cut psql mysql mariadb sqlite3".split())
_telling = regex(r"(?i)pass|pwd|secret|token|key|cred|jwt|_pat\b")
_CONSTANT = r"(?P<constant>[A-Z][A-Z0-9_]{2,60})"
_picks = regex(
    r"(?:jq|yq)\s+(?:-[\w-]+\s+){0,5}(?:"
    r"(?P<quote>[\"'])[^\n]{0,200}?\.(?:\[?\")?(?P<path>[A-Za-z_][\w-]{1,60})\"?\]?(?:\.value)?(?:\s?\|\s?@(?:base64d|text))?(?P=quote)"
    r"|(?:[^\s\"'|-][^\s\"'|]{0,100}?)??\.(?P<bare>[A-Za-z_][\w-]{1,60})(?:\.value)?)(?:\s|$)"
    rf"|(?:grep|rg)\s+-\w*[oP]\w*\s+(?:-\w+\s+){{0,3}}[\"']\^?(?:\(\?<={_CONSTANT}[=:]|(?P<kept>[A-Z][A-Z0-9_]{{2,60}})[=:]\s?\\K)"
    r"|g?awk\s+-F\s?[\"']?[=:][\"']?\s+[\"']/\^?(?P<line>[A-Z][A-Z0-9_]{2,60})[^/\n]{0,20}/\s*\{\s*print\s+\$2"
    r"|sed\s+-n\w*\s+[\"']s/\^?(?:export )?(?P<cut>[A-Z][A-Z0-9_]{2,60})\s?=(?:\\\(?\.\*\\\)?|\(\.\*\))?/"
    r"|(?:psql|mysql|mariadb|sqlite3)\s[^\n]{0,300}?\b(?i:select)\s+(?:\w+\.)?(?P<column>[a-z_]\w{2,60})\s+(?i:from)\b"
)
_values = regex(
    r"\s*(?:cut\s+-d\s?[\"']?[=:][\"']?\s+-f\s?2|g?awk\s+-F\s?[\"']?[=:][\"']?\s+[\"']\{\s*print \$2"
    r"|sed\s+[\"']s/[^/\n]{1,20}=//)"
)
_lines = regex(r"\s*(?:grep|rg|egrep)\s+(?:-[\w-]+\s+){0,4}[\"']?\^?(?P<name>[A-Z][A-Z0-9_]{2,60})=?[\"']?(?:\s|$)")


def may_pick(command: str) -> bool:
    """A quick look: whether a command with one of these programs names a secret at all."""
    return bool(_telling.search(command))


def picks_a_secret(stage: str, before: str, *, anywhere: bool) -> bool:
    """Whether one program prints the value of a telling name; `anywhere` if another program may be running it."""
    found = _picks.search(stage) if anywhere else _picks.match(stage)
    if found:
        named = found.groupdict()
        return any(_tells(name) for key, name in named.items() if name and key != "quote")
    line = _lines.match(before) if _values.match(stage) else None
    return line is not None and _tells(line["name"])


def _tells(name: str) -> bool:
    return not name.lower().endswith(("tokens", "keys")) and promise(name) in (Promise.KEY, Promise.PASSWORD)
