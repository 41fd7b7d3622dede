"""Who is at the other end of a connection within this machine, as Linux tells.

In: the two ends of a connection, as ASGI names them. Out: the number of the user whose process has the other end; empty
over a network, on other systems, and where it cannot be told. Nothing is opened but the system's own list.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

LISTS = ("/proc/net/tcp", "/proc/net/tcp6")
LOOPBACK = "127."
LOCAL, REMOTE, USER = 1, 2, 7  # columns


def user_at(client: Any, server: Any) -> str:
    """The user at the client's end."""
    if not (client and server and client[0].startswith(LOOPBACK) and server[0].startswith(LOOPBACK)):
        return ""
    ends = _written(*client[:2]), _written(*server[:2])
    for path in LISTS:
        try:
            with open(path, encoding="ascii") as connections:
                for line in connections:
                    columns = line.split()
                    # Of an IPv4 address in the list for IPv6, the last part is the same.
                    if columns[LOCAL].endswith(ends[0]) and columns[REMOTE].endswith(ends[1]):
                        return columns[USER]
        except (OSError, IndexError, ValueError):
            continue
    return ""


def _written(host: str, port: int) -> str:
    """An end as it stands in the lists: the address as a number of this machine's, then the port."""
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
