"""`collector service`, run as a person would: what it would do, does, and refuses, with scripted service managers."""

from __future__ import annotations

import inspect
import plistlib
import re
import sys
from pathlib import Path

import pytest

from collector.cli import run
from collector.cli.service import app
from tests.install.scripted import ServiceManager

PROGRAM = ["--program", "/opt/collector/bin/collector"]
SYSTEMD = ["--platform", "systemd"]
LAUNCHD = ["--platform", "launchd"]


def test_a_dry_run_for_systemd_shows_file_and_commands_and_changes_nothing(
    manager: ServiceManager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD]) == 0
    shown = capsys.readouterr().out
    assert f"# would write {scratch_home}/.config/systemd/user/collector.service" in shown
    assert "ExecStart=/opt/collector/bin/collector run" in shown
    assert "systemctl --user enable collector.service" in shown
    assert not manager.calls
    assert not list(scratch_home.iterdir())


def test_a_dry_run_for_launchd_shows_a_whole_property_list(
    manager: ServiceManager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", "install", "--dry-run", *PROGRAM, *LAUNCHD]) == 0
    shown = capsys.readouterr().out
    listed = re.search(r"<\?xml.*</plist>", shown, re.DOTALL)
    assert listed
    found = plistlib.loads(listed[0].encode())
    assert found["StandardErrorPath"] == f"{scratch_home}/Library/Logs/collector/collector.log"
    assert re.search(r"launchctl bootstrap gui/\d+ /", shown)
    assert not manager.calls
    assert not list(scratch_home.iterdir())


def test_a_dry_run_for_the_system_needs_no_root(manager: ServiceManager, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["service", "install", "--system", "--for", "nobody", "--dry-run", *PROGRAM, *SYSTEMD]) == 0
    shown = capsys.readouterr().out
    assert "User=%i" in shown
    assert "systemctl enable collector@nobody.service" in shown
    assert "collector@nobody.service.d/home.conf" in shown, "the home of nobody is not below /home"


def test_a_dry_run_shows_exactly_what_would_be_written(
    manager: ServiceManager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD])
    shown = capsys.readouterr().out
    run(["service", "install", *PROGRAM, *SYSTEMD])
    assert (scratch_home / ".config/systemd/user/collector.service").read_text() in shown
    assert [line for line in shown.splitlines() if line.startswith("systemctl")] == manager.calls


def test_the_service_keeps_its_files_where_this_persons_commands_look_for_them(
    manager: ServiceManager, scratch_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/data/my state")
    monkeypatch.setenv("XDG_DATA_HOME", f"{scratch_home}/.local/share")  # the usual place
    assert run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD]) == 0
    shown = capsys.readouterr().out
    assert re.findall("^Environment=(.*XDG.*)", shown, re.MULTILINE) == ['"XDG_STATE_HOME=/data/my state"']
    assert 'ReadWritePaths="-/data/my state/collector" -%h/.local/share/collector -%h/.cache/collector\n' in shown
    assert run(["service", "install", "--dry-run", *PROGRAM, *LAUNCHD]) == 0
    assert "<key>XDG_STATE_HOME</key>" in capsys.readouterr().out


def test_the_service_may_write_where_its_own_variables_say_and_not_those_of_the_shell(
    manager: ServiceManager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLLECTOR_STATE__PATH", "/of/the/shell/state.json")
    given = ["--env", "COLLECTOR_STATE__PATH=/of/the/service/state.json"]
    assert run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD, *given]) == 0
    assert "ReadWritePaths=-/of/the/service " in capsys.readouterr().out
    assert run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD]) == 0
    assert "ReadWritePaths=-%h/.local/state/collector " in capsys.readouterr().out


