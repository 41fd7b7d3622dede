"""Runs inside a service's sandbox (ExecStartPre), tries what an agent must not be able to do, and reports what worked.

probe.py REPORT     writes a JSON list of the things that worked
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

HOME = Path(os.path.expanduser("~"))
TRANSCRIPT = next((HOME / ".claude" / "projects").rglob("*.jsonl"))


def append() -> None:
    with TRANSCRIPT.open("a") as file:
        file.write("")


def make_namespace() -> None:
    """Makes a user namespace through the C library, because Python 3.11 has no os.unshare."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")


ATTEMPTS: dict[str, Callable[[], object]] = {
    "read a transcript": TRANSCRIPT.read_bytes,
    "append to a transcript": append,
    "make a file below the root": lambda: (HOME / ".claude" / "probe").touch(),
    "remove a transcript": lambda: os.rename(TRANSCRIPT, TRANSCRIPT.with_suffix(".moved")),
    "make a file in the home": lambda: (HOME / "probe").touch(),
    "read the ssh key": (HOME / ".ssh" / "id_ed25519").read_bytes,
    "read another user's home": lambda: os.listdir("/home/bob"),
    "make a file in /etc": lambda: Path("/etc/probe").touch(),
    "make a file in /usr": lambda: Path("/usr/probe").touch(),
    "see /tmp": lambda: Path("/tmp/visible").read_bytes(),
    "open a raw socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "make a namespace": make_namespace,
}


def possible() -> list[str]:
    """The attempts that worked."""
    worked = []
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
        except OSError:
            continue
        worked.append(name)
    return worked


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(possible()))
