"""The rules for what signs a URL or comes back in one, and for command lines that join a user and a password.

Anyone who has a signed URL may do what it was signed for; a code in a redirect's query can be exchanged for a token.
"""

from __future__ import annotations

import re

from collector.redact.rule import Rule, Spans
from collector.redact.structures.credentials import chosen
from collector.redact.words.labels import is_joined
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import looks_random

_IN_QUERY = "(?:[A-Za-z0-9+/=_.~-]|%[0-9A-Fa-f]{2})"
_VALUE = r"""[^\s"'`<>\\\x91\x90]"""


def _is_random(secret: str) -> bool:
    return looks_random(secret) and not is_placeholder(secret)


def _is_random_throughout(secret: str) -> bool:
    """The same, and no name of a page: `network-and-peering-in-2024`."""
    return _is_random(secret) and not is_joined(secret)


def whole_input(text: bytes, match: re.Match[bytes], start: int, stop: int) -> Spans:
    """A quoted input, if it has no blank: several words are a query, or instructions to a program."""
    is_quoted = text[match.start("secret") - 1 : match.start("secret")] in (b'"', b"'")
    if is_quoted and text[match.end() : match.end() + 1] == b" ":
        return []
    return chosen(text, match, start, stop)


QUERY_RULES = (
    Rule(
        id="url-signature",
        provider="structure",
        pattern=rf"[?&;](?:x-goog-|x-oss-|x-cos-|x-bce-|x-tos-|oauth_)?signature=(?P<secret>{_IN_QUERY}{{27,1100}})",
        folds=True,
        check=_is_random,
        before="",
        after="",
        about="the signature of a URL",
        examples=(
            "&x-goog-signature={0-9a-f:512}",
            "?expires=1700000000&signature={A-Za-z0-9:27}%3d&key-pair-id=k1",
        ),
        near_misses=("?signature=required", "?x-goog-signature={0-9a-f:8}", "?signatureversion=4"),
    ),
    Rule(
        id="url-code",
        provider="structure",
        pattern=rf"[?&](?:code|ticket|magic|invite_token|sas)=(?P<secret>{_IN_QUERY}{{24,1100}})",
        check=_is_random,
        before="",
        after="",
        about="a code in a URL that can be exchanged for a token",
        examples=("https://app.acme.test/callback?code={A-Za-z0-9_-:43}&state=x",),
        near_misses=("https://app.acme.test/callback?code=E1001", "?code=authentication-is-required-here"),
    ),
    Rule(
        id="url-path-secret",
        provider="structure",
        pattern=(
            r"/(?:(?:password[-_/]?reset|reset[-_/]?password|password/(?:reset|edit)|magic[-_]?link|invit(?:e|ation)s?"
            r"|(?:verify|confirm)[-_]?email|email/(?:verify|confirm))/|private-)(?P<secret>[A-Za-z0-9_-]{20,400})"
        ),
        check=_is_random_throughout,
        before="",
        after="",
        about="a code in the path of a URL that lets its holder in",
        examples=("https://acme.test/reset-password/{0-9a-f:40}", "/ical/a%40acme.test/private-{0-9a-f:32}/basic.ics"),
        near_misses=("/docs/reset-password/how-to-reset-your-account-in-2024", "/private-network-and-peering-in-2024"),
    ),
    Rule(
        id="user-slash-password",
        provider="structure",
        pattern=(
            rf"(?:sqlplus|sqlldr|expdp|impdp|rman target)\s(?:-[A-Za-z]{{1,8}}\s){{0,3}}[\"']?"
            rf"[A-Za-z0-9_$#]{{1,40}}/\\{{0,3}}[\"']?(?P<secret>{_VALUE}{{4,80}}?)\\{{0,3}}[\"']?@"
        ),
        locate=chosen,
        around=0,
        after="",
        about="a login for Oracle's tools",
        examples=("sqlplus -S app/{A-Za-z0-9:12}@db.internal:1521/main",),
        near_misses=("sqlplus /nolog @setup.sql", "sqlplus app/${PASSWORD}@db"),
    ),
    Rule(
        id="user-percent-password",
        provider="structure",
        pattern=(
            rf"(?:smbclient|smbget|rpcclient|smbcacls|net ads|winexe)\s[^\n\x91\x90]{{0,200}}?"
            rf"(?:-U|--user=)\s?\\{{0,3}}[\"']?[A-Za-z0-9_.\\-]{{1,60}}%(?P<secret>{_VALUE}{{4,80}})"
        ),
        locate=chosen,
        around=0,
        after="",
        about="a login for Samba's tools",
        examples=("smbclient //files/share -U dev%{A-Za-z0-9:12} -c ls",),
        near_misses=("smbclient //files/share -U dev -c ls", "smbclient //files/share -U dev%$PASSWORD"),
    ),
    Rule(
        id="domain-login",
        provider="structure",
        pattern=(
            rf"(?:impacket-[a-zA-Z]{{2,20}}|(?:psexec|smbexec|wmiexec|atexec|dcomexec|secretsdump|GetUserSPNs)\.py)\s"
            rf"[^\n\x91\x90]{{0,120}}?[A-Za-z0-9_.-]{{1,60}}/[A-Za-z0-9_.$-]{{1,60}}:\\{{0,3}}[\"']?"
            rf"(?P<secret>{_VALUE}{{4,80}}?)\\{{0,3}}[\"']?@"
        ),
        trigger=r"(?:impacket-[a-zA-Z]|(?:psexec|smbexec|wmiexec|atexec|dcomexec|secretsdump|GetUserSPNs)\.py\s)",
        locate=chosen,
        around=0,
        after="",
        about="a login to a domain on a command line",
        examples=(
            "impacket-smbexec CORP/ci:'{A-Za-z0-9:12}'@host",
            "python3 secretsdump.py corp/ci:{A-Za-z0-9:12}@host",
        ),
        near_misses=("impacket-smbexec CORP/ci@host", "impacket-smbexec CORP/ci:$PASSWORD@host"),
    ),
    Rule(
        id="openssl-passphrase",
        provider="structure",
        pattern=rf"openssl enc [^\n\x91\x90]{{0,200}}?-k\s\\{{0,3}}[\"']?(?P<secret>{_VALUE}{{4,80}})",
        locate=chosen,
        around=0,
        after="",
        about="a passphrase given to openssl",
        examples=("openssl enc -aes-256-cbc -pbkdf2 -k {A-Za-z0-9:12} -in a -out b",),
        near_misses=("openssl enc -aes-256-cbc -k $PASSPHRASE -in a",),
    ),
    Rule(
        id="here-string-password",
        provider="structure",
        pattern=(
            rf"(?:--with-token|--password-stdin|--stdin|sudo -S|passwd)[^\n|<\x91\x90]{{0,120}}<<<\s?\\{{0,3}}[\"']?"
            rf"(?P<secret>{_VALUE}{{6,200}})"
        ),
        locate=whole_input,
        around=4,
        after="",
        about="the input of a command that reads a password",
        examples=('gh auth login --with-token <<< "{A-Za-z0-9:32}"',),
        near_misses=('gh auth login --with-token <<< "$TOKEN"',),
    ),
)
