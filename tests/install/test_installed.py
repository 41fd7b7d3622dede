"""Finding installed services: whose they are, and their state; systemctl and launchctl are scripted."""

from __future__ import annotations

import os
import pwd
from dataclasses import replace
from pathlib import Path

import pytest

from collector.install.installed import services_of
from collector.install.plans import Machine, Person, user_unit_path
from tests.install.scripted import ServiceManager

RUNNING = "LoadState=loaded\nActiveState=active\nSubState=running\nMainPID=42\nStatusText=nothing waiting\n"
STOPPED = "LoadState=loaded\nActiveState=inactive\nSubState=dead\nMainPID=0\nStatusText=\n"
RETRIED = "LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nMainPID=0\nStatusText=\n"
ENABLED, DISABLED = "UnitFileState=enabled\n", "UnitFileState=disabled\n"
ALWAYS = "FragmentPath=/u\nNRestarts=0\nResult=success\nExecMainStatus=0\nActiveEnterTimestamp=Wed\n"


def says(manager: ServiceManager, **units: str) -> None:
    """Scripts what systemctl says of the user's own unit (`own`) and of system units by user; it knows no others."""
    cases = "".join(
        f"*{'--user' if name == 'own' else f'collector@{name}.service'}*) printf '%s' '{said}' ;;\n"
        for name, said in units.items()
    )
    program = manager.directory / "systemctl"
    program.write_text(f'#!/bin/sh\ncase "$*" in\n{cases}*) echo LoadState=not-found ;;\nesac\n')


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ({}, []),
        ({"own": STOPPED + DISABLED + ALWAYS}, []),  # the package installs the unit, but nobody has enabled it
        ({"own": RUNNING + ENABLED + ALWAYS}, [("collector.service", "running", "")]),
        (
            {"alice": STOPPED + ENABLED + ALWAYS},
            [("collector@alice.service", "inactive (dead)", "collector service start --system --for alice")],
        ),
        (
            {"alice": RETRIED + DISABLED + ALWAYS},
            [
                (
                    "collector@alice.service",
                    "activating (auto-restart)",
                    "collector service logs --system --for alice",
                )
            ],
        ),
        (
            {"own": RUNNING + ENABLED + ALWAYS, "alice": RUNNING + ENABLED + ALWAYS},
            [("collector.service", "running", ""), ("collector@alice.service", "running", "")],
        ),
    ],
)
def test_both_kinds_of_service_are_found_with_their_state_and_advice(
    units: dict[str, str],
    expected: list[tuple[str, str, str]],
    manager: ServiceManager,
    person: Person,
    machine: Machine,
) -> None:
    says(manager, **units)
    found = services_of(person, "linux", machine)
    assert [(facts["unit"], facts["state"], facts.get("next", "")) for facts in found] == expected


def test_without_a_service_of_ones_own_those_of_others_are_shown(
    manager: ServiceManager, person: Person, machine: Machine
) -> None:
    account = pwd.getpwuid(os.getuid()).pw_name
    enabled = machine.local_units / "multi-user.target.wants"
    enabled.mkdir(parents=True)
    for name in (account, "a-deleted-account"):
        (enabled / f"collector@{name}.service").touch()
    given = 'Environment=A=1 "COLLECTOR_CONFIG=/srv/our files/collector.toml"\n'
    says(manager, **{account: RUNNING + ENABLED + ALWAYS + given})
    [facts] = services_of(replace(person, name="nobody-here"), "linux", machine)
    assert (facts["unit"], facts["says"]) == (f"collector@{account}.service", "nothing waiting")
    assert facts["keeps"] == f"/var/lib/collector/{account}"
    assert facts["config"] == "/srv/our files/collector.toml"


def test_if_the_manager_does_not_answer_the_unit_files_tell(
    manager: ServiceManager, person: Person, machine: Machine
) -> None:
    manager.says("systemctl", "Failed to connect to bus: No medium found", 1)
    assert services_of(person, "linux", machine) == []
    unit = user_unit_path(person)
    unit.parent.mkdir(parents=True)
    unit.touch()
    [facts] = services_of(person, "linux", machine)
    assert (facts["unit"], facts["state"]) == ("collector.service", "unknown")
    assert "No medium found" in facts["ended"]


def test_a_machine_without_systemd_has_no_service(
    monkeypatch: pytest.MonkeyPatch, manager: ServiceManager, person: Person, machine: Machine
) -> None:
    says(manager, own=RUNNING + ENABLED + ALWAYS)
    assert services_of(person, "linux", machine)
    assert services_of(person, "linux", replace(machine, booted_by_systemd=Path("/nonexistent"))) == []
    monkeypatch.setenv("PATH", "/nonexistent")
    assert services_of(person, "linux", machine) == []
