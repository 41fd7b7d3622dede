"""The pages in a real browser: Debian's Chromium, headless. `make test-web` installs what drives it.

Visits every page of a generated home in light, in dark and on a phone, and those of a home that the real Claude Code
wrote if CLAUDE_CODE_SESSION_WRITER is set: no console error, no request to another host, no serious axe-core finding.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.conftest import CLEARED_PREFIXES
from tests.store.samples import event, reply
from tests.web.example_home import fill
from tests.web.hostile import hostile_events
from tests.web.pages import stored
from tests.web.test_commands import started

pytestmark = pytest.mark.browser
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; see `make test-web`")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WRITER = os.environ.get("CLAUDE_CODE_SESSION_WRITER", "")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
MENU = ("Overview", "Sessions", "Tools", "Cache", "When", "Trust", "SQL")
UNTIL = datetime(2026, 3, 20, tzinfo=UTC)
ACTION_MS = 20_000  # the time a click may take on a busy machine
SIZES = {"light": (1280, 900), "dark": (1280, 900), "phone": (360, 780)}


class Visit:
    """A page in the browser, and the errors on it."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        origin = address.partition("?")[0]
        page.on("console", lambda said: self.wrong.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda request: self._note(request.url, origin))
        page.on("response", lambda answer: self._note_status(answer))
        page.goto(address)

    def _note(self, url: str, origin: str) -> None:
        if not url.startswith(origin):
            self.wrong.append(f"a request to {url}")

    def _note_status(self, answer: Any) -> None:
        if answer.status >= 400:
            self.wrong.append(f"{answer.status} {answer.url}")

    def is_fine(self) -> None:
        """Checks for errors, serious axe-core findings, figures beyond their tile, and a page, or on a phone a table,
        wider than the screen."""
        assert self.wrong == [], self.page.url
        found = axe.Axe().run(self.page).response["violations"]
        bad = [
            (each["id"], each["nodes"][0]["html"][:200]) for each in found if each["impact"] in {"serious", "critical"}
        ]
        assert bad == [], self.page.url
        cut = (
            "[...document.querySelectorAll('.tiles strong')].filter(each => each.getBoundingClientRect().right"
            " > each.closest('div').getBoundingClientRect().right).map(each => each.innerText)"
        )
        assert self.page.evaluate(cut) == [], self.page.url
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= self.page.viewport_size["width"], self.page.url
        if self.page.viewport_size["width"] <= 760:
            sideways = (
                "[...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth).length"
            )
            assert self.page.evaluate(sideways) == 0, self.page.url


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A scratch home and a clean environment for the browser and the server, which live longer than one test and so get
    none from the fixtures of tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(CLEARED_PREFIXES)]:
            patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def chromium(own_home: None) -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def visit(chromium: Any, address: str, look: str = "light") -> Iterator[Visit]:
    """Opens a new browser window, signed in."""
    width, height = SIZES[look]
    scheme = "dark" if look == "dark" else "light"
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
    context.set_default_timeout(ACTION_MS)
    try:
        yield Visit(context.new_page(), address)
    finally:
        context.close()


def example(directory: Path) -> Path:
    """Creates the store of the generated home."""
    home = Home(directory)
    fill(home, UNTIL, days=20)
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(directory / "events.db")})
    assert agent.scan().code == 0
    return directory / "events.db"


