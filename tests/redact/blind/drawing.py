"""Draws text from a seed: the forms of one half, with their names filled in and values as people and programs choose.

The same seed gives the same text, byte for byte: what is drawn, and in which order, must not change.
"""

from __future__ import annotations

import base64
import random
import re
import string
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from tests.redact.blind.vocabulary import WORDS

Draw = Callable[[random.Random], str]
Item = dict[str, Any]
Form = TypeVar("Form")

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALPHANUMERIC = LOWER + UPPER + DIGITS
HEX = "0123456789abcdef"
BASE64 = ALPHANUMERIC + "+/"
BASE64_URL = ALPHANUMERIC + "-_"

NAME_IN_FORM = re.compile("«([A-Za-z0-9_]+)(?:\\.(\\d))?»")


class Halved(random.Random):
    """A random generator that only draws forms of its own half, so that no form is in both."""

    def __init__(self, seed: str, half: int) -> None:
        super().__init__(seed)
        self.half = half

    def mine(self, forms: Iterable[Form]) -> list[Form]:
        """The forms of this half."""
        shuffled = list(forms)
        random.Random(f"halves {len(shuffled)}").shuffle(shuffled)
        return shuffled[self.half :: 2]

    def form(self, forms: Iterable[Form]) -> Form:
        """One form of this half."""
        return self.choice(self.mine(forms))


def pick(rng: random.Random, alphabet: str, length: int) -> str:
    """`length` characters of an alphabet."""
    return "".join(rng.choice(alphabet) for _ in range(length))


def mixed(rng: random.Random, alphabet: str, length: int) -> str:
    """`length` characters with at least one lower-case letter, upper-case letter and digit, as far as the alphabet has
    them."""
    while True:
        drawn = pick(rng, alphabet, length)
        if all(set(part) & set(drawn) or not set(part) & set(alphabet) for part in (LOWER, UPPER, DIGITS)):
            return drawn


def timestamp(rng: random.Random) -> str:
    """A moment as logs print it."""
    day = f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
    second = f"{rng.randint(10, 23)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}"
    return f"{day}T{second}.{rng.randint(100, 999)}Z"


def session_id(rng: random.Random) -> str:
    """The id of a session, as programs make them up."""
    prefix = rng.choice(["sess_", "ses-", "s-", "session_", "", ""])
    return prefix + mixed(rng, ALPHANUMERIC, rng.choice([10, 16, 22, 26]))


def case_name(rng: random.Random) -> str:
    """The name of a test case."""
    start = rng.choice(["test_", "Test", "t_", "check_", "should_"])
    return f"{start}{rng.choice(WORDS['verb'])}_{rng.choice(WORDS['noun'])}_{rng.randint(1, 99)}"


DRAWN: dict[str, Draw] = {
    "access_key_id": lambda _: "AKIA" + "2QEXAMPLEONLY7TX",
    "ver": lambda rng: f"{rng.randint(0, 14)}.{rng.randint(0, 30)}.{rng.randint(0, 19)}",
    "num": lambda rng: str(rng.randint(1, 9999)),
    "small": lambda rng: str(rng.randint(1, 40)),
    "line": lambda rng: str(rng.randint(2, 1800)),
    "ms": lambda rng: f"{rng.randint(1, 999)}ms",
    "sec": lambda rng: f"{rng.random() * 9:.2f}s",
    "sha7": lambda rng: pick(rng, HEX, 7),
    "sha40": lambda rng: pick(rng, HEX, 40),
    "sha256": lambda rng: pick(rng, HEX, 64),
    "hex8": lambda rng: pick(rng, HEX, 8),
    "hex16": lambda rng: pick(rng, HEX, 16),
    "md5": lambda rng: pick(rng, HEX, 32),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "b64_44": lambda rng: pick(rng, BASE64, 43) + "=",
    "sri": lambda rng: "sha512-" + pick(rng, BASE64, 86) + "==",
    "date": lambda rng: f"202{rng.randint(3, 6)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}",
    "time": lambda rng: f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:{rng.randint(0, 59):02d}",
    "ts": timestamp,
    "ip": lambda rng: f"10.{rng.randint(0, 255)}.{rng.randint(0, 255)}.{rng.randint(1, 254)}",
    "sid": session_id,
    "ckpt": lambda rng: rng.choice(["ckpt_", "cp-", "chk"]) + mixed(rng, LOWER + DIGITS, rng.choice([8, 12, 20])),
    "case": case_name,
}


def fill(rng: random.Random, form: str) -> str:
    """The form with every name in it replaced by a draw; `«name.1»` is only drawn once."""
    drawn: dict[tuple[str, str], str] = {}

    def one(match: re.Match[str]) -> str:
        name, mark = match.groups()
        if mark and (name, mark) in drawn:
            return drawn[name, mark]
        value = DRAWN[name](rng) if name in DRAWN else rng.choice(WORDS[name])
        if mark:
            drawn[name, mark] = value
        return value

    return NAME_IN_FORM.sub(one, form)


