"""What installing and removing would do on various machines; nothing is carried out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from collector.install import plans, templates
from collector.install.plans import Machine, Person, Plan, Remove, Run, Write
from collector.install.templates import ServiceError, ServiceFile

OWN = ServiceFile(("/opt/collector/bin/collector",), "/home/alice")
PACKAGED = ServiceFile((templates.PACKAGED_PROGRAM,), "/home/alice")


def files(plan: Plan) -> dict[str, type]:
    """The files of a plan by name, and what would be done to each."""
    return {step.path.name: type(step) for step in plan.steps if isinstance(step, Write | Remove)}


def commands(plan: Plan) -> list[str]:
    return [" ".join(step.command) for step in plan.steps if isinstance(step, Run)]


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_all(plan: Plan) -> None:
    """Writes the files of a plan, as carrying it out would."""
    for step in plan.steps:
        if isinstance(step, Write):
            write(step.path, step.content)


def test_a_new_or_changed_file_restarts_the_service(person: Person, machine: Machine) -> None:
    def plan(has_namespaces: bool = True) -> Plan:
        return plans.systemd_user(OWN, person, machine, has_namespaces=has_namespaces)

    assert commands(plan())[-1] == "systemctl --user restart collector.service"
    write_all(plan())
    assert commands(plan())[-1] == "systemctl --user start collector.service"
    assert commands(plan(has_namespaces=False))[-1] == "systemctl --user restart collector.service"


@pytest.mark.parametrize("system", [False, True])
def test_the_packages_unit_is_used_for_the_packaged_program(system: bool, person: Person, machine: Machine) -> None:
    at_home = replace(person, home="/home/alice")

    def plan(service: ServiceFile) -> Plan:
        if system:
            return plans.systemd_system(service, at_home, machine)
        return plans.systemd_user(service, person, machine, has_namespaces=True)

    assert set(files(plan(PACKAGED)).values()) == {Write}, "there is no package yet"
    write(machine.packaged_units / "user" / templates.UNIT)
    write(machine.packaged_units / "system" / templates.TEMPLATE)
    assert files(plan(PACKAGED)) == {}
    assert set(files(plan(OWN)).values()) == {Write}


def test_a_state_in_another_directory_needs_its_own_unit(person: Person, machine: Machine) -> None:
    """The packaged unit can only write to the default directories."""
    write(machine.packaged_units / "user" / templates.UNIT)
    elsewhere = replace(PACKAGED, writable=("/srv/state",))
    [unit] = [
        step
        for step in plans.systemd_user(elsewhere, person, machine, has_namespaces=True).steps
        if isinstance(step, Write)
    ]
    assert "ReadWritePaths=-/srv/state\n" in unit.content


def test_without_user_namespaces_the_sandbox_is_smaller_and_a_note_says_so(
    person: Person, machine: Machine, tmp_path: Path
) -> None:
    """On Ubuntu since 23.10, PrivateUsers=yes keeps a user unit from starting."""
    assert machine.grants_namespaces(), "a kernel without the switch does not restrict them"
    (tmp_path / "restrict_userns").write_text("1\n")
    assert not machine.grants_namespaces()
    plan = plans.systemd_user(OWN, person, machine, has_namespaces=False)
    assert files(plan) == {"collector.service": Write, "without-namespaces.conf": Write}
    assert "the file system sandbox is left out" in " ".join(plan.notes)
    write_all(plan)
    assert files(plans.remove_systemd_user(person)) == {"collector.service": Remove, "without-namespaces.conf": Remove}
    (tmp_path / "restrict_userns").write_text("0\n")
    assert machine.grants_namespaces()
    plan = plans.systemd_user(OWN, person, machine, has_namespaces=True)
    assert files(plan) == {"collector.service": Write, "without-namespaces.conf": Remove}
    assert commands(plan)[-1] == "systemctl --user restart collector.service"


def test_a_user_without_lingering_is_told_how_to_start_at_boot(person: Person, machine: Machine) -> None:
    def notes() -> str:
        return " ".join(plans.systemd_user(OWN, person, machine, has_namespaces=True).notes)

    assert "loginctl enable-linger alice" in notes()
    write(machine.lingering / "alice")
    assert "enable-linger" not in notes()


def test_a_home_outside_slash_home_needs_a_drop_in(person: Person, machine: Machine) -> None:
    at_home = replace(person, home="/home/alice")
    units = {"collector@.service": Write, "collector-wait@.service": Write}
    assert files(plans.systemd_system(OWN, at_home, machine)) == units
    elsewhere = replace(person, home="/srv/people/alice")
    assert files(plans.systemd_system(OWN, elsewhere, machine)) == {**units, "home.conf": Write}


@pytest.mark.parametrize("place", ["/home/x/collector", "/root/collector", "/tmp/collector"])
def test_a_program_that_the_sandbox_hides_is_refused(place: str, person: Person, machine: Machine) -> None:
    with pytest.raises(ServiceError, match="sandbox of the system unit hides"):
        plans.systemd_system(ServiceFile((place,), person.home), person, machine)


def test_the_template_is_removed_with_its_last_user(person: Person, machine: Machine) -> None:
    enabled = machine.local_units / "multi-user.target.wants"
    write(enabled / "collector@alice.service")
    assert {"collector@.service", "collector-wait@.service"} <= files(
        plans.remove_systemd_system(person, machine)
    ).keys()
    write(enabled / "collector@bob.service")
    assert files(plans.remove_systemd_system(person, machine)).keys() == {"home.conf"}


def test_an_unchanged_launch_agent_is_not_stopped(person: Person) -> None:
    assert "bootout" in " ".join(commands(plans.launchd(OWN, person)))
    write_all(plans.launchd(OWN, person))
    assert "bootout" not in " ".join(commands(plans.launchd(OWN, person)))
