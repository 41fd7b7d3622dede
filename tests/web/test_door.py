"""Only a browser that has the token and uses a known host name sees a page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from html import escape, unescape
from pathlib import Path

import pytest

from collector.store.pages.door import Door
from collector.store.pages.site import sign_in
from tests.store.samples import event
from tests.web.pages import TOKEN, Browser, stored


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    return Browser(stored(tmp_path / "events.db", [event(text="A prompt", origin="human")]))


def test_the_token_becomes_a_cookie_and_leaves_the_address(browser: Browser) -> None:
    answer = browser.get(f"/sessions?q=a+b&token={TOKEN}", 303)
    assert answer.headers["location"] == "/sessions?q=a+b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN not in cookie
    assert "A prompt" in browser.get("/sessions").text


@pytest.mark.parametrize("path", ["/", "/sessions", "/nothing", "/?token=wrong", "/?token=", "//evil.example/?token=x"])
def test_nothing_is_shown_without_the_token(browser: Browser, path: str) -> None:
    answer = browser.get(path, 401)
    assert "A prompt" not in answer.text
    assert "Sign in" in answer.text


def test_the_sign_in_form_accepts_the_token_too(browser: Browser) -> None:
    assert browser.ask("POST", "/sign-in", data={"token": "wrong"}).status_code == 401
    assert browser.ask("POST", "/sign-in", content=b"x" * 5000).status_code == 413
    answer = browser.ask("POST", "/sign-in", data={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    browser.get("/")


def test_a_sign_in_that_does_not_arrive_is_ended(browser: Browser) -> None:
    """Nobody needs a token to send one, and a receiver has room for 128 connections."""

    async def endless() -> AsyncIterator[bytes]:
        yield b"token="
        await asyncio.Event().wait()

    browser.door = Door(browser.door, sign_in, TOKEN, patience=0.01)
    assert browser.ask("POST", "/sign-in", content=endless()).status_code == 408


def test_signing_in_leads_to_the_page_that_was_asked_for(browser: Browser) -> None:
    page = browser.get("/session?id=session-1&all=1", 401).text
    action = unescape(page.partition('action="')[2].partition('"')[0])
    again = browser.ask("POST", action, data={"token": "wrong"}).text
    assert f'action="{escape(action)}"' in again
    answer = browser.ask("POST", action, data={"token": TOKEN})
    assert (answer.status_code, answer.headers["location"]) == (303, "/session?id=session-1&all=1")


def test_signing_in_at_the_address_of_the_form_leads_on_as_well(browser: Browser) -> None:
    """A browser shows it after a wrong token, and opens it again."""
    page = browser.get("/sign-in?to=%2Ftools%3Fdays%3D7", 401).text
    answer = browser.ask("POST", unescape(page.partition('action="')[2].partition('"')[0]), data={"token": TOKEN})
    assert answer.headers["location"] == "/tools?days=7"


@pytest.mark.parametrize("place", ["//evil.example", "/\\evil.example", "https://evil.example", "\t//evil.example"])
def test_signing_in_leads_nowhere_else(browser: Browser, place: str) -> None:
    answer = browser.ask("POST", "/sign-in", params={"to": place}, data={"token": TOKEN})
    assert re.match(r"/[^/\\\s]", answer.headers["location"])


def test_a_ticket_works_only_once(browser: Browser) -> None:
    ticket = browser.door.ticket()
    browser.get(f"/?token={ticket}", 303)
    browser.cookies.clear()
    browser.get(f"/?token={ticket}", 401)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 200),
        ("localhost:8080", 401),  # a known name, but the cookie belongs to the address
        ("[::1]:8080", 401),
        ("10.1.2.3", 401),
        ("store.example:8080", 401),
        ("rebound.example:8080", 421),
        ("127.0.0.1.rebound.example:8080", 421),
        ("127.0.0.1:8080/static/?", 421),  # a path in it could be taken for that of the request
        ("[::1]:8080/static/?", 421),
        ("", 421),
    ],
)
def test_a_foreign_host_name_is_refused(browser: Browser, host: str, status: int) -> None:
    """This defends against DNS rebinding."""
    if status == 200:
        browser.signed_in()
    browser.get("/", status, Host=host)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://127.0.0.1:8080"}, 200),
        ({"Origin": "http://127.0.0.1:9999"}, 403),
        ({"Origin": "https://127.0.0.1:8080"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
    ],
)
def test_requests_from_other_sites_are_refused(browser: Browser, headers: dict[str, str], status: int) -> None:
    browser.signed_in().get("/", status, **headers)


def test_pages_can_only_be_read(browser: Browser) -> None:
    browser.signed_in()
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert browser.ask(method, "/").status_code == 405


def test_every_answer_has_the_security_headers(browser: Browser) -> None:
    """Headers forbid inline scripts and styles, foreign content, caching, and frames around a page."""
    for path, status in (("/", 401), ("/static/pages.css", 200), ("/static/../site.py", 404), ("/nothing", 404)):
        if status == 404:
            browser.signed_in()
        headers = browser.get(path, status).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert {policy["script-src"], policy["style-src"], policy["form-action"]} == {"'self'"}
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"].startswith("private" if path.endswith(".css") else "no-store")
