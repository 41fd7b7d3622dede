"""Installing the agent as a service: what has to be done, and doing it.

A plan is a list of steps made from the situation it finds (program, files already there, the platform); it can be shown
without being carried out. Invariants: a plan carried out twice changes nothing the second time and restarts nothing; a
file that a person has edited is only overwritten when told so, and then kept beside the new one. Crash window: between
two steps; carrying the plan out again finishes it.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from collector.install import templates
from collector.install.templates import ServiceError

PACKAGED_UNITS = Path("/usr/lib/systemd")
LOCAL_UNITS = Path("/etc/systemd/system")
# Where a kernel says that users get no namespaces, and the value that says so. Ubuntu's is 1 since 23.10.
NO_NAMESPACES = (
    (Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"), "1"),
    (Path("/proc/sys/kernel/unprivileged_userns_clone"), "0"),
    (Path("/proc/sys/user/max_user_namespaces"), "0"),
)
STOP_SECONDS = 45.0  # longer than launchd's own patience, ExitTimeOut in the property list
LOOK_SECONDS = 0.2
HIDDEN_FROM_SYSTEM_UNITS = ("/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/")  # noqa: S108


@dataclass(frozen=True)
class Write:
    """A file that must have this content."""

    path: Path
    content: str


@dataclass(frozen=True)
class Remove:
    """A file that must not be there."""

    path: Path


@dataclass(frozen=True)
class Run:
    """A command; one that `may_fail` is for a state that may hold already."""

    command: tuple[str, ...]
    may_fail: bool = False


@dataclass(frozen=True)
class Gone:
    """A command that fails once what it asks about is gone; the next step has to wait for that."""

    command: tuple[str, ...]
    seconds: float


Step = Write | Remove | Run | Gone


@dataclass(frozen=True)
class Plan:
    """Steps in order, how to take them back, and what a person should know."""

    steps: tuple[Step, ...]
    undo: str = ""
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Person:
    """Whose transcripts are shipped."""

    name: str
    uid: int
    home: str


def systemd_user(service: templates.ServiceFile, person: Person, *, has_namespaces: bool) -> Plan:
    """A user unit: the package's own where that is what runs, else one in ~/.config/systemd/user."""
    path, drop_in = user_unit_path(person), namespaces_drop_in(person)
    writes: list[Write] = []
    if not service.is_packaged or path.exists() or not (PACKAGED_UNITS / "user" / templates.UNIT).exists():
        writes.append(Write(path, templates.user_unit(service)))
    if not has_namespaces:
        writes.append(Write(drop_in, templates.without_namespaces()))
    removals = [Remove(drop_in)] if has_namespaces and drop_in.exists() else []
    changed = bool(removals) or any(_differs(write.path, write.content) for write in writes)
    control = ("systemctl", "--user")
    steps: tuple[Step, ...] = (
        *writes,
        *removals,
        Run((*control, "daemon-reload")),
        Run((*control, "enable", templates.UNIT)),
        Run((*control, "restart" if changed else "start", templates.UNIT)),
    )
    notes = ["Logs: collector service logs. State of things: collector status."]
    if not has_namespaces:
        notes.append(
            "This kernel gives users no namespaces, so the file system sandbox is left out. The system service has it: "
            f"collector service install --system --for {person.name}"
        )
    if not Path("/var/lib/systemd/linger", person.name).exists():
        notes.append(
            "It runs while you are logged in. To have it run from boot on, without a login: "
            f"loginctl enable-linger {person.name}"
        )
    return Plan(steps, "collector service uninstall", tuple(notes))


def kernel_has_namespaces() -> bool:
    """Whether a user's systemd may make the namespaces that the sandbox of the user unit needs."""
    for path, forbidding in NO_NAMESPACES:
        try:
            if path.read_text(encoding="ascii").strip() == forbidding:
                return False
        except OSError:
            continue
    return True