def test_variables_that_the_service_will_not_have_are_named(
    manager: ServiceManager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The service does not see an exclusion that is set only in a shell's profile."""
    for name, value in (("COLLECTOR_PROJECTS__EXCLUDE", "~/diary"), ("CLAUDE_CONFIG_DIR", "/a"), ("PAGER", "less")):
        monkeypatch.setenv(name, value)
    install = ["service", "install", "--dry-run", *PROGRAM]
    for platform in (SYSTEMD, LAUNCHD):
        assert run([*install, *platform]) == 0
        assert "variables of this shell: CLAUDE_CONFIG_DIR, COLLECTOR_PROJECTS__EXCLUDE." in capsys.readouterr().err
    assert (
        run([*install, *SYSTEMD, "--env", "CLAUDE_CONFIG_DIR=/a", "--env", "COLLECTOR_PROJECTS__EXCLUDE=~/diary"]) == 0
    )
    assert capsys.readouterr().err == ""


def test_installing_says_what_it_did_and_how_to_undo_it(
    manager: ServiceManager, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^wrote +/.*/collector.service$", said, re.MULTILINE)
    assert "To undo: collector service uninstall" in said


def test_an_edited_file_needs_force(
    manager: ServiceManager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scratch_home / ".config/systemd/user/collector.service"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 1
    assert "was edited" in capsys.readouterr().err
    assert run(["service", "install", "--force", *PROGRAM, *SYSTEMD]) == 0
    assert path.with_name("collector.service.bak").read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("platform", "file"),
    [(SYSTEMD, ".config/systemd/user/collector.service"), (LAUNCHD, "Library/LaunchAgents/claude-collector.plist")],
)
def test_uninstalling_removes_what_was_installed_and_can_be_repeated(
    platform: list[str], file: str, manager: ServiceManager, scratch_home: Path
) -> None:
    run(["service", "install", *PROGRAM, *platform])
    assert (scratch_home / file).is_file()
    assert run(["service", "uninstall", *platform]) == 0
    assert not (scratch_home / file).exists()
    assert run(["service", "uninstall", *platform]) == 0


def test_uninstalling_removes_the_drop_in_without_namespaces_too(manager: ServiceManager, scratch_home: Path) -> None:
    run(["service", "install", "--no-namespaces", *PROGRAM, *SYSTEMD])
    assert list(scratch_home.rglob("without-namespaces.conf"))
    assert run(["service", "uninstall", *SYSTEMD]) == 0
    assert not list(scratch_home.rglob("*.conf"))
    assert not list(scratch_home.rglob("*.service.d"))


def test_directories_from_the_configuration_are_writable(
    manager: ServiceManager, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = tmp_path / "collector.toml"
    configuration.write_text('[state]\npath = "/srv/state/state.json"\n[store]\ndatabase = "/srv/db/events.db"\n')
    run(["service", "install", "--dry-run", "--config", str(configuration), *PROGRAM, *SYSTEMD])
    shown = capsys.readouterr().out
    assert "ReadWritePaths=-/srv/state -/srv/db -%h/.cache/collector" in shown
    assert f"Environment=COLLECTOR_CONFIG={configuration}" in shown


def test_no_session_bus_is_explained(manager: ServiceManager, capsys: pytest.CaptureFixture[str]) -> None:
    manager.says("systemctl", "Failed to connect to bus: No medium found", 1)
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 1
    assert "enable-linger" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["install", "--system", *SYSTEMD], "needs --for"),
        (["install", "--for", "nobody", *SYSTEMD], "--for needs --system"),
        (["install", "--system", "--for", "no-such-user", *SYSTEMD], "no user"),
        (["install", "--system", "--for", "nobody", *LAUNCHD], "is for systemd"),
        (["install", "--env", "no equals sign", *SYSTEMD], "NAME=VALUE"),
        (["install", "--config", "/no/such/file", *SYSTEMD], "no configuration file"),
        (
            ["install", "--system", "--for", "nobody", "--program", "/home/x/collector", *SYSTEMD],
            "hides /home/x/",
        ),
        (["logs", "--clear", *SYSTEMD], "nothing to empty"),
        (["logs", *LAUNCHD], "no log"),
    ],
)
def test_impossible_requests_are_refused_with_a_reason(
    words: list[str], reason: str, manager: ServiceManager, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", *words]) != 0
    assert reason in capsys.readouterr().err
    assert not manager.calls


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd is always there")
def test_a_machine_without_a_service_manager_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["service", "install"]) == 1
    assert "collector run" in capsys.readouterr().err


def test_status_shows_the_facts_from_systemd(manager: ServiceManager, capsys: pytest.CaptureFixture[str]) -> None:
    facts = {
        "LoadState": "loaded",
        "ActiveState": "active",
        "SubState": "running",
        "UnitFileState": "enabled",
        "FragmentPath": "/etc/unit",
        "MainPID": "42",
        "ActiveEnterTimestamp": "Wed",
        "StatusText": "0 bytes behind",
        "NRestarts": "0",
    }
    manager.says("systemctl", "".join(f"{name}={value}\n" for name, value in facts.items()))
    assert run(["service", "status", *SYSTEMD]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"state +running", shown)
    assert "0 bytes behind" in shown
    assert "42" in shown


