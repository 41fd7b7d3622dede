"""The rules for logins as people tell them: `login is bob / X`, `creds are root X`, `admin:X`, `u: bob p: X`.

Prose is full of these words, so what follows must look chosen: letters and digits, or a sign no word has.
"""

from __future__ import annotations

import re

from collector.redact.rule import Rule, Spans
from collector.redact.words.code import is_numbered_name
from collector.redact.words.labels import is_of_a_file
from collector.redact.words.letter_pairs import is_made_of_words
from collector.redact.words.names import Promise
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import Notation, is_secret

_USER = r"[A-Za-z0-9_.@-]{1,60}"
_TOLD = r"(?P<secret>[^\s\"'`<>\\\x90\x91]{6,100})"
_line_end = re.compile(rb"[ \t]{0,8}(?:[\r\n\x90\x91]|\\+[nr]|\Z)")
_letter, _digit = re.compile("[^\\W\\d_]"), re.compile(r"\d")
_commit_or_field = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{7,12}|[0-9A-F]{16})$|[A-Za-z_]{1,20}=")
_dashed_words = re.compile(r"(?:[A-Za-z]{2,12}[-_.]){2,6}\d{2,4}")
_word_and_number = re.compile(r"[A-Za-z]{4,20}[!@#$%^&*+=~?]\d{2,6}[!?&%]?")
_no_password = re.compile(
    r"https?:|[A-Za-z]{1,10}\d+(?:\.\d+)+|/?[\w.-]{1,80}/[\w./-]{1,100}|\d[\d.:/,-]*[a-z]{0,3}|[\w.-]{1,60}\([^)]{0,60}\)?|v?\d+\.\d"
)


def looks_told(value: str) -> bool:
    """Whether somebody who tells a login in prose would mean this by the password."""
    if _no_password.fullmatch(value) or is_placeholder(value) or not (_letter.search(value) and _digit.search(value)):
        return False
    if is_numbered_name(value) or is_of_a_file(value) or _commit_or_field.match(value):
        return False
    digits = len(_digit.findall(value))
    if value[0] in ":/.,;)]}>=|" or (digits < 3 and value.islower() and not value.isalnum()):
        return False
    if _dashed_words.fullmatch(value) or _word_and_number.fullmatch(value):
        return True
    is_word = value.islower() and is_made_of_words(value) and digits < 3
    return not is_word and is_secret(value, Promise.PASSWORD, Notation.BARE)


def _told(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    first, last = match.span("secret")
    if text[first - 2 : first] == b"| ":  # a filter of a template, or the next cell
        return []
    if text[first - 1 : first] == b"\n" and text.count(b"\n", match.start(), first) < 2:  # each has a line, or none
        return []
    while last > first and text[last - 1] in b",;.)]}:":
        last -= 1
    return [(first, last)] if last - first >= 6 and looks_told(text[first:last].decode("latin-1")) else []


def _pair_alone(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """`admin:X`, with nothing else on the line."""
    is_alone = match.start() == start or text[match.start() - 1] in b"\n\x91"
    return _told(text, match, start, stop) if is_alone and _line_end.match(text, match.end("secret"), stop) else []


_LOGIN = (
    rf"(?i:logins?|credentials?|creds?)(?:\s(?i:is|are|was|for\s{_USER}:?))?:?\s{{1,3}}"
    r"(?:\S\s)?"
    rf"(?:(?i:user(?:name)?|login|admin user)[:=]?\s)?{_USER}(?:[ ]?[/|:,][ ]?|\s{{1,3}})"
)
# What is told has a digit, and few of the words behind a login have one: the scanner need not stop at the others.
_WITH_DIGIT = r"[^\s\"'`<>\\\x90\x91]{0,99}[0-9]"

TOLD_RULES = (
    Rule(
        "structure",
        "told-login",
        rf"{_LOGIN}{_TOLD}",
        trigger=rf"{_LOGIN}{_WITH_DIGIT}",
        locate=_told,
        around=0,
        after="",
        about="a user and a password, told in a sentence",
        examples=("login is bob / {a-z:6}{0-9:4}X", "creds are root {A-Za-z0-9:12}7", "creds: admin / {A-Za-z0-9:12}7"),
        near_misses=("login is required / optional2", "account is locked since yesterday", "creds: user / password"),
    ),
    Rule(
        "structure",
        "told-pair",
        rf"(?:[Uu]: |(?i:user|usr|login|username)\s?[:=]\s?){_USER}[ \t,;/|]{{1,4}}"
        rf"(?i:p|pw|pass|pwd|password)\s?[:=]\s?{_TOLD}",
        locate=_told,
        around=0,
        after="",
        about="a user and a password, one behind the other",
        examples=("u: bob p: {A-Za-z0-9:12}7", "user: bob, p: {A-Za-z0-9:12}7"),
        near_misses=("u: bob p: ${{PASSWORD}}", "user: x p: optional"),
    ),
    Rule(
        "structure",
        "told-password",
        rf"(?i:passwords?|passwd|passwort|passphrase|pwd|contrase\S{{1,2}}a|senha)[ ]"
        rf"(?:(?i:for|of|on)[ ]\S{{1,60}}[ ])?(?:(?i:ist|es|\S{{1,2}}|is|now|of)[ ])?"
        rf"(?:\S[ ])?{_TOLD}",
        locate=_told,
        around=0,
        before="0-9A-Za-z$",
        after="",
        about="a password told in a sentence",
        examples=("ssh bob@host password {A-Za-z0-9:12}7", "the new password {a-z:6}#{A-Z:2}{0-9:3}"),
        near_misses=("password 12345678 lines", "password reset-link-2 is", "the password policy2.md"),
    ),
    Rule(
        "structure",
        "told-token",
        rf"(?i:this|the|my|new|your)[ ](?i:token|key|secret)(?::[ ]|[ ](?:(?i:is)[ ])?){_TOLD}",
        locate=_told,
        around=0,
        after="",
        about="a token told in a sentence",
        examples=("use this token {A-Za-z0-9:14}7 to deploy",),
        near_misses=("use this token {a-z:12} to deploy", "the key utf8mb4_unicode_ci"),
    ),
    Rule(
        "structure",
        "client-login",
        r"(?:xhs?|https?|httpie|hurl|siege|ab|lftp|mosquitto_[ps]ub|smbmap|nxc)\s(?:[^\n|;\x90\x91]{0,100}?\s)?"
        rf"(?:-a|-A|--auth|-u)[ =]\\{{0,3}}[\"']?{_USER}:{_TOLD}",
        locate=_told,
        around=0,
        after="",
        about="the login that a client of the command line is given",
        examples=("xh -a bob:{A-Za-z0-9:14}7 post :3000/login",),
        near_misses=("xh -a bob:$PASS get host/login", "http -a bob:password :3000"),
    ),
    Rule(
        "structure",
        "bare-login",
        r"(?:admin|root|administrator|postgres|ubuntu|user|deploy|pi|guest|demo|test|sa|oracle|jenkins|ec2-user):"
        r"(?P<secret>[^\s\"'`<>\\:/\x90\x91]{7,60})",
        locate=_pair_alone,
        around=(2, 16),
        after="",
        about="a user and a password alone on a line",
        examples=("admin:{a-z:6}{0-9:4}&X", "root:{A-Za-z0-9:12}7"),
        near_misses=("root:x:0:0:root:/root:/bin/bash", "user:password1", "postgres:16-alpine"),
    ),
)
