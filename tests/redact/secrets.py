"""Secrets for the tests, drawn from alphabets and a seed: none of them was ever issued or chosen by anybody.

Kinds: chosen (what a person types: words, digits, a sign), signs (a password with specials), drawn (letters and
digits), hex, base64, plain (a word of letters only), urlsafe, basic (user:password in base64), uuid.
"""

from __future__ import annotations

import base64
import random
import string
import uuid

WORDS = ["falcon", "copper", "winter", "tulip", "granite", "violet", "harbor", "pepper", "comet", "maple", "otter"]
ALNUM = string.ascii_letters + string.digits


def pick(chance: random.Random, letters: str, size: int) -> str:
    """`size` characters of an alphabet."""
    return "".join(chance.choice(letters) for _ in range(size))


def secret(kind: str, seed: int) -> str:
    """One secret of a kind."""
    chance = random.Random(f"{kind}{seed}")
    match kind:
        case "chosen":
            return (
                chance.choice(WORDS).title()
                + chance.choice(WORDS)
                + pick(chance, string.digits, 2)
                + chance.choice(["", "!"])
            )
        case "lower":
            return chance.choice(WORDS) + pick(chance, string.digits, chance.choice([1, 3, 4]))
        case "plain":
            return chance.choice(WORDS) + chance.choice(WORDS)
        case "signs":
            return (
                pick(chance, ALNUM, 5)
                + "#"
                + pick(chance, ALNUM, 4)
                + chance.choice("!%^*+~")
                + pick(chance, ALNUM, 3)
                + "7"
            )
        case "drawn":
            return _mixed(chance, ALNUM, chance.choice([20, 24, 32, 40]))
        case "hex":
            return _mixed(chance, "0123456789abcdef", chance.choice([32, 40, 64]))
        case "base64":
            return base64.b64encode(chance.randbytes(chance.choice([24, 32]))).decode()
        case "urlsafe":
            return _mixed(chance, ALNUM + "_-", 43)
        case "basic":
            return base64.b64encode(f"{chance.choice(WORDS)}:{pick(chance, ALNUM, 14)}".encode()).decode()
        case "uuid":
            return str(uuid.UUID(int=chance.getrandbits(128), version=4))
        case "pem":
            return base64.b64encode(b"0\x82\x04" + chance.randbytes(600)).decode()
    raise ValueError(kind)


def _mixed(chance: random.Random, letters: str, size: int) -> str:
    while True:
        drawn = pick(chance, letters, size)
        if any(c.isdigit() for c in drawn) and any(c.isalpha() for c in drawn) and drawn[0].isalnum():
            return drawn
