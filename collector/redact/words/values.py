"""What a value must look like to be a secret, given what its name promises and the notation it is in.

Placeholders (`<your-key>`, `${TOKEN}`, `changeme`, `xxxx`), code (`getToken()`, `process.env.X`), types and prose stay
readable: they are what people read transcripts for.
"""

from __future__ import annotations

import math
import re
from enum import IntEnum
from functools import lru_cache

from collector.redact.lazy import regex
from collector.redact.words.code import (
    call,
    chain,
    has_a_number_inside,
    has_odd_part,
    index,
    is_name_in_code,
    is_nested,
    is_pattern,
    is_program,
    looks_like_code,
)
from collector.redact.words.labels import is_joined, is_label, is_of_a_file
from collector.redact.words.letter_pairs import is_made_of_words, reads_like_words, share_of_words
from collector.redact.words.names import Promise
from collector.redact.words.placeholders import is_placeholder


class Notation(IntEnum):
    """How a value stands beside its name, from the surest to the vaguest."""

    DICT_VALUE = 0  # the value of a dict key
    QUOTED = 1  # "name": "value"
    ENVIRONMENT = 2  # NAME=value
    CONFIGURATION = 3  # db_password: value
    BARE = 4  # anything else: might be code or prose


SHORT = 100  # characters of the longest value whose verdict is remembered
_identifier = regex(r"^[A-Za-z_$@&*!][A-Za-z_$]*\d{0,2}$")
_type_name = regex(
    r"(?:[A-Z][a-z]+)+|[A-Z]{2,12}of[A-Z]{2,12}\d{0,2}|(?:Big)?(?:Ui|I)nt(?:8|16|32|64)(?:Clamped)?Array|[\w.]*(?:[Kk]ey|[Tt]oken|[Ss]ecret|[Pp]assword|[Cc]redential)[a-zA-Z]*"
)
_typed = regex(r"(?:[A-Z]+[a-z]+|V\d{1,2}(?=[A-Z])|[A-Z]\d(?=[A-Z])){2,}")  # SecretV3Raw, TMsSQLCredentials
_key_letters = regex(r"[\w.,~+/=:|@!#$%^&*?-]+")
_letter = regex(r"[^\W\d_]")
_digit = regex(r"\d")
_sign = regex(r"[!@#$%^&*+=~?|\\/]")
_turn = regex("[a-z\xdf-\xf6\xf8-\xff][A-Z\xc0-\xd6\xd8-\xde]")  # from lower to upper case, in Latin-1
_digit_or_sign = regex(r"[0-9!@#$%^&*+=~?|\\/]")
_consonants = regex(r"[b-df-hj-np-tv-xz]{6,}", re.IGNORECASE)
_keyboard = regex(r"[^\w\s./-]")
_key_id = regex("[0-9A-F]{16}")  # of OpenPGP
_hex = regex(r"[0-9a-fA-F]+")
_url = regex(r"^(?:[a-z][a-z0-9+.-]{1,20}:)?//|^www\.|^mailto:", re.IGNORECASE)
_path = regex(
    r"^(?:~|\.{1,2})?(?:/[\w.@~-]+)+/?(?::\d+)*$|^[A-Za-z]:\\|^[\w.-]+(?:/[\w.-]+)*\.(?:js|ts|tsx|py|go|rs|json|ya?ml|md|txt|pem|key|html|css|sh|env|toml|java|rb|php)(?::\d+|#[\w-]*)*$"
)
_base64 = regex(r"[A-Za-z0-9/]{16,}")
_words_with_dashes = regex(r"^[A-Za-z]+(?:[-_./: ][A-Za-z]+)*[-_./: ]?\d{0,3}$")
_passphrase = regex(r"(?:[A-Za-z]{2,12}([-_.]))(?:[A-Za-z]{2,12}\1){0,6}(?:[A-Za-z]{2,12}\1?)?\d{2,3}")
_plain_number = regex(r"^[-+]?[\d.,_:%eExX/+-]+[A-Za-z%]{0,3}$")
_date = regex(r"^\d{4}-\d\d-\d\d")
_version = regex(r"^[v^~=<>]{0,2}\d+(?:\.[\dx*]+)+(?:-[a-z0-9.]+)*$")
_constraint = regex(r"[<>^~=](?=.*\.\d)[\dvx.*|, <>=!^~-]+(?:(?:dev|rc|beta|alpha)\d{0,2})?")
_constants = regex(r"(?=.*[,-])[A-Z][A-Z0-9]*(?:[-_,][A-Z0-9]+){2,}")
_digest_name = regex(r"^(?:hmac-)?(?:sha\d{1,3}|md5|sha\d-\d+)(?:[-:=]|//)", re.IGNORECASE)
# words-joined/like.these2, and the rules of validators: required|min:8
_words_joined = regex(r"[A-Za-z]+(?:[-_/.|][A-Za-z]*\d?)+|[a-z_]+(?::[\w,]+)?(?:\|[a-z_]+(?::[\w,]+)?)+")
_sum = regex(r"[A-Za-z_]+(?:[=&|<>+]+[A-Za-z_]*|(?!!\d|&\d{4})[=&|!<>+]+(?:[A-Za-z_]+|\d+))")
_term = regex(r"\([A-Za-z_]\w*")  # (BASE + 1)
_constant = regex(r"[A-Za-z][A-Za-z0-9]{0,15}(?:_[A-Za-z0-9]{1,15}){2,}")
_names = regex(r"(?:[A-Za-z_.-]+[=:])+[A-Za-z_.-]{0,30}")
_setting = regex(r"[A-Za-z_]+=[A-Za-z_]+")
_telling_end = regex(r"_(?:TOKEN|KEY|SECRET|PASSWORD|ID|CREDENTIALS?)$")
_telling_identifier = regex(
    r"(?i)pass|pwd|secret|token|key|cred|auth|jwt|cookie|bearer|kennwort|wachtwoord|wagwoord|contrase[nh]|senha|salasan"
    r"|adgangskode|lozink|sandi|parol|parool|geslo|zapork|kodeord|contrasin|pasahitz|jelsz|l.senord|has.o|loynior"
)
_in_order = regex(r"(?i)abcdefghijkl|0123456789abcdef|123456789abcdef")  # an alphabet, or filler
_private_name = regex(r"_{1,2}[a-z]+(?:_[a-z]+)*_{0,2}|--[a-z]+(?:-[a-z]+)*|:[A-Za-z_]+:?")  # a flag, a symbol
_public_key = regex(
    "M(?:FkwEwYHKoZIzj0|CowBQYDK2V|II[BC][A-Za-z0-9]{1,2}ANBgkqhki|EkwEwYHKoZ|HYwEAYHKoZ)|AAAA[BCE]3|ssh-"
)
_fingerprint = regex(r"(?:[0-9A-F]{2}:){7,63}[0-9A-F]{2}")
_uuid = regex(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_acronym = regex(r"[A-Z]{2,}[a-z]*\d(?:\W.{0,12})?")  # POP3, OAuth2: what a sentence is about
_app_password = regex(rb"(?!abcd)[a-z]{4}([ -])[a-z]{4}\1[a-z]{4}\1[a-z]{4}(?![a-z0-9-])")
_type = regex(r"^(?:Optional|List|Dict|Union|Array|Promise|Record|Partial|Maybe|Option|Vec|Map|Set|Result)\b")


@lru_cache(maxsize=4)  # several checks ask for the same one
def entropy(value: str) -> float:
    """Shannon's bits per character."""
    size = len(value)
    shares = [value.count(letter) / size for letter in dict.fromkeys(value)]
    return -sum([share * math.log2(share) for share in shares]) if size else 0.0


def app_password(text: bytes, first: int, stop: int) -> tuple[int, int] | None:
    """The span of an app password, as Google and Apple generate them: four groups of four letters."""
    groups = _app_password.match(text, first, stop)
    letters = re.sub("[ -]", "", groups[0].decode()) if groups else ""
    return groups.span() if groups and len(set(letters)) >= 6 and not reads_like_words(letters) else None


def is_secret(value: str, promise: Promise, notation: Notation) -> bool:
    """Whether a value is a secret, given what its name promises and the notation it is in. Verdicts on short ones are
    remembered: most values beside telling names are not secrets but the same few words again and again."""
    return _is_known_secret(value, promise, notation) if len(value) <= SHORT else _is_secret(value, promise, notation)


def _is_secret(value: str, promise: Promise, notation: Notation) -> bool:
    if len(value) < 3 or _repeats(value):
        return False
    if promise is Promise.PASSWORD and len(value) == 19 and app_password(value.encode("latin-1"), 0, 19):
        return not _is_no_value(value)
    # What rejects most comes first: the rest accepts three of four that get this far.
    is_one = _is_password(value, notation) if promise is Promise.PASSWORD else _is_key(value, promise, notation)
    if not is_one or _is_no_value(value):
        return False
    if _is_path(value) and not (promise is Promise.PASSWORD and _has_long_part(value)):
        return False
    return not _is_something_else(value, promise, notation) and not is_placeholder(value)


def _is_no_value(value: str) -> bool:
    """Whether this is a link, names, a flag, an address, the name of a digest or a constraint on versions."""
    return (
        "](" in value
        or _is_names(value)
        or _private_name.fullmatch(value) is not None
        or _url.match(value) is not None
        or _digest_name.match(value) is not None
        or (value[0] in "<>^~=" and _constraint.fullmatch(value) is not None)
        or (value.isupper() and _constants.fullmatch(value) is not None and bool(_telling_identifier.search(value)))
    )


_is_known_secret = lru_cache(maxsize=4_096)(_is_secret)


def _is_something_else(value: str, promise: Promise, notation: Notation) -> bool:
    """Whether this is a version, a pattern or code; beside anything but a password, also a label of words and
    numbers."""
    if is_of_a_file(value) or is_pattern(value):
        return True
    may_be_code = notation is not Notation.DICT_VALUE and (notation is not Notation.QUOTED or len(value) >= 12)
    if may_be_code and is_program(value):
        return True
    return (promise is not Promise.PASSWORD and (is_joined(value) or _fingerprint.fullmatch(value) is not None)) or (
        promise <= Promise.OWNED and is_label(value)
    )


def _is_path(value: str) -> bool:
    """Whether a value is the name of a file, not base64 that happens to begin with a slash, as one in 64 does."""
    if not _path.match(value):
        return False
    is_drawn = _base64.fullmatch(value) and share_of_words(value) < 0.4 and looks_random(value.replace("/", ""))
    return not is_drawn or value in (value.lower(), value.upper())


def _repeats(value: str) -> bool:
    """Whether a value is one short thing over and over, longer than even a dummy would be."""
    return len(value) >= 128 and any(value.startswith(value[period:]) for period in range(1, 25))


def _is_names(value: str) -> bool:
    """Whether these are names without a value yet: what is between two opening quotes in `password="token="x`."""
    return bool(_names.fullmatch(value)) and bool(_telling_identifier.search(value))


def _is_password(value: str, notation: Notation) -> bool:
    if " " in value or "\n" in value:
        return _is_phrase(value)
    if notation is Notation.BARE:
        return _looks_chosen(value)
    if _is_jumble(value) or (notation <= Notation.QUOTED and _is_passphrase(value)):
        return True
    if notation is Notation.CONFIGURATION and (index.match(value) or _names_a_type(value)):
        return False
    if _is_code(value, notation) or _type.match(value):
        return False
    if _words_joined.fullmatch(value) or _version.match(value):
        return False
    is_sum = _sum if notation is Notation.CONFIGURATION else _setting
    is_assigned = notation in (Notation.CONFIGURATION, Notation.ENVIRONMENT)
    if is_assigned and (is_sum.fullmatch(value) or _term.fullmatch(value)):
        return False
    if _identifier.match(value) and _telling_identifier.search(value) and not _shuffled(value):
        return any(c.isdigit() for c in value) and notation is not Notation.QUOTED
    if not value.isalnum() and _words_with_dashes.match(value):
        return _is_passphrase(value)
    if value.isdigit():
        return len(value) >= (16 if notation is Notation.CONFIGURATION else 4)
    return len(value) >= 4


def _is_passphrase(value: str) -> bool:
    """Whether a value is words and a number, joined, that do not say what they are for."""
    return bool(_passphrase.fullmatch(value)) and not _telling_identifier.search(value)


def _is_jumble(value: str) -> bool:
    """Whether letters change case too often, and combine too oddly, for words and for names in code."""
    turns = len(_turn.findall(value[:128]))
    if len(value) < 10 or turns < 1 or (turns < 2 and not _digit.search(value)) or call.match(value) or "a-z" in value:
        return False
    if chain.match(value) and not has_odd_part(value):
        return False
    parts = [part for part in re.split("[^A-Za-z]+", value[:128]) if len(part) >= 8] or [re.sub("[^A-Za-z]", "", value)]
    return not is_made_of_words(value) and not all(map(reads_like_words, parts))


def _is_phrase(value: str) -> bool:
    """Whether a value with spaces is a secret, not prose about passwords: its words are then not words."""
    parts = value.split()
    if (
        len(parts) >= 12
        and all(part.isalpha() and part.islower() for part in parts)
        and len(parts) in (12, 15, 18, 21, 24)
    ):
        return True
    return (
        len(parts) <= 4
        and any(_mixes(part) and len(part) >= 4 and not _acronym.fullmatch(part) for part in parts)
        and not _is_code(value)
    )


def _names_a_type(value: str) -> bool:
    if "|" in value and all(map(_type_name.fullmatch, value.split("|"))):
        return True
    is_typed = _typed.fullmatch(value) or has_a_number_inside(value)
    return bool(_type_name.fullmatch(value) or (is_typed and _telling_identifier.search(value)))


def _is_code(value: str, notation: Notation = Notation.BARE) -> bool:
    return looks_like_code(value, is_cut=notation >= Notation.ENVIRONMENT)


def has_random_part(value: str) -> bool:
    """Whether one of the parts of a value was drawn: `imageRuntimeJoin2` was not, although it has a digit."""
    parts = re.split(r"[\W_]+", value)
    return any(len(part) >= 12 and looks_random(part) and not is_name_in_code(part) for part in parts)


def _has_long_part(value: str) -> bool:
    return any(len(part) >= 20 and not is_made_of_words(part) and looks_random(part) for part in value.split("/"))


def _mixes(value: str) -> bool:
    """Whether a value has letters and digits, or either beside a special character that words do not have."""
    if not _digit_or_sign.search(value):
        return False
    letter, digit = _letter.search(value), _digit.search(value)
    return bool((letter and digit) or ((letter or digit) and _sign.search(value.rstrip("!?"))))


def _looks_chosen(value: str) -> bool:
    """Whether somebody chose this as a password, among text that might be code or prose: `hunter2`, `Tr0ub4dor&3`."""
    if len(value) >= 12 and _is_jumble(value):
        return True
    if len(value) < 5 or not (_mixes(value) or _is_drawn(value)) or _is_code(value):
        return False
    if (call.match(value) or index.match(value)) and is_nested(value):
        return False
    if _names_a_type(value):
        return False
    if _plain_number.match(value) or _date.match(value) or _version.match(value):
        return False
    if _identifier.match(value) and _telling_identifier.search(value):
        return False
    if _words_joined.fullmatch(value) or _sum.fullmatch(value) or _is_algorithm(value):
        return False
    return value[0] not in "[({" and not (value[0] in "!=<>&|+-*/)}]" and not any(c.isdigit() for c in value))


def _is_algorithm(value: str) -> bool:
    """Whether a value is capitals with a part made only of letters: `AES256_CBC_HMAC`."""
    return value.isupper() and bool(_constant.fullmatch(value)) and any(map(str.isalpha, value.split("_")))


def _is_key(value: str, promise: Promise, notation: Notation) -> bool:
    if is_salt(value) or (promise is Promise.KEY and len(value) >= 16 and " " not in value and _is_jumble(value)):
        return True
    if len(value) < _shortest_key(promise, notation) or " " in value.strip() or "\n" in value or "%20" in value:
        return False
    has_key_letters = _key_letters.fullmatch(value) is not None
    if notation > Notation.QUOTED and not has_key_letters:
        return False
    if notation is Notation.BARE and (_words_joined.fullmatch(value) or call.match(value) or _sum.fullmatch(value)):
        return False
    if promise <= Promise.OWNED and (_is_no_key(value, promise, notation) or is_label(value)):
        return False
    if notation >= Notation.CONFIGURATION and (
        is_name_in_code(value)
        or has_a_number_inside(value)
        or _names_a_type(value)
        or (_constant.fullmatch(value) and not has_random_part(value))
    ):
        return False
    if value.isupper() and _constant.fullmatch(value) and _telling_end.search(value) and not has_random_part(value):
        return False
    if _is_code(value, notation) or (_plain_number.match(value) and not value.isdigit()) or _in_order.search(value):
        return False
    if value.isdigit():
        return len(value) >= 16 and promise is Promise.KEY
    if not has_key_letters:
        is_odd = not is_nested(value) or (len(value) >= 32 and entropy(value) >= 4.5 and has_random_part(value))
        return len(value) >= 16 and _mixes(value) and is_odd
    if (len(value) < 16 and _hex.fullmatch(value)) or _key_id.fullmatch(value):
        return False
    if (
        promise is Promise.WEAK
        and notation not in (Notation.ENVIRONMENT, Notation.DICT_VALUE)
        and entropy(value) < (3.0 if _hex.fullmatch(value) else 3.5)
    ):
        return False
    return looks_random(value)


def _shortest_key(promise: Promise, notation: Notation) -> int:
    """The length from which a value beside a name may be a key."""
    if promise is Promise.OWNED and notation in (Notation.QUOTED, Notation.ENVIRONMENT, Notation.CONFIGURATION):
        return 16
    if promise <= Promise.OWNED:
        return 20
    return 12 if notation is Notation.BARE else 8


def _is_no_key(value: str, promise: Promise, notation: Notation) -> bool:
    """Whether a value beside `key` is not one: a path, an id, words, a public key, a name in code."""
    is_owned = promise is Promise.OWNED
    if (
        len(value) > 512
        or value[0] in "/."
        or "," in value
        or value.startswith("0x")
        or (_uuid.fullmatch(value) and not is_owned)
        or _public_key.match(value)
        or (promise is Promise.WEAK and value.isalpha() and value.islower())  # what a prompt asks back
        or (len(value) == 40 and value.isupper() and _hex.fullmatch(value))  # a fingerprint of OpenPGP
    ):
        return True
    if _uuid.fullmatch(value) or _hex.fullmatch(value):
        return not is_owned and notation in (Notation.BARE, Notation.CONFIGURATION)  # just as likely a hash
    return is_made_of_words(value) or (notation is Notation.BARE and ("(" in value or bool(chain.match(value))))


def is_salt(value: str) -> bool:
    """Whether this was drawn from a whole keyboard, blanks included, like the salts and keys of web applications."""
    return (
        40 <= len(value) <= 160
        and len(set(_keyboard.findall(value))) >= 7
        and len(set(value)) >= 24
        and bool(_digit.search(value))
        and "\n" not in value
        and not is_made_of_words(value)
    )


def looks_random(value: str) -> bool:
    """Whether a value was drawn rather than written: mixed letters and digits, or more mixed case than words have."""
    if _version.match(value) or _date.match(value):
        return False
    digits = len(_digit.findall(value))
    if _words_with_dashes.match(value):  # words, and up to three digits at the end
        is_one = value.isalnum() and len(value) >= 16 and not _telling_identifier.search(value)
        return _shuffled(value) or (is_one and bool(digits) and entropy(value) >= 3.3) or _is_drawn(value)
    if digits and _letter.search(value):
        is_odd = digits >= 2 or len(value) >= 16 or bool(_sign.search(value))
        return (is_odd and entropy(value) >= (2.5 if len(value) < 16 else 3.0)) or _is_drawn(value)
    return (len(value) > 15 and _shuffled(value)) or _is_drawn(value)


def _is_drawn(value: str) -> bool:
    """Whether a value is nothing but letters and digits, with letters that do not read like words."""
    if len(value) < 10 or not value.isalnum():
        return False
    letters = "".join(filter(str.isalpha, value))
    return len(letters) >= 6 and not reads_like_words(letters)


def _shuffled(value: str) -> bool:
    """Whether case changes more often than in camelCase, or more consonants come in a row than in words."""
    if len(value) < 16 or len(set(value)) < 12 or entropy(value) <= 3.5:  # few letters cannot have more
        return False
    return len(_turn.findall(value)) * 5 >= len(value) or bool(_consonants.search(value))


def is_key_in_hex(value: str) -> bool:
    """Whether this is hex digits or a uuid that may be a key, not the fingerprint of one: 40 digits in capitals, or
    16."""
    return len(value) >= 20 and not (len(value) == 40 and value.isupper()) and looks_random(value)
