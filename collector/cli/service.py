"""`collector service`: runs the agent as a systemd or launchd service: install, start, stop, inspect, uninstall.

Asks install/plans.py for a plan, and shows it (--dry-run) or has it carried out. Nothing here gains root by itself.
"""

from __future__ import annotations

import enum
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from collector import settings
from collector.agents.registry import AGENTS
from collector.cli.options import AsJson
from collector.delivery.sinks.registry import SINKS
from collector.install import plans, templates
from collector.install.carry_out import carry_out
from collector.install.installed import launchd_facts, systemd_facts
from collector.install.plans import AwaitGone, Person, Plan, Remove, Run, Step, Write
from collector.install.templates import ServiceError, ServiceFile
from collector.log import tame_json

app = typer.Typer(help="Run the agent as a systemd or launchd service.", no_args_is_help=True)


class Platform(enum.StrEnum):
    """A service manager."""

    systemd = "systemd"
    launchd = "launchd"


DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the files and commands; change nothing.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that was edited, keeping it as .bak.")]
System = Annotated[bool, typer.Option("--system", help="Use the hardened system service for one user (systemd).")]
For = Annotated[str | None, typer.Option("--for", metavar="USER", help="With --system: whose transcripts to ship.")]
On = Annotated[
    Platform | None,
    typer.Option("--platform", help="Use this service manager instead of the machine's own.", show_default=False),
]


@app.command()
def install(
    *,
    system: System = False,
    user: For = None,
    config: Annotated[Path | None, typer.Option("--config", help="The configuration file the service uses.")] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            metavar="NAME=VALUE",
            help="Set a variable for the service, such as a proxy; no secrets, others can see it.",
        ),
    ] = None,
    program: Annotated[
        Path | None, typer.Option("--program", help="Run this program instead of the current one.")
    ] = None,
    no_namespaces: Annotated[
        bool,
        typer.Option(
            "--no-namespaces", help="Leave out the part of the user unit's sandbox that needs user namespaces."
        ),
    ] = False,
    dry_run: DryRun = False,
    force: Force = False,
    platform: On = None,
) -> None:
    """Write the service file, then enable and start the service.

    Safe to repeat: steps already done are left alone. --dry-run shows every file and command first.

    Example: collector service install --env HTTPS_PROXY=http://proxy:3128
    """
    kind, person = _kind(platform, system=system), _person(user, system=system)
    service = _service(program, config, env or [], person, kind, system=system)
    if kind is Platform.launchd:
        plan = plans.launchd(service, person)
    elif system:
        plan = plans.systemd_system(service, person)
    else:
        has_namespaces = not no_namespaces and plans.THIS_MACHINE.grants_namespaces()
        plan = plans.systemd_user(service, person, has_namespaces=has_namespaces)
    _do(plan, dry_run=dry_run, force=force, needs_root=system)
    given = {name for name, _ in service.environment}
    known_here = settings.set_here([form.root_variable for form in AGENTS.values()])
    if missing := [name for name in known_here if name not in given]:
        typer.echo(
            f"The service does not see variables of this shell: {', '.join(missing)}. Put them in the configuration "
            "file, or pass each with --env.",
            err=True,
        )


@app.command()
def uninstall(
    *,
    system: System = False,
    user: For = None,
    dry_run: DryRun = False,
    force: Force = False,
    platform: On = None,
) -> None:
    """Stop the service and remove what `install` wrote.

    State and configuration are kept, so a new installation picks up where this one stopped.

    Example: collector service uninstall --dry-run
    """
    kind, person = _kind(platform, system=system), _person(user, system=system)
    if kind is Platform.launchd:
        plan = plans.remove_launchd(person)
    elif system:
        plan = plans.remove_systemd_system(person)
    else:
        plan = plans.remove_systemd_user(person)
    _do(plan, dry_run=dry_run, force=force, needs_root=system)
    if not dry_run:
        typer.echo("State and configuration are kept, so a new installation picks up where this one stopped.")


