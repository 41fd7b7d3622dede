"""The checks inside the machine, in order; each one builds on those before it.

Runs as root under a real systemd, with the machine's Python and the libraries of the package under test. Writes
/exchange/results.json after each check, so that the results of a machine that dies show how far it came.
"""

from __future__ import annotations

import functools
import json
import os
import re
import signal
import stat
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, "/tree")

from tests.system import rollout
from tests.system.guest import (
    BOBS_UNIT,
    CONFIGURATION,
    LIBRARY,
    SYSTEM_UNIT,
    TOKEN,
    USER_UNIT,
    Unit,
    alice,
    command,
    owned_by_alice,
    wait_for,
)

EXCHANGE = Path("/exchange")


def the_machine_is_up() -> None:
    assert Path("/proc/1/comm").read_text().strip() == "systemd"
    for name in ("alice", "bob"):
        command("useradd", "--create-home", "--shell", "/bin/bash", name)
        Path("/home", name).chmod(0o700)
    Path("/home/alice/.ssh").mkdir()
    Path("/home/alice/.ssh/id_ed25519").write_text("not a key")
    Path("/tmp/visible").write_text("x")
    command("loginctl", "enable-linger", "alice")
    wait_for(Path("/run/user/1000/bus").exists, "the session bus of alice")


def the_package_installs_and_starts_nothing() -> None:
    output = command("dpkg", "--install", str(EXCHANGE / "collector.deb"))
    assert "warning" not in output.lower(), output
    assert command("collector", "--version", user="alice").startswith("collector ")
    assert not command("systemctl", "list-units", "--all", "--plain", "--no-legend", "collector*").strip()
    assert not USER_UNIT.is_active()
    assert "not-found" not in USER_UNIT.show("LoadState")
    assert "collector service install" in command("man", "--pager=cat", "collector")
    assert Path("/usr/share/bash-completion/completions/collector").is_file()
    assert list((LIBRARY / "site" / "collector").glob("__pycache__/*.pyc")), "nothing was compiled"
    template = LIBRARY / "site" / "collector" / "service_files" / "systemd" / "collector.service"
    assert template.is_file(), "the wheel does not carry the service templates (pyproject.toml, force-include)"


def the_units_are_sound() -> None:
    units = ("system/collector@.service", "system/collector-wait@.service", "user/collector.service")
    for unit in (f"/usr/lib/systemd/{each}" for each in units):
        complaints = command("systemd-analyze", "verify", "--man=no", unit).splitlines()
        expected = re.compile(r"Unknown key (name )?'Restart(Steps|MaxDelaySec)'")  # newer than systemd 252
        assert not [line for line in complaints if not expected.search(line)], complaints
    command(
        "systemd-analyze", "security", "--offline=true", "--threshold=25", "/usr/lib/systemd/system/collector@.service"
    )


def the_user_unit_starts_and_ships() -> None:
    alice().writes(3)
    path = Path("/home/alice/.config/collector/collector.toml")
    path.parent.mkdir(parents=True)
    path.write_text(CONFIGURATION.format(url=alice().sink.url))
    owned_by_alice()
    told = command("collector", "service", "install", user="alice")
    assert "To undo: collector service uninstall" in told
    _is_running_and_ships(USER_UNIT)


def installing_again_restarts_nothing() -> None:
    process = USER_UNIT.show("MainPID")
    command("collector", "service", "install", user="alice")
    assert USER_UNIT.show("MainPID") == process
    assert "running" in command("collector", "service", "status", user="alice")


def the_user_unit_is_sandboxed() -> None:
    could = _probed(USER_UNIT)
    assert could == ["read a transcript"], f"inside the sandbox it could {could}"


def the_probe_finds_what_is_possible_without_a_sandbox() -> None:
    report = "/home/alice/report.json"
    command("/usr/bin/python3", "/tree/tests/system/probe.py", report, user="alice")
    could = json.loads(Path(report).read_text())
    transcript = next(Path("/home/alice/.claude/projects").rglob("*.moved"))
    transcript.rename(transcript.with_suffix(".jsonl"))
    Path("/home/alice/.claude/probe").unlink()
    expected = {
        "append to a transcript",
        "make a file below the root",
        "remove a transcript",
        "read the ssh key",
        "see /tmp",
    }
    assert expected <= set(could), f"the probe proves nothing: without a sandbox it could only {could}"


def the_user_unit_stopped_mid_batch_loses_nothing() -> None:
    _stopped_mid_batch(USER_UNIT)


def the_frozen_user_unit_is_restarted() -> None:
    _frozen(USER_UNIT)


def a_reload_keeps_the_process() -> None:
    process = USER_UNIT.show("MainPID")
    USER_UNIT.control("reload", USER_UNIT.name)
    alice().writes()
    alice().expects_everything()
    assert USER_UNIT.is_active()
    assert USER_UNIT.show("MainPID") == process