@pytest.fixture(scope="module")
def address(own_home: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address at which the pages of the generated home are served."""
    database = example(tmp_path_factory.mktemp("example"))
    with started("web", "--no-open", "--database", database) as (_, url):
        yield url


@pytest.mark.parametrize("look", SIZES)
def test_every_page_works_and_is_accessible(chromium: Any, address: str, look: str) -> None:
    with visit(chromium, address, look) as here:
        for name in MENU:
            here.page.get_by_role("link", name=name, exact=True).first.click()
            assert here.page.get_by_role("heading", level=1).inner_text().startswith(name)
            here.is_fine()


def test_a_person_finds_a_session_and_its_details(chromium: Any, address: str) -> None:
    """Goes from the overview through filters to a session, its subagent, an event and SQL, by mouse and keyboard."""
    with visit(chromium, address) as here:
        page = here.page
        assert "token=" not in page.url
        page.get_by_label("project").select_option("-home-ada-work-shop")
        page.get_by_role("button", name="Apply").click()
        assert "project=-home-ada-work-shop" in page.url
        page.get_by_role("link", name="output tokens").click()
        page.get_by_role("link", name="Sessions", exact=True).click()
        assert "project=-home-ada-work-shop" in page.url
        page.get_by_label("title or id").fill("keyset")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Keyset pagination for orders").click()
        here.is_fine()
        page.get_by_text("cat .env").first.click()
        assert page.get_by_text("AWS_ACCESS_KEY_ID=").first.is_visible()
        assert not re.search(r"AKIA[A-Z2-7]{16}", page.content())
        page.get_by_role("link", name="What this subagent did").click()
        here.is_fine()
        page.locator("a.when").first.click()
        here.is_fine()
        page.get_by_role("link", name="SQL").click()
        page.get_by_label("statement").fill("SELECT name, count(*) AS calls FROM tool_calls GROUP BY 1 ORDER BY 2 DESC")
        page.get_by_role("button", name="Run").click()
        assert page.get_by_role("cell", name="Bash").is_visible()
        here.is_fine()
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV").click()
        assert download.value.suggested_filename == "collector.csv"
        assert here.wrong == []


def test_a_chart_can_be_zoomed_by_keyboard(chromium: Any, address: str) -> None:
    with visit(chromium, address) as here:
        here.page.get_by_role("link", name="When", exact=True).click()
        here.page.locator(".zoom canvas").wait_for()
        here.page.get_by_role("button", name="Zoom in").focus()
        here.page.keyboard.press("Enter")
        here.is_fine()


def test_without_javascript_only_one_chart_is_missing(chromium: Any, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(ACTION_MS)
    page = context.new_page()
    page.goto(address)
    page.get_by_text("Figures", exact=True).click()
    assert page.get_by_role("listitem").filter(has_text=": $").first.is_visible()
    page.get_by_role("link", name="When", exact=True).click()
    page.locator("noscript p").wait_for()
    assert not page.locator(".zoom").is_visible()
    context.close()


def test_a_long_figure_stays_in_its_tile(chromium: Any, tmp_path: Path) -> None:
    day = [event(time=f"2026-03-01T{time}:00.000Z") for time in ("00:00", "23:59")]
    database = stored(tmp_path / "events.db", day)
    with started("web", "--no-open", "--database", database) as (_, url), visit(chromium, url) as here:
        here.page.goto(f"{url.partition('?')[0]}session?id=session-1")
        assert "23 h 59 min" in here.page.inner_text(".tiles")
        here.is_fine()


def test_long_names_and_wide_answers_are_readable_on_a_phone(chromium: Any, tmp_path: Path) -> None:
    database = stored(tmp_path / "events.db", [reply("m1", 5, model="m" * 90)])
    with started("web", "--no-open", "--database", database) as (_, url), visit(chromium, url, "phone") as here:
        for path in ("?days=all", "cache?days=all", "when?days=all&measure=cost"):
            here.page.goto(url.partition("?")[0] + path)
            here.is_fine()
        here.page.goto(url.partition("?")[0] + "sql?q=SELECT+*+FROM+sessions")
        widths = here.page.evaluate(
            "[...document.querySelectorAll('.answer td:not(.number, .nothing)')].map(e => e.clientWidth)"
        )
        assert min(widths) > 100


def test_hostile_events_do_nothing(chromium: Any, tmp_path: Path) -> None:
    database = stored(tmp_path / "events.db", hostile_events())
    with started("web", "--no-open", "--database", database) as (_, url), visit(chromium, url) as here:
        root = url.partition("?")[0]
        for path in (
            "?days=all",
            "tools?days=all",
            "cache?days=all",
            "when?days=all",
            "trust?days=all",
            "sessions?days=all",
        ):
            here.page.goto(root + path)
            assert "owned" not in here.page.title()
        here.page.locator("tbody th a").first.click()
        for summary in here.page.locator("summary").all()[:20]:
            summary.click()
        assert here.page.title().endswith("· collector")
        assert here.page.evaluate("document.querySelectorAll('main script, main img, main iframe').length") == 0
        assert here.wrong == []


@pytest.mark.skipif(not WRITER, reason="CLAUDE_CODE_SESSION_WRITER names no program that writes a real session")
def test_a_session_of_the_real_client_is_shown(chromium: Any, tmp_path: Path) -> None:
    home = Home(tmp_path)
    environment = os.environ | {"HOME": str(home.path)}
    subprocess.run([WRITER, str(tmp_path)], check=True, capture_output=True, timeout=300, env=environment)
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(tmp_path / "events.db")})
    assert agent.scan().code == 0
    with started("web", "--no-open", "--database", tmp_path / "events.db") as (_, url), visit(chromium, url) as here:
        for name in MENU:
            here.page.get_by_role("link", name=name, exact=True).first.click()
            here.is_fine()
        here.page.get_by_role("link", name="Sessions", exact=True).click()
        here.page.locator("tbody th a").first.click()
        assert here.page.locator(".timeline .item").count() > 1
        here.is_fine()
        here.page.get_by_role("link", name="all events").click()
        here.is_fine()
