"""What is installed on this machine, and what its service manager says about it. Reads only.

In: a person. Out: facts about that person's services, as short words in the order a person reads them.
"""

from __future__ import annotations

import contextlib
import pwd
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from collector.install import plans, templates
from collector.install.plans import THIS_MACHINE, Machine, Person
from collector.install.service_manager import ask
from collector.install.templates import ServiceError

PROPERTIES = (
    *("LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "MainPID", "ActiveEnterTimestamp"),
    *("StatusText", "NRestarts", "Result", "ExecMainStatus", "Environment"),
)


def services_of(person: Person, platform: str, machine: Machine = THIS_MACHINE) -> list[dict[str, str]]:
    """Every service that is installed for this person, with what its manager says; `platform` is as in sys.platform.

    Anybody may ask systemd about system services, even about those whose state they may not read. A person without a
    service is told about everybody else's on this machine, because root would want to know.
    """
    if platform == "darwin":
        return [launchd_facts(person)] if plans.launch_agent_path(person).exists() else []
    if shutil.which("systemctl") is None or not machine.booted_by_systemd.is_dir():
        return []
    own = [*_asked(person, machine, system=False), *_asked(person, machine, system=True)]
    return own or [facts for other in _others(machine) for facts in _asked(other, machine, system=True)]


def _asked(person: Person, machine: Machine, *, system: bool) -> list[dict[str, str]]:
    """The facts about one unit, in a list that is empty if nobody has installed it."""
    try:
        facts = systemd_facts(person, system=system)
    except ServiceError as error:  # no session bus, or no systemd: only a file can show that there is a service
        path = _enabling(machine, person.name) if system else plans.user_unit_path(person)
        return [{"unit": path.name, "state": "unknown", "ended": str(error)}] if path.exists() else []
    is_installed = facts["state"] != "not installed"
    is_meant_to_run = facts.get("enabled", "").startswith("enabled") or not facts["state"].startswith("inactive")
    return [facts] if is_installed and is_meant_to_run else []


def _enabling(machine: Machine, name: str) -> Path:
    """The link by which the system starts this person's service."""
    return machine.local_units / "multi-user.target.wants" / f"collector@{name}.service"


def _others(machine: Machine) -> Iterator[Person]:
    """Everybody on this machine who has a system service."""
    for path in sorted(_enabling(machine, "x").parent.glob("collector@*.service")):
        with contextlib.suppress(KeyError):  # the account has since been deleted
            entry = pwd.getpwnam(path.name.removeprefix("collector@").removesuffix(".service"))
            yield Person(entry.pw_name, entry.pw_uid, entry.pw_dir)


def systemd_facts(person: Person, *, system: bool) -> dict[str, str]:
    """What systemd says about this person's unit; raises ServiceError if it does not answer."""
    unit = f"collector@{person.name}.service" if system else templates.UNIT
    control = ("systemctl",) if system else ("systemctl", "--user")
    code, output = ask((*control, "show", unit, f"--property={','.join(PROPERTIES)}"))
    if code:
        raise ServiceError(f"Cannot ask systemd about {unit}: {output.strip()}. Try again from a login session.")
    told = dict(line.partition("=")[::2] for line in output.splitlines() if "=" in line)
    if told.get("LoadState") != "loaded":
        return {"unit": unit, "state": "not installed", "next": "collector service install"}
    is_running = told["ActiveState"] == "active"
    facts = {
        "unit": unit,
        "file": told["FragmentPath"],
        "state": "running" if is_running else f"{told['ActiveState']} ({told['SubState']})",
        "enabled": told["UnitFileState"],
        "restarts": told["NRestarts"],
    }
    if system:
        facts["keeps"] = f"/var/lib/collector/{person.name}"
    with contextlib.suppress(ValueError):  # quoted in a way that no shell knows
        variables = dict(word.partition("=")[::2] for word in shlex.split(told.get("Environment", "")))
        facts |= {"config": variables["COLLECTOR_CONFIG"]} if "COLLECTOR_CONFIG" in variables else {}
    if is_running:
        facts |= {"since": told["ActiveEnterTimestamp"], "process": told["MainPID"], "says": told["StatusText"]}
    elif told["Result"] != "success":
        facts |= {"ended": f"{told['Result']}, exit code {told['ExecMainStatus']}"}
    if not is_running:
        has_failed = told["Result"] != "success" or told["ActiveState"] == "activating"
        verb = "logs" if has_failed else "start"
        facts["next"] = f"collector service {verb}{f' --system --for {person.name}' if system else ''}"
    return facts


def launchd_facts(person: Person) -> dict[str, str]:
    """What launchd says about this person's agent."""
    path = plans.launch_agent_path(person)
    if not path.exists():
        return {"unit": templates.LABEL, "state": "not installed", "next": "collector service install"}
    code, output = ask(("launchctl", "print", f"gui/{person.uid}/{templates.LABEL}"))
    if code:
        return {"unit": templates.LABEL, "file": str(path), "state": "not loaded", "next": "collector service start"}
    # Only the service's own facts: its coalitions and endpoints are indented further, and have a `state` of their own.
    own = (line.partition(" = ") for line in output.splitlines() if re.match(r"\t[^\t]", line))
    told = {name.strip(): value.strip() for name, _, value in own}
    facts = {"unit": templates.LABEL, "file": str(path), "state": told.get("state", "unknown")}
    facts |= {word: told[name] for word, name in (("process", "pid"), ("ended", "last exit code")) if name in told}
    return facts
