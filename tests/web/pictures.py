"""Takes the documentation's screenshots: `python -m tests.web.pictures DIRECTORY`, or `make pictures`.

They show the generated home, which is the same every time; a palette of 256 colors keeps each file small.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.agent import Agent
from tests.build import Home
from tests.web.example_home import fill
from tests.web.test_browser import CHROMIUM, FLAGS
from tests.web.test_commands import started

UNTIL = datetime(2026, 3, 20, tzinfo=UTC)
# Name, page, look, width, height.
PICTURES = (
    ("overview", "/", "light", 1200, 900),
    ("session", "session", "light", 1200, 900),
    ("trust", "/trust", "dark", 1200, 900),
)


def save(page: Page, path: Path) -> None:
    """Saves the visible window as a small PNG."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def main(folder: Path) -> None:
    """Writes all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        home = Home(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        os.environ["HOME"] = str(
            home.path
        )  # set before the browser starts, because the test guard would refuse it later
        driver = stack.enter_context(sync_playwright())
        fill(home, UNTIL, days=70)
        (home.root / "settings.json").write_text('{"cleanupPeriodDays": 90}')
        assert Agent(home, environment={"COLLECTOR_HOST__NAME": "ada-laptop"}).run("scan").code == 0
        for path in sorted(home.root.rglob("*.jsonl"))[:9]:
            path.unlink()  # as Claude Code deletes old transcripts
        for path in home.root.rglob("*.jsonl"):
            os.utime(path, (UNTIL.timestamp(), UNTIL.timestamp()))
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with started("web", "--no-open") as (_, address):
            for name, place, look, width, height in PICTURES:
                page = browser.new_page(
                    color_scheme="dark" if look == "dark" else "light", viewport={"width": width, "height": height}
                )
                page.goto(address)
                origin = address.partition("/?")[0]
                if place == "session":
                    page.goto(f"{origin}/sessions?q=Keyset")
                    page.get_by_role("link", name=re.compile("^Keyset")).click()
                    page.get_by_text("cat .env").first.click()
                else:
                    page.goto(origin + place)
                save(page, folder / f"{name}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
