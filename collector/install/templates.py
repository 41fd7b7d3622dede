"""The service files: turns the templates in systemd/ and launchd/ into what is written on this machine.

In: a ServiceFile (which program, for whom, where it may write). Out: the text of one file, signed with a digest of
itself. Invariant: the signature distinguishes a file that this module made from one that a person has edited since, so
an edited one is never overwritten unasked. Nothing is written here.
"""

from __future__ import annotations

import hashlib
import plistlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from collector.errors import CollectorError

UNIT = "collector.service"
TEMPLATE = "collector@.service"
WAITING = "collector-wait@.service"
LABEL = "claude-collector"
PACKAGED_PROGRAM = "/usr/bin/collector"

_DIGEST = re.compile(r"Written by `collector service install`; digest ([0-9a-f]{64})")
_USUAL_DIRECTORIES = ("%h/.local/state/collector", "%h/.local/share/collector", "%h/.cache/collector")


class ServiceError(CollectorError):
    """The service cannot be installed, removed or examined."""


@dataclass(frozen=True)
class ServiceFile:
    """What one machine's service file says beyond its template."""

    command: tuple[str, ...]
    home: str
    writable: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def is_packaged(self) -> bool:
        """Whether the template, as the package ships it, already says all of this."""
        usual = tuple(path.replace("%h", self.home) for path in _USUAL_DIRECTORIES)
        return self.command == (PACKAGED_PROGRAM,) and not self.environment and self.writable in {(), usual}


def template(name: str) -> str:
    """A template's text: from the package's data if installed, otherwise from systemd/ or launchd/ in a source tree."""
    folder = "launchd" if name.endswith(".plist") else "systemd"
    packaged = resources.files("collector") / "service_files" / folder / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / folder / name).read_text(encoding="utf-8")


def user_unit(service: ServiceFile, text: str | None = None) -> str:
    """collector.service for this program, these directories and these variables; `text` replaces the template."""
    usual = " ".join(_USUAL_DIRECTORIES)
    writable = [_below_home(path, service.home) for path in service.writable] or list(_USUAL_DIRECTORIES)
    text = _with_command(template(UNIT) if text is None else text, service)
    text = _replaced(text, f"-p -m 0700 {usual}", f"-p -m 0700 {' '.join(writable)}")
    text = _replaced(text, _read_write(_USUAL_DIRECTORIES), _read_write(writable))
    return signed(text, "# ", "")


def system_unit(service: ServiceFile) -> str:
    """collector@.service for this program and these variables."""
    return signed(_with_command(template(TEMPLATE), service), "# ", "")


def waiting_unit() -> str:
    """collector-wait@.service, which the template pulls in."""
    return signed(template(WAITING), "# ", "")


def home_drop_in(home: str) -> str:
    """For a user whose home is not below /home: the paths the template exposes, with the real home in them."""
    setting = "BindReadOnlyPaths="
    shipped = next(line for line in template(TEMPLATE).splitlines() if line.startswith(setting))
    paths = [quoted(_replaced(path, "/home/%i", home)) for path in shipped.removeprefix(setting).split()]
    text = f"[Service]\n# This user's home is not below /home.\n{setting}\n{setting}{' '.join(paths)}\n"
    return signed(text, "# ", "")


def without_namespaces() -> str:
    """For a kernel that does not let users create namespaces: undoes the lines of the user unit that need them."""
    text = (
        "[Service]\n# This kernel does not let users create namespaces. What is left of the sandbox: no new\n"
        "# privileges, the system call filter, the limits. collector@.service, which root installs, has all of it.\n"
        + "".join(f"{key}=no\n" for key in ("PrivateUsers", "PrivateTmp", "PrivateDevices"))
        + "".join(f"{key}=no\n" for key in ("ProtectSystem", "ProtectHome", "ProtectControlGroups"))
        + "ReadWritePaths=\nInaccessiblePaths=\n"
    )
    return signed(text, "# ", "")


def launch_agent(service: ServiceFile, log: str) -> str:
    """The property list for this program and these variables, with absolute paths only."""
    arguments = "".join(f"\n    <string>{_escaped(part)}</string>" for part in (*service.command, "run"))
    text = template("collector.plist")
    text = _replaced(text, "\n    <string>@EXECUTABLE@</string>\n    <string>run</string>", arguments)
    variables = "".join(
        f"    <key>{_escaped(name)}</key>\n    <string>{_escaped(value)}</string>\n"
        for name, value in service.environment
    )
    text = _replaced(text, "    <string>1</string>\n", f"    <string>1</string>\n{variables}")
    text = text.replace("@LOG@", _escaped(log))
    first, _, rest = text.partition("\n")
    text = f"{first}\n{signed(rest, '<!-- ', ' -->')}"
    plistlib.loads(text.encode())
    return text


def signed(text: str, opening: str, closing: str) -> str:
    """The text below a comment line that holds its digest."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{opening}Written by `collector service install`; digest {digest}{closing}\n{text}"


def is_unedited(text: str) -> bool:
    """Whether the text is exactly what this or an earlier version wrote."""
    head, _, rest = text.partition("\n")
    if head.startswith("<?xml"):
        head, _, rest = rest.partition("\n")
    found = _DIGEST.search(head)
    return found is not None and found[1] == hashlib.sha256(rest.encode()).hexdigest()


def quoted(word: str) -> str:
    """One word of a systemd command line or path list, with specifiers, quotes and blanks taken literally."""
    literal = word.replace("\\", "\\\\").replace("%", "%%")
    return f'"{literal.replace(chr(34), chr(92) + chr(34))}"' if re.search(r"[\s\"';\\]", word) else literal


def _with_command(text: str, service: ServiceFile) -> str:
    words = " ".join(quoted(word).replace("$", "$$") for word in service.command)
    text = _replaced(text, f"ExecStart={PACKAGED_PROGRAM} run\n", f"ExecStart={words} run\n")
    lines = "".join(
        f"# Requested at installation.\nEnvironment={quoted(name + '=' + value)}\n"
        for name, value in service.environment
    )
    anchor = "Environment=PYTHONFAULTHANDLER=1\n"
    return _replaced(text, anchor, anchor + lines)


def _below_home(path: str, home: str) -> str:
    """`%h/...` for a path below the home directory, so that a rendered unit reads like its template."""
    plain = quoted(path)
    return "%h" + plain.removeprefix(home) if plain.startswith(home + "/") else plain


def _read_write(paths: Sequence[str]) -> str:
    """The line of writable paths. A leading minus (inside any quotes) means that the path may be missing."""
    words = ['"-' + path[1:] if path.startswith('"') else "-" + path for path in paths]
    return f"ReadWritePaths={' '.join(words)}\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _replaced(text: str, old: str, new: str) -> str:
    """Replaces the only occurrence. A template that lost its anchor must fail here, not on somebody's machine."""
    if text.count(old) != 1:
        raise ServiceError(
            f"The service template has changed: {old.strip()!r} occurs {text.count(old)} times in it instead of once. "
            "Nothing was written. Reinstall collector."
        )
    return text.replace(old, new)