def in_turn(rng: random.Random, forms: Sequence[Form], count: int) -> Iterator[Form]:
    """`count` forms; every form is used before one is used again."""
    pool: list[Form] = []
    for _ in range(count):
        if not pool:
            pool = list(forms)
            rng.shuffle(pool)
        yield pool.pop()


def gather(rng: random.Random, forms: Sequence[str], lines: int) -> list[str]:
    """Different texts, until there are `lines` lines or the forms seem to give no more."""
    texts: dict[str, None] = {}
    count = 0
    for form in in_turn(rng, forms, 4000):
        if count >= lines:
            break
        text = fill(rng, form)
        if text not in texts:
            texts[text] = None
            count += text.count("\n") + 1
    return list(texts)


STEMS = (
    "winter summer dragon coffee harbor falcon marble tiger copper sunset rocket pepper orchid maple thunder velvet "
    "anchor banjo cactus glacier lantern magnet nebula pirate quartz saffron turbine walnut zephyr bamboo comet ember"
)
LEET = str.maketrans({"a": "4", "e": "3", "o": "0", "i": "1", "s": "5"})
NEEDS_QUOTES = {ord(sign): "_" for sign in "!#%&*?+=@"}


def chosen(rng: random.Random) -> str:
    """A password as a person chooses one: never a plain word."""
    stems = STEMS.split()
    one, two, three = rng.choice(stems), rng.choice(stems), rng.choice(stems)
    leet = one.translate(LEET)
    if not any(character.isdigit() for character in leet):
        leet += str(rng.randint(2, 9))
    number, year, sign = rng.randint(10, 9999), rng.randint(1975, 2026), rng.choice("!#%&*?+=")
    return rng.choice(
        [
            f"{one.title()}{year}{sign}",
            f"{leet.title()}{rng.choice('&!_-')}{number}",
            f"{one}{two.title()}{number}{sign}",
            f"{one}-{two}-{three}-{number}",
            f"{leet}{sign}{two.title()}",
            f"{one.title()}@{number}{sign}",
            f"{two}{leet.upper()}{rng.randint(1, 99)}",
            f"{one[:3].upper()}{number}{sign}{two[:4]}",
            f"Tr{leet[:2]}{two.title()}{sign}{number}",
            f"{one}_{leet}_{number}",
            f"my{one.title()}{sign}{number}",
            f"{number}{one.title()}.{two.title()}",
        ]
    )


def generated(rng: random.Random) -> str:
    """A password as a program makes one."""
    length = rng.choice([16, 18, 20, 24, 32])
    alphabets = [ALPHANUMERIC, ALPHANUMERIC, ALPHANUMERIC + "-_", ALPHANUMERIC + "!#%^*+"]
    return mixed(rng, rng.choice(alphabets), length)


def any_password(rng: random.Random) -> str:
    """A password, chosen or generated."""
    return chosen(rng) if rng.random() < 0.55 else generated(rng)


def plain_password(rng: random.Random) -> str:
    """A password without signs that need quoting."""
    draws: list[Draw] = [lambda r: mixed(r, ALPHANUMERIC, r.choice([14, 16, 20, 24, 32])), chosen]
    return rng.choice(draws)(rng).translate(NEEDS_QUOTES)


def hex_key(rng: random.Random) -> str:
    """A key in hex digits."""
    return pick(rng, HEX, rng.choice([32, 40, 48, 64]))


def base64_key(rng: random.Random) -> str:
    """Random bytes in base64."""
    return encoded(rng.randbytes(rng.choice([24, 32, 48])))


def opaque(rng: random.Random) -> str:
    """A key as a service gives it: hex, base64url, or letters and digits."""
    draws: list[Draw] = [
        lambda r: pick(r, HEX, 32),
        lambda r: mixed(r, ALPHANUMERIC, 40),
        lambda r: mixed(r, BASE64_URL, 43).strip("-_") + "Q",
        lambda r: mixed(r, ALPHANUMERIC, 24),
        lambda r: pick(r, HEX, 64),
    ]
    return rng.choice(draws)(rng)


def one_of(*draws: Draw) -> Draw:
    """A draw by one of these, chosen at random."""
    return lambda rng: rng.choice(draws)(rng)


def encoded(value: str | bytes) -> str:
    """The value in base64."""
    return base64.b64encode(value.encode() if isinstance(value, str) else value).decode()


def planted(rng: random.Random, kind: str, form: str, values: Sequence[str], public: str = "") -> Item:
    """A form with values in place of its marks, and those of them that must be gone."""
    text = fill(rng, form)
    marked = list(zip("\x01\x02", values, strict=False))
    for mark, value in marked:
        text = text.replace(mark, value)
    secrets = [value for mark, value in marked if mark in form]
    return {"class": kind, "kind": "secret", "text": text.replace("\x03", public), "secrets": secrets}
