"""The rules for tables: a column headed by a telling name, and lists of names and values in two columns.

Boxes drawn by mysql or in Unicode, psql's bars, CSV and tabs, and columns separated by blanks, also when all of it is
quoted (`> `) or commented out (`# `); `password    X` as vault and bao print it. The header tells; each cell must still
look like what the header says. Bounded: at most MOST_ROWS rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.names import Promise, promise
from collector.redact.words.values import Notation, is_secret

MOST_ROWS = 200
WIDEST_LINE = 600
AROUND = 16_000
_HEADS = (
    "(?:[a-z]{1,12}[_ ])?(?:passwords?|passwd|passphrase|pwd|secrets?|tokens?|credentials?|pass"
    "|(?:api|access|secret|private|auth|signing)[_ -]?keys?)"
    "(?:[_ ](?:key|token|value|id))?"
)
_break = regex(rb"\r?\n|\\{1,3}r?\\{0,2}n")
_row = regex(rb"[^\s\x90\x91]{1,80}[ ]{1,40}(?P<secret>[^\s\"'`<>\\\x90\x91]{5,400})[ ]{0,8}\r?\Z")
_line_end = regex(rb"[ ]{0,8}(?:[\r\n\x90\x91]|\\+[nr]|\Z)")
_rule_line = regex(rb"[\s+|=?:-]{3,}")
_apart = {sign: regex(re.escape(sign)) for sign in (b"|", b",", b"\t", b";")}
_apart |= {b"  ": regex(rb" {2,}|\t"), b"?": regex(rb"\?+")}  # Unicode boxes are question marks here
_opening = regex(rb"\\{0,7}\":\s?\\{0,7}\"")  # of a string in JSON
_quote = regex(rb"(?:> ?){1,3}|# ?")  # before every line of a table in a mail or a comment
_AROUND_A_CELL = b' "`*'
_cell_text = regex(r"[\w .-]{1,60}")
_in_no_heading = regex(rb"[(){}\[\]<>=:/\\'$@&!+%#^~]")  # neither in the cells of a heading nor around them
_odd = regex(r"(?=.*\d)(?=.*[^\W\d_])")


def _lines(text: bytes, first: int, stop: int) -> Iterator[tuple[int, int]]:
    """The lines from a place on, without their breaks, as many as the caller asks for and a table may have."""
    for _ in range(MOST_ROWS):
        if first >= stop:
            return
        limit = min(stop, first + WIDEST_LINE)
        found = _break.search(text, first, limit)
        yield first, found.start() if found else limit
        if not found:
            return
        first = found.end()


def _cells(text: bytes, first: int, last: int, delimiter: bytes) -> list[tuple[int, int]]:
    """The cells of a line, trimmed, with their places."""
    line = text[first:last].rstrip(b" ") if delimiter == b"  " else text[first:last]
    cells: list[tuple[int, int]] = []
    at = 0
    parts = _apart[delimiter].finditer(line)
    for start, end in [*(part.span() for part in parts), (len(line), len(line))]:
        cell = line[at:start]
        left = len(cell) - len(cell.lstrip(_AROUND_A_CELL))
        cells.append((first + at + left, first + at + left + len(cell.strip(_AROUND_A_CELL + b"\r"))))
        at = end
    return cells


def _column(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """The cells below a heading."""
    delimiter = _delimiter(text, match)
    if not delimiter:
        return []
    head = _line_begin(text, max(start, match.start() - WIDEST_LINE), match.start() + 2)
    lines = _lines(text, head, min(stop, match.start() + AROUND))
    heading = next(lines, None)
    quote = _quote.match(text, *heading) if heading else None
    if heading and quote:
        heading = (quote.end(), heading[1])
        lines = _unquoted(text, lines, quote[0].rstrip())
    if not heading or _in_no_heading.search(text, *heading):
        return []
    headings = _cells(text, *heading, delimiter)
    names = [text[first:last].decode("latin-1").strip() for first, last in headings]
    names_only = [name for name in names if name]
    if len(names_only) < 2 or not all(map(_cell_text.fullmatch, names_only)) or any(map(str.isdigit, names_only)):
        return []  # a number is that of a line: `12  pass` heads nothing
    promised = {index: said for index, name in enumerate(names) if (said := promise(name)) >= Promise.KEY}
    spans: Spans = []
    at = match.end()
    for first, last in lines:
        if first == last or _rule_line.fullmatch(text, first, last):
            if first == last:
                break
            continue
        cells = _cells(text, first, last, delimiter)
        if len(cells) != len(headings) or any(_is_heading(text, *cells[index]) for index in promised):
            break
        at = last
        for index, said in promised.items():
            spans += _of_cell(text, *cells[index], said)
    return [*spans, (at, at)] if spans else []


def _unquoted(text: bytes, lines: Iterator[tuple[int, int]], quote: bytes) -> Iterator[tuple[int, int]]:
    """The lines that begin with the same quote, without it."""
    for first, last in lines:
        if not text.startswith(quote, first, last):
            return
        at = first + len(quote)
        yield at + (text[at : at + 1] == b" " and at < last), last


def _line_begin(text: bytes, start: int, stop: int) -> int:
    """The beginning of the last line that begins before `stop`."""
    start = max(start, text.rfind(b"\n", start, stop) + 1)
    if text.find(b'":', start, stop) >= 0:
        start = max((found.end() for found in _opening.finditer(text, start, stop)), default=start)
    if text.find(b"\\", start, stop) < 0:  # no escaped break, as almost everywhere
        return start
    return max((found.end() for found in _break.finditer(text, start, stop)), default=start)


def _is_heading(text: bytes, first: int, last: int) -> bool:
    """Whether a cell heads a table of its own, which is then judged from there: so headings alone cost little."""
    return last - first <= 40 and promise(text[first:last].decode("latin-1")) >= Promise.KEY


def _delimiter(text: bytes, match: re.Match[bytes]) -> bytes:
    """What separates the columns, as seen beside the heading that matched."""
    around = text[match.start() : match.start() + 1], text[match.end() - 1 : match.end()]
    for sign in (b"|", b",", b"\t", b";", b"?"):
        if sign in around:
            return sign
    return b"  " if text[match.start() : match.start() + 2] == b"  " else b""


def _of_cell(text: bytes, first: int, last: int, promised: Promise) -> Spans:
    value = text[first:last].decode("latin-1")
    is_odd = bool(_odd.search(value)) and len(value) >= 6 and " " not in value
    notation = Notation.ENVIRONMENT if promised is Promise.PASSWORD else Notation.CONFIGURATION
    return [(first, last)] if is_odd and is_secret(value, promised, notation) else []


def _listed(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The value after a name and several blanks, with nothing else after it on the line."""
    name = text[match.start("name") : match.end("name")].decode("latin-1")
    first, last = match.span("secret")
    promised = promise(name)
    is_telling = promised in (Promise.KEY, Promise.PASSWORD) and bool(_line_end.match(text, last, stop))
    return _of_cell(text, first, last, promised) if is_telling else []


