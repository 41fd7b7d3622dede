"""Carrying out a plan: it can be repeated, never overwrites a person's edits, and waits where it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.install import plans, templates
from collector.install.carry_out import carry_out
from collector.install.plans import Machine, Person, Plan
from collector.install.templates import ServiceError, ServiceFile
from tests.install.scripted import Clock, ServiceManager

SERVICE = ServiceFile(("/opt/collector/bin/collector",), "/home/alice")


@pytest.fixture
def unit(person: Person) -> Path:
    """The path of the user unit."""
    path = plans.user_unit_path(person)
    path.parent.mkdir(parents=True)
    return path


def installing(person: Person, machine: Machine) -> Plan:
    return plans.systemd_user(SERVICE, person, machine, has_namespaces=True)


def test_installing_again_writes_and_restarts_nothing(
    manager: ServiceManager, person: Person, machine: Machine, unit: Path
) -> None:
    assert f"wrote      {unit}" in list(carry_out(installing(person, machine)))
    assert manager.calls[-1] == "systemctl --user restart collector.service"
    assert f"unchanged  {unit}" in list(carry_out(installing(person, machine)))
    assert manager.calls[-1] == "systemctl --user start collector.service"


def test_a_newer_version_replaces_an_unedited_file(
    manager: ServiceManager, person: Person, machine: Machine, unit: Path
) -> None:
    unit.write_text(templates.signed("[Service]\nExecStart=/old/collector run\n", "# ", ""))
    list(carry_out(installing(person, machine)))
    assert "/opt/collector/bin/collector" in unit.read_text()
    assert list(unit.parent.iterdir()) == [unit]


def test_an_edited_file_is_not_overwritten_and_the_diff_is_shown(
    manager: ServiceManager, person: Person, machine: Machine, unit: Path
) -> None:
    list(carry_out(installing(person, machine)))
    unit.write_text(unit.read_text().replace("Nice=10", "Nice=19"))
    edited, calls = unit.read_text(), list(manager.calls)
    with pytest.raises(ServiceError, match=r"was edited[\s\S]*--force[\s\S]*-Nice=19"):
        list(carry_out(installing(person, machine)))
    assert (unit.read_text(), manager.calls) == (edited, calls)


def test_force_overwrites_an_edited_file_and_keeps_a_copy(
    manager: ServiceManager, person: Person, machine: Machine, unit: Path
) -> None:
    unit.write_text("[Service]\n# mine\n")
    list(carry_out(installing(person, machine), force=True))
    assert templates.is_unedited(unit.read_text())
    assert unit.with_name("collector.service.bak").read_text() == "[Service]\n# mine\n"


def test_removing_leaves_an_edited_file_and_can_be_repeated(
    manager: ServiceManager, person: Person, unit: Path
) -> None:
    unit.write_text("# mine\n")
    with pytest.raises(ServiceError, match="was edited"):
        list(carry_out(plans.remove_systemd_user(person)))
    assert (unit.read_text(), manager.calls) == ("# mine\n", [])
    unit.write_text(templates.signed("[Service]\n", "# ", ""))
    assert f"removed    {unit}" in list(carry_out(plans.remove_systemd_user(person)))
    assert f"not there  {unit}" in list(carry_out(plans.remove_systemd_user(person)))


def test_an_unwritable_path_is_named(manager: ServiceManager, person: Person, machine: Machine, unit: Path) -> None:
    unit.parent.rmdir()
    unit.parent.write_text("in the way")
    with pytest.raises(ServiceError, match=f"Cannot write {unit}: "):
        list(carry_out(installing(person, machine)))


def test_a_launch_agent_is_started_once_the_old_one_has_ended(manager: ServiceManager, person: Person) -> None:
    """bootout returns at once, but bootstrap fails as long as launchctl still knows the agent."""
    manager.knows_agent_for(3)
    clock = Clock()
    list(carry_out(plans.launchd(SERVICE, person), clock=clock, sleep=clock.sleep))
    words = [call.split()[1] for call in manager.calls]
    assert words == ["bootout", "print", "print", "print", "print", "enable", "bootstrap", "kickstart"]
    assert len(clock.slept) == 3


def test_a_launch_agent_that_does_not_end_is_reported(manager: ServiceManager, person: Person) -> None:
    manager.knows_agent_for(100)
    clock = Clock()
    with pytest.raises(ServiceError, match=r"did not stop within 1 seconds.*Run the command again"):
        list(carry_out(plans.launchd(SERVICE, person, stop_seconds=1.0), clock=clock, sleep=clock.sleep))
    assert [call for call in manager.calls if "bootstrap" in call] == []
