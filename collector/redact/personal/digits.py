"""The check digits of numbers given to people: Luhn, mod 97, mod 11, Verhoeff."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Verhoeff's tables: the dihedral group of ten, and its permutation.
_TIMES = (
    *("0123456789", "1234067895", "2340178956", "3401289567", "4012395678"),
    *("5987604321", "6598710432", "7659821043", "8765932104", "9876543210"),
)
_TURN = (
    *("0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258"),
)


def digits_of(text: str) -> str:
    """The digits of a text."""
    return re.sub(r"[^0-9]", "", text)


def luhn(number: str) -> bool:
    """Whether the check digit of a card number, or of another number of its kind, is right."""
    doubled = [int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(number))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def mod97(text: str) -> bool:
    """ISO 7064 with letters as numbers, as in an IBAN: the first four characters go to the end."""
    turned = text[4:] + text[:4]
    return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1


def weighted(number: str, weights: Sequence[int]) -> int:
    """The sum of the digits, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))


def verhoeff(number: str) -> bool:
    """The checksum of Aadhaar."""
    state = 0
    for index, digit in enumerate(reversed(number)):
        state = int(_TIMES[state][int(_TURN[index % 8][int(digit)])])
    return state == 0


def iso7064_11_10(number: str) -> bool:
    """The checksum of Germany's tax number."""
    product = 10
    for digit in number[:-1]:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return (11 - product) % 10 == int(number[-1])
