"""Numbers of payment cards and of bank accounts."""

from __future__ import annotations

import re
from random import Random

from collector.redact.lazy import regex
from collector.redact.personal.digits import digits_of, luhn, mod97
from collector.redact.rule import Rule, Spans

# How the numbers of each brand begin, and how long they are.
_BRANDS = regex(
    r"4\d{15}|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
)
# Test numbers that payment providers publish: documents are full of them.
_FOR_TESTS = frozenset(
    {
        *("4242424242424242", "4111111111111111", "4012888888881881", "4000056655665556", "5555555555554444"),
        *("5105105105105100", "5200828282828210", "2223003122003222", "378282246310005", "371449635398431"),
        *("6011111111111117", "6011000990139424", "3056930009020004", "30569309025904", "38520000023237"),
        *("3530111333300000", "3566002020360505", "6200000000000005"),
    }
)
_GROUPS = regex(r"\d{4}(?:([ -])\d{4}(?:\1\d{4}){2}(?:\1\d{1,3})?|([ -])\d{6}\2\d{4,5})?|\d+")


def is_card(secret: str) -> bool:
    """Whether this is a brand's number with the right check digit, in groups as printed on cards."""
    number = digits_of(secret)
    is_real = number not in _FOR_TESTS and len(set(number)) > 3 and not number.startswith("4000000")
    return bool(is_real and _BRANDS.fullmatch(number) and _GROUPS.fullmatch(secret) and luhn(number))


def card(chance: Random, *, is_grouped: bool = True) -> str:
    """Nobody's number, with the right check digit."""
    body = "4929" + "".join(chance.choice("0123456789") for _ in range(11))
    number = next(body + digit for digit in "0123456789" if luhn(body + digit))
    return " ".join(number[at : at + 4] for at in range(0, 16, 4)) if is_grouped else number


def wrong_card(chance: Random) -> str:
    """The same with a wrong check digit."""
    number = card(chance)
    return number[:-1] + str((int(number[-1]) + 1) % 10)


def bare_card(chance: Random) -> str:
    """The same without blanks: one in ten numbers of this length has the right check digit, so a word must say what it
    is."""
    return f"card: {card(chance, is_grouped=False)}"


CARD_RULES = (
    Rule(
        provider="personal",
        id="card-number",
        pattern=r"[2-6][0-9]{3}(?:[ -][0-9]{3,6}){2,4}",
        check=is_card,
        before="0-9A-Za-z._+-",
        after="0-9A-Za-z._-",
        about="the number of a payment card, with the right check digit",
        examples=(card,),
        near_misses=(wrong_card, "4242 4242 4242 4242"),
    ),
    Rule(
        provider="personal",
        id="card-number-bare",
        pattern=r"[2-6][0-9]{12,18}",
        check=is_card,
        keywords=("card", "visa", "amex", "credit", "debit", "payment", "pan"),
        reach=40,
        before="0-9A-Za-z._+-",
        after="0-9A-Za-z._-",
        about="the number of a payment card, with the right check digit",
        examples=(bare_card,),
        near_misses=("card 1700000000000000", "card: 4929{0-9:9}"),
    ),
)

# How long the numbers of each country are.
_COUNTRIES = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19,
    "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip


def is_iban(secret: str) -> bool:
    """Whether this is as long as its country's numbers, and has the right check digits."""
    number = secret.replace(" ", "")
    return _COUNTRIES.get(number[:2]) == len(number) and mod97(number)


def iban_only(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """As much of the match as the country's numbers are long: words in capitals may follow."""
    told = match[0].decode("latin-1")
    length = _COUNTRIES.get(told[:2], 0)
    places = [place for place, letter in enumerate(told, 1) if letter != " "]
    if not 0 < length <= len(places):
        return []
    end = places[length - 1]
    is_whole = end == len(told) or told[end] == " "
    return [(match.start(), match.start() + end)] if is_whole and is_iban(told[:end]) else []


def iban(chance: Random) -> str:
    """A number of no bank, with the right check digits, in groups of four."""
    body = "".join(chance.choice("0123456789") for _ in range(18))
    number = next(each for check in range(2, 99) if mod97(each := f"DE{check:02}{body}"))
    return " ".join(number[at : at + 4] for at in range(0, 22, 4))


def wrong_iban(chance: Random) -> str:
    """The same with a wrong last digit."""
    number = iban(chance)
    return number[:-1] + str((int(number[-1]) + 1) % 10)


IBAN_RULES = (
    Rule(
        provider="personal",
        id="iban",
        pattern=r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?",
        locate=iban_only,
        around=0,
        before="0-9A-Za-z_-",
        after="0-9a-z_",
        about="an IBAN, with the right check digits",
        examples=(iban,),
        near_misses=(wrong_iban, "DE00 0000 0000"),
    ),
)
