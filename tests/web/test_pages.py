"""The content of the pages: figures that agree with the report, readable sessions, filters in the address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from collector.store.pages import site
from collector.store.report import summarize
from tests.store.samples import Event, calls, event, reply
from tests.web.pages import Browser, stored


def day(number: int, hour: int = 10) -> str:
    """A time in March."""
    return f"2026-03-{number:02}T{hour:02}:00:00.000Z"


def answered(call_id: str, text: str, *, ok: bool = True, **fields: Any) -> Event:
    """A tool result."""
    blocks = [{"type": "tool_result", "call_id": call_id, "ok": ok, "text": text}]
    return event(kind="tool_result", blocks=blocks, **fields)


@pytest.fixture
def events() -> list[Event]:
    """Two sessions in two projects, one of them with a subagent."""
    first: dict[str, Any] = {"session_id": "s-1", "project": "-work-shop", "host": {"id": "h1", "name": "ada"}}
    other: dict[str, Any] = {"session_id": "s-2", "project": "-work-notes", "host": {"id": "h2", "name": "bob"}}
    agent = first | {"agent_id": "a1", "agent_type": "Explore", "agent_description": "Find the users"}
    return [
        event("user_prompt", text="Fix the login", origin="human", time=day(1), **first),
        reply("m1", 40, time=day(1), text="Looking.", **first)
        | {"blocks": [{"type": "thinking", "text": "It may be the redirect."}]},
        calls(("c1", "Bash"), time=day(1, 11), **first),
        answered("c1", "exit 1: [REDACTED:aws-access-key-id:0123456789ab]", ok=False, time=day(1, 12), **first)
        | {"redactions": {"aws-access-key-id": 1}},
        event("user_prompt", text="Find them", origin="task", time=day(1, 13), **agent),
        reply("m2", 7, time=day(1, 13), text="In four places.", **agent),
        event("compaction", text="Compacted", time=day(1, 14), **first),
        event("mode", text="", time=day(1, 15), **first),
        event("link", pull_request={"number": 512, "url": "https://example.org/pull/512"}, time=day(1, 16), **first),
        event("user_prompt", text="Draft the talk", origin="human", time=day(20), **other),
        reply("m3", 1000, time=day(20), model="claude-haiku-4-5", text="Here.", **other),
    ]


@pytest.fixture
def browser(tmp_path: Path, events: list[Event]) -> Browser:
    return Browser(stored(tmp_path / "events.db", events)).signed_in()


def test_the_overview_agrees_with_the_report(browser: Browser, tmp_path: Path) -> None:
    totals = summarize(tmp_path / "events.db")["totals"]
    words = browser.words("/?days=all")
    assert totals["cost_micros"] > 1000
    assert f"cost ${totals['cost_micros'] / 1e6:.4f} " in words
    assert f"output tokens {totals['output_tokens'] / 1000:.1f} k" in words
    assert "sessions 2 " in words
    assert "prompts 2 " in words


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("days=all", ["claude-opus-4-5", "claude-haiku-4-5"], []),
        ("days=7", ["claude-haiku-4-5"], ["claude-opus-4-5"]),
        ("since=2026-03-01&until=2026-03-02", ["claude-opus-4-5"], ["claude-haiku-4-5"]),
        ("days=all&project=-work-notes", ["claude-haiku-4-5"], ["claude-opus-4-5"]),
        ("days=all&host=ada", ["claude-opus-4-5"], ["claude-haiku-4-5"]),
        ("days=all&agent=Explore&metric=output", ["claude-opus-4-5"], ["claude-haiku-4-5"]),
        ("days=all&by=project", ["work-shop", "work-notes"], []),
        ("days=nonsense&by=nonsense&metric=nonsense&since=0000-99-99&until=x", ["claude-haiku-4-5"], []),
        ("since=0001-01-01&until=9999-12-31", ["claude-opus-4-5"], []),
        ("days=all&host=nobody", ["No tokens were used"], ["claude-opus-4-5"]),
    ],
)
def test_filters_from_the_address_apply(browser: Browser, query: str, there: list[str], not_there: list[str]) -> None:
    page = browser.get(f"/?{query}").text
    table = page[page.index('id="parts"') :]
    assert [word for word in there if word not in table] == []
    assert [word for word in not_there if word in table] == []


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("days=all", ["Draft the talk", "Fix the login"]),
        ("days=7", ["Draft the talk"]),
        ("days=all&q=LOGIN", ["Fix the login"]),
        ("days=all&q=s-2", ["Draft the talk"]),
        ("days=all&q=%25", []),
        ("days=all&model=claude-haiku-4-5", ["Draft the talk"]),
        ("days=all&sort=failures", ["Fix the login", "Draft the talk"]),
        ("days=all&sort=longest", ["Fix the login", "Draft the talk"]),
        ("days=all&sort=cost", ["Draft the talk", "Fix the login"]),
        ("days=all&sort=output", ["Draft the talk", "Fix the login"]),
        ("days=all&sort=nonsense&offset=nonsense", ["Draft the talk", "Fix the login"]),
        ("days=all&offset=1", ["Fix the login"]),
    ],
)
def test_sessions_are_found_and_sorted(browser: Browser, query: str, titles: list[str]) -> None:
    words = browser.words(f"/sessions?{query}")
    places = {title: words.find(title) for title in ("Draft the talk", "Fix the login") if title in words}
    assert sorted(places, key=lambda title: places[title]) == titles


def test_a_session_reads_from_top_to_bottom(browser: Browser) -> None:
    words = browser.words("/session?id=s-1")
    told = [
        "Fix the login",
        "Thinking",
        "It may be the redirect.",
        "Bash",
        "failed",
        "1 h",
        "exit 1:",
        "Compacted",
        "512",
    ]
    section = words[words.index("What happened") :]
    assert [word for word in told if word not in section] == []
    places = [section.index(word) for word in told]
    assert places == sorted(places)
    assert "[REDACTED" not in words
    assert "aws-access-key-id" in words
    assert "Mode" not in section
    assert "Mode" in browser.words("/session?id=s-1&all=1")


def test_a_subagent_has_its_own_timeline(browser: Browser) -> None:
    assert "Explore Find the users" in browser.words("/session?id=s-1")
    words = browser.words("/session?id=s-1&in=a1")
    assert "In four places." in words
    assert "It may be the redirect." not in words


def test_an_event_is_shown_whole(browser: Browser, events: list[Event]) -> None:
    words = browser.words(f"/event?session=s-1&id={events[3]['id']}")
    assert '"schema": "collector.event/1"' in words
    assert "exit 1:" in words


@pytest.mark.parametrize(
    "path",
    [
        *("/session?id=nobody", "/session", "/session?id=s-1&in=nobody", "/event?session=s-1&id=zz", "/nothing"),
        *("/event?session=s-2&id=" + "0" * 32, "/static/site.py"),
    ],
)
def test_an_unknown_session_event_or_page_is_a_404(browser: Browser, path: str) -> None:
    browser.get(path, 404)


def test_a_session_tells_the_prompts_of_people_from_those_of_a_program(tmp_path: Path) -> None:
    said = [("sdk", "Review it"), ("sdk", "Fix it"), ("human", "Thank you")]
    sent = [event("user_prompt", session_id="ci", origin=origin, text=text) for origin, text in said]
    words = Browser(stored(tmp_path / "events.db", sent)).signed_in().words("/session?id=ci")
    assert "prompts 1 2 by a program tool calls" in words


def test_a_session_says_that_some_of_its_messages_have_no_price(tmp_path: Path) -> None:
    sent = [reply("m1", 4000, session_id="s"), reply("m2", 5, session_id="s", model="someone-elses-model")]
    browser = Browser(stored(tmp_path / "events.db", sent)).signed_in()
    assert "1 message has no price output tokens" in browser.words("/session?id=s")


def test_a_cost_that_is_not_known_is_no_amount(tmp_path: Path) -> None:
    sent = [reply(f"m{number}", 9, session_id="some", model=("ours", "claude-opus-4-5")[number]) for number in (0, 1)]
    sent.append(reply("m2", 9, session_id="none", model="ours", time="2026-03-01T11:00:00.000Z"))
    sent.append(reply("m3", 9, session_id="none", model=None))
    browser = Browser(stored(tmp_path / "events.db", sent)).signed_in()
    costs = ["$0.0004", "unknown", "unknown", "$0.0004+"]
    for path, name, said in (
        ("/sessions?days=all", "Cost", ["unknown", "$0.0004+"]),
        ("/?days=all", "Cost", costs),
        ("/cache?days=all", "Saved", ["unknown", "unknown", "$0.0004"]),
    ):
        cells = re.findall(rf'data-name="{name}"[^>]*>(.*?)</td>', browser.get(path).text, re.DOTALL)
        assert [re.sub(r"<[^>]*>", "", cell).strip() for cell in cells[: len(said)]] == said
    without = "No price is known for (none) , ours : 3 messages are not in the"
    for path, what, tile in (
        ("/?days=all", "cost", "cost $0.0004+"),
        ("/cache?days=all", "savings", "saved $0.0004+"),
        ("/when?days=all&measure=cost", "cost", ""),
    ):
        words = browser.words(path)
        assert f"{without} {what}." in words
        assert tile in words
    assert "cost unknown" in browser.words("/session?id=none")


@pytest.mark.parametrize("output", [1, 180, 700, 4000])
def test_each_line_of_a_chart_has_a_value_of_its_own(tmp_path: Path, output: int) -> None:
    page = Browser(stored(tmp_path / "events.db", [reply("m", output)])).signed_in().get("/?days=all").text
    ticks = re.findall(r'<text class="tick"[^>]*>([^<]*)<', page)
    assert ticks
    assert len({*ticks}) == len(ticks)


def test_what_a_subagent_cost_may_be_unknown(tmp_path: Path) -> None:
    sent = [reply(None, 9, model="ours", agent_id="a1", agent_type="Explore"), reply(None, 9)]
    words = Browser(stored(tmp_path / "events.db", sent)).signed_in().words("/session?id=session-1")
    assert "9 tokens · cost unknown" in words


def test_a_fork_shows_its_own_length_and_cost(tmp_path: Path) -> None:
    """Its bookkeeping, which names no version, and Claude Code's running total begin with its parent."""

    def said(session: str, message: str, output: int, time: str) -> Event:
        usage = {"input_tokens": 0, "output_tokens": output}  # 4,000 are $0.10
        made = reply(message, output, usage=usage, session_id=session, time=f"2026-03-01T{time}.000Z")
        return made | {"client": {"name": "claude_code", "version": "2.1.328"}}

    def noted(kind: str, session: str, time: str, **attributes: Any) -> Event:
        return event(kind, session_id=session, time=f"2026-03-01T{time}.000Z", attributes=attributes)

    original = said("parent", "m1", 4000, "08:00:00")
    sent = [
        original,
        noted("session_cost", "parent", "08:00:00", total_cost_usd=0.1, start_time=1),
        original | {"session_id": "fork", "attributes": {"request_session_id": "parent"}},
        noted("mode", "fork", "08:00:00"),
        said("fork", "m2", 4000, "12:00:00"),
        said("fork", "m3", 4000, "12:00:42"),
        noted("session_cost", "fork", "12:00:42", total_cost_usd=0.3, start_time=1),
    ]
    words = Browser(stored(tmp_path / "events.db", sent)).signed_in().words("/session?id=fork")
    assert "cost $0.20 output tokens 8.0 k cache read 0 duration 42.0 s" in words