def _rows(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The values that look chosen, up to the first line that is not a name and a value."""
    spans: Spans = []
    for first, last in _lines(text, match.end(), min(stop, match.end() + AROUND)):
        row = _row.match(text[first:last])
        if not row:
            break
        if is_secret(row["secret"].decode("latin-1"), Promise.PASSWORD, Notation.BARE):
            spans.append((first + row.start("secret"), first + row.end("secret")))
    return spans


TABLE_RULES = (
    Rule(
        "structure",
        "table-column",
        rf"(?:[,;|?\t]\s{{0,20}}[\"]?|[ ]{{2,20}}){_HEADS}(?:[ ]{{2}}|[\s\"]{{0,30}}(?:[,;|?\t\n]|\\))",
        locate=_column,
        around=(WIDEST_LINE, AROUND + 10),
        folds=True,
        before="",
        after="",
        about="a cell in a column headed by a telling name",
        examples=(
            "name,url,username,password\nx,https://a.test/,bob,{A-Za-z0-9:14}7\n",
            "| id | login | password |\n+----+-----+----+\n| 29 | bob | {A-Za-z0-9:14}7 |\n",
            "host\tuser\tpassword\nh1\tpi\t{A-Za-z0-9:14}7\n",
            "NAME      SECRET\nx      {A-Za-z0-9:14}7\n",
            "NAME    TOKEN         AGE\nx    {A-Za-z0-9:24}   3d\n",
            '"name","password","url"\n"Bob","{A-Za-z0-9:14}7","x"\n',
            "| Login | Pass |\n|---|---|\n| bob | `{A-Za-z0-9:14}7` |\n",
            "> | Login | Password |\n> |---|---|\n> | bob | {A-Za-z0-9:14}7 |\n",
            "# user,password\n# bob,{A-Za-z0-9:14}7\n",
        ),
        near_misses=(
            "| id | login | password |\n| 29 | bob | varchar |\n",
            "name,type,secret\nx,string,required\n",
            "> | Login | Password |\n|---|---|\n| bob | {A-Za-z0-9:14}7 |\n",
            "# name, password\n# varchar(40), varchar(64)\n",
            "NAME      TOKENS\nx      4096\n",
            "pbkdf2(\n  secret,\n  salt,\n  {A-Z:8}{0-9:1}_{A-Z:8},\n",
        ),
    ),
    Rule(
        "HashiCorp Vault",
        "shown-secret",
        r"={3,12} Data ={3,12}(?:\r?\n|\\{1,3}n)Key[ ]{2,40}Value(?:\r?\n|\\{1,3}n)---[ ]{2,40}-----(?:\r?\n|\\{1,3}n)",
        trigger="={3} Data ={3}",
        reach_back=24,
        locate=_rows,
        around=(0, AROUND),
        before="",
        after="",
        about="a value in a secret that Vault shows",
        examples=("=== Data ===\nKey       Value\n---       -----\nmail      {A-Za-z0-9:14}7\n",),
        near_misses=("=== Data ===\nKey       Value\n---       -----\nuser      worker\nhost      db.internal\n",),
    ),
    Rule(
        "structure",
        "listed-secret",
        rf"(?P<name>{_HEADS})(?:[ ]{{2,40}}|\t{{1,4}})(?P<secret>[^\s\"'`<>\\\x90\x91]{{6,400}})",
        trigger=rf"{_HEADS}(?:[ ]{{2,40}}|\t{{1,4}})[^\s\"'`<>\\\x90\x91]{{6}}",
        locate=_listed,
        around=(0, 12),
        folds=True,
        before="0-9A-Za-z_-",
        after="",
        about="a value after a telling name in a two-column list",
        examples=("Key         Value\n---         -----\npassword    {A-Za-z0-9:14}7\nusername    root\n",),
        near_misses=(
            "password    required\n",
            "token    4096 left\n",
            "password    reset.go:14\n",
            "Password    *uint16\n",
        ),
    ),
)
