"""`collector exclude` and `include`: leave out a project with one command, and what that changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collector.agents.claude_code.projects import encoded
from collector.cli.exclude import _refuse_if_locked, glob_of
from collector.errors import ConfigurationError
from collector.keeping.lock import lock, lock_path
from collector.log import in_words
from collector.service.status_file import StatusFile, status_path
from collector.settings import Origins, Settings
from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside
from tests.redact.secrets import secret
from tests.sink import PATIENCE, Answer, Sink

MINE = """\
# What I do not want to share.

[log]
level = "warning"  # less

[projects]
exclude = ["~/diary"]  # since May
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Inside]:
    with Sink() as sink:
        yield Inside(Home(tmp_path), sink)


def place_of(agent: Inside) -> Path:
    """The user's configuration file, in its place on this platform."""
    return Path(agent.run("config", "init").stdout.removeprefix("Wrote ").strip())


def session_in(agent: Agent, directory: str, text: str) -> None:
    session = agent.home.session(project=encoded(directory))
    session.cwd = directory
    session.prompt(text)


def test_a_project_is_excluded_and_included_again(agent: Inside) -> None:
    file = place_of(agent)
    file.write_text(MINE)
    session_in(agent, "/work/open", "of the open one")
    session_in(agent, "/work/secret", "of the secret one")
    said = agent.run("exclude", "/work/secret", *agent.places()[2:4])
    assert said.code == 0, said.stderr
    assert f"Excluded /work/secret in {file}." in said.stdout
    assert file.read_text() == MINE.replace('["~/diary"]', '["~/diary", "/work/secret"]')
    assert agent.scan().code == 0
    assert agent.sink is not None
    assert [event["text"] for event in agent.sink.events] == ["of the open one"]
    assert "is already excluded in" in agent.run("exclude", "/work/secret", *agent.places()[2:4]).stdout
    assert "Included /work/secret." in agent.run("include", "/work/secret").stdout
    assert file.read_text() == MINE
    assert agent.scan().code == 0
    assert [event["text"] for event in agent.sink.events][1:] == ["of the secret one"]


