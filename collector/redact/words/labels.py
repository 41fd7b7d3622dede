"""What names a thing in a cache, a package, a test or a file: words, numbers, versions and hashes joined by signs.

Such a label may be as long and as odd as a key, but was not drawn at random: `Linux-gems-<sha>`, `jjwt-api:0.11.5`.
"""

from __future__ import annotations

import re
import unicodedata

from collector.redact.lazy import regex
from collector.redact.words.code import has_odd_part, is_code_word, is_name_in_code
from collector.redact.words.letter_pairs import reads_like_words

_between = regex(r"[^\W_]+")
_number = regex(r"v?\d{1,10}(?:[a-z]{1,2}\d?)?")
_hash = regex(r"[0-9a-f]{6,64}|[0-9A-F]{6,64}")
_size = regex(r"(?:^|[/_-])\d{2,5}x\d{2,5}(?:[/_.-]|$)")
_ending = regex(r"\.(?:[a-z]{2,5}\d?|7z)$")
_coordinate = regex(
    r"[A-Za-z][\w.-]*(?::(?:jar|pom|war|aar|[a-z][\w.-]*))*:v?\d+(?:\.[\w-]+)+(?::\w+)*"
    r"|(?:npm|workspace|file|link|catalog|patch|portal|github|git\+\w{2,5}):.*"
    r"|@?[A-Za-z][\w./-]*@[v^~]?\d+\.\d+[\w.+-]*"
)
_line_of_a_file = regex(r"[\w./@-]*/[\w./-]+\.[a-z]{1,4}:\d+(?:\D.*)?")
_package_file = regex(r"[\w.+~%:-]+\.(?:deb|rpm|whl|apk|jar|tgz|tar\.gz|exe|dmg|msi)")
_environment_name = regex(
    r"[A-Z][A-Z0-9]{0,20}(?:_[A-Z0-9]{1,20}){0,5}_(?:PASSWORD|PASS|SECRET|TOKEN|KEY)(?:_[A-Z]{1,12})?"
)
_names_one = regex(
    r"(?:[A-Za-z]+\d{0,2}[_-])*(?:pass(?:word|wd|phrase)?|pwd?|secret|token)\d{0,2}(?:[_-][A-Za-z]+\d{0,2})*",
    re.IGNORECASE,
)
_debian_version = regex(r"(?:\d+:)?\d+(?:\.\d+)+(?:[+~-][A-Za-z0-9.+~-]*)?|(?:amd|arm|i)\d{2,3}(?:el|hf)?")
_media = regex(
    r"[\w./@+ -]*/[\w.@+-]+\.(?:png|jpe?g|gif|webp|svg|heic|mp[34]|mov|pdf|csv|parquet|tar|t?gz|zip|jsonl?|wasm|log|db)"
)
_account_line = regex(r"(?:\d+:)?[A-Za-z_][\w.$-]*:(?:x|\*|!{1,2}|):\d*")
_cache_key = regex(r"(?:Linux|macOS|Windows|Darwin|linux|darwin|win32)-[\w.-]{1,80}-[0-9a-f]{40,64}")
# Names of documents, algorithms and encodings; and what ssh begins its messages with.
_standard = regex(
    r"(?i)(?:rfc|pkcs|sha|md|utf|iso|iec|ieee|fips|bcp|aes|rc|base|tls|ssl|argon|http|ipv|ed|curve|debug|hmac-?sha)[-_#]?\d{1,5}(?:-\d{1,4})?"
    r"|[EHPR]S(?:256|384|512)|(?i:office365)|\d{1,3}-[A-Z]{2,5}|(?i:x?chacha20(?:-?poly1305)?)|[1-5]\d\d/[1-5]\d\d"
)
_ciphers = regex(r"[-+!]?[A-Z][A-Z0-9-]{1,20}(?:[:+][-+!]?[A-Z][A-Z0-9-]{1,20}){1,30}")
_number_type = regex(r"[*&\[\]]{0,6}(?:[a-z]\w{0,20}\.)?(?:u?int|float|complex|char|wchar|rune|[iuf])\d{0,3}(?:_t)?")
_camel = regex(r"[a-z]+(?:[A-Z][a-z]+\d{0,2})+")
_uuid = regex(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_hex_number = regex(r"-?0x[0-9a-fA-F_]{1,16}[uUlL]{0,3}")


def is_joined(value: str) -> bool:
    """Whether a value is words and numbers, with at least one word, joined by signs:
    `checkpoint-2026-01-15-shard-60`."""
    parts = _between.findall(value)
    return len(parts) > 1 and _has_word(parts) and all(_number.fullmatch(part) or is_code_word(part) for part in parts)


def is_camel(value: str) -> bool:
    """Whether a value is a name in code made of words, perhaps with numbers between them: `stringToUint8Array`."""
    letters = "".join(filter(str.isalpha, value))
    return bool(_camel.fullmatch(value)) and reads_like_words(letters.lower())


def is_label(value: str) -> bool:
    """Whether a value is words and numbers joined to a hash, a size or a file extension."""
    parts = _between.findall(value)
    if len(parts) < 2:
        return False
    if _size.search(value) or (_ending.search(value) and _has_word(parts)):
        return True
    is_named = all(_number.fullmatch(part) or _hash.fullmatch(part) or is_code_word(part) for part in parts)
    return is_named and _has_word(parts[:-1], 4)


def is_of_a_file(value: str) -> bool:
    """Whether a value is a package with its version, a line of /etc/passwd, a number in hex digits: no secret beside
    any name."""
    return bool(
        _coordinate.fullmatch(value)
        or _debian_version.fullmatch(value)
        or _account_line.match(value)
        or _media.fullmatch(value)
        or _package_file.fullmatch(value)
        or _line_of_a_file.fullmatch(value)
        or _environment_name.fullmatch(value)
        or (("_" in value or "-" in value) and _names_one.fullmatch(value) and not has_odd_part(value))
        or _hex_number.fullmatch(value)
        or _cache_key.fullmatch(value)
        or _standard.fullmatch(value)
        or _number_type.fullmatch(value)
        or (":" in value and _ciphers.fullmatch(value) and not any(map(str.isdigit, value)))
    )


def is_in_another_language(text: str, first: int, last: int) -> bool:
    """Whether a value is nothing but words with letters beyond ASCII: the label of a field, in the files that translate
    an interface. Rules see some of these letters as question marks, and may stop before one."""
    if _of_environment.search(text, max(0, first - 4), first):
        return False
    if _without_blanks.search(text, first, last):
        return True
    while last < len(text) and text[last].isalpha():
        last += 1
    while first > 0 and text[first - 1].isalpha():
        first -= 1
    value = text[first:last]
    return not value.isascii() and all(map(_is_of_a_word, _about.sub("", value)))


_of_environment = regex(r"[A-Z0-9]=[\"']?\Z")  # DB_PASSWORD=: translations have other names
_without_blanks = regex(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}")  # kana, Chinese, Korean
_about = regex(r"(?<!\S)[A-Z]{2,}[a-z]*\d(?!\d)|(?<![^\W\d_])(?:POP3|OAuth2|IPv6)")


def is_translated(value: str, name: list[str]) -> bool:
    """`secret: "Hemlighet"`, `PW: "Palau"`: a capitalized word beside a name that is rarely a password's."""
    return value.isalpha() and value.istitle() and len(value) <= 20 and (name == ["pw"] or name[-1:] == ["secret"])


def _is_of_a_word(sign: str) -> bool:
    return sign.isalpha() or sign in " '\u2019-.,:!?\u2026()\xb7" or unicodedata.category(sign).startswith("M")


_RESULTS = frozenset(["scan", "fail", "warn", "skip", "pass"])


def is_result(value: str, is_reported: bool) -> bool:
    """Whether a value is what follows `pass` in a test report: a count, the name of a test, the file it is in. After
    `PASS: ` it may be just a word."""
    is_count = bool(re.fullmatch(r"[\d/.,%]+", value))
    return (
        is_count
        or value in _RESULTS
        or (is_reported and (bool(_uuid.fullmatch(value)) or (value.isalpha() and value.islower())))
        or is_joined(value)
        or is_name_in_code(value)
        or bool(re.search(r"[/|(\[]|::", value))
    )


def _has_word(parts: list[str], shortest: int = 3) -> bool:
    letters = [part.rstrip("0123456789") for part in parts]
    return any(len(part) >= shortest and part.isalpha() and reads_like_words(part, in_five=2) for part in letters)
