"""The rules for passwords told so plainly that one may be a word: `the password is otter, user is bob`.

Also the addresses of accounts with their passwords, and the keys that set up an authenticator.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.structures.told import looks_strong, looks_told
from collector.redact.words.letter_pairs import reads_like_words
from collector.redact.words.names import word_set
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import entropy

_CALLED = r"(?:password|passwd|passphrase|passwort|pwd?|pass|mdp|mot de passe)"
_IS = r"[ ](?:is|ist|est)[ ]"
_WORD = r"[^\s\"'`<>\\,;\x90\x91]{4,60}?"
_AND = r"[\"'`]?(?:[,;]?[ ](?:(?:and|und|et)[ ])?|[ ]?[,;/][ ]?)(?:(?:the|my|der|le|l')[ ]?)?"
_USER = r"(?:user(?:name)?|login)"
_USER_IS = rf"{_USER}{_IS}"  # rare enough for the scanner to stop at
_line_end = regex(rb"[ \t.!]{0,4}(?:[\r\n\x90\x91\"]|\\+[nr\"]|\Z)")
# What is said about a password, and is not one itself.
_SAID = word_set(
    """
    valid invalid correct incorrect wrong right empty long short weak strong same different unknown missing null
    none blank there here fine okay good okay secret safe secure optional mandatory plain public private admin root
    visible hidden always never also only just still still now that what which this your then true false sent read case
    """
)
_piece = regex(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+){1,4}")
_participle = regex(r"[a-z]+(?:ed|ing|able|ible|ired|set|ert|iert|elt)")


def _is_a_word(value: str) -> bool:
    """Whether this may be the password itself, not what is said about it."""
    if is_placeholder(value) or value.lower() in _SAID or _participle.fullmatch(value.lower()):
        return False
    return value[0].isalnum() and not value.isdigit() and "(" not in value and "=" not in value


def _word(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    return [match.span("secret")] if _is_a_word(match["secret"].decode("latin-1")) else []


def _last_word(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """The same for what ends a line or a clause."""
    first, last = match.span("secret")
    while last > first and text[last - 1] in b".,;:!?)":
        last -= 1
    is_end = text[last : last + 1] in (b",", b";", b".") or _line_end.match(text, last, stop)
    is_one = last - first >= 4 and is_end and _is_a_word(text[first:last].decode("latin-1"))
    return [(first, last)] if is_one else []


def _beside_address(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    first, last = match.span("secret")
    while last > first and text[last - 1] in b".,;:)*|":
        last -= 1
    value = text[first:last].decode("latin-1")
    is_quoted = match["quote"] != b"" and (looks_told(value) or (_piece.fullmatch(value) is not None))
    is_one = last - first >= 6 and (looks_strong(value) or is_quoted)
    return [(first, last)] if is_one else []


def _setup_key(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """A key in base32, in one piece or in groups of four."""
    value = match["secret"].decode("latin-1").replace(" ", "")
    is_case = value in (value.lower(), value.upper())
    is_drawn = is_case and len(value) >= 16 and any(map(str.isdigit, value)) and entropy(value) >= 2.8
    is_word = " " in match["secret"].decode("latin-1") and reads_like_words(value)
    return [match.span("secret")] if is_drawn and not is_word else []


TOLD_WORD_RULES = (
    Rule(
        "structure",
        "told-word",
        rf"{_CALLED}{_IS}[\"'`]?(?P<secret>{_WORD}){_AND}{_USER}{_IS}",
        trigger=_USER_IS,
        reach_back=160,
        locate=_word,
        around=0,
        folds=True,
        before="0-9A-Za-z_$-",
        after="",
        about="a password in a sentence, before its user",
        examples=("the password is {a-z:9}, user is bob", "pw is {a-z:8} and the login is bob"),
        near_misses=("the password is required and the user is asked", "password is expired, user is locked"),
    ),
    Rule(
        "structure",
        "told-word-after",
        rf"{_USER}{_IS}[\"'`]?[^\s\"'`<>\\,;\x90\x91]{{2,60}}?{_AND}{_CALLED}{_IS}[\"'`]?"
        r"(?P<secret>[^\s\"'`<>\\,;\x90\x91]{4,60})",
        trigger=_USER_IS,
        locate=_last_word,
        around=(0, 12),
        folds=True,
        before="0-9A-Za-z_$-",
        after="",
        about="a password in a sentence, after its user",
        examples=("user is bob, password is {a-z:9}.", "login is bob and pw is {a-z:8}"),
        near_misses=("the user is unknown and the password is wrong", "user is bob, password is not known yet"),
    ),
    Rule(
        "structure",
        "told-for",
        r"(?:[Uu]se|[Tt]ry|[Ee]nter|[Tt]ype|[Nn]utze|[Nn]imm|[Vv]erwende|[Bb]enutze)[ ](?:(?:this|it|das|dies)[ ])?"
        r"(?:for|as|f[^\s]{1,2}r)[ ](?:(?:the|das|den|die)[ ])?(?:sudo|root|ssh|su|login)"
        r":[ ][\"'`]?(?P<secret>[^\s\"'`<>\\\x90\x91]{5,80})",
        trigger=r"[rs][ ](?:(?:the|das|den|die)[ ])?(?:sudo|root|ssh|su|login):[ ]",
        reach_back=60,
        locate=_last_word,
        around=(0, 12),
        after="",
        about="what a sentence says to use for a login",
        examples=("use for sudo: {a-z:9}", "nimm f\xfcr root: {A-Z:1}{a-z:8}"),
        near_misses=("use for login: required", "use for sudo: $PASSWORD"),
    ),
    Rule(
        "structure",
        "told-address",
        r"[A-Za-z0-9_.+-]{1,60}@[A-Za-z0-9.-]{1,60}[\"'`*]{0,3}[ ][/|][ ](?P<quote>[\"'`*]{0,3})"
        r"(?P<secret>[^\s\"'`<>\\\x90\x91]{6,80})",
        trigger=r"@[A-Za-z0-9.-]{1,60}[\"'`*]{0,3}[ ][/|][ ]",
        reach_back=136,
        locate=_beside_address,
        around=0,
        before="0-9A-Za-z_.+:/-",
        after="",
        about="the address of an account, and its password",
        examples=("`ada@acme.internal` / `{a-z:6}_{A-Z:2}{0-9:4}`", "ada@acme.internal / {a-z:6}#{A-Z:2}{0-9:4}"),
        near_misses=(
            "ada@acme.internal / bob@acme.internal",
            "| ada@acme.internal | 2026-01-12 |",
            "`pkg@acme` / `pkg@1.2.3`",
        ),
    ),
    Rule(
        "structure",
        "told-setup-key",
        r"(?:[Aa]uthenticator|[Tt]wo-factor|[Ss]etup key|TOTP|totp|2FA|MFA|[ ]2fa)[^\n\x90\x91]{0,60}?"
        r"(?:[ ](?:is|ist|est|=|-b|--base32)|[:=(]|[Ss]etup key)[ ]?[\"'`]?"
        r"(?P<secret>[A-Za-z2-7]{16,64}|[a-zA-Z2-7]{4}(?:[ ][a-zA-Z2-7]{4}){3,15})",
        trigger=r"(?:[Aa]uthenticator|[Tt]wo-factor|[Ss]etup key|TOTP|totp|2FA|MFA|[ ]2fa)",
        locate=_setup_key,
        around=0,
        before="0-9A-Za-z",
        after="0-9A-Za-z",
        about="the setup key of an authenticator",
        examples=(
            "the authenticator setup key for the admin is {a-z2-7:14}4k",
            "TOTP: {a-z2-7:4} {a-z2-7:4} {a-z2-7:4} {a-z2-7:2}4k",
        ),
        near_misses=(
            "the authenticator is authenticationhandler",
            "totp is used here with some more words that follow",
        ),
    ),
)