def test_include_with_an_unset_variable_includes_nothing(
    agent: Inside, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place_of(agent)
    monkeypatch.chdir(tmp_path)
    assert agent.run("exclude", ".").code == 0
    before = file.read_text()
    refused = agent.run("include", "")
    assert (refused.code, "must not be empty" in refused.stderr) == (2, True)
    assert file.read_text() == before


def test_files_held_of_an_excluded_project_are_dropped_at_once(agent: Inside) -> None:
    session_in(agent, "/work/secret", "of the secret one")
    session_in(agent, "/work/open", "of the open one")
    assert agent.sink is not None
    agent.environment["CLAUDE_CONFIG_DIR"] = str(agent.home.root)
    agent.sink.then = Answer(503)
    assert agent.scan("--max-wait", "0").code == 75
    for path in agent.home.root.glob("projects/*/*.jsonl"):
        path.unlink()
    agent.sink.clear_script()
    agent.run("pause", "--state", str(agent.state))
    said = agent.run("exclude", "/work/secret", "--state", str(agent.state)).stdout
    assert "Dropped 1 file held for a failing sink." in said
    assert len(list(agent.state.with_name("state.held").glob("*.jsonl"))) == 1
    agent.run("include", "/work/secret", "--state", str(agent.state))
    agent.run("resume", "--state", str(agent.state))
    assert agent.scan().ledger["delivered"] == 1
    assert [event["text"] for event in agent.sink.events] == ["of the open one"]


def test_history_left_out_by_from_now_stays_out_when_its_project_is_included_later(agent: Inside) -> None:
    home, state, sink = agent.home, ("--state", str(agent.state)), agent.sink
    agent.environment["CLAUDE_CONFIG_DIR"] = str(home.root)
    assert sink is not None
    home.pen.now = datetime.now(UTC) - timedelta(hours=1)
    sessions = [home.session(project="-work-secret") for _ in range(2)]
    for session in sessions:
        session.cwd = "/work/secret"
        session.prompt("old, DB_PASSWORD=" + (told := secret("drawn", 9)))
    sessions[0].journal()
    for path in home.root.rglob("*.jsonl"):
        os.utime(path, (home.pen.now.timestamp(),) * 2)
    assert agent.run("exclude", "/work/secret", *state).code == 0
    assert agent.scan("--from-now").ledger["lines"] == 0
    home.pen.now += timedelta(hours=2)
    sessions[0].prompt(f"new, ./probe {told} --fast")
    sessions[0].record({"type": "last-prompt", "lastPrompt": "old", "sessionId": sessions[0].session_id})
    newer = home.session(project="-work-secret")
    newer.cwd = "/work/secret"
    newer.prompt("newer")
    going_on = sessions[1].journal()  # its lines have no timestamps
    fresh = [sessions[0].path, newer.path, newer.journal().path, going_on.path]
    for path in fresh:
        os.utime(path, (home.pen.now.timestamp(),) * 2)
    said = agent.run("include", "/work/secret", *state, env={"COLLECTOR_SINK__URL": sink.url}).stdout
    assert "stays left out, as you asked; `collector reset` sends it." in said
    assert f"{in_words(sum(path.stat().st_size for path in fresh))} in 4 sources left to send" in said
    assert agent.scan().assert_balanced().ledger["skipped"] == {"left_out": 7}
    texts = [event["text"] for event in sink.events if "text" in event]
    assert sorted(text.split()[0] for text in texts) == ["Found", "new,", "newer"]
    assert told not in str(texts)
    going_on.record({"type": "result", "key": "explore", "agentId": "a1", "result": "after all"})
    assert agent.scan().ledger["delivered"] == 1
    assert sink.events[-1]["text"] == "after all"
    agent.run("reset", str(sessions[1].path), *state, env={"COLLECTOR_SINK__URL": sink.url})
    assert agent.scan().ledger["delivered"] == 1
    assert sink.events[-1]["text"].startswith("old")


def test_an_excluded_link_that_later_points_elsewhere_lets_nothing_through(agent: Inside) -> None:
    file, home = place_of(agent), agent.home.path
    file.write_text(MINE)
    link = home / "current"
    for name in ("spring", "autumn"):
        (home / name).mkdir()
        session_in(agent, str(home / name), f"of {name}")
    link.symlink_to(home / "spring")
    said = agent.run("exclude", str(link))
    assert f"Excluded ~/current and ~/spring in {file}." in said.stdout, said.stderr
    link.unlink()
    link.symlink_to(home / "autumn")
    assert agent.scan().ledger["delivered"] == 0
    link.unlink()
    link.symlink_to(home / "spring")
    agent.run("include", str(link))
    assert file.read_text() == MINE
    assert agent.scan().ledger["delivered"] == 2


def test_a_running_agent_with_another_configuration_file_is_told_too(agent: Inside) -> None:
    other, theirs = agent.home.path / "other.toml", agent.directory / "excluded.toml"
    other.write_text("")
    session_in(agent, "/work/secret", "of the secret one")
    state, heard = ("--state", str(agent.state)), []
    before = signal.signal(signal.SIGHUP, lambda *_: heard.append("reload"))
    try:
        with lock(agent.state, "run"):
            StatusFile(status_path(agent.state)).write(lambda: {"users_file": str(other)})
            said = agent.run("exclude", "/work/secret", *state)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert f" and in {theirs}." in said.stdout, said.stderr
    assert (heard, theirs.stat().st_mode & 0o777) == (["reload"], 0o600)
    assert agent.scan("--config", str(other)).ledger["files"]["skipped"] == {"project": 1}
    assert str(theirs) in agent.run("config", "show", *state, "--config", str(other)).stdout
    theirs.write_text(theirs.read_text() + "[sink]\nurl = 'http://127.0.0.1:9/'\n")
    assert "may hold only projects.exclude" in agent.scan("--config", str(other)).stderr
    theirs.write_text("[projects]\nexclude = ['/work/secret']\n")
    assert "Included /work/secret." in agent.run("include", "/work/secret", *state).stdout
    assert agent.scan("--config", str(other)).ledger["delivered"] == 1


def test_excluding_again_completes_a_command_that_was_cut_short(agent: Inside) -> None:
    session_in(agent, "/work/secret", "of the secret one")
    assert agent.sink is not None
    agent.sink.clear_script(then=Answer(503))
    agent.scan("--max-wait", "0.1")
    place_of(agent).write_text('[projects]\nexclude = ["/work/secret"]\n')  # all that the first command came to
    again, heard = ("exclude", "/work/secret", "--state", str(agent.state)), []
    before = signal.signal(signal.SIGHUP, lambda *_: heard.append("reload"))
    try:
        with lock(agent.state, "run"):
            said = agent.run(*again)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert ("is already excluded" in said.stdout, heard) == (True, ["reload"]), said.stderr
    assert "Dropped 1 file held for a failing sink." in agent.run(*again).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_process_that_only_has_the_number_of_an_agent_elsewhere_is_left_alone(agent: Inside) -> None:
    """A home on a file server, or a volume: the lock was taken on another machine, or in another container."""
    with lock(agent.state, "run"), subprocess.Popen(["sleep", "600"]) as stranger:
        lock_path(agent.state).write_text(f"collector run, process {stranger.pid}, since 2026-03-01 10:00:00\n")
        said = agent.run("exclude", "/work/secret", "--state", str(agent.state))
        was_left_alone = stranger.poll() is None
        stranger.kill()
    assert "Could not tell the running agent (it runs on another machine" in said.stdout, said.stderr
    assert was_left_alone


def test_a_running_scan_is_stopped(tmp_path: Path) -> None:
    home, gate = Home(tmp_path), threading.Event()
    session_in(Inside(home), "/work/secret", "of the secret one")
    with Sink(then=Answer(held=gate)) as sink:
        agent = Agent(home, sink)
        with agent.start(command="scan") as scan:
            sink.wait_for(lambda: len(sink.requests) == 1)
            session_in(agent, "/work/secret", "of the secret one")
            said = agent.run("exclude", "/work/secret", "--state", str(agent.state))
            gate.set()
            assert scan.process.wait(PATIENCE) == 3
        assert "A scan was under way and would not have noticed, so it was stopped" in said.stdout, said.stderr


def test_exclude_and_include_say_what_changes(agent: Inside) -> None:
    session_in(agent, "/work/secret", "x")
    agent.environment["CLAUDE_CONFIG_DIR"] = str(agent.home.root)
    said = agent.run("exclude", "/work/secret", "--state", str(agent.state)).stdout
    assert "1 fewer source is read; 0 bytes in 0 sources left to send (before: " in said
    assert "collector forget --project" in said
    assert "was not excluded" in agent.run("include", "/work/open", "--state", str(agent.state)).stdout


def test_a_path_still_excluded_elsewhere_is_reported(agent: Inside) -> None:
    variable = {"COLLECTOR_PROJECTS__EXCLUDE": "/work"}
    result = agent.run("include", "/work/secret", env=variable)
    assert result.code == 78
    assert "still excluded by projects.exclude in the environment variable COLLECTOR_PROJECTS__EXCLUDE" in result.stderr


def test_a_damaged_file_is_not_touched_and_a_no_is_kept_beside_the_state(agent: Inside) -> None:
    file = place_of(agent)
    file.write_text("[projects\n")
    said = agent.run("exclude", "/work/empty", "--state", str(agent.state))
    assert (said.code, f"Excluded anyway in {agent.directory / 'excluded.toml'}" in said.stderr) == (78, True)
    assert file.read_text() == "[projects\n"
    file.write_text("")
    assert "Included /work/empty." in agent.run("include", "/work/empty", "--state", str(agent.state)).stdout


def test_a_file_that_cannot_be_written_does_not_keep_a_no_from_being_heard(agent: Inside) -> None:
    session_in(agent, "/work/secret", "of the secret one")
    file, state = place_of(agent), ("--state", str(agent.state))
    file.with_name(
        f"{file.name}.new"
    ).mkdir()  # it takes the place of what is written first; not even root gets past it
    for words in ("Excluded /work/secret", "/work/secret is already excluded"):
        said = agent.run("exclude", "/work/secret", *state)
        assert (said.code, f"{words} in {agent.directory / 'excluded.toml'}." in said.stdout) == (0, True), said
    assert agent.scan().ledger["files"]["skipped"] == {"project": 1}
    assert "Included /work/secret." in agent.run("include", "/work/secret", *state).stdout
    assert agent.scan().ledger["delivered"] == 1


def test_config_init_keeps_a_copy_of_the_file_it_replaces(agent: Inside) -> None:
    file = place_of(agent)
    assert agent.run("exclude", "/work/secret").code == 0
    before = file.read_text()
    refused = agent.run("config", "init")
    assert (refused.code, "`collector config init -` prints" in refused.stderr) == (78, True)
    said = agent.run("config", "init", "--force")
    kept = file.with_name(f"{file.name}.bak")
    assert (said.code, f"they are in {kept}" in said.stdout, kept.read_text()) == (0, True, before)


def test_an_exclusion_that_would_make_the_file_invalid_is_refused(agent: Inside) -> None:
    file = place_of(agent)
    file.write_text(MINE.replace('"~/diary"', '"~/diary", "!~/diary/open"'))
    before = file.read_text()
    for command, path, code, said in (
        ("exclude", "*.tmp/[x", 78, "a [ in it is never closed"),
        ("exclude", "/work/[[:alpha:]]/*", 78, "classes such as"),
        ("exclude", "!~/diary/open", 2, "undoes an exclude"),
        ("exclude", " ", 2, "must not be empty"),
        ("include", "~/diary", 78, "exception to nothing"),
    ):
        result = agent.run(command, path)
        assert (result.code, said in result.stderr) == (code, True), (path, result.stderr)
        assert "Nothing was changed." in result.stderr or code == 2
        assert file.read_text() == before
    assert agent.run("config", "check").code == 0


def test_a_list_locked_by_an_administrator_cannot_be_changed(tmp_path: Path) -> None:
    chosen = Settings().with_origins(Origins(locks={"projects": str(tmp_path / "collector.toml")}))
    with pytest.raises(ConfigurationError, match=r"an administrator locked it in .*collector\.toml"):
        _refuse_if_locked(chosen, "projects.exclude")


def test_paths_are_resolved_and_escaped_and_globs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app [old]").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert glob_of("app [old]") == "~/app \\[old]"
    assert glob_of("./gone") == "~/gone"
    assert glob_of("/work/*/private") == "/work/*/private"
    assert glob_of("private") == "private"
