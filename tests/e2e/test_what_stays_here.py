"""What stays on this machine is what docs/privacy.md names, for this user alone, and is gone when a person says so."""

from __future__ import annotations

import fnmatch
import json
import re
from pathlib import Path

import pytest

from collector.agents.claude_code.projects import key_of
from collector.settings import account
from tests.agent import REPOSITORY, Agent
from tests.build import Home
from tests.inside import Inside
from tests.sink import Answer, Sink, poison

METADATA = {"COLLECTOR_CAPTURE__LEVEL": "metadata"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    for name in ("shop", "diary"):
        session = home.session(project=f"-work-{name}")
        session.cwd = f"/work/{name}"
        session.prompt(f"about the {name}")
    return home


@pytest.mark.parametrize("environment", [{}, METADATA], ids=["content", "metadata"])
def test_a_project_is_forgotten_at_every_level(home: Home, environment: dict[str, str]) -> None:
    agent: Agent = Inside(home, None, environment | {"COLLECTOR_SINK__TYPE": "store"})
    assert agent.scan().ledger["delivered"] == 2
    forgotten = agent.run("forget", "--project", "/work/shop", "--yes", "--json", "--state", str(agent.state))
    assert json.loads(forgotten.stdout)["events"] == 1, forgotten.stderr
    count = agent.run("store", "sql", "SELECT count(*) AS left FROM events").stdout
    assert json.loads(count) == {"left": 1}


@pytest.mark.parametrize("said", ["/work/diary/../shop", "/work/shop/", "../shop", "."])
def test_a_project_is_forgotten_however_its_path_is_said(
    home: Home, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "shop"
    here.mkdir()
    monkeypatch.chdir(here)
    session = home.session(project=key_of(str(here)))
    session.cwd = str(here)
    session.prompt("here")
    agent: Agent = Inside(home, None, {"COLLECTOR_SINK__TYPE": "store"})
    assert agent.scan().ledger["delivered"] == 3
    forgotten = agent.run("forget", "--project", said, "--yes", "--json", "--state", str(agent.state))
    assert json.loads(forgotten.stdout)["events"] == 1, forgotten.stderr


@pytest.mark.parametrize("option", ["--project", "--session"])
def test_an_empty_name_as_from_an_unset_variable_forgets_nothing(home: Home, option: str) -> None:
    with Sink(then=poison(lambda event: "diary" in event["text"])) as sink:
        agent: Agent = Inside(home, sink)
        agent.scan()
    state = "--state", str(agent.state)
    agent.run("scan", "--sink-type", "store", "--root", str(home.root), *state)
    refused = agent.run("forget", option, "", "--yes", *state)
    assert (refused.code, "must not be empty" in refused.stderr) == (2, True)
    assert json.loads(agent.run("store", "info", "--json").stdout)["events"] == 2
    assert len(agent.run("quarantine", "list", "--json", *state).stdout.splitlines()) == 1


def test_a_system_service_forgets_as_well(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeps = tmp_path / "var" / "lib" / "collector" / account()
    keeps.mkdir(parents=True)
    service = {"unit": f"collector@{account()}.service", "state": "running", "keeps": str(keeps)}
    monkeypatch.setattr("collector.install.installed.services_of", lambda *_: [service])
    agent: Agent = Inside(home, None)
    as_service = {"STATE_DIRECTORY": str(keeps)}
    assert agent.run("scan", "--root", str(home.root), env=as_service).code == 0
    forgotten = agent.run("forget", "--project", "/work/shop", "--yes", "--json")
    assert json.loads(forgotten.stdout)["events"] == 1, forgotten.stderr
    left = map(json.loads, agent.run("store", "export", env=as_service).stdout.splitlines())
    assert [event["text"] for event in left] == ["about the diary"]


def test_what_a_system_service_set_aside_is_shown_to_whom_it_works_for(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeps = tmp_path / "var" / "lib" / "collector" / account()
    keeps.mkdir(parents=True)
    service = {"unit": f"collector@{account()}.service", "state": "running", "keeps": str(keeps)}
    monkeypatch.setattr("collector.install.installed.services_of", lambda *_: [service])
    with Sink(then=poison(lambda event: "diary" in event["text"])) as sink:
        agent: Agent = Inside(home, None, {"COLLECTOR_SINK__URL": sink.url})
        agent.run("scan", "--root", str(home.root), env={"STATE_DIRECTORY": str(keeps)})
        [entry] = map(json.loads, agent.run("quarantine", "list", "--json").stdout.splitlines())
        assert "about the diary" in entry["payload"]
        assert "Dropped 1 entry." in agent.run("quarantine", "drop", entry["id"]).stdout
        assert "The quarantine is empty." in agent.run("quarantine", "list").stdout


def test_records_without_a_directory_are_forgotten_with_their_session(home: Home) -> None:
    places = ("/work/shop", "/work/shop/cart", "/work-shop")  # the last one has the same project name as the first
    for place in places:
        session = home.session(project=key_of(place))
        session.cwd = place
        session.prompt(f"at {place}")
        for record in ({"type": "last-prompt", "lastPrompt": place}, {"type": "ai-title", "aiTitle": place}):
            session.record(record | {"sessionId": session.session_id})
    home.session(project=key_of(places[0])).journal()
    agent: Agent = Inside(home, None, {"COLLECTOR_SINK__TYPE": "store"})
    assert agent.scan().ledger["delivered"] == 13
    assert agent.run("forget", "--project", "/work/shop", "--yes", "--state", str(agent.state)).code == 0
    left = map(json.loads, agent.run("store", "export").stdout.splitlines())
    assert sorted(event["text"] for event in left) == ["/work-shop", "/work-shop", "about the diary", "at /work-shop"]


@pytest.fixture
def worktree(home: Home) -> str:
    """A worktree that is named after a plan, with a session in it."""
    path = "/work/shop/.claude/worktrees/fix-the-login-quiet-otter"
    session = home.session(project=key_of(path))
    session.cwd = path
    session.record({"type": "last-prompt", "lastPrompt": "Fix it", "sessionId": session.session_id})
    session.prompt("Fix it", slug="fix-the-login-quiet-otter", gitBranch="worktree-fix-the-login-quiet-otter")
    return path


def test_a_worktree_named_after_a_plan_is_forgotten_by_its_path(home: Home, worktree: str) -> None:
    agent: Agent = Inside(home, None, {"COLLECTOR_SINK__TYPE": "store"})
    assert agent.scan().ledger["delivered"] == 4
    forgotten = agent.run("forget", "--project", worktree, "--yes", "--json", "--state", str(agent.state))
    assert json.loads(forgotten.stdout)["events"] == 2, forgotten.stderr


@pytest.mark.usefixtures("worktree")
def test_without_file_paths_the_name_of_such_a_worktree_stays_here(home: Home, sink: Sink) -> None:
    agent: Agent = Inside(home, sink)
    agent.scan(COLLECTOR_CAPTURE__FILE_PATHS="false").assert_balanced()
    assert b"worktree-quiet-otter" in sink.raw_bytes
    assert b"fix-the-login" not in sink.raw_bytes


@pytest.mark.parametrize("is_moved", [True, False], ids=["moved aside", "not yet moved"])
def test_exclude_and_forget_reach_held_files_that_were_set_aside(home: Home, *, is_moved: bool) -> None:
    state = "--state", str(home.path.parent / "agent" / "state.json")
    with Sink(then=Answer(503)) as sink:
        agent: Agent = Inside(home, sink)
        agent.scan("--max-wait", "0")
        for path in home.root.rglob("*.jsonl"):
            path.unlink()
        (agent.directory / "state.held" / "index.json").write_bytes(b"{")
        if is_moved:
            home.session(project="-work-other").prompt("another one to hold")
            agent.scan("--max-wait", "0")
    assert [text for text in ("shop", "diary") if _keeping(agent, f"about the {text}")] == ["shop", "diary"]
    said = agent.run("exclude", "/work/diary", *state)
    assert "Dropped 1 file held for a failing sink." in said.stdout, said.stderr
    assert [text for text in ("shop", "diary") if _keeping(agent, f"about the {text}")] == ["shop"]
    forgotten = agent.run("forget", "--project", "-work-shop", "--yes", "--json", *state)
    assert json.loads(forgotten.stdout)["held"] == 1, forgotten.stderr
    assert not _keeping(agent, "about the shop")
    assert not list(agent.directory.glob("state.held.damaged-*"))


def test_held_files_of_a_directory_below_a_project_are_forgotten_with_it(home: Home) -> None:
    below = home.session(project="-work-shop-cart")
    below.cwd = "/work/shop/cart"
    below.prompt("about the cart")
    with Sink(then=Answer(503)) as sink:
        agent: Agent = Inside(home, sink)
        agent.scan("--max-wait", "0")
        for path in home.root.rglob("*.jsonl"):
            path.unlink()
        forgotten = agent.run("forget", "--project", "/work/shop", "--yes", "--json", "--state", str(agent.state))
        assert json.loads(forgotten.stdout)["held"] == 2, forgotten.stderr
        sink.clear_script()
        agent.scan()
    assert [event["text"] for event in sink.events] == ["about the diary"]


def test_exclude_and_forget_reach_what_was_kept_for_a_removed_sink(home: Home) -> None:
    with Sink(then=Answer(503)) as slow, Sink(then=poison(lambda event: "diary" in event["text"])) as picky:
        configuration = home.path / "collector.toml"
        two = [f'[[sinks]]\nname = "{name}"\nurl = "{sink.url}"\n' for name, sink in (("a", slow), ("b", picky))]
        configuration.write_text("\n".join(two))
        agent: Agent = Inside(home, None)
        agent.scan("--max-wait", "0", "--config", str(configuration))
        configuration.write_text("[sink]\nurl = 'http://127.0.0.1:9/'\n")
        place = "--config", str(configuration), "--state", str(agent.state)
        assert len(_keeping(agent, "about the diary")) == len(_keeping(agent, "about the shop")) + 1
        said = agent.run("exclude", "/work/shop", *place)
        assert "Dropped 1 file held for a failing sink." in said.stdout, said.stderr
        assert _keeping(agent, "about the shop") == []
        forgotten = json.loads(agent.run("forget", "--project", "/work/diary", "--yes", "--json", *place).stdout)
    assert (forgotten["held"], forgotten["quarantined"]) == (1, 1)
    assert _keeping(agent, "about the diary") == []


def test_files_held_by_an_agent_with_another_state_are_left_alone(home: Home) -> None:
    with Sink(then=Answer(503)) as sink:
        agent: Agent = Inside(home, sink)
        place = "--root", str(home.root), "--state", str(agent.state.with_name("second.json"))
        second = "scan", *place, "--sink-url", sink.url
        agent.run(*second, "--max-wait", "0")
        for path in home.root.rglob("*.jsonl"):
            path.unlink()
        agent.run("reset", "--all", "--forget", "--state", str(agent.state))
        forgotten = agent.run("forget", "--project", "/work/shop", "--yes", "--json", "--state", str(agent.state))
        assert json.loads(forgotten.stdout)["held"] == 0, forgotten.stderr
        sink.clear_script()
        agent.run(*second)
    assert sorted(event["text"] for event in sink.events) == ["about the diary", "about the shop"]


def _keeping(agent: Agent, text: str) -> list[str]:
    return [path.name for path, content in agent.kept().items() if text.encode() in content]


def test_every_file_is_named_on_the_page_and_private(home: Home) -> None:
    section = (REPOSITORY / "docs" / "privacy.md").read_text().partition("## What stays on this machine")[2]
    names = re.findall(
        r"`((?:state|installation|paused|disclosed|events)[\w./-]*)`", section.partition("## How to delete")[0]
    )
    with Sink(then=Answer(503)) as sink:
        agent: Agent = Inside(home, sink)
        agent.scan("--max-wait", "0")
        sink.then = Answer(400)
        agent.scan()
        agent.run("pause", "--state", str(agent.state))
        agent.run("resume", "--from-now", "--state", str(agent.state))
        agent.run("pause", "--state", str(agent.state))
        agent.run("agree", "--state", str(agent.state), env={"COLLECTOR_SINK__URL": "https://a.example/"})
    kept = [path for path in agent.directory.rglob("*") if path.is_file()]
    assert len(kept) >= 5
    for path in kept:
        name = str(path.relative_to(agent.directory))
        assert any(fnmatch.fnmatch(name, each + ("*" if each.endswith("/") else "")) for each in names), name
        assert path.stat().st_mode & 0o777 == 0o600 or name.startswith("state.held/"), name
    assert agent.directory.stat().st_mode & 0o777 == 0o700
