"""`collector service`: what it would do, does, and refuses; against a scripted systemctl and launchctl."""

from __future__ import annotations

import plistlib
import re
from pathlib import Path

import pytest

from collector.cli import run
from collector.install import plans, templates


class Manager:
    """A systemctl, launchctl and journalctl on the PATH: they write down their calls and say what is scripted."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.directory.mkdir()
        for name in ("systemctl", "launchctl", "journalctl"):
            self.says(name)
        self.knows_agent_for(0)

    def knows_agent_for(self, asked: int) -> None:
        """How often `launchctl print` still tells of an agent; it is gone after that."""
        (self.directory / "prints").write_text("." * asked)

    def says(self, name: str, output: str = "", code: int = 0) -> None:
        """From now on the command prints this and ends with this code."""
        said = self.directory / f"{name}.out"
        said.write_text(output)
        program = self.directory / name
        calls = self.directory / "calls"
        left = self.directory / "prints"
        fades = (
            f'[ "$1" = print ] && {{ [ -s {left} ] || exit 113; tail -c +2 {left} >{left}.new; mv {left}.new {left}; }}'
        )
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>{calls}\n{fades}\ncat {said}\nexit {code}\n')
        program.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        """Every call so far."""
        calls = self.directory / "calls"
        return calls.read_text().splitlines() if calls.exists() else []


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    """The service manager's commands, and no package on this machine."""
    scripted = Manager(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{scripted.directory}:/usr/bin:/bin")
    monkeypatch.setattr(plans, "PACKAGED_UNITS", tmp_path / "no-package")
    monkeypatch.setattr(plans, "LOCAL_UNITS", tmp_path / "etc")
    monkeypatch.setattr(plans, "NO_NAMESPACES", ((tmp_path / "restrict_userns", "1"),))
    return scripted


PROGRAM = ["--program", "/opt/collector/bin/collector"]
SYSTEMD = ["--platform", "systemd"]
LAUNCHD = ["--platform", "launchd"]


def test_a_dry_run_for_systemd_shows_file_and_commands_and_changes_nothing(
    manager: Manager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD]) == 0
    shown = capsys.readouterr().out
    assert f"# would write {scratch_home}/.config/systemd/user/collector.service" in shown
    assert "ExecStart=/opt/collector/bin/collector run" in shown
    assert "systemctl --user enable collector.service" in shown
    assert not manager.calls
    assert not list(scratch_home.iterdir())


