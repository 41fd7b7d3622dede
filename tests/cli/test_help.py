"""The help of every command: a summary that fits, an example that can be typed, and the usual flags."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from collector import __version__
from collector.cli import app, run
from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside

TREE = get_command(app)
MOST_COLUMNS = 80
READS_NO_CONFIGURATION = {("demo",), ("help",), ("config", "init")}


def commands(command: Any = TREE, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group, with its path."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def examples(command: Any) -> list[list[str]]:
    """The example command lines in a command's help, without `collector`."""
    found = re.findall(r"^\s*Example: (?:sudo )?collector (.*)", command.help or "", re.MULTILINE)
    return [shlex.split(line) for line in found]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    home = Home(tmp_path)
    home.session().prompt("one")
    return Inside(home, None, {"COLLECTOR_SINK__TYPE": "store"})


def test_every_help_fits_a_terminal_and_no_summary_is_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    said = {}
    for path, _ in commands():
        assert run([*path, "--help"]) == 0
        said[path] = capsys.readouterr().out
    wide = {path: line for path, text in said.items() for line in text.splitlines() if len(line) > MOST_COLUMNS}
    assert wide == {}
    listed = {path: text.partition("Commands:")[2] for path, text in said.items()}
    assert {path for path, text in listed.items() if "..." in text} == set()
    assert {path for path, text in said.items() if re.search(r"^  -.*<(\w+ range|list\[)", text, re.MULTILINE)} == set()


def test_every_command_has_an_example_that_parses() -> None:
    leaves = [(path, command) for path, command in commands() if not hasattr(command, "commands")]
    assert len(leaves) > 25
    assert {path for path, command in leaves if not examples(command)} == set()
    for path, command in leaves:
        for words in examples(command):
            assert tuple(words[: len(path)]) == path
            assert command.make_context(" ".join(path), words[len(path) :], resilient_parsing=False)


def test_help_works_as_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = {
        ("help",): ("-h",),
        ("help", "scan"): ("scan", "-h"),
        ("help", "service", "logs"): ("service", "logs", "-h"),
    }
    for asked, same in pairs.items():
        assert run(list(asked)) == 0
        text = capsys.readouterr().out
        assert run(list(same)) == 0
        assert text == capsys.readouterr().out
        assert text.startswith("Usage: collector ")
    assert run(["help", "nothing"]) == 2
    assert "No such command 'nothing'" in capsys.readouterr().err


def test_the_version_has_a_short_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert (run(["-V"]), capsys.readouterr().out) == (0, f"collector {__version__}\n")


def test_every_command_that_reads_the_configuration_takes_v_and_q() -> None:
    said = {path: {name for each in command.params for name in each.opts} for path, command in commands()}
    readers = {
        path for path, command in commands() if path and not hasattr(command, "commands") and path[0] != "service"
    } - READS_NO_CONFIGURATION
    assert {path for path in readers if not {"-v", "-q", "--verbose", "--quiet"} <= said[path]} == set()


@pytest.mark.parametrize("before", [True, False])
def test_v_and_q_work_before_and_after_the_command(agent: Agent, before: bool) -> None:
    def told(flag: str, *words: str) -> tuple[int, str, str]:
        result = agent.run(*([flag, *words] if before else [*words, flag]))
        return result.code, result.stdout, result.stderr

    _, shown, _ = told("-v", "config", "show")
    assert re.search(r'log\.level +"debug" +\(a command line flag', shown)
    assert re.search(r'log\.level +"error" +\(a command line flag', told("-q", "config", "show")[1])
    code, out, err = told("-q", "scan")
    assert (code, out, err) == (0, "", "")
    assert told("-q", "scan", "--json")[1].startswith("{")
    assert told("-q", "scan", "-v")[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        "scan",
        "status",
        "doctor",
        "config show",
        "config check",
        "report",
        "store info",
        "store compact",
        "quarantine retry --all",
        "quarantine drop --all",
        "reset --all",
        "scan --dry-run",
    ],
)
def test_every_report_is_available_as_json(agent: Agent, words: str) -> None:
    if words.startswith(("report", "store")):
        agent.run("scan")
    result = agent.run(*words.split(), "--json")
    assert result.code in ({0, 1} if words == "doctor" else {0})
    assert isinstance(json.loads(result.stdout), dict)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("nonsense = 1\n[sink]\ntimeout = 'x'\n", ["sink.timeout (in ", "nonsense (in "]),
        ("[sink\n", ["mine.toml is not valid TOML: "]),
        ("[[redaction.rules]]\nid = 'a'\npattern = '('\n", ["redaction.rules: the rule a has a pattern"]),
    ],
)
def test_an_invalid_configuration_is_reported_as_json_too(agent: Agent, text: str, problems: list[str]) -> None:
    file = agent.home.path / "mine.toml"
    file.write_text(text)
    result = agent.run("config", "check", "--json", "--config", str(file))
    said = json.loads(result.stdout)
    assert (result.code, said["is_valid"]) == (78, False)
    assert [known in problem for known, problem in zip(problems, said["problems"], strict=True)] == [True] * len(
        problems
    )
    assert said["problems"][0] in result.stderr