@app.command()
def start(*, system: System = False, user: For = None, dry_run: DryRun = False, platform: On = None) -> None:
    """Start the installed service.

    Example: collector service start
    """
    _control("start", system=system, user=user, dry_run=dry_run, platform=platform)


@app.command()
def stop(*, system: System = False, user: For = None, dry_run: DryRun = False, platform: On = None) -> None:
    """Stop the service until the next start or login.

    Offsets are saved, so nothing is lost. To stop it for good, use `uninstall`.

    Example: sudo collector service stop --system --for alice
    """
    _control("stop", system=system, user=user, dry_run=dry_run, platform=platform)


@app.command()
def restart(*, system: System = False, user: For = None, dry_run: DryRun = False, platform: On = None) -> None:
    """Restart the service.

    To apply a changed configuration, `systemctl --user reload collector` (SIGHUP) is enough.

    Example: collector service restart
    """
    _control("restart", system=system, user=user, dry_run=dry_run, platform=platform)


def _control(
    verb: Literal["start", "stop", "restart"],
    *,
    system: bool,
    user: str | None,
    dry_run: bool,
    platform: Platform | None,
) -> None:
    kind, person = _kind(platform, system=system), _person(user, system=system)
    if not dry_run:
        facts = _facts(kind, person, system=system)
        if facts["state"] == "not installed":
            raise ServiceError(f"{facts['unit']} is not installed. Nothing was changed. `{facts['next']}` installs it.")
    _do(plans.control(verb, person, kind, system=system), dry_run=dry_run, needs_root=system)


@app.command()
def status(
    *,
    system: System = False,
    user: For = None,
    platform: On = None,
    json: AsJson = False,
) -> None:
    """Show the state of the service; exit 1 unless it is running.

    For the agent's progress, see `collector status`.

    Example: collector service status --system --for alice
    """
    facts = _facts(_kind(platform, system=system), _person(user, system=system), system=system)
    width = max(len(name) for name in facts)
    if json:
        typer.echo(tame_json(facts))
    else:
        for name, value in facts.items():
            typer.echo(f"{name:{width}}  {value}")
    if facts["state"] != "running":
        raise typer.Exit(1)


def _facts(kind: Platform, person: Person, *, system: bool) -> dict[str, str]:
    return launchd_facts(person) if kind is Platform.launchd else systemd_facts(person, system=system)


@app.command()
def logs(
    *,
    system: System = False,
    user: For = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing new lines.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many lines to start with.")] = 100,
    clear: Annotated[bool, typer.Option("--clear", help="Empty the log file instead (launchd).")] = False,
    platform: On = None,
) -> None:
    """Show the service's log.

    Example: collector service logs --follow
    """
    kind, person = _kind(platform, system=system), _person(user, system=system)
    command: list[str]
    if kind is Platform.launchd:
        log = plans.launchd_log(person)
        if not log.is_file():
            raise ServiceError(
                f"There is no log at {log} yet. `collector service status` shows whether the service is running."
            )
        if clear:
            os.truncate(log, 0)
            typer.echo(f"emptied {log}")
            return
        command = ["tail", "-n", str(lines), *(["-F"] if follow else []), str(log)]
    elif clear:
        raise ServiceError(
            "--clear is for launchd. The systemd journal limits its own size, so there is nothing to empty."
        )
    else:
        unit = ["--unit", f"collector@{person.name}.service"] if system else ["--user-unit", templates.UNIT]
        command = ["journalctl", "--no-pager", *unit, "--lines", str(lines), *(["--follow"] if follow else [])]
    try:
        code = subprocess.run(command, check=False).returncode
    except FileNotFoundError:
        raise ServiceError(
            f"{command[0]} is not installed here, so the log cannot be shown. Look in the system's own log."
        ) from None
    except KeyboardInterrupt:
        return
    raise typer.Exit(_exit_code(code))


def _exit_code(ended: int) -> int:
    """As a shell reports it: 128 plus the signal for a command that a signal ended. SIGPIPE counts as success."""
    if ended == -signal.SIGPIPE:
        return 0
    return 128 - ended if ended < 0 else ended


