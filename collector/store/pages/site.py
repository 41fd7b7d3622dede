"""The pages as one ASGI application: addresses, templates, and what happens when something goes wrong.

In: a request that the door let in. Out: a page. Each page is made in a thread, on its own read-only connection that
sees a single moment, and is stopped if it takes too long. Invariant: whatever goes wrong, the answer is a page that
says so.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from datetime import date, timedelta
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from collector.log import get_logger, place_of
from collector.store.database import StoreError
from collector.store.pages import cache, overview, session, sessions, sql, tools, trust, when
from collector.store.pages.asked import Asked, NotThere, NotUnderstood, Site
from collector.store.pages.chosen import Chosen, today
from collector.store.pages.door import Door
from collector.store.pages.questions import days_of, values_of_filters
from collector.store.pages.rendering import rendered
from collector.store.report import asking

log = get_logger()

STATIC = {
    "pages.css": "text/css",
    "pages.js": "text/javascript",
    "uplot.css": "text/css",
    "uplot.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
FIRST_DAY = date(2000, 1, 1)
SECONDS = 20.0  # for one page
STEPS = 50_000
NOT_FOUND = "There is no such page."
View = Callable[[Any], dict[str, Any] | Response]
PAGES: tuple[tuple[str, str, str, View], ...] = (
    ("/", "overview.html", "Overview", overview.view),
    ("/sessions", "sessions.html", "Sessions", sessions.view),
    ("/tools", "tools.html", "Tools", tools.view),
    ("/cache", "cache.html", "Cache", cache.view),
    ("/when", "when.html", "When", when.view),
    ("/trust", "trust.html", "Trust", trust.view),
    ("/sql", "sql.html", "SQL", sql.view),
    ("/sql.csv", "", "", sql.csv_file),
    ("/sql.json", "", "", sql.json_file),
    ("/session", "session.html", "", session.view),
    ("/event", "event.html", "", session.event_view),
)
MENU = tuple((path, title) for path, _, title, _ in PAGES if title)


def application(site: Site, token: str, names: frozenset[str] = frozenset()) -> Door:
    """The pages behind their door."""
    routes = [Route(path, _endpoint(site, template, view)) for path, template, _, view in PAGES]
    routes.append(Route("/static/{name}", _static))
    behind = Starlette(routes=routes, exception_handlers={HTTPException: _explain})
    return Door(behind, sign_in, token, names)


def sign_in(complaint: str, place: str) -> Response:
    """The page for a browser that has no cookie yet, and wants to go to a place."""
    return HTMLResponse(rendered("sign_in.html", complaint=complaint, place=place, title="Sign in"), 401)


def problem(status: int, what: str) -> Response:
    """A page that says what is wrong."""
    return HTMLResponse(rendered("problem.html", what=what, title="Error"), status)


def _endpoint(site: Site, template: str, view: View) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        started, cpu = time.perf_counter(), time.thread_time()
        try:
            with asking(site.database, site.prices) as connection:
                end = time.monotonic() + SECONDS
                connection.set_progress_handler(lambda: int(time.monotonic() > end), STEPS)
                chosen = choice(connection, request)
                values = view(Asked(connection, chosen, site))
                if isinstance(values, Response):
                    return values
                options = values_of_filters(connection)
            page = rendered(template, menu=MENU, chosen=chosen, options=options, here=request.url.path, **values)
        except NotThere:
            return problem(404, NOT_FOUND)
        except NotUnderstood as error:
            return problem(400, str(error))
        except StoreError as error:
            return problem(503, str(error))
        except Exception as error:  # noqa: BLE001 - its message may quote an event
            log.error("page failed", page=template, error=type(error).__name__, place=place_of(error))
            return problem(500, "This page could not be made; the log says where it failed.")
        took = f"page;dur={1000 * (time.perf_counter() - started):.1f}, cpu;dur={1000 * (time.thread_time() - cpu):.1f}"
        return HTMLResponse(page, headers={"server-timing": took})

    return answer


def choice(connection: sqlite3.Connection, request: Request) -> Chosen:
    """The period and filters that the address chooses."""
    first, last = days_of(connection)
    newest = min(last or today(), today() + timedelta(days=1))
    oldest = min(max(first or newest, FIRST_DAY), newest)
    return Chosen(dict(request.query_params), request.url.path, max(newest, FIRST_DAY), max(oldest, FIRST_DAY))


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return PlainTextResponse(NOT_FOUND, 404)
    content = (resources.files(__package__) / "static" / name).read_bytes()
    return Response(content, media_type=STATIC[name], headers={"cache-control": "private, max-age=3600"})


def _explain(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return problem(status, NOT_FOUND)
