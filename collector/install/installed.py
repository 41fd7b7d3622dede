"""What is installed on this machine, and what its service manager says about it. Reads only.

In: whose service it is. Out: the files that would start it, or facts as short words in the order a person reads them.
"""

from __future__ import annotations

import re
from pathlib import Path

from collector.install import plans, templates
from collector.install.plans import THIS_MACHINE, Machine, Person
from collector.install.service_manager import ask
from collector.install.templates import ServiceError

PROPERTIES = (
    *("LoadState", "ActiveState", "SubState", "UnitFileState", "FragmentPath", "MainPID", "ActiveEnterTimestamp"),
    *("StatusText", "NRestarts", "Result", "ExecMainStatus"),
)


def service_files(person: Person, platform: str, machine: Machine = THIS_MACHINE) -> list[Path]:
    """Where a file would be that starts this person's agent; `platform` as in sys.platform."""
    if platform == "darwin":
        return [plans.launch_agent_path(person)]
    return [
        plans.user_unit_path(person),
        machine.packaged_units / "user" / templates.UNIT,
        machine.local_units / "multi-user.target.wants" / f"collector@{person.name}.service",
    ]


def systemd_facts(person: Person, *, system: bool) -> dict[str, str]:
    """What systemd says about this person's unit; raises ServiceError when it does not answer."""
    unit = f"collector@{person.name}.service" if system else templates.UNIT
    control = ("systemctl",) if system else ("systemctl", "--user")
    code, output = ask((*control, "show", unit, f"--property={','.join(PROPERTIES)}"))
    if code:
        raise ServiceError(f"systemd did not answer about {unit}: {output.strip()}. Ask again from a login session.")
    told = dict(line.partition("=")[::2] for line in output.splitlines() if "=" in line)
    if told.get("LoadState") != "loaded":
        return {"unit": unit, "state": "not installed", "next": "collector service install"}
    is_running = told["ActiveState"] == "active"
    facts = {
        "unit": f"{unit} ({told['FragmentPath']})",
        "state": "running" if is_running else f"{told['ActiveState']} ({told['SubState']})",
        "enabled": told["UnitFileState"],
        "restarts": told["NRestarts"],
    }
    if is_running:
        facts |= {"since": told["ActiveEnterTimestamp"], "process": told["MainPID"], "says": told["StatusText"]}
    elif told["Result"] != "success":
        facts |= {"ended": f"{told['Result']}, exit code {told['ExecMainStatus']}", "next": "collector service logs"}
    return facts


def launchd_facts(person: Person) -> dict[str, str]:
    """What launchd says about this person's agent."""
    path = plans.launch_agent_path(person)
    if not path.exists():
        return {"agent": templates.LABEL, "state": "not installed", "next": "collector service install"}
    code, output = ask(("launchctl", "print", f"gui/{person.uid}/{templates.LABEL}"))
    if code:
        return {"agent": f"{templates.LABEL} ({path})", "state": "not loaded", "next": "collector service install"}
    # Only the service's own facts: its coalitions and endpoints, indented further, have a `state` each.
    own = (line.partition(" = ") for line in output.splitlines() if re.match(r"\t[^\t]", line))
    told = {name.strip(): value.strip() for name, _, value in own}
    facts = {"agent": f"{templates.LABEL} ({path})", "state": told.get("state", "unknown")}
    facts |= {word: told[name] for word, name in (("process", "pid"), ("ended", "last exit code")) if name in told}
    return facts