def test_a_dry_run_for_launchd_shows_a_whole_property_list(
    manager: Manager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
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


def test_a_dry_run_for_the_system_needs_no_root(manager: Manager, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["service", "install", "--system", "--for", "nobody", "--dry-run", *PROGRAM, *SYSTEMD]) == 0
    shown = capsys.readouterr().out
    assert "User=%i" in shown
    assert "systemctl enable collector@nobody.service" in shown
    assert "collector@nobody.service.d/home.conf" in shown, "the home of nobody is not below /home"


def test_what_a_dry_run_shows_is_what_is_written(
    manager: Manager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["service", "install", "--dry-run", *PROGRAM, *SYSTEMD])
    shown = capsys.readouterr().out
    run(["service", "install", *PROGRAM, *SYSTEMD])
    assert (scratch_home / ".config/systemd/user/collector.service").read_text() in shown
    assert [line for line in shown.splitlines() if line.startswith("systemctl")] == manager.calls


def test_installing_says_what_it_did_and_how_to_undo_it(manager: Manager, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 0
    said = capsys.readouterr().out
    assert re.search(r"^wrote +/.*/collector.service$", said, re.MULTILINE)
    assert "To undo: collector service uninstall" in said
    assert "loginctl enable-linger" in said


def test_installing_twice_writes_and_restarts_nothing(manager: Manager, capsys: pytest.CaptureFixture[str]) -> None:
    run(["service", "install", *PROGRAM, *SYSTEMD])
    assert "systemctl --user restart collector.service" in manager.calls
    first = len(manager.calls)
    capsys.readouterr()
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 0
    assert "unchanged" in capsys.readouterr().out
    assert not [call for call in manager.calls[first:] if "restart" in call]


def test_a_newer_version_replaces_a_file_that_nobody_edited(manager: Manager, scratch_home: Path) -> None:
    path = scratch_home / ".config/systemd/user/collector.service"
    path.parent.mkdir(parents=True)
    path.write_text(templates.signed("[Service]\nExecStart=/old/collector run\n", "# ", ""))
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 0
    assert "/opt/collector/bin/collector" in path.read_text()
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_an_edited_file_is_not_overwritten_and_the_difference_is_shown(
    manager: Manager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["service", "install", *PROGRAM, *SYSTEMD])
    path = scratch_home / ".config/systemd/user/collector.service"
    path.write_text(path.read_text().replace("Nice=10", "Nice=19"))
    edited, calls = path.read_text(), list(manager.calls)
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 1
    complaint = capsys.readouterr().err
    assert "has been edited" in complaint
    assert "-Nice=19" in complaint
    assert "--force" in complaint
    assert path.read_text() == edited
    assert manager.calls == calls


def test_force_overwrites_an_edited_file_and_keeps_it(manager: Manager, scratch_home: Path) -> None:
    path = scratch_home / ".config/systemd/user/collector.service"
    path.parent.mkdir(parents=True)
    path.write_text("[Service]\n# mine\n")
    assert run(["service", "install", "--force", *PROGRAM, *SYSTEMD]) == 0
    assert templates.is_unedited(path.read_text())
    assert path.with_name("collector.service.bak").read_text() == "[Service]\n# mine\n"


@pytest.mark.parametrize(
    ("platform", "file"),
    [(SYSTEMD, ".config/systemd/user/collector.service"), (LAUNCHD, "Library/LaunchAgents/claude-collector.plist")],
)
def test_uninstalling_removes_what_was_installed_and_can_be_repeated(
    platform: list[str], file: str, manager: Manager, scratch_home: Path
) -> None:
    run(["service", "install", *PROGRAM, *platform])
    assert (scratch_home / file).is_file()
    assert run(["service", "uninstall", *platform]) == 0
    assert not (scratch_home / file).exists()
    assert run(["service", "uninstall", *platform]) == 0


def test_uninstalling_leaves_an_edited_file(manager: Manager, scratch_home: Path) -> None:
    path = scratch_home / ".config/systemd/user/collector.service"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    assert run(["service", "uninstall", *SYSTEMD]) == 1
    assert path.read_text() == "# mine\n"
    assert not manager.calls


def test_the_unit_of_the_package_is_used_where_the_packaged_program_runs(
    manager: Manager, scratch_home: Path, tmp_path: Path
) -> None:
    packaged = tmp_path / "no-package" / "user" / templates.UNIT
    packaged.parent.mkdir(parents=True)
    packaged.touch()
    assert run(["service", "install", "--program", templates.PACKAGED_PROGRAM, *SYSTEMD]) == 0
    assert not (scratch_home / ".config/systemd").exists()
    assert "systemctl --user enable collector.service" in manager.calls


def test_a_state_elsewhere_needs_a_unit_of_its_own(
    manager: Manager, scratch_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packaged unit may write to the usual places only."""
    packaged = tmp_path / "no-package" / "user" / templates.UNIT
    packaged.parent.mkdir(parents=True)
    packaged.touch()
    monkeypatch.setenv("COLLECTOR_STATE__PATH", "/srv/state/state.json")
    assert run(["service", "install", "--program", templates.PACKAGED_PROGRAM, *SYSTEMD]) == 0
    assert "/srv/state" in (scratch_home / ".config/systemd/user/collector.service").read_text()


def test_a_kernel_without_namespaces_for_users_gets_a_smaller_sandbox_and_a_word(
    manager: Manager, scratch_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ubuntu since 23.10: PrivateUsers=yes keeps a user unit from starting."""
    (tmp_path / "restrict_userns").write_text("1\n")
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 0
    assert "the file system sandbox is left out" in capsys.readouterr().out
    drop_in = scratch_home / ".config/systemd/user/collector.service.d/without-namespaces.conf"
    assert "PrivateUsers=no" in drop_in.read_text()
    (tmp_path / "restrict_userns").write_text("0\n")
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 0
    assert not drop_in.exists()
    assert manager.calls[-1] == "systemctl --user restart collector.service"


def test_uninstalling_takes_the_smaller_sandbox_along(manager: Manager, scratch_home: Path) -> None:
    run(["service", "install", "--no-namespaces", *PROGRAM, *SYSTEMD])
    assert list(scratch_home.rglob("without-namespaces.conf"))
    assert run(["service", "uninstall", *SYSTEMD]) == 0
    assert not list(scratch_home.rglob("*.conf"))


def test_directories_from_the_configuration_are_writable(
    manager: Manager, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configuration = tmp_path / "collector.toml"
    configuration.write_text('[state]\npath = "/srv/state/state.json"\n[store]\ndatabase = "/srv/db/events.db"\n')
    run(["service", "install", "--dry-run", "--config", str(configuration), *PROGRAM, *SYSTEMD])
    shown = capsys.readouterr().out
    assert "ReadWritePaths=-/srv/state -/srv/db -%h/.cache/collector" in shown
    assert f"Environment=COLLECTOR_CONFIG={configuration}" in shown


def test_no_session_bus_is_explained(manager: Manager, capsys: pytest.CaptureFixture[str]) -> None:
    manager.says("systemctl", "Failed to connect to bus: No medium found", 1)
    assert run(["service", "install", *PROGRAM, *SYSTEMD]) == 1
    assert "enable-linger" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["install", "--system", *SYSTEMD], "needs --for"),
        (["install", "--for", "nobody", *SYSTEMD], "goes with --system"),
        (["install", "--system", "--for", "no-such-user", *SYSTEMD], "no user"),
        (["install", "--system", "--for", "nobody", *LAUNCHD], "is for systemd"),
        (["install", "--env", "no equals sign", *SYSTEMD], "NAME=VALUE"),
        (["install", "--config", "/no/such/file", *SYSTEMD], "no configuration file"),
        (["install", "--system", "--for", "nobody", "--program", "/home/x/collector", *SYSTEMD], "sandbox hides"),
        (["logs", "--clear", *SYSTEMD], "nothing to empty"),
        (["logs", *LAUNCHD], "no log"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(
    words: list[str], reason: str, manager: Manager, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["service", *words]) != 0
    assert reason in capsys.readouterr().err
    assert not manager.calls


def test_a_machine_without_a_service_manager_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert run(["service", "install"]) == 1
    assert "collector run" in capsys.readouterr().err


def test_status_tells_what_systemd_says(manager: Manager, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_status_of_a_failed_service_names_the_reason_and_ends_with_1(
    manager: Manager, capsys: pytest.CaptureFixture[str]
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
    platform: list[str], manager: Manager, capsys: pytest.CaptureFixture[str]
) -> None:
    manager.says("systemctl", "LoadState=not-found\n")
    assert run(["service", "status", *platform]) == 1
    assert "collector service install" in capsys.readouterr().out


def test_the_log_of_launchd_is_emptied_in_place(manager: Manager, scratch_home: Path) -> None:
    log = scratch_home / "Library/Logs/collector/collector.log"
    log.parent.mkdir(parents=True)
    log.write_text("old lines\n")
    before = log.stat().st_ino
    assert run(["service", "logs", "--clear", *LAUNCHD]) == 0
    assert (log.stat().st_ino, log.stat().st_size) == (before, 0)


def test_logs_asks_the_journal_about_the_unit(manager: Manager) -> None:
    assert run(["service", "logs", "--lines", "5", *SYSTEMD]) == 0
    assert manager.calls == ["journalctl --no-pager --user-unit collector.service --lines 5"]


@pytest.mark.parametrize(("signal", "code"), [("PIPE", 0), ("TERM", 143)])
def test_logs_ends_as_a_shell_would_say_it(manager: Manager, signal: str, code: int) -> None:
    (manager.directory / "journalctl").write_text(f"#!/bin/sh\nkill -{signal} $$\n")
    assert run(["service", "logs", *SYSTEMD]) == code


def test_a_new_launch_agent_is_started_when_the_one_before_has_ended(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bootout returns at once; bootstrap fails for as long as launchctl still tells of the agent."""
    monkeypatch.setattr(plans, "LOOK_SECONDS", 0.01)
    manager.knows_agent_for(3)
    assert run(["service", "install", *PROGRAM, *LAUNCHD]) == 0
    words = [call.split()[1] for call in manager.calls]
    assert words == ["bootout", "print", "print", "print", "print", "enable", "bootstrap", "kickstart"]


def test_an_agent_that_does_not_end_is_told_of(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plans, "STOP_SECONDS", 0.0)
    manager.knows_agent_for(100)
    assert run(["service", "install", *PROGRAM, *LAUNCHD]) == 1
    assert "Run the command again" in capsys.readouterr().err


def test_status_of_a_launch_agent_is_its_own_and_not_that_of_its_coalition(
    manager: Manager, scratch_home: Path, capsys: pytest.CaptureFixture[str]
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
