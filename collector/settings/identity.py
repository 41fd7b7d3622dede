"""Who runs this, and on which machine, according to the system.

In: the password file, the system's machine id. Out: a name, and an id that is the same for all users of a machine.
Invariant: the machine id itself, which other programs use as a key, never leaves: only a keyed hash of it is sent.
"""

from __future__ import annotations

import hmac
import os
import pwd
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

APPLICATION = b"collector host.id 1"  # so that no other program's hash of the same machine id is the same
MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
PLATFORM_EXPERT = ("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
_id = re.compile(r"[0-9a-f]{32}")
_mac = re.compile(r'"IOPlatformUUID"\s*=\s*"([0-9A-Fa-f-]{36})"')


def account() -> str:
    """The account's name in the system's own records, whatever $LOGNAME says; its number if it has no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def machine_id(
    files: Sequence[Path] = MACHINE_ID_FILES,
    command: Sequence[str] = PLATFORM_EXPERT if sys.platform == "darwin" else (),
) -> str | None:
    """The machine's id in events; None if the system has none, as in many containers."""
    told = [_read(path) for path in files] + ([_ask(command)] if command else [])
    for each in told:
        if _id.fullmatch(each) and set(each) != {"0"}:  # "uninitialized" while an image boots for the first time
            return hmac.new(APPLICATION, each.encode(), "sha256").hexdigest()[:32]
    return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip().lower()
    except (OSError, UnicodeDecodeError):
        return ""


def _ask(command: Sequence[str]) -> str:
    """IOPlatformUUID, as macOS prints it."""
    try:
        printed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _mac.search(printed)
    return found[1].replace("-", "").lower() if found else ""
