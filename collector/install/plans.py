"""What installing or removing the service would do, as a list of steps that can be shown before anything happens.

In: a service file, the person it is for, and what this machine looks like. Out: a Plan. Nothing is changed here:
carry_out.py does that. Invariant: once a plan has been carried out, planning again gives one that restarts nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from collector.install import templates
from collector.install.templates import ServiceError

STOP_SECONDS = 45.0  # longer than launchd's own patience, ExitTimeOut in the property list
HIDDEN_FROM_SYSTEM_UNITS = ("/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/")  # noqa: S108


@dataclass(frozen=True)
class Write:
    """A file that must have this content."""

    path: Path
    content: str


@dataclass(frozen=True)
class Remove:
    """A file that must not exist."""

    path: Path


@dataclass(frozen=True)
class Run:
    """A command. One that `may_fail` asks for a state that may already hold."""

    command: tuple[str, ...]
    may_fail: bool = False


@dataclass(frozen=True)
class AwaitGone:
    """A command that succeeds for as long as something still exists; the next step has to wait until it fails."""

    command: tuple[str, ...]
    seconds: float


Step = Write | Remove | Run | AwaitGone


@dataclass(frozen=True)
class Plan:
    """Steps in order, the command that undoes them, and what a person should know."""

    steps: tuple[Step, ...]
    undo: str = ""
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Person:
    """The person whose transcripts are sent."""

    name: str
    uid: int
    home: str


@dataclass(frozen=True)
class Machine:
    """The places on this machine that plans depend on."""

    packaged_units: Path = Path("/usr/lib/systemd")
    local_units: Path = Path("/etc/systemd/system")
    lingering: Path = Path("/var/lib/systemd/linger")
    booted_by_systemd: Path = Path("/run/systemd/system")  # sd_booted(3)
    # Where a kernel denies namespaces to unprivileged users, and the value that does so. Ubuntu's is 1 since 23.10.
    no_namespaces: tuple[tuple[Path, str], ...] = (
        (Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"), "1"),
        (Path("/proc/sys/kernel/unprivileged_userns_clone"), "0"),
        (Path("/proc/sys/user/max_user_namespaces"), "0"),
    )

    def grants_namespaces(self) -> bool:
        """Whether a user's systemd may create the namespaces that the sandbox of the user unit needs."""
        for path, forbidding in self.no_namespaces:
            try:
                if path.read_text(encoding="ascii").strip() == forbidding:
                    return False
            except OSError:
                continue
        return True


THIS_MACHINE = Machine()


def systemd_user(
    service: templates.ServiceFile, person: Person, machine: Machine = THIS_MACHINE, *, has_namespaces: bool
) -> Plan:
    """A user unit: the package's own if that is what runs, otherwise one in ~/.config/systemd/user."""
    path, drop_in = user_unit_path(person), namespaces_drop_in(person)
    packaged = machine.packaged_units / "user" / templates.UNIT
    writes: list[Write] = []
    if not service.is_packaged or path.exists() or not packaged.exists():
        writes.append(Write(path, templates.user_unit(service)))
    if not has_namespaces:
        writes.append(Write(drop_in, templates.without_namespaces()))
    removals = [Remove(drop_in)] if has_namespaces and drop_in.exists() else []
    has_changed = bool(removals) or any(differs(write.path, write.content) for write in writes)
    control = ("systemctl", "--user")
    steps: tuple[Step, ...] = (
        *writes,
        *removals,
        Run((*control, "daemon-reload")),
        Run((*control, "enable", templates.UNIT)),
        Run((*control, "restart" if has_changed else "start", templates.UNIT)),
    )
    notes = ["To see its log: collector service logs. To see its progress: collector status."]
    if not has_namespaces:
        notes.append(
            "This kernel does not let users create namespaces, so the file system sandbox is left out. The system "
            f"service has it: collector service install --system --for {person.name}"
        )
    if not (machine.lingering / person.name).exists():
        notes.append(
            "It runs while you are logged in. To run it from boot, without a login: "
            f"loginctl enable-linger {person.name}"
        )
    return Plan(steps, "collector service uninstall", tuple(notes))


def systemd_system(service: templates.ServiceFile, person: Person, machine: Machine = THIS_MACHINE) -> Plan:
    """The hardened template unit, enabled for one user."""
    program = os.path.realpath(service.command[0])
    if program.startswith(HIDDEN_FROM_SYSTEM_UNITS):
        raise ServiceError(
            f"The sandbox of the system unit hides {program} (home directories, /tmp). Nothing was changed. Install "
            "the deb or rpm package, or put the agent below /opt and run the command from there."
        )
    unit = f"collector@{person.name}.service"
    path, drop_in = machine.local_units / templates.TEMPLATE, machine.local_units / f"{unit}.d" / "home.conf"
    packaged = machine.packaged_units / "system" / templates.TEMPLATE
    writes: list[Write] = []
    if not service.is_packaged or path.exists() or not packaged.exists():
        writes.append(Write(path, templates.system_unit(service)))
        writes.append(Write(path.with_name(templates.WAITING), templates.waiting_unit()))
    if person.home != f"/home/{person.name}":
        writes.append(Write(drop_in, templates.home_drop_in(person.home)))
    has_changed = any(differs(write.path, write.content) for write in writes)
    steps: tuple[Step, ...] = (
        *writes,
        Run(("systemctl", "daemon-reload")),
        Run(("systemctl", "enable", unit)),
        Run(("systemctl", "restart" if has_changed else "start", unit)),
    )
    notes = (
        f"Configuration: /etc/collector/collector.toml. State: /var/lib/collector/{person.name}.",
        "Put the sink's bearer token, if it needs one, in /etc/credstore/collector.sink-token (root only, mode 0600).",
    )
    return Plan(steps, f"collector service uninstall --system --for {person.name}", notes)