def test_a_long_session_is_split_into_pages(tmp_path: Path) -> None:
    """Whatever a session contains, each page stays below 300 kB, and together they show every event once."""
    fills = ("<&>'", "\x1b\u202e", "統計", "plain ")
    texts = [f"number {number:04} " + fills[number % 4] * 3000 for number in range(60)]
    events = [event(text=text, origin="human", time=day(1 + number // 24)) for number, text in enumerate(texts)]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    seen, path = [], "/session?id=session-1"
    while path:
        page = browser.get(path).text
        assert len(page.encode()) < 300_000
        seen += [text[:11] for text in texts if f'<div class="words"><bdi>{text[:11]}' in page]
        next_one = page.partition('rel="next"')[0].rpartition("<a href=")[2] if 'rel="next"' in page else ""
        path = next_one.strip('" ').replace("&amp;", "&")
    assert seen == [text[:11] for text in texts]


def test_each_cell_names_its_column_because_phones_show_no_headings(browser: Browser) -> None:
    for path in ("/", "/sessions", "/tools", "/cache", "/when", "/trust"):
        tables = re.findall(r'<table class="cards">(.*?)</table>', browser.get(f"{path}?days=all").text, re.DOTALL)
        assert tables, path
        for table in tables:
            head, _, rest = table.partition("</thead>")
            names = re.findall(r'<th scope="col"[^>]*>([^<]*)', head)[1:]  # a bar's name is hidden, so it is empty here
            rows = [re.findall(r"<td(?: data-name=\"([^\"]*)\")?", row) for row in rest.split("</tr>")[:-1]]
            assert rows, path
            assert [row for row in rows if row != names] == [], path


def test_every_subagent_of_a_session_can_be_reached(tmp_path: Path) -> None:
    events = [
        reply(f"m{number}", 1, agent_id=f"a{number}", agent_description=f"Task {number}", time=day(1, number // 20))
        for number in range(203)
    ]
    events += [
        calls(("c1", "Task"), time=day(2)),
        answered("c1", "Done.", time=day(2, 11)) | {"tool": {"call_id": "c1", "agent_id": "a202"}},
    ]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    page = browser.get("/session?id=session-1").text
    assert "3 more not listed" in page
    assert '<a href="/session?id=session-1&amp;in=a202">What this subagent did</a>' in page
    assert "a202" in browser.words("/session?id=session-1&in=a202")
    assert "Subagent Task 7 " in browser.words("/session?id=session-1&in=a7")


def test_a_session_says_on_which_day_it_was_and_where_a_new_one_begins(tmp_path: Path) -> None:
    times = ("2026-03-01T23:59:58.000Z", "2026-03-01T23:59:59.000Z", "2026-03-02T00:00:01.000Z")
    events = [event(text=f"at {number}", origin="human", time=time) for number, time in enumerate(times)]
    words = Browser(stored(tmp_path / "events.db", events)).signed_in().words("/session?id=session-1")
    section = words[words.index("What happened") :]
    assert "2026-03-01 23:59:58 Prompt at 0 23:59:59 Prompt at 1 2026-03-02 00:00:01 Prompt at 2" in section


def test_the_end_of_a_long_session_is_one_link_away(tmp_path: Path) -> None:
    events = [event(text=f"at {number}", origin="human", time=day(1 + number // 20)) for number in range(400)]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    assert re.search(
        r'<a href="/session\?id=session-1&amp;from=250">To the end</a>', browser.get("/session?id=session-1").text
    )
    assert "251 to 400 of 400" in browser.words("/session?id=session-1&from=250")
    assert "400 to 400 of 400" in browser.words("/session?id=session-1&from=9000")  # some were removed since


def test_the_figures_of_a_chart_can_be_read_without_a_mouse(browser: Browser) -> None:
    """Phones, keyboards and screen readers do not show what a bar says when a mouse is over it."""
    words = browser.words("/?days=all&metric=output")
    assert "Figures 2026-03-01: 47 2026-03-20: 1.0 k (claude-haiku-4-5 1.0 k)" in words.replace(
        " (claude-opus-4-5 47)", ""
    )
    assert "Figures 2026-03-01: 1 (" in browser.words("/tools?days=all")


def test_titles_are_found_whatever_their_case_and_cut_without_a_false_count(tmp_path: Path) -> None:
    """The store keeps the first 160 characters of a prompt as its session's title."""
    events = [
        event(text="Fähre ÜBER die Förde " * 50, origin="human", session_id="long"),
        event(text="Привет", origin="human", session_id="short"),
    ]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    words = browser.words("/sessions?q=über")
    assert "Fähre ÜBER die Förde" in words
    assert "…" in words
    assert "more characters" not in words
    assert "Привет" not in words
    assert "Привет" in browser.words("/sessions?q=пРИВЕТ")


def test_clearing_the_filters_keeps_the_period(browser: Browser) -> None:
    page = browser.get("/sessions?days=all&project=-work-shop&q=login&sort=cost").text
    assert '<a class="clear" href="/sessions?days=all&amp;sort=cost">' in page


def test_trust_counts_events_as_the_report_does(tmp_path: Path) -> None:
    """Heartbeats are about the agent, and a filter leaves out what it says."""
    shop, notes = {"project": "-work-shop"}, {"project": "-work-notes"}
    events = [event(**shop), event(**notes), event("unknown", **notes), event("heartbeat", session_id=None)]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    assert summarize(tmp_path / "events.db")["events"] == 3
    assert " events 3 " in browser.words("/trust")
    filtered = browser.words("/trust?project=-work-shop")
    assert " events 1 " in filtered
    assert "events of unknown kind 1 whatever the filters" in filtered


def test_a_session_that_the_history_only_mentions_is_no_session_of_a_version(tmp_path: Path) -> None:
    sent = [event("mode", session_id="there"), *(event("prompt_history", session_id=f"gone {n}") for n in range(3))]
    words = Browser(stored(tmp_path / "events.db", sent)).signed_in().words("/trust?days=all")
    assert "(records that name no version) 2026-03-01 10:00 1 1" in words


def test_pages_say_what_a_model_does_not_restrict(browser: Browser) -> None:
    words = browser.words("/?days=all&model=claude-haiku-4-5")
    assert "messages 1 " in words
    assert "sessions 2 " in words
    assert "sessions, prompts, lines and API errors cover all models" in words
    for path in ("/", "/when", "/trust"):
        assert re.search(r"covers? all models", browser.words(f"{path}?days=all&model=claude-haiku-4-5")), path
        assert not re.search(r"covers? all models", browser.words(f"{path}?days=all")), path


@pytest.mark.parametrize("query", ["sort=prompts", "sort=longest", "sort=newest&until=2026-03-20"])
def test_sessions_are_sorted_by_the_figures_that_are_shown(tmp_path: Path, query: str) -> None:
    """Those of the whole session, of which only a part may lie in the chosen period."""
    asked = {"early": (1, 2, 20, 21), "late": (18, 19, 20)}
    events = [
        event(text=session, origin="human", session_id=session, time=day(number, 18 - len(session)))
        for session, days in asked.items()
        for number in days
    ]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    page = browser.get(f"/sessions?since=2026-03-15&{query}").text
    assert page.index("<bdi>early</bdi>") < page.index("<bdi>late</bdi>")


def test_when_shows_activity_without_a_typed_prompt(tmp_path: Path) -> None:
    browser = Browser(stored(tmp_path / "events.db", [reply("m1", 40, time=day(1)), reply("m2", 40, time=day(20))]))
    words = browser.signed_in().words("/when")
    assert "No prompts in this period" in words
    assert "2026-03-20 1 1" in words[words.index("Busiest days") :]
    assert 'name="measure" value="output"' in browser.get("/when?measure=output").text  # kept when a filter is applied


def test_a_chart_that_does_not_begin_with_the_period_says_so(tmp_path: Path) -> None:
    events = [event(origin="human", time=f"{year}-03-01T10:00:00.000Z") for year in (2025, 2026)]
    browser = Browser(stored(tmp_path / "events.db", events)).signed_in()
    assert "leaves out the first 246 days" in browser.words("/when?days=all")
    assert "leaves out" not in browser.words("/when")


def test_an_empty_store_says_so(tmp_path: Path) -> None:
    browser = Browser(stored(tmp_path / "events.db", [])).signed_in()
    assert "No tokens were used in this period" in browser.words("/")
    assert "No session was active in this period" in browser.words("/sessions")


def test_a_page_that_takes_too_long_says_what_to_do(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "SECONDS", -1.0)
    monkeypatch.setattr(site, "STEPS", 1)
    page = browser.get("/?days=all", status=503).text
    assert "This took too long and was stopped. Choose a shorter period, or set a filter." in page