def systemd_system(service: templates.ServiceFile, person: Person) -> Plan:
    """The hardened template for one user."""
    program = os.path.realpath(service.command[0])
    if program.startswith(HIDDEN_FROM_SYSTEM_UNITS):
        raise ServiceError(
            f"{program} lies in a place that the system unit's sandbox hides (home directories, /tmp). Nothing was "
            "changed. Install the deb or rpm package, or put the agent below /opt, and run the command from there."
        )
    unit = f"collector@{person.name}.service"
    path, drop_in = LOCAL_UNITS / templates.TEMPLATE, LOCAL_UNITS / f"{unit}.d" / "home.conf"
    writes: list[Write] = []
    if not service.is_packaged or path.exists() or not (PACKAGED_UNITS / "system" / templates.TEMPLATE).exists():
        writes.append(Write(path, templates.system_unit(service)))
    if person.home != f"/home/{person.name}":
        writes.append(Write(drop_in, templates.home_drop_in(person.home)))
    changed = any(_differs(write.path, write.content) for write in writes)
    steps: tuple[Step, ...] = (
        *writes,
        Run(("systemctl", "daemon-reload")),
        Run(("systemctl", "enable", unit)),
        Run(("systemctl", "restart" if changed else "start", unit)),
    )
    notes = (
        f"Configuration: /etc/collector/collector.toml. State: /var/lib/collector/{person.name}.",
        "A bearer token for the sink goes into /etc/credstore/collector.sink-token (root only, mode 0600).",
    )
    return Plan(steps, f"collector service uninstall --system --for {person.name}", notes)


def launchd(service: templates.ServiceFile, person: Person) -> Plan:
    """A launch agent of the logged-in user."""
    path, log = launch_agent_path(person), launchd_log(person)
    content = templates.launch_agent(service, str(log))
    domain = f"gui/{person.uid}"
    target = f"{domain}/{templates.LABEL}"
    steps: list[Step] = [Run(("mkdir", "-p", str(log.parent))), Write(path, content)]
    if _differs(path, content):
        # bootout returns while the agent still ends, and bootstrap fails until it has (ancwrd1/snx-rs#241).
        steps.append(Run(("launchctl", "bootout", target), may_fail=True))
        steps.append(Gone(("launchctl", "print", target), STOP_SECONDS))
    steps += [
        Run(("launchctl", "enable", target)),
        Run(("launchctl", "bootstrap", domain, str(path)), may_fail=True),
        Run(("launchctl", "kickstart", target)),
    ]
    notes = (
        f"Logs: {log}. launchd never rotates it; `collector service logs --clear` empties it.",
        "launchd knows no shell environment: name a proxy with --env HTTPS_PROXY=...",
    )
    return Plan(tuple(steps), "collector service uninstall", notes)


def remove_systemd_user(person: Person) -> Plan:
    path = user_unit_path(person)
    control = ("systemctl", "--user")
    steps = (
        Run((*control, "disable", "--now", templates.UNIT), may_fail=True),
        Remove(path),
        *((Remove(namespaces_drop_in(person)),) if namespaces_drop_in(person).exists() else ()),
        Run((*control, "daemon-reload")),
    )
    return Plan(steps, "collector service install")


def remove_systemd_system(person: Person) -> Plan:
    """The template itself goes with the last user of it."""
    unit = f"collector@{person.name}.service"
    wanted = LOCAL_UNITS / "multi-user.target.wants"
    others = [path for path in wanted.glob("collector@*.service") if path.name != unit]
    steps = (
        Run(("systemctl", "disable", "--now", unit), may_fail=True),
        Remove(LOCAL_UNITS / f"{unit}.d" / "home.conf"),
        *(() if others else (Remove(LOCAL_UNITS / templates.TEMPLATE),)),
        Run(("systemctl", "daemon-reload")),
    )
    return Plan(steps, f"collector service install --system --for {person.name}")


def remove_launchd(person: Person) -> Plan:
    target = f"gui/{person.uid}/{templates.LABEL}"
    steps = (Run(("launchctl", "bootout", target), may_fail=True), Remove(launch_agent_path(person)))
    return Plan(steps, "collector service install")


def user_unit_path(person: Person) -> Path:
    return Path(person.home, ".config", "systemd", "user", templates.UNIT)


def namespaces_drop_in(person: Person) -> Path:
    return user_unit_path(person).with_name(f"{templates.UNIT}.d") / "without-namespaces.conf"


def launch_agent_path(person: Person) -> Path:
    return Path(person.home, "Library", "LaunchAgents", f"{templates.LABEL}.plist")


def launchd_log(person: Person) -> Path:
    return Path(person.home, "Library", "Logs", "collector", "collector.log")


def carry_out(plan: Plan, *, force: bool = False) -> Iterator[str]:
    """Does each step and says what it did. Looks at every file before the first step, so a refusal changes nothing."""
    for step in plan.steps:
        if not force:
            _refuse_edited(step)
    for step in plan.steps:
        match step:
            case Write():
                yield _write(step)
            case Remove():
                yield _remove(step)
            case Run():
                yield _run(step)
            case Gone():
                yield _wait_until_gone(step)


