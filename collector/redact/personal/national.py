"""Numbers that states give to people: with a checksum, or with a word beside them that says what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from collector.redact.personal.digits import digits_of, iso7064_11_10, luhn, verhoeff, weighted
from collector.redact.rule import Rule

_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_HETU = "0123456789ABCDEFHJKLMNPRSTUVWXY"
_CODICE_MONTHS = "ABCDEHLMPRST"
_CODICE_ODD = dict(zip("0123456789ABCDEFGHIJ", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21) * 2, strict=True)) | dict(
    zip("KLMNOPQRSTUVWXYZ", (2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23), strict=True)
)
_RESIDENT = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def is_date(day: str, month: str) -> bool:
    """Whether a day and a month exist."""
    return 1 <= int(day) <= 31 and 1 <= int(month) <= 12


def is_spanish(secret: str) -> bool:
    """DNI and NIE: the letter follows from the number."""
    number = secret[0].translate(str.maketrans("XYZ", "012")) + digits_of(secret[1:])
    return _DNI[int(number) % 23] == secret[-1]


def is_italian(secret: str) -> bool:
    """Codice fiscale: the last letter follows from the others."""
    if secret[8] not in _CODICE_MONTHS or not 1 <= int(secret[9:11]) % 40 <= 31:
        return False
    odd = sum(_CODICE_ODD[letter] for letter in secret[0:15:2])
    even = sum(int(letter) if letter.isdigit() else ord(letter) - 65 for letter in secret[1:15:2])
    return chr(65 + (odd + even) % 26) == secret[15]


def is_french(secret: str) -> bool:
    """NIR: ends in 97 minus the remainder of the rest divided by 97."""
    number = re.sub(r"[ .]", "", secret).replace("2A", "19").replace("2B", "18")
    return number.isdigit() and len(number) == 15 and 97 - int(number[:13]) % 97 == int(number[13:])


def is_brazilian(secret: str) -> bool:
    """CPF: two check digits."""
    number = digits_of(secret)
    if len(set(number)) == 1:
        return False
    first = weighted(number, range(10, 1, -1)) * 10 % 11 % 10
    second = weighted(number, range(11, 1, -1)) * 10 % 11 % 10
    return number[9:] == f"{first}{second}"


def is_swiss(secret: str) -> bool:
    """AHV: the check digit of an EAN."""
    number = digits_of(secret)
    return -weighted(number, (1, 3) * 6) % 10 == int(number[12])


def is_chinese(secret: str) -> bool:
    """A resident's number: a date, and a check digit that may be X."""
    return (
        is_date(secret[12:14], secret[10:12]) and "10X98765432"[weighted(secret, _RESIDENT) % 11] == secret[17].upper()
    )


def is_swedish(secret: str) -> bool:
    """Personnummer: a date, and Luhn over the last ten digits."""
    number = digits_of(secret)[-10:]
    return is_date(number[4:6], number[2:4]) and luhn(number)


def is_finnish(secret: str) -> bool:
    """Henkil\u00f6tunnus: a date, and a last character that stands for the remainder of the rest divided by 31."""
    number = digits_of(secret[:10])
    return is_date(secret[:2], secret[2:4]) and _HETU[int(number) % 31] == secret[-1]


def is_belgian(secret: str) -> bool:
    """Rijksregisternummer: ends in 97 minus the remainder of the rest divided by 97, with a 2 put before the rest for
    those born since 2000."""
    number = digits_of(secret)
    return any(97 - int(century + number[:9]) % 97 == int(number[9:]) for century in ("", "2"))


def is_polish(secret: str) -> bool:
    """PESEL: the day of a date, and a weighted sum."""
    sum_ = weighted(secret, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3))
    return 1 <= int(secret[4:6]) <= 31 and -sum_ % 10 == int(secret[10])


def is_dutch(secret: str) -> bool:
    """BSN: the eleven test."""
    return len(set(secret)) > 2 and (weighted(secret, (9, 8, 7, 6, 5, 4, 3, 2)) - int(secret[8])) % 11 == 0


def is_german(secret: str) -> bool:
    """Steuer-Identifikationsnummer: some digit occurs two or three times, and the check digit is right."""
    number = digits_of(secret)
    most = max(number[:10].count(digit) for digit in number[:10])
    return len(number) == 11 and number[0] != "0" and most in (2, 3) and iso7064_11_10(number)


