"""When a person excludes a project, nothing of it arrives in any stream, whatever the project is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.agents.claude_code.projects import key_of
from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink

LONG = "/work/" + "/".join(["a-rather-long-name-of-a-directory"] * 7)
NAMES = {
    "a path of more than 200 characters": (LONG, LONG, key_of(LONG) + "-9f8e7d"),
    "below a path of more than 200 characters": (LONG, f"{LONG}/src", key_of(LONG) + "-1a2b3c"),
    "a character beyond the BMP": ("/work/\U0001f600/*", "/work/\U0001f600/app", "-work----app"),
    "a directory below": ("/work/private", "/work/private/diary/2026", "-work-private-diary-2026"),
    "the directory itself": ("/work/private", "/work/private", "-work-private"),
    "by its name": ("private", "/work/private/diary", "-work-private-diary"),
    "by the name of its project": ("-work-private", "/work/private/diary", "-work-private-diary"),
    "by the name of its project, cut": (key_of(LONG) + "-9f8e7d", LONG, key_of(LONG) + "-9f8e7d"),
    "signs that mean something in globs": ("/work/[x]*?", "/work/[x]*?/b", "-work--x----b"),
    "a name that would be a comment": ("#1", "/work/#1", "-work--1"),
    "an escaped blank": ("/work/my\\ app", "/work/my app", "-work-my-app"),
    "letters that a file system takes apart": ("/work/caf\u00e9", "/work/cafe\u0301", "-work-cafe-"),
    "a path of Windows": ("C:\\Users\\me\\app", "C:\\Users\\me\\app", "C--Users-me-app"),
    "a drive of Windows, seen from its Linux": ("/mnt/c/Users/me/app", "/mnt/c/users/Me/app", "-mnt-c-users-Me-app"),
    "a worktree": ("/work/app2", "/work/app2/.claude/worktrees/x", "-work-app2--claude-worktrees-x"),
}


def everything_of(home: Home, directory: str, project: str) -> None:
    """Writes every stream that a project has: a session, subagents, a journal, the history, an index."""
    session = home.session(project=project)
    session.cwd = directory
    session.prompt("canary prompt")
    session.reply("canary reply")
    session.record({"type": "last-prompt", "lastPrompt": "canary without a directory", "sessionId": session.session_id})
    for layout in ("flat", "session", "subagents", "workflow"):
        session.subagent(layout=layout, meta={"agentType": "canary"}).user("canary of a subagent")
    journal = session.journal()
    journal.record({"type": "result", "key": "explore", "agentId": "a1", "result": "canary of a journal"})
    home.history("canary of the history", project=directory)
    home.index(session, firstPrompt="canary of an index")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_an_excluded_project_arrives(tmp_path: Path, sink: Sink, name: str) -> None:
    glob, directory, project = NAMES[name]
    home = Home(tmp_path)
    everything_of(home, directory, project)
    home.session(project="-work-app").prompt("a word that may leave")
    agent = Agent(home, sink, {"COLLECTOR_PROJECTS__EXCLUDE": json.dumps([glob])})
    result = agent.scan().assert_balanced()
    assert result.code == 0, result.stderr
    bodies = b"".join(event["text"].encode() for event in sink.events if "text" in event)
    assert b"a word that may leave" in bodies
    assert not [event for event in sink.events if "canary" in str(event) or directory in str(event)]


def test_an_exclusion_below_the_home_covers_the_homes_former_names(tmp_path: Path, sink: Sink) -> None:
    home, names = Home(tmp_path), ("/home/old-name", "/Users/ada", "/root")
    for name in names:
        everything_of(home, f"{name}/private/diary", key_of(f"{name}/private/diary"))
        open_one = home.session(project=key_of(f"{name}/open"))
        open_one.cwd = f"{name}/open"
        open_one.prompt(f"open, of {name}")
    agent = Agent(home, sink, {"COLLECTOR_PROJECTS__EXCLUDE": "~/private"})
    assert agent.scan().assert_balanced().code == 0
    assert {event["text"] for event in sink.events} == {f"open, of {name}" for name in names}


def test_nothing_typed_in_an_excluded_directory_arrives_by_another_stream(tmp_path: Path, sink: Sink) -> None:
    # The history, an index and a workflow only name where a session was started, wherever it went from there.
    home = Home(tmp_path)
    sessions = [home.session(project="-work-mono") for _ in range(2)]
    for session, inside in zip(sessions, ("/work/mono/open", "/work/mono/secret"), strict=True):
        word = inside.rpartition("/")[2]
        for session.cwd in ("/work/mono", inside, "/work/mono"):
            session.prompt(f"{word} in {session.cwd}")
        home.history(f"{word} of the history", project="/work/mono", session_id=session.session_id)
        session.journal().record({"type": "result", "key": "v2:x", "agentId": "a1", "result": f"{word} of a journal"})
        run = session.path.with_suffix("") / "workflows" / "wf_1.json"
        run.parent.mkdir(parents=True)
        run.write_text(json.dumps({"runId": "1", "status": "done", "result": f"{word} of a workflow"}))
    home.history("open, without a session", "open too", project="/work/mono")
    home.history("open, of a session that is gone", project="/work/mono", session_id=home.pen.uuid())
    home.history("open, of no file", project="/work/mono", session_id="../*/[x]\n")
    path = home.index(*sessions, projectPath="/work/mono")
    index = json.loads(path.read_text())
    for entry, word in zip(index["entries"], ("open", "secret"), strict=True):
        entry["summary"] = f"{word} of an index"
    path.write_text(json.dumps(index))
    agent = Inside(home, sink, {"COLLECTOR_PROJECTS__EXCLUDE": "/work/mono/secret"})
    assert agent.scan().assert_balanced().ledger["skipped"] == {"project": 7}
    assert "open of a workflow" in str(sink.events)
    texts = sorted(event["text"] for event in sink.events if "text" in event)
    assert [text for text in texts if "secret" in text] == ["secret in /work/mono"] * 2
    assert [text for text in texts if "secret" not in text] == [
        *("Found 3 files.", "open in /work/mono", "open in /work/mono", "open in /work/mono/open"),
        *("open of a journal", "open of a workflow", "open of an index", "open of the history", "open too"),
        *("open, of a session that is gone", "open, of no file", "open, without a session"),
    ]


def test_an_excluded_directory_that_a_session_moved_to_is_not_named(tmp_path: Path, sink: Sink) -> None:
    home = Home(tmp_path)
    session = home.session(project="-work-mono")
    session.cwd = "/work/mono"
    own = {"sessionId": session.session_id}
    session.prompt("in the open")
    session.record({"type": "relocated", "relocatedCwd": "/work/mono/secret", **own})
    session.record({"type": "ai-title", "aiTitle": "canary", **own})
    session.record({"type": "relocated", "relocatedCwd": "/work/mono", **own})
    session.record({"type": "worktree-state", "worktreeSession": {"worktreePath": "/work/mono/secret/tree"}, **own})
    session.prompt("back again")
    result = Agent(home, sink).scan(COLLECTOR_PROJECTS__EXCLUDE="/work/mono/secret").assert_balanced()
    assert result.ledger["skipped"] == {"project": 3}
    assert "secret" not in str(sink.events)
    assert [event["text"] for event in sink.events if "text" in event] == ["in the open", "back again"]


def test_after_garbage_collection_a_transcript_reveals_nothing_excluded(tmp_path: Path, sink: Sink) -> None:
    home = Home(tmp_path)
    agent = Agent(home, sink, {"COLLECTOR_PROJECTS__EXCLUDE": "/work/mono/secret"})
    session = home.session(project="-work-mono")
    for session.cwd in ("/work/mono", "/work/mono/secret", "/work/mono"):
        session.prompt(f"in {session.cwd}")
    session.compact("canary, in short")
    assert agent.scan().assert_balanced().ledger["skipped"] == {"project": 2}
    session.collect_garbage()
    session.prompt("later")
    session.record({"type": "ai-title", "aiTitle": "canary", "sessionId": session.session_id})
    home.history("canary, typed there", project="/work/mono", session_id=session.session_id)
    assert agent.scan().assert_balanced().code == 0
    assert "canary" not in str(sink.events)
    assert sink.events[-1]["text"] == "later"


def test_the_same_home_without_a_filter_gives_everything(tmp_path: Path, sink: Sink) -> None:
    home = Home(tmp_path)
    everything_of(home, *NAMES["a directory below"][1:])
    Agent(home, sink).scan()
    words = ("prompt", "reply", "without a directory", "of a subagent", "of a journal", "of the history", "of an index")
    assert [word for word in words if f"canary {word}" not in str(sink.events)] == []


def test_a_project_that_is_no_longer_excluded_is_sent_from_its_start(tmp_path: Path, sink: Sink) -> None:
    home = Home(tmp_path)
    session = home.session(project="-work-private")
    session.cwd = "/work/private"
    session.prompt("after all")
    agent = Agent(home, sink)
    assert agent.scan(COLLECTOR_PROJECTS__EXCLUDE="/work/private").ledger["lines"] == 0
    assert agent.scan().ledger["delivered"] == 1


@pytest.mark.parametrize("how", ["by its name", "by its directory", "not mounted"])
def test_what_was_not_looked_at_for_days_is_not_sent_again(tmp_path: Path, sink: Sink, how: str) -> None:
    home, other = Home(tmp_path), Home(tmp_path / "other").session(project="-work-open")
    other.cwd = "/work/open"
    session = home.session(project="-work-app")
    session.cwd = "/work/app"
    session.prompt("sent")
    agent = Inside(home, sink)
    both = "--root", str(other.path.parents[2])
    assert agent.scan(*both).ledger["delivered"] == 1
    glob = {"by its name": "-work-app", "by its directory": "/work/app"}.get(how, "/nowhere")
    for _ in range(3):
        other.prompt("so that there is something to remember")
        away = home.root.rename(home.root.with_name("away")) if how == "not mounted" else home.root
        assert agent.scan(*both, COLLECTOR_PROJECTS__EXCLUDE=json.dumps([glob])).ledger["delivered"] == 1
        away.rename(home.root)
        state = json.loads(agent.state.read_text())
        for entry in state["claude_code"]["files"].values():
            entry |= {"missing_since": 1_700_000_000} if "missing_since" in entry else {}
        agent.state.write_text(json.dumps(state))
    assert agent.scan(*both).ledger["delivered"] == 0


def test_preview_status_and_doctor_leave_out_the_same(tmp_path: Path, sink: Sink) -> None:
    home = Home(tmp_path)
    everything_of(home, *NAMES["a directory below"][1:])
    agent = Agent(home, sink, {"COLLECTOR_PROJECTS__EXCLUDE": "/work/private"})
    assert "canary" not in agent.run("preview", *agent.places(), "--limit", "0").stdout
    status = json.loads(agent.run("status", "--json", *agent.places()).stdout)
    assert status["skipped_files"]["project"] == 7  # the session, four subagents, the journal, the index
    assert "P1" not in status["priorities"]


@pytest.mark.parametrize("command", ["scan", "run", "preview", "status"])
def test_a_glob_that_cannot_be_matched_ends_every_command_and_names_its_key(tmp_path: Path, command: str) -> None:
    agent = Agent(Home(tmp_path), environment={"COLLECTOR_PROJECTS__INCLUDE": '["/work/[z-a]"]'})
    result = agent.run(command, *agent.places())
    assert (result.code, "projects.include: '/work/[z-a]'" in result.stderr) == (78, True), result.stderr
    assert "Traceback" not in result.stderr


def test_an_include_list_collects_only_what_it_names(tmp_path: Path, sink: Sink) -> None:
    home = Home(tmp_path)
    for project, directory in (("-work-app", "/work/app"), ("-work-app-two", "/work/app-two"), ("-tmp", "/tmp")):
        everything_of(home, directory, project)
    environment = {"COLLECTOR_PROJECTS__INCLUDE": "/work/app", "COLLECTOR_PROJECTS__EXCLUDE": "/work/app/secret"}
    Agent(home, sink, environment).scan().assert_balanced()
    assert {event.get("project") for event in sink.events} == {"-work-app"}
    assert {event.get("cwd", "/work/app") for event in sink.events} == {"/work/app"}
    assert "canary of a journal" in str(sink.events)
