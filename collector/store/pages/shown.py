"""How values look on a page: numbers, money, durations, and above all text.

In: values from the store. Out: what a template prints. Invariant: text is only ever text. It is escaped, its direction
is isolated (bdi), an invisible character is shown as a mark, and a redaction as a chip that names its rule.
"""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

from collector.log import counted, in_words
from collector.store.prices import amount, dollars
from collector.store.rows import MAX_TITLE_CHARACTERS

MOST = 4000  # characters of one text on a page with many
GROWN = 5
NOTHING = "–"
# Redaction markers; control characters except tab and newline; characters that change the direction of text or hide.
SPECIAL = re.compile(
    r"\[REDACTED:([a-z0-9][a-z0-9_.-]{0,63}):[0-9a-f]{12}\]"
    "|([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f])"
)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]{0,10}Z")
PICTURES = 0x2400  # from U+2400 on, pictures of the control characters
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


def text(value: Any, most: int = MOST) -> Markup:
    """Somebody's text, with its line breaks if the style keeps them."""
    given = str(value if value is not None else "").replace("\r\n", "\n")
    parts, at, end, length = [], 0, min(most, len(given)), 0
    for found in SPECIAL.finditer(given, 0, end):
        parts += [escape(given[at : found.start()]), _special(found)]
        at, length = found.end(), length + len(parts[-2]) + len(parts[-1])
        if length > GROWN * most:  # marks take much more room than the characters they stand for
            end = at
            break
    parts.append(escape(given[at:end]))
    rest = len(given) - end
    more = Markup('<span class="cut">… {} more characters</span>').format(f"{rest:,}") if rest > 0 else Markup("")
    return Markup("<bdi>{}</bdi>{}").format(Markup("").join(parts), more)


def weight(value: Any, most: int = MOST) -> int:
    """The bytes that a text takes on the page."""
    return len(text(value, most).encode())


def line(value: Any, most: int = 160) -> Markup:
    """Somebody's text on one line."""
    return text(str(value if value is not None else "").replace("\n", " "), most)


def heading(value: Any, most: int) -> Markup:
    """The beginning of a title. The store keeps only that of a long one, so how much is missing cannot be said."""
    given = str(value or "")
    return line(given[:most]) + ("…" if len(given) > most or len(given) >= MAX_TITLE_CHARACTERS else "")


def advice(value: Any) -> Markup:
    """A line of our own, with text between backticks as code."""
    parts = [line(part, 400) for part in str(value).split("`")]
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if number % 2 else part for number, part in enumerate(parts))


def bare(value: Any, most: int = 120) -> str:
    """Somebody's text where no markup is possible, such as a page's title: invisible characters are left out."""
    return " ".join(SPECIAL.sub(lambda found: found[1] or " ", str(value)[:most]).split())


def _special(found: re.Match[str]) -> Markup:
    rule, character = found.groups()
    if rule:
        return Markup('<span class="chip" title="A secret was removed here, by the rule {0}">{0}</span>').format(rule)
    code = ord(character)
    name = chr(PICTURES + code) if code < PICTURES and code <= 0x1F else f"U+{code:04X}"
    return Markup('<span class="mark" title="the invisible character U+{:04X}">{}</span>').format(code, name)


def count(value: Any) -> str:
    """A number, exactly."""
    return f"{value:,}" if isinstance(value, int) else NOTHING if value is None else f"{value:,.1f}"


def short(value: float | None) -> str:
    """A number, in three digits or so."""
    if value is None:
        return NOTHING
    units = ["", " k", " M", " G"]
    while abs(value) >= 999.5 and len(units) > 1:
        value /= 1000
        del units[0]
    return f"{value:,.0f}{units[0]}" if not units[0] or abs(value) >= 99.95 else f"{value:.1f}{units[0]}"


def duration(milliseconds: float | None) -> str:
    """How long something took, in its two largest units."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < SECOND:
        return f"{milliseconds:.0f} ms"
    if milliseconds < MINUTE:
        return f"{milliseconds / SECOND:.1f} s"
    units = ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "min"), (MINUTE, "min", SECOND, "s"))
    unit, name, part, part_name = next(each for each in units if milliseconds >= each[0])
    whole, rest = divmod(int(milliseconds), unit)
    return f"{whole} {name} {rest // part} {part_name}" if rest // part else f"{whole} {name}"


def size(amount: float | None) -> str:
    """A number of bytes."""
    return NOTHING if amount is None else in_words(amount)


def percent(part: float | None, whole: float | None) -> str:
    """A share."""
    if not whole or part is None:
        return NOTHING
    share = 100 * part / whole
    return f"{share:.0f}%" if share >= 9.95 or share == 0 else f"{share:.1f}%"


def moment(time: Any) -> Markup:
    """A time of the store, to the minute."""
    return _time(time, slice(0, 16))


def instant(time: Any) -> Markup:
    """A time of the store, to the second."""
    return _time(time, slice(0, 19))


def clock(time: Any) -> Markup:
    """A time of the store, without its day."""
    return _time(time, slice(11, 19))


def _time(time: Any, part: slice) -> Markup:
    if not time:
        return escape(NOTHING)
    if not isinstance(time, str) or not TIME.fullmatch(time):
        return line(time, 30)
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(time, time[part].replace("T", " "))


def project(name: str | None) -> str:
    """A project as a person would call it: the end of its directory's name, which is a path written with hyphens."""
    parts = [part for part in (name or "").split("-") if part]
    return "-".join(parts[-2:]) if len(parts) > 2 else "-".join(parts) or "(none)"


FILTERS = {
    "advice": advice,
    "text": text,
    "line": line,
    "heading": heading,
    "bare": bare,
    "count": count,
    "counted": counted,
    "short": short,
    "dollars": dollars,
    "amount": amount,
    "duration": duration,
    "size": size,
    "moment": moment,
    "instant": instant,
    "clock": clock,
    "project": project,
}
