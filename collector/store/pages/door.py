"""Who may see the pages: whoever has the token, in a browser that calls this machine by its own name.

In: a request. Out: the page behind, a sign-in, or a refusal; every answer carries the headers that restrict the
browser. Invariant: nothing behind is asked before Host, Origin and the token have been checked (the token not for style
and script, which are the same for everybody).

The token comes once, in the address or from the sign-in, and is exchanged for a cookie that no script can read and no
other site can send. A foreign page that points its own name at this machine (DNS rebinding) comes with that name as
Host, so only IP addresses and the given names are answered. A cookie that another user of this machine gets hold of is
of no use: it is only good for the user who brought the token.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs, parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from collector.store.pages.peer import user_at

LARGEST_SIGN_IN = 4096
SIGN_IN_SECONDS = 10.0  # for the body of a sign-in to arrive
MAY_USE_TICKETS = {"", "0", str(os.geteuid())}  # unknown, root, or whoever runs this
OPEN = "/static/"  # style and script of the sign-in; the same for everybody
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
SignIn = Callable[[str, str], Response]  # a complaint, and the place to go to afterwards
_host = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::\d{1,5})?", re.ASCII)


class Door:
    """An ASGI application in front of another one; `names` are host names that it answers to besides IP addresses."""

    def __init__(
        self,
        behind: ASGIApp,
        sign_in: SignIn,
        token: str,
        names: frozenset[str] = frozenset(),
        patience: float = SIGN_IN_SECONDS,
    ) -> None:
        self._behind = behind
        self._sign_in = sign_in
        self._token = token.encode()
        self._names = frozenset(name.lower() for name in names) | {"localhost"}
        self._patience = patience
        self._ticket = b""

    def ticket(self) -> str:
        """A token that works once, for the user who runs this: everybody on the machine can see the command line that
        starts a browser, and could be faster than it."""
        made = secrets.token_urlsafe(32)
        self._ticket = made.encode()
        return made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request in, or answers it here."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                raw = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                if not any(name == b"cache-control" for name, _ in message["headers"]):
                    raw.append((b"cache-control", b"no-store"))
                message["headers"] = [*message["headers"], *raw]
            await send(message)

        request = Request(scope, receive)
        answer = await self._answer(request)
        await (answer or self._behind)(scope, receive, with_headers)

    async def _answer(self, request: Request) -> Response | None:
        """The answer at the door; None lets the request in."""
        # The path that chooses the page. `request.url` is put together from it and the Host header, so a Host with a
        # slash in it could pretend, to some versions of Starlette, that another page was asked for.
        headers, path = request.headers, request.scope["path"]
        if not self._is_known(headers.get("host", "")):
            return PlainTextResponse("This server does not answer to that name. Use the address it printed.", 421)
        if not _is_same_origin(request.url.scheme, headers):
            return PlainTextResponse("Requests from other sites are not answered.", 403)
        if path == "/sign-in" and request.method == "POST":
            return await self._take_token(request)
        if request.method not in {"GET", "HEAD"}:
            return PlainTextResponse("These pages are read-only.", 405, {"allow": "GET, HEAD"})
        if path.startswith(OPEN):
            return None
        given = request.query_params.get("token")
        rest = [pair for pair in parse_qsl(request.url.query, keep_blank_values=True) if pair[0] != "token"]
        place = path + (f"?{urlencode(rest)}" if rest else "")
        if path == "/sign-in":  # there is no page, but a browser shows this address after a wrong token
            place = request.query_params.get("to", "/")
        if given is not None and self._is_right(given, request):
            return self._let_in(request, place)
        if self._has_cookie(request):
            return None
        return self._sign_in("" if given is None else "This token is wrong or no longer valid.", place)

    async def _take_token(self, request: Request) -> Response:
        body = b""
        try:
            async with asyncio.timeout(self._patience):  # anybody may send this, and connections are few
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > LARGEST_SIGN_IN:
                        return PlainTextResponse("That is not a token.", 413)
        except TimeoutError:
            return PlainTextResponse("The token did not arrive in time. Try again.", 408)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        given = parse_qs(body.decode("ascii", "replace")).get("token", [""])[0]
        place = request.query_params.get("to", "/")
        if self._is_right(given.strip(), request):
            return self._let_in(request, place)
        return self._sign_in("Wrong token.", place)

    def _is_right(self, given: str, request: Request) -> bool:
        if self._ticket and hmac.compare_digest(given.encode(), self._ticket) and _user(request) in MAY_USE_TICKETS:
            self._ticket = b""
            return True
        return hmac.compare_digest(given.encode(), self._token)

    def _let_in(self, request: Request, place: str) -> Response:
        answer = RedirectResponse("/" + place.lstrip("/\\"), 303)
        is_tls = request.url.scheme == "https"
        answer.set_cookie(_name(request), self._cookie_for(request), httponly=True, samesite="strict", secure=is_tls)
        return answer

    def _has_cookie(self, request: Request) -> bool:
        given = request.cookies.get(_name(request), "")
        return hmac.compare_digest(given.encode(), self._cookie_for(request).encode())

    def _cookie_for(self, request: Request) -> str:
        """A cookie for the user of this machine who brought the token: a browser gives its cookies to whatever listens
        on any port of the same address, and another port may be somebody else's."""
        return hmac.new(self._token, b"collector pages " + _user(request).encode(), hashlib.sha256).hexdigest()

    def _is_known(self, host: str) -> bool:
        """Whether a Host header is an address, or a name of ours, and nothing more than that and a port."""
        found = _host.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]")
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower() in self._names
        return True


def _is_same_origin(scheme: str, headers: Headers) -> bool:
    origin = headers.get("origin")
    if origin is not None and origin != f"{scheme}://{headers.get('host', '')}":
        return False
    is_foreign = headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"}
    return not is_foreign or headers.get("sec-fetch-mode") == "navigate"


def _user(request: Request) -> str:
    return user_at(request.client, request.scope.get("server"))


def _name(request: Request) -> str:
    """The name contains the port, because cookies ignore ports: two stores on one machine would sign each other out."""
    return f"collector-{request.url.port or 'web'}"
