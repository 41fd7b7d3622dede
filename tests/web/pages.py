"""Requests the pages of a store as a browser would, in this process."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from collector.store.pages.asked import Site
from collector.store.pages.site import application
from collector.store.rows import Row, from_line
from collector.store.writer import Writer
from tests.store.samples import Event

TOKEN = "let-me-in"
ADDRESS = "http://127.0.0.1:8080"


def stored(database: Path, events: Iterable[Event]) -> Path:
    """Writes a store with these events."""
    writer = Writer(database)
    rows = [from_line(json.dumps(event).encode()) for event in events]
    writer.store_all([[row for row in rows if isinstance(row, Row)]])
    writer.close()
    return database


class Browser:
    """Requests pages, and keeps cookies."""

    def __init__(self, database: Path, **more: Any) -> None:
        self.door = application(Site(database, **more), TOKEN, frozenset({"store.example"}))
        self.cookies = httpx.Cookies()

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends one request."""

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.door)
            async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, cookies=self.cookies) as client:
                response = await client.request(method, path, **more)
                self.cookies = client.cookies
                return response

        return asyncio.run(asked())

    def signed_in(self) -> Browser:
        """Signs in with the token, which sets the cookie."""
        assert self.ask("GET", f"/?token={TOKEN}").status_code == 303
        return self

    def get(self, path: str, status: int = 200, **headers: str) -> httpx.Response:
        """Gets a page, which must have this status."""
        response = self.ask("GET", path, headers=headers)
        assert response.status_code == status, (path, response.status_code, response.text[:2000])
        return response

    def words(self, path: str) -> str:
        """The text that a person reads on a page."""
        page = self.get(path).text
        body = page[page.index("<main") : page.index("</main>")]
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())