def launchd(service: templates.ServiceFile, person: Person, stop_seconds: float = STOP_SECONDS) -> Plan:
    """A launch agent of the logged-in user."""
    path, log = launch_agent_path(person), launchd_log(person)
    content = templates.launch_agent(service, str(log))
    domain = f"gui/{person.uid}"
    target = f"{domain}/{templates.LABEL}"
    steps: list[Step] = [Run(("mkdir", "-p", str(log.parent))), Write(path, content)]
    if differs(path, content):
        # bootout returns while the agent is still exiting; until it has, bootstrap fails (ancwrd1/snx-rs#241).
        steps.append(Run(("launchctl", "bootout", target), may_fail=True))
        steps.append(AwaitGone(("launchctl", "print", target), stop_seconds))
    steps += [
        Run(("launchctl", "enable", target)),
        Run(("launchctl", "bootstrap", domain, str(path)), may_fail=True),
        Run(("launchctl", "kickstart", target)),
    ]
    notes = (
        f"Its log is {log}. launchd never rotates it; `collector service logs --clear` empties it.",
        "launchd does not see your shell's environment: pass a proxy with --env HTTPS_PROXY=...",
    )
    return Plan(tuple(steps), "collector service uninstall", notes)


def remove_systemd_user(person: Person) -> Plan:
    """Stops the user unit and removes what `systemd_user` wrote."""
    drop_in = namespaces_drop_in(person)
    control = ("systemctl", "--user")
    steps = (
        Run((*control, "disable", "--now", templates.UNIT), may_fail=True),
        Remove(user_unit_path(person)),
        *((Remove(drop_in),) if drop_in.exists() else ()),
        Run((*control, "daemon-reload")),
    )
    return Plan(steps, "collector service install")


def remove_systemd_system(person: Person, machine: Machine = THIS_MACHINE) -> Plan:
    """Stops one user's system unit; the template itself goes with its last user."""
    unit = f"collector@{person.name}.service"
    enabled = machine.local_units / "multi-user.target.wants"
    others = [path for path in enabled.glob("collector@*.service") if path.name != unit]
    steps = (
        Run(("systemctl", "disable", "--now", unit), may_fail=True),
        Remove(machine.local_units / f"{unit}.d" / "home.conf"),
        *(() if others else (Remove(machine.local_units / templates.TEMPLATE),)),
        *(() if others else (Remove(machine.local_units / templates.WAITING),)),
        Run(("systemctl", "daemon-reload")),
    )
    return Plan(steps, f"collector service install --system --for {person.name}")


def remove_launchd(person: Person) -> Plan:
    """Stops the launch agent and removes its property list."""
    target = f"gui/{person.uid}/{templates.LABEL}"
    steps = (Run(("launchctl", "bootout", target), may_fail=True), Remove(launch_agent_path(person)))
    return Plan(steps, "collector service install")


def control(verb: Literal["start", "stop", "restart"], person: Person, kind: str, *, system: bool) -> Plan:
    """Starts, stops or restarts an installed service; its files stay. An enabled one starts again at the next login."""
    opposite = {"start": "collector service stop", "stop": "collector service start"}.get(verb, "")
    undo = f"{opposite} --system --for {person.name}" if system and opposite else opposite
    if kind == "systemd":
        unit = f"collector@{person.name}.service" if system else templates.UNIT
        return Plan((Run(("systemctl", *(() if system else ("--user",)), verb, unit)),), undo)
    domain, path = f"gui/{person.uid}", launch_agent_path(person)
    target = f"{domain}/{templates.LABEL}"
    load = Run(("launchctl", "bootstrap", domain, str(path)), may_fail=True)
    steps: dict[str, tuple[Step, ...]] = {
        "start": (load, Run(("launchctl", "kickstart", target))),
        "stop": (Run(("launchctl", "bootout", target)), AwaitGone(("launchctl", "print", target), STOP_SECONDS)),
        "restart": (load, Run(("launchctl", "kickstart", "-k", target))),
    }
    return Plan(steps[verb], undo)


def user_unit_path(person: Person) -> Path:
    """Where this person's own systemd unit is."""
    return Path(person.home, ".config", "systemd", "user", templates.UNIT)


def namespaces_drop_in(person: Person) -> Path:
    """The user unit's drop-in for a kernel that does not let users create namespaces."""
    return user_unit_path(person).with_name(f"{templates.UNIT}.d") / "without-namespaces.conf"


def launch_agent_path(person: Person) -> Path:
    """Where this person's property list is."""
    return Path(person.home, "Library", "LaunchAgents", f"{templates.LABEL}.plist")


def launchd_log(person: Person) -> Path:
    """Where launchd writes the agent's log."""
    return Path(person.home, "Library", "Logs", "collector", "collector.log")


def differs(path: Path, content: str) -> bool:
    """Whether the file still has to be written."""
    return not path.exists() or path.read_text(encoding="utf-8", errors="replace") != content