def _differs(path: Path, content: str) -> bool:
    return not path.exists() or path.read_text(encoding="utf-8", errors="replace") != content


def _refuse_edited(step: Step) -> None:
    if isinstance(step, Run | Gone) or not step.path.exists():
        return
    found = step.path.read_text(encoding="utf-8", errors="replace")
    wanted = step.content if isinstance(step, Write) else ""
    if found == wanted or templates.is_unedited(found):
        return
    difference = difflib.unified_diff(found.splitlines(), wanted.splitlines(), "there now", "would be", "", "", 1, "")
    shown = "" if isinstance(step, Remove) else "\n" + "\n".join(difference)
    raise ServiceError(
        f"{step.path} has been edited or was not written by this command, so nothing was changed. Move your lines "
        f"into a drop-in, or say --force: the file is then kept as {step.path.name}.bak.{shown}"
    )


def _write(step: Write) -> str:
    if not _differs(step.path, step.content):
        return f"unchanged  {step.path}"
    kept = _keep_edited(step.path)
    try:
        step.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = step.path.with_name(step.path.name + ".new")
        fresh.write_text(step.content, encoding="utf-8")
        fresh.chmod(0o644)
        fresh.replace(step.path)
    except OSError as error:
        raise ServiceError(f"Cannot write {step.path}: {error.strerror}. What was done before it stays.") from None
    return f"wrote      {step.path}{kept}"


def _remove(step: Remove) -> str:
    if not step.path.exists():
        return f"not there  {step.path}"
    kept = _keep_edited(step.path)
    try:
        step.path.unlink(missing_ok=True)
    except OSError as error:
        raise ServiceError(f"Cannot remove {step.path}: {error.strerror}. Remove it by hand.") from None
    return f"removed    {step.path}{kept}"


def _keep_edited(path: Path) -> str:
    """An edited file is renamed, not lost."""
    if not path.exists() or templates.is_unedited(path.read_text(encoding="utf-8", errors="replace")):
        return ""
    kept = path.with_name(path.name + ".bak")
    try:
        path.replace(kept)
    except OSError as error:
        raise ServiceError(f"Cannot rename {path} to {kept.name}: {error.strerror}. Nothing more was done.") from None
    return f" (your version is kept as {kept.name})"


def _run(step: Run) -> str:
    shown = " ".join(step.command)
    code, output = ask(step.command)
    if code and not step.may_fail:
        raise ServiceError(
            f"`{shown}` failed ({code}): {output.strip().rstrip('.') or 'no output'}. {_advice(step, output)}"
        )
    return f"ran        {shown}" + ("" if code == 0 else "  (was not needed)")


def _wait_until_gone(step: Gone) -> str:
    deadline = time.monotonic() + step.seconds
    while ask(step.command)[0] == 0:
        if time.monotonic() >= deadline:
            raise ServiceError(
                f"The agent that runs now has not ended within {step.seconds:g} seconds; the new one was not started. "
                "Run the command again when `collector service status` says that nothing runs."
            )
        time.sleep(LOOK_SECONDS)
    return "gone       what ran before"


def ask(command: tuple[str, ...]) -> tuple[int, str]:
    """Runs a command to its end; its exit code and what it printed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=120)
    except FileNotFoundError:
        return 127, f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return 124, "no answer within two minutes"
    return done.returncode, done.stdout + done.stderr


def _advice(step: Run, output: str) -> str:
    is_user = "--user" in step.command
    if is_user and ("connect to bus" in output or "XDG_RUNTIME_DIR" in output):
        return (
            "There is no user session here (su and sudo do not start one). Log in as that user, or enable lingering "
            "with `loginctl enable-linger` and set XDG_RUNTIME_DIR=/run/user/<uid>; then run the command again."
        )
    if step.command[0] == "launchctl":
        return "Log in at the screen once, so that there is a graphical session, and run the command again."
    if {"start", "restart"} & set(step.command):
        hint = " Status 217 or 226 in it: no namespaces for users here; add --no-namespaces." if is_user else ""
        return f"`collector service logs` shows why.{hint} Run the command again when the reason is gone."
    return "Run the command again when the reason is gone: what was done so far is not done twice."