def is_indian(secret: str) -> bool:
    """Aadhaar."""
    return verhoeff(digits_of(secret))


def is_american(secret: str) -> bool:
    """Whether this is a social security number that may be assigned, and not the one from the advertisement; no check
    digit."""
    area, group, serial = secret.split("-")
    is_given_out = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    return is_given_out and (area, group, serial) != ("078", "05", "1120")


def made(
    shape: str, check: Callable[[str], bool], *, is_right: bool = True, before: str = ""
) -> Callable[[Random], str]:
    """A sample in this shape (`9` a digit, `A` a letter) whose checksum is right, or wrong."""

    def make(chance: Random) -> str:
        while True:
            text = "".join(
                chance.choice("0123456789")
                if each == "9"
                else chance.choice("ABCDEFGHJKLMNPRSTUVWXY")
                if each == "A"
                else each
                for each in shape
            )
            if check(text) is is_right:
                return before + text

    return make


def _rule(name: str, about: str, pattern: str, check: Callable[[str], bool], shape: str, *keywords: str) -> Rule:
    """A row: a shape, and a check that decides."""
    word = f"{keywords[0]}: " if keywords else ""
    return Rule(
        provider="personal",
        id=f"national-id-{name}",
        pattern=pattern,
        check=check,
        keywords=keywords,
        reach=40,
        before="0-9A-Za-z_.+-",
        after="0-9A-Za-z_-",
        about=about,
        examples=(made(shape, check, before=word),),
        near_misses=(made(shape, check, is_right=False, before=word),),
    )


NATIONAL_RULES = (
    _rule(
        "be",
        "a Belgian national number",
        r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}",
        is_belgian,
        "85.07.30-033.99",
    ),
    _rule("br", "a Brazilian CPF", r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", is_brazilian, "999.999.999-99"),
    _rule("ch", "a Swiss AHV number", r"756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}", is_swiss, "756.9999.9999.99"),
    _rule(
        "cn", "a Chinese resident's number", r"[1-6][0-9]{5}(?:19|20)[0-9]{9}[0-9Xx]", is_chinese, "11010520030712999X"
    ),
    _rule(
        "de",
        "a German tax number",
        r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}",
        is_german,
        "86 095 742 999",
        "steuer",
        "idnr",
        "tax id",
        "tin",
    ),
    _rule(
        "es", "a Spanish DNI or NIE", r"(?:[0-9]{8}|[XYZ][0-9]{7})-?[TRWAGMYFPDXBNJZSQVHLCKE]", is_spanish, "99999999A"
    ),
    _rule("fi", "a Finnish personal code", r"[0-3][0-9][01][0-9]{3}[-+A][0-9]{3}[0-9A-Y]", is_finnish, "131052-999A"),
    _rule(
        "fr",
        "a French social security number",
        r"[12] ?[0-9]{2} ?[01][0-9] ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        is_french,
        "1 85 05 78 006 999 99",
    ),
    _rule(
        "in",
        "an Aadhaar number",
        r"[2-9][0-9]{3} ?[0-9]{4} ?[0-9]{4}",
        is_indian,
        "2999 9999 9999",
        "aadhaar",
        "aadhar",
        "uidai",
    ),
    _rule(
        "it",
        "an Italian codice fiscale",
        r"[A-Z]{6}[0-9]{2}[A-EHLMPR-T][0-9]{2}[A-Z][0-9]{3}[A-Z]",
        is_italian,
        "MRTMTT91D08F205A",
    ),
    _rule("nl", "a Dutch BSN", r"[0-9]{9}", is_dutch, "199999999", "bsn", "burgerservice", "sofi"),
    _rule("pl", "a Polish PESEL", r"[0-9]{11}", is_polish, "44051499999", "pesel"),
    _rule("se", "a Swedish personal number", r"(?:19|20)?[0-9]{6}[-+][0-9]{4}", is_swedish, "811228-9999"),
    _rule(
        "us",
        "a US social security number",
        r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}",
        is_american,
        "219-09-9999",
        "ssn",
        "social security",
    ),
)