def bad_configuration_is_not_tried_again() -> None:
    path = Path("/home/alice/.config/collector/collector.toml")
    good = path.read_text()
    path.write_text("[sink]\nurll = 1\n")
    USER_UNIT.control("restart", USER_UNIT.name, fails=True)
    assert USER_UNIT.show("ExecMainStatus") == "78"
    assert USER_UNIT.show("SubState") == "failed", "systemd is about to start it again"
    path.write_text(good)
    USER_UNIT.control("restart", USER_UNIT.name)
    assert USER_UNIT.is_active()


def the_user_unit_uninstalls() -> None:
    command("collector", "service", "uninstall", user="alice")
    assert not USER_UNIT.is_active()
    assert USER_UNIT.show("UnitFileState") == "disabled"
    assert USER_UNIT.state.is_dir(), "the state went with the service"


def the_system_unit_starts_and_ships() -> None:
    from tests.sink import only_with_token

    alice().sink.clear_script(then=only_with_token("from-the-credential"))
    TOKEN.parent.mkdir(mode=0o700, exist_ok=True)
    TOKEN.write_text("from-the-credential\n")
    TOKEN.chmod(0o600)
    Path("/etc/collector/collector.toml").write_text(CONFIGURATION.format(url=alice().sink.url))
    Path("/home/alice/.config/collector/collector.toml").unlink()
    alice().writes(3)
    command("collector", "service", "install", "--system", "--for", "alice")
    _is_running_and_ships(SYSTEM_UNIT)
    assert stat.S_IMODE(SYSTEM_UNIT.state.stat().st_mode) == 0o700
    assert SYSTEM_UNIT.state.owner() == "alice"
    wait_for(lambda: _previewed() == {"sent"}, "alice being shown what her service has sent")
    alice().sink.clear_script()


def the_system_unit_is_sandboxed() -> None:
    could = _probed(SYSTEM_UNIT)
    assert could == ["read a transcript"], f"inside the sandbox it could {could}"


def the_system_unit_stopped_mid_batch_loses_nothing() -> None:
    _stopped_mid_batch(SYSTEM_UNIT)


def the_frozen_system_unit_is_restarted() -> None:
    _frozen(SYSTEM_UNIT)


def an_upgrade_restarts_what_ran_and_nothing_else() -> None:
    """Both kinds run at once, each with its own state; bob's agent was stopped and stays stopped."""
    alice().sink.clear_script()
    configuration = Path("/home/alice/.config/collector/collector.toml")
    configuration.write_text(CONFIGURATION.format(url=alice().sink.url))
    owned_by_alice()
    command("collector", "service", "install", user="alice")
    before = {unit: unit.show("MainPID") for unit in (SYSTEM_UNIT, USER_UNIT)}
    assert "0" not in before.values()
    command("dpkg", "--install", str(EXCHANGE / "collector.deb"))
    for unit, process in before.items():
        wait_for(functools.partial(_is_another, unit, process), f"the new {unit.name}")
    assert not BOBS_UNIT.is_active()
    alice().writes()
    alice().expects_everything()
    command("collector", "service", "uninstall", user="alice")
    configuration.unlink()


def a_user_without_namespaces_is_told_and_helped() -> None:
    """Ubuntu restricts namespaces by AppArmor; here a filter on alice's service manager does."""
    path = Path("/etc/systemd/system/user@.service.d/filter.conf")
    path.parent.mkdir()
    path.write_text("[Service]\nRestrictNamespaces=~user\n")
    command("systemctl", "daemon-reload")
    command("systemctl", "restart", "user@1000.service")
    wait_for(Path("/run/user/1000/bus").exists, "the session bus of alice")
    configuration = Path("/home/alice/.config/collector/collector.toml")
    configuration.write_text(CONFIGURATION.format(url=alice().sink.url))
    owned_by_alice()
    assert "add --no-namespaces" in command("collector", "service", "install", user="alice", fails=True)
    command("collector", "service", "install", "--no-namespaces", user="alice")
    SYSTEM_UNIT.control("stop", SYSTEM_UNIT.name)
    _is_running_and_ships(USER_UNIT)
    SYSTEM_UNIT.control("start", SYSTEM_UNIT.name)


def removal_leaves_nothing_but_state() -> None:
    processes = [int(unit.show("MainPID")) for unit in (SYSTEM_UNIT, USER_UNIT)]
    assert all(processes)
    command("systemctl", "--global", "enable", "collector")
    command("dpkg", "--remove", "collector")
    wait_for(lambda: not any(Path(f"/proc/{process}").exists() for process in processes), "the agents have ended")
    assert not LIBRARY.exists()
    assert not Path("/usr/bin/collector").exists()
    assert not list(Path("/etc/systemd").glob("*/*.wants/collector*"))
    assert SYSTEM_UNIT.show("LoadState") == "not-found"
    assert SYSTEM_UNIT.state.is_dir()
    command("dpkg", "--purge", "collector")
    assert not Path("/etc/collector").exists()
    assert not Path("/var/lib/collector").exists()