def _kind(asked: Platform | None, *, system: bool) -> Platform:
    """The requested service manager, or else this machine's own."""
    if asked is None and sys.platform == "darwin":
        asked = Platform.launchd
    # Containers often have systemctl without systemd running.
    if asked is None and not (shutil.which("systemctl") and plans.THIS_MACHINE.booted_by_systemd.is_dir()):
        raise ServiceError(
            "This machine runs neither systemd nor launchd (is it a container?). Nothing was changed. Run "
            "`collector run` under whatever service manager it has: it stays in the foreground, logs to stderr and "
            "stops on SIGTERM. "
            "For something short-lived, such as a CI job, run `collector scan` at the end."
        )
    if asked is Platform.launchd and system:
        raise ServiceError("--system is for systemd. On macOS the agent runs as a launch agent of its user.")
    return asked or Platform.systemd


def _person(name: str | None, *, system: bool) -> Person:
    if name is not None and not system:
        raise ServiceError("--for needs --system. Without --system, the service is for the user who runs this command.")
    if system and name is None:
        raise ServiceError("--system needs --for USER, whose transcripts to ship.")
    if name is None:
        return Person(pwd.getpwuid(os.getuid()).pw_name, os.getuid(), settings.home())
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise ServiceError(
            f"There is no user {name!r} on this machine. Nothing was changed. Check the spelling."
        ) from None
    return Person(entry.pw_name, entry.pw_uid, entry.pw_dir)


def _service(
    program: Path | None, config: Path | None, env: list[str], person: Person, kind: Platform, *, system: bool
) -> ServiceFile:
    """The service file's contents: the command with absolute paths, the variables, and the writable directories."""
    # Without these, the service would read another configuration file than this person's commands, or write elsewhere.
    variables = settings.moved_places() if not system else {}
    if config:
        variables["COLLECTOR_CONFIG"] = str(_existing(config))
    for pair in env:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier() or not value.isprintable():
            raise ServiceError(f"--env {name}: write it as NAME=VALUE, on one line. Nothing was changed.")
        variables[name] = value
    writable: tuple[str, ...] = ()
    if kind is Platform.systemd and not system:
        with settings.as_in_a_service(variables):
            known = settings.load(sinks=SINKS)
            places = (known.state_path.parent, known.database_path.parent, settings.cache_directory())
        writable = tuple(dict.fromkeys(str(place) for place in places))
    return ServiceFile(_command(program), person.home, writable, tuple(variables.items()))


def _existing(config: Path) -> Path:
    if not config.is_file():
        raise ServiceError(f"There is no configuration file {config}. `collector config init` writes one.")
    return config.absolute()


def _command(program: Path | None) -> tuple[str, ...]:
    """How to start this very program. A link, such as pipx makes, is not resolved, because it survives upgrades."""
    if program is not None:
        return (str(program.absolute()),)
    started = shutil.which(sys.argv[0]) or sys.argv[0]
    if Path(started).name == "collector" and os.access(started, os.X_OK):
        return (os.path.abspath(started),)
    return (sys.executable, "-m", "collector")


def _do(plan: Plan, *, dry_run: bool, needs_root: bool, force: bool = False) -> None:
    if dry_run:
        for step in plan.steps:
            typer.echo(_shown(step))
        return
    if needs_root and os.geteuid() != 0:
        raise ServiceError(
            "--system manages a system-wide service and needs root. Nothing was changed. "
            "Run the same command with sudo."
        )
    for line in carry_out(plan, force=force):
        typer.echo(line)
    for note in plan.notes:
        typer.echo(note)
    if plan.undo:
        typer.echo(f"To undo: {plan.undo}")


def _shown(step: Step) -> str:
    match step:
        case Write():
            return f"# would write {step.path}\n{step.content.rstrip()}\n"
        case Remove():
            return f"# would remove {step.path}"
        case Run():
            return f"# would run:\n{shlex.join(step.command)}"
        case AwaitGone():
            return f"# would wait until this fails:\n{shlex.join(step.command)}"
