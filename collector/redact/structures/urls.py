"""The rules for URLs with credentials: a password after the user, in the URL or in one that is part of it, or a key in
place of the user.

A password may hold the very signs that end a host. What follows a colon is a port only if it can be nothing else.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.placeholders import is_placeholder
from collector.redact.words.values import looks_random

_url_secret = regex(rb"[^\s\"'`<>\\\x91\x90]*")
_document = regex(rb"@(?:[\w.-]{1,60}\.)?example\.(?:com|org|net)\b")  # reserved for documentation
_filled_in = regex(r"\{[A-Za-z_][\w.]{0,60}\([\w.\[\]'\", =]{0,80}\)\}")  # {quote(password)}
_port = regex(r"\d{1,5}/")
_port_and_query = regex(r"\d{2,5}\?")
# What can only be an address before its path, query or fragment. A colon may yet begin a password in the query.
_host = regex(
    rb"(?:[\w.-]+:\d{3,5}[?#](?:[a-z][\w.\[\]-]{0,60}=|!?/)"
    rb"|\[[0-9A-Fa-f:.]{2,45}(?:%[\w%]{1,20})?\](?::\d{1,5})?[/?#])[^:]*"
)
_COMMON_USERS = frozenset(b"user username usr root admin me foo name login u".split())


def _url_password(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """What is between the user and the host: everything up to the last @ before the path."""
    first = match.start("secret")
    run = _url_secret.match(text, first, min(stop, first + 512))
    end = run.end() if run else first
    authority = re.search(rb"[/?#]", text[first:end])
    at = text.rfind(b"@", first, first + authority.start() if authority else end)
    if at < 0:  # a password with an unescaped slash
        at = text.rfind(b"@", first, end)
        if at < 0 or text.count(b"/", first, at) > 8 or b"://" in text[first:at]:
            return []
    user = match["user"]
    if user.rfind(b"{") > user.rfind(b"}"):  # the colon is part of `${USER:-app}`: the password comes after its end
        closed = text.find(b"}:", first, at)
        if closed < 0:
            return []
        first = closed + 2
    value = text[first:at].decode("latin-1")
    if _port.match(value) or _host.fullmatch(text, match.start("user"), at):
        return []
    if len(value) <= 4 and _document.match(text, at):
        return []
    if not value or is_placeholder(value.strip("[]()<>")) or value.startswith("[REDACTED:"):
        return []
    if _filled_in.fullmatch(value):
        return []
    if value.startswith("pserver:") and not user:  # how CVS names a server that asks for a password
        return []
    if value.encode("latin-1") == user or (
        user in _COMMON_USERS and value.isalpha() and value.islower() and len(value) < 8
    ):
        return []
    return [(first, at)]


def _encoded_url_password(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """The same in a URL that is part of another. A path has slashes, a password and the user before it have none."""
    user, value = (unquote(match[name].decode("latin-1"), "latin-1") for name in ("user", "secret"))
    is_one = not is_placeholder(value) and value != user and not _port_and_query.match(value)
    return [match.span("secret")] if is_one and "/" not in user + value else []


def _url_user(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    value = match["secret"].decode("latin-1")
    return [match.span("secret")] if not is_placeholder(value) and looks_random(value) else []


URL_RULES = (
    Rule(
        id="url-password",
        provider="structure",
        pattern=r"(?i:[a-z][a-z0-9+.-]{1,30})(?P<first>:)\\{0,3}/\\{0,3}/(?P<user>[^\s:/@\"'`<>\\\x91\x90?#]{0,100}(?:@[A-Za-z0-9.-]{1,60})?):(?P<secret>[^\s@/\"'`<>\\\x91\x90][^\s\"'`<>\\\x91\x90]{0,255}?)@",
        locate=_url_password,
        around=600,
        before="",
        after="",
        examples=("postgres://app:{A-Za-z0-9:16}@db.internal:5432/main", "https://ci:{a-z0-9:20}@git.internal/x.git"),
        near_misses=(
            "https://example.org:8080/a@b",
            "postgres://user:${DB_PASSWORD}@db/main",
            "http://user:password@host/",
            "https://app.internal:8443?page=2&email=ada@app.internal",
            "https://app.internal:8443#/users/@ada",
            "http://[::1]:8443/users/@ada",
        ),
    ),
    Rule(
        id="encoded-url-password",
        provider="structure",
        pattern=(
            r"[a-z][a-z0-9+.-]{1,30}%3a(?:%2f|/){2}(?P<user>[^\s:/@\"'`<>\\\x91\x90?#&]{0,100}?)(?:%3a|:)"
            r"(?P<secret>[^\s:/@\"'`<>\\\x91\x90?#&]{3,200}?)(?:%40|@)"
        ),
        locate=_encoded_url_password,
        around=0,
        folds=True,
        after="",
        about="the password in a URL that is part of another URL",
        examples=("?next=postgres%3A%2F%2Fapp%3A{A-Za-z0-9:16}%40db.internal%2Fmain",),
        near_misses=(
            "?next=https%3A%2F%2Fapp.internal%3A8080%2Fusers%2F%40ada",
            "?next=postgres%3A%2F%2Fuser%3Apassword%40localhost%2Fmain",
        ),
    ),
    Rule(
        id="url-user",
        provider="structure",
        pattern=r"(?i:https?)://(?P<secret>[A-Za-z0-9_-]{20,200})@",
        locate=_url_user,
        around=0,
        before="",
        after="",
        examples=("https://{A-Za-z0-9:40}@git.internal/x.git",),
        near_misses=("https://deploy-user-for-the-cluster@git.internal/x.git",),
    ),
)