CHECKS: list[Callable[[], None]] = [
    the_machine_is_up,
    the_package_installs_and_starts_nothing,
    the_units_are_sound,
    the_user_unit_starts_and_ships,
    installing_again_restarts_nothing,
    the_user_unit_is_sandboxed,
    the_probe_finds_what_is_possible_without_a_sandbox,
    the_user_unit_stopped_mid_batch_loses_nothing,
    the_frozen_user_unit_is_restarted,
    a_reload_keeps_the_process,
    bad_configuration_is_not_tried_again,
    the_user_unit_uninstalls,
    the_system_unit_starts_and_ships,
    the_system_unit_is_sandboxed,
    the_system_unit_stopped_mid_batch_loses_nothing,
    the_frozen_system_unit_is_restarted,
    rollout.a_token_is_replaced_while_the_system_unit_runs,
    rollout.one_token_file_serves_both_kinds_of_service_and_is_replaced,
    rollout.the_token_is_optional_and_a_root_may_come_late,
    rollout.waiting_for_a_root_is_quiet,
    rollout.a_root_that_was_deleted_is_found_again,
    rollout.people_hear_of_the_system_service_whoever_asks,
    an_upgrade_restarts_what_ran_and_nothing_else,
    a_user_without_namespaces_is_told_and_helped,
    removal_leaves_nothing_but_state,
]


def _previewed() -> set[str]:
    """What `collector preview` says of alice's sessions."""
    lines = command("collector", "preview", "--json", user="alice").splitlines()
    return {json.loads(line)["state"] for line in lines}


def _is_running_and_ships(unit: Unit) -> None:
    assert unit.is_active(), "READY was not seen"
    wait_for(lambda: unit.show("StatusText"), "STATUS, which is sent just after READY")
    alice().expects_everything()
    alice().writes()
    alice().expects_everything()
    wait_for(lambda: _status(unit)["lag"] == 0, "no lag in `collector status`")
    assert _status(unit)["is_running"]


def _is_another(unit: Unit, process: str) -> bool:
    """Whether the unit is active in another process than this one."""
    return unit.is_active() and unit.show("MainPID") != process


def _status(unit: Unit) -> dict[str, Any]:
    """The report that `collector status` gives alice about the agent."""
    told: dict[str, Any] = json.loads(
        command("collector", "status", "--json", "--state", str(unit.state / "state.json"), user="alice")
    )
    return told


def _probed(unit: Unit) -> list[str]:
    """Restarts the unit with the probe before the agent, in the same sandbox; gives what the probe could do."""
    report = unit.state / "probe.json"
    unit.drop_in("probe", f"ExecStartPre=/usr/bin/python3 /tree/tests/system/probe.py {report}")
    unit.control("restart", unit.name)
    unit.drop_in("probe", "")
    could: list[str] = json.loads(report.read_text())
    return could


def _stopped_mid_batch(unit: Unit) -> None:
    """Stops while the sink holds its answer: nothing of that batch counts, and all of it arrives after a start."""
    asked = len(alice().sink.posts)
    release = alice().holds_the_answer()
    alice().writes(200)
    alice().sink.wait_for(lambda: len(alice().sink.posts) > asked)
    assert len(alice().missing()) == 200
    unit.control("stop", unit.name)
    assert unit.show("Result") == "success"
    release.set()
    alice().sink.clear_script()
    assert len(alice().missing()) == 200, "nothing was stored while the answer was held"
    unit.control("start", unit.name)
    alice().expects_everything()


def _frozen(unit: Unit) -> None:
    """After SIGSTOP the agent no longer feeds the watchdog, and systemd starts another one."""
    unit.drop_in("watchdog", "WatchdogSec=2\nRestartSec=1")
    unit.control("restart", unit.name)
    process, restarts = int(unit.show("MainPID")), int(unit.show("NRestarts"))
    time.sleep(5)
    assert int(unit.show("MainPID")) == process, "an idle agent was taken for a hung one"
    os.kill(process, signal.SIGSTOP)
    alice().writes()
    wait_for(lambda: int(unit.show("NRestarts")) > restarts and unit.is_active(), "the watchdog's restart", 45)
    assert "watchdog timeout" in unit.journal().lower(), unit.journal()[-2000:]
    alice().expects_everything()
    unit.drop_in("watchdog", "")
    unit.control("restart", unit.name)


def run() -> None:
    """Runs all checks; reports a failed one and goes on with the next."""
    results: dict[str, str] = {}
    for check in CHECKS:
        started = time.monotonic()
        try:
            check()
            results[check.__name__] = "passed"
        except Exception as error:  # noqa: BLE001 - a failed check must not end the others
            results[check.__name__] = f"{type(error).__name__}: {error}\n{traceback.format_exc()}"
        took = time.monotonic() - started
        sys.stdout.write(f"{took:6.1f} s  {check.__name__}: {results[check.__name__]}\n")
        (EXCHANGE / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    runner = threading.Thread(target=run, daemon=True)
    runner.start()
    runner.join(400)
    os._exit(0)  # the sink's threads may still be waiting