def test_status_of_a_failed_service_names_the_reason_and_exits_with_1(
    manager: ServiceManager, capsys: pytest.CaptureFixture[str]
) -> None:
    manager.says(
        "systemctl",
        "LoadState=loaded\nActiveState=failed\nSubState=failed\nUnitFileState=enabled\nFragmentPath=/u\n"
        "NRestarts=0\nResult=exit-code\nExecMainStatus=78\n",
    )
    assert run(["service", "status", *SYSTEMD]) == 1
    assert "exit code 78" in capsys.readouterr().out


@pytest.mark.parametrize("platform", [SYSTEMD, LAUNCHD])
def test_status_before_installation_says_how_to_install(
    platform: list[str], manager: ServiceManager, capsys: pytest.CaptureFixture[str]
) -> None:
    manager.says("systemctl", "LoadState=not-found\n")
    assert run(["service", "status", *platform]) == 1
    assert "collector service install" in capsys.readouterr().out


def test_the_log_of_launchd_is_emptied_in_place(manager: ServiceManager, scratch_home: Path) -> None:
    log = scratch_home / "Library/Logs/collector/collector.log"
    log.parent.mkdir(parents=True)
    log.write_text("old lines\n")
    before = log.stat().st_ino
    assert run(["service", "logs", "--clear", *LAUNCHD]) == 0
    assert (log.stat().st_ino, log.stat().st_size) == (before, 0)


def test_logs_shows_the_journal_of_the_unit(manager: ServiceManager) -> None:
    assert run(["service", "logs", "--lines", "5", *SYSTEMD]) == 0
    assert manager.calls == ["journalctl --no-pager --user-unit collector.service --lines 5"]


@pytest.mark.parametrize(("signal", "code"), [("PIPE", 0), ("TERM", 143)])
def test_logs_exits_with_the_code_a_shell_would_give(manager: ServiceManager, signal: str, code: int) -> None:
    (manager.directory / "journalctl").write_text(f"#!/bin/sh\nkill -{signal} $$\n")
    assert run(["service", "logs", *SYSTEMD]) == code


def test_status_of_a_launch_agent_ignores_its_coalition(
    manager: ServiceManager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["service", "install", *PROGRAM, *LAUNCHD])
    manager.says(
        "launchctl",
        "gui/501/claude-collector = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 42\n"
        "\tresource coalition = {\n\t\tstate = active\n\t\tpid = 1\n\t}\n\tlast exit code = (never exited)\n}\n",
    )
    manager.knows_agent_for(1)
    capsys.readouterr()
    assert run(["service", "status", *LAUNCHD]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"state +running", shown)
    assert re.search(r"process +42", shown)


LOADED = "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\nFragmentPath=/u\nMainPID=1\n"
TOLD = LOADED + "NRestarts=0\nStatusText=\nActiveEnterTimestamp=Wed\nResult=success\nExecMainStatus=0\n"


@pytest.mark.parametrize("verb", ["start", "stop", "restart"])
def test_a_service_is_started_and_stopped_by_its_manager(
    verb: str, manager: ServiceManager, capsys: pytest.CaptureFixture[str]
) -> None:
    manager.says("systemctl", TOLD)
    assert run(["service", verb, *SYSTEMD]) == 0
    assert manager.calls[-1] == f"systemctl --user {verb} collector.service"
    assert run(["service", verb, "--system", "--for", "nobody", "--dry-run", *SYSTEMD]) == 0
    assert f"systemctl {verb} collector@nobody.service" in capsys.readouterr().out
    manager.says("systemctl", "LoadState=not-found\n")
    assert run(["service", verb, *SYSTEMD]) == 1
    assert "`collector service install` installs it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "last"), [("start", "kickstart gui/"), ("stop", "print gui/"), ("restart", "kickstart -k gui/")]
)
def test_a_launch_agent_is_started_and_stopped(verb: str, last: str, manager: ServiceManager) -> None:
    run(["service", "install", *PROGRAM, *LAUNCHD])
    assert run(["service", verb, *LAUNCHD]) == 0
    assert f"launchctl {last}" in manager.calls[-1]


def test_every_command_of_the_service_has_an_example_and_a_summary_that_fits() -> None:
    for command in app.registered_commands:
        said = inspect.cleandoc(str(command.callback.__doc__))  # Python 3.13 does this itself
        assert "\nExample: " in said
        assert len(said.partition("\n")[0]) <= 65
