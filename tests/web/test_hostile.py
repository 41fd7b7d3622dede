"""Everything in the store is shown as text, whatever it looks like."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from collector.store.pages import shown
from collector.store.pages.site import PAGES
from collector.store.prices import dollars
from tests.store.samples import event
from tests.web.hostile import hostile_events
from tests.web.pages import Browser, stored

# All elements that our own templates use.
ELEMENTS = frozenset(
    {
        *(
            "html",
            "head",
            "meta",
            "title",
            "link",
            "body",
            "header",
            "nav",
            "main",
            "footer",
            "section",
            "aside",
            "div",
        ),
        *("a", "span", "p", "br", "h1", "h2", "h3", "h4", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"),
        *(
            "small",
            "strong",
            "bdi",
            "code",
            "pre",
            "time",
            "abbr",
            "table",
            "thead",
            "tbody",
            "tfoot",
            "tr",
            "th",
            "td",
        ),
        *("form", "label", "input", "select", "option", "button", "textarea", "figure", "svg", "g", "rect", "line"),
        *("text", "script", "noscript", "td"),
    }
)
INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")

VALUES = re.compile(r' value="[^"]*"')  # of filters: echoed unchanged, but not shown as text


class Reader(HTMLParser):
    """Records anything on a page that is neither text nor from our templates."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Checks one element and its attributes."""
        given = dict(attrs)
        if tag not in ELEMENTS or (tag == "script" and not str(given.get("src", "")).startswith("/static/")):
            self.wrong.append(f"<{tag} {attrs}>")
        for name, value in attrs:
            is_elsewhere = name in {"href", "src", "action"} and not re.match(r"(/(?!/)|https://|#)", value or "")
            if name.startswith("on") or name in {"style", "srcdoc", "formaction"} or is_elsewhere:
                self.wrong.append(f"{tag}.{name}={value}"[:200])


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    return Browser(stored(tmp_path_factory.mktemp("hostile") / "events.db", hostile_events())).signed_in()


def addresses(browser: Browser) -> list[str]:
    """The addresses of every page, and of those of the hostile session."""
    found = [f"{path}?days=all" for path, _, title, _ in PAGES if title]
    sessions = browser.get("/sessions?days=all").text
    session = re.findall(r'href="(/session\?[^"]*)"', sessions)[0].replace("&amp;", "&")
    page = browser.get(session).text
    inner = {link.replace("&amp;", "&") for link in re.findall(r'href="(/(?:session|event)\?[^"]*)"', page)}
    return [*found, session, f"{session}&all=1", *sorted(inner)]


def test_no_page_executes_what_is_in_the_store(browser: Browser) -> None:
    pages = addresses(browser)
    assert len(pages) > 10
    for path in pages:
        page = browser.get(path).text
        reader = Reader()
        reader.feed(page)
        assert reader.wrong == [], path
        assert INVISIBLE.findall(VALUES.sub("", page)) == [], path
        assert "1337" not in page, path
        assert len(page.encode()) < 300_000, path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a<b>&'", "<bdi>a&lt;b&gt;&amp;&#39;</bdi>"),
        ("\x1b", '<bdi><span class="mark" title="the invisible character U+001B">␛</span></bdi>'),
        ("\u202e", '<bdi><span class="mark" title="the invisible character U+202E">U+202E</span></bdi>'),
        ("a\tb\r\nc", "<bdi>a\tb\nc</bdi>"),
        ("👩\u200d💻 שלום", "<bdi>👩\u200d💻 שלום</bdi>"),
        (None, "<bdi></bdi>"),
        ("x" * 5000, f'<bdi>{"x" * 4000}</bdi><span class="cut">… 1,000 more characters</span>'),
    ],
)
def test_text_is_escaped_and_invisible_characters_are_marked(given: str | None, expected: str) -> None:
    assert shown.text(given) == expected


def test_a_redaction_is_shown_as_a_chip_with_its_rule() -> None:
    made = shown.text("key=[REDACTED:aws-access-key-id:0123456789ab]&")
    assert re.sub(r"<span[^>]*>", "(", str(made)).replace("</span>", ")") == "<bdi>key=(aws-access-key-id)&amp;</bdi>"


@pytest.mark.parametrize(
    ("shape", "given", "expected"),
    [
        *((dollars, 0, "$0.00"), (dollars, 1_234_567_890, "$1,234.57"), (dollars, 4321, "$0.0043")),
        *((dollars, 3, "<$0.0001"), (shown.short, 0, "0"), (shown.short, 999, "999")),
        *((shown.short, 1000, "1.0 k"), (shown.short, 123_456, "123 k"), (shown.short, 999_950, "1.0 M")),
        *((shown.duration, 999, "999 ms"), (shown.duration, 3_661_000, "1 h 1 min")),
        *((shown.duration, 86_400_000, "1 d"), (shown.size, 999, "999 bytes"), (shown.size, 1_500_000, "1.5 MB")),
        (shown.project, "-home-a-b-shop", "b-shop"),
    ],
)
def test_figures_are_formatted_for_people(shape: object, given: object, expected: str) -> None:
    assert callable(shape)
    assert shape(given) == expected


def test_an_event_of_another_session_is_not_shown_under_this_one(tmp_path: Path) -> None:
    events = [event(text="one", session_id="s1"), event(text="two", session_id="s2")]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    browser.get(f"/event?session=s1&id={events[0]['id']}")
    browser.get(f"/event?session=s1&id={events[1]['id']}", 404)
