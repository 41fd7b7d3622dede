"""Output streams: a full disk, a closed stream, a reader that goes away, a limited encoding, a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.sink import PATIENCE

ESCAPES = "\x1b]0;title\x07\x1b[2J\x9b\x7f\u202e"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    home = Home(tmp_path)
    home.session().prompt("one")
    return Agent(home, None, {"COLLECTOR_SINK__TYPE": "store"})


def in_shell(agent: Agent, redirection: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Runs the command under a shell redirection; gives its exit code and both outputs."""
    command = ["sh", "-c", f'"$@" {redirection}', "sh", *COLLECTOR, *arguments]
    made = {**agent.environment, **environment}
    done = subprocess.run(command, capture_output=True, env=made, cwd=agent.home.path, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(agent: Agent, *arguments: str, **environment: str) -> str:
    """Runs the command on a terminal, and gives what it shows."""
    terminal, end = pty.openpty()
    made = {**agent.environment, **environment}
    subprocess.run([*COLLECTOR, *arguments], stdout=end, env=made, timeout=PATIENCE, check=True)
    os.close(end)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    return shown


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_to_a_full_disk_is_reported(agent: Agent, unbuffered: str) -> None:
    said = {}
    for command in ("--version", "config show", "preview", "scan --json", "scan", "report"):
        code, _, told = in_shell(agent, ">/dev/full", *command.split(), PYTHONUNBUFFERED=unbuffered)
        said[command] = (code, told.splitlines()[-1].partition(". ")[0].rstrip("."), "Traceback" in told)
    expected = (74, "collector: Cannot write to standard output: No space left on device", False)
    assert {command: how for command, how in said.items() if how != expected} == {}


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true"])
def test_a_log_that_cannot_be_written_changes_no_exit_code(agent: Agent, where: str) -> None:
    ends = {"preview": 0, "scan": 0, "scan --root x": 66, "scan --nonsense": 2, "store export": 0, "exclude /work/x": 0}
    script = f'{{ "$@"; echo $? >&3; }} 3>"$HOME/ended" {where}'
    found = {}
    for command in ends:
        subprocess.run(
            ["sh", "-c", script, "sh", *COLLECTOR, *command.split()],
            env=agent.environment,
            timeout=PATIENCE,
            check=False,
        )
        found[command] = int((agent.home.path / "ended").read_text())
    assert found == ends


def test_closed_streams_are_not_an_error(agent: Agent) -> None:
    agent.run("scan")
    said = {
        (command, closed): in_shell(agent, closed, *command.split())
        for command in ("scan --json", "report", "redact")
        for closed in (">&-", "2>&-", "<&-", ">&- 2>&- <&-")
    }
    assert {case: (code, told) for case, (code, _, told) in said.items() if (code, told) != (0, "")} == {}


def test_the_command_exits_even_with_pythoninspect(agent: Agent) -> None:
    code, said, complaint = in_shell(agent, "</dev/null", "status", PYTHONINSPECT="1")
    assert (code, complaint) == (0, "")
    assert "nothing sent to it yet" in said


def test_a_reader_that_goes_away_is_not_an_error(agent: Agent) -> None:
    assert in_shell(agent, "| head -n 1", "config", "show", "--json") == (0, "{\n", "")


def test_characters_missing_from_the_encoding_are_escaped(agent: Agent) -> None:
    (agent.home.path / "\u2603.toml").touch()
    result = agent.run("config", "check", "--config", "\u2603.toml", env={"PYTHONIOENCODING": "latin-1"})
    assert (result.code, result.stdout) == (0, "\\u2603.toml: valid.\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reaches everything")
def test_a_path_without_permission_is_named(agent: Agent) -> None:
    closed = agent.home.path / "closed"
    closed.mkdir(0)
    result = agent.run("report", "--database", str(closed / "events.db"))
    assert result.code == 77
    assert result.stderr.startswith(f"collector: Cannot reach {closed / 'events.db'}: Permission denied.")


def test_a_path_that_the_system_does_not_take_is_named_and_no_fault_of_ours(agent: Agent) -> None:
    too_long = agent.home.path / ("x" * 300)
    result = agent.run("report", "--database", str(too_long))
    assert result.code == 74
    assert result.stderr.startswith(f"collector: Cannot reach {too_long}: File name too long.")


def test_ctrl_c_while_loading_gives_no_traceback(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "structlog.py").write_text("raise KeyboardInterrupt\n")
    result = agent.run("status", env={"PYTHONPATH": f"{tmp_path}:{agent.environment['PYTHONPATH']}"})
    assert (result.code, result.stdout, result.stderr) == (130, "", "collector: Interrupted.\n")


@pytest.mark.parametrize("flags", [[], ["--explain"], ["--jsonl"]], ids=str)
def test_redacted_text_cannot_move_the_cursor_of_a_terminal(agent: Agent, flags: list[str]) -> None:
    path = agent.home.path / "given"
    text = f"{ESCAPES}\tAKIA2E0A8F3B244C9986\n"
    path.write_text(json.dumps(text, ensure_ascii=False) if "--jsonl" in flags else text)
    shown = on_terminal(agent, "redact", *flags, str(path))
    assert not [each for each in ESCAPES.replace("]0;title", "").replace("[2J", "") if each in shown]
    assert "\\x1b]0;title" in shown or "\\u001b]0;title" in shown
    assert ESCAPES.encode() in agent.run("redact", str(path)).stdout.encode() or "--jsonl" in flags


@pytest.mark.parametrize("command", [["report", "--by", "session"], ["store", "sql", "SELECT title FROM sessions"]])
def test_csv_cannot_move_the_cursor_of_a_terminal_and_is_unchanged_in_a_file(agent: Agent, command: list[str]) -> None:
    agent.home.session().prompt(ESCAPES)
    agent.run("scan")
    shown = on_terminal(agent, *command, "--csv")
    assert not [each for each in ESCAPES.replace("]0;title", "").replace("[2J", "") if each in shown]
    assert "\\x1b]0;title" in shown
    assert ESCAPES in agent.run(*command, "--csv").stdout


def test_a_narrow_terminal_cuts_neither_numbers_nor_ids(agent: Agent) -> None:
    session = agent.home.session()
    session.reply("Done.", tokens=1_234_567)
    session.raw(b"{broken\n")
    agent.run("scan")
    shown = on_terminal(agent, "report", COLUMNS="40", NO_COLOR="1")
    assert "1,234,567" in shown
    [entry] = agent.run("quarantine", "list", "--json").stdout.splitlines()
    for listed in (on_terminal(agent, "quarantine", "list", COLUMNS="60"), agent.run("quarantine", "list").stdout):
        assert json.loads(entry)["id"] in listed
        assert json.loads(entry)["source"] in listed
