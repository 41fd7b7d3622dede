"""Paths that lead nowhere: an empty one, as from an unset variable of a shell, and one in a directory that is gone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.build import Home
from tests.inside import Inside

EVERY_COMMAND = ("scan", "status", "preview", "doctor", "exclude /work/x", "pause", "quarantine list", "reset --all")


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    home = Home(tmp_path)
    home.session().prompt("one")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Inside(home, None)


@pytest.mark.parametrize("command", EVERY_COMMAND)
@pytest.mark.parametrize("flag", [["--state", ""], ["--state="], ["--config", ""]], ids=str)
def test_a_command_refuses_an_empty_path_and_changes_nothing(agent: Inside, command: str, flag: list[str]) -> None:
    refused = agent.run(*command.split(), *flag)
    assert (refused.code, f"{flag[0].rstrip('=')} is empty" in refused.stderr) == (78, True)
    assert list(Path.cwd().iterdir()) == []
    assert not (agent.home.path / ".local").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["report", "--database", ""],
        ["receive", "--token-file", ""],
        ["service", "install", "--dry-run", "--program", ""],
        ["redact", ""],
        ["config", "init", ""],
        ["store", "export", ""],
    ],
    ids=" ".join,
)
def test_so_do_the_commands_with_paths_of_their_own(agent: Inside, words: list[str]) -> None:
    refused = agent.run(*words)
    assert (refused.code, " is empty: " in refused.stderr) == (78, True), refused.stderr
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "environment"),
    [
        (["--root", ""], {}),
        ([], {"COLLECTOR_ROOTS": '[""]'}),
        ([], {"COLLECTOR_ROOTS": '[{"path": ""}]'}),
        ([], {"COLLECTOR_STATE__PATH": ""}),
        ([], {"COLLECTOR_STORE__DATABASE": ""}),
    ],
)
def test_no_root_and_no_variable_is_an_empty_path(
    agent: Inside, flags: list[str], environment: Mapping[str, str]
) -> None:
    refused = agent.run("scan", *flags, env=environment)
    assert (refused.code, "must not be empty" in refused.stderr) == (78, True), refused.stderr


def test_an_empty_variable_that_names_the_usual_places_counts_as_unset(agent: Inside) -> None:
    unset = {"COLLECTOR_CONFIG": "", "COLLECTOR_ROOTS": "", "CLAUDE_CONFIG_DIR": "", "STATE_DIRECTORY": ""}
    done = agent.run("scan", "--json", "--sink-type", "store", env=unset)
    assert done.ledger["delivered"] == 1, done.stderr
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["exclude", "."],
        ["include", "."],
        ["forget", "--project", ".", "--yes"],
        ["reset", "x"],
        ["scan", "--root", "."],
    ],
)
def test_a_path_in_a_deleted_directory_gets_one_sentence(agent: Inside, words: list[str]) -> None:
    Path.cwd().rmdir()
    refused = agent.run(*words)
    assert (refused.code, refused.stderr.count("\n")) == (1, 1)
    assert refused.stderr.startswith("collector: The current directory has been deleted")


def test_a_deleted_project_can_be_excluded_from_within_by_its_whole_path(agent: Inside) -> None:
    project = Path.cwd()
    project.rmdir()
    done = agent.run("exclude", str(project))
    assert (done.code, "Excluded" in done.stdout) == (0, True), done.stderr
