"""Who is at the other end of a connection within this machine, according to Linux.

In: the two ends of a connection, as ASGI names them. Out: the id of the user whose process has the other end; empty
over a network, on other systems, and if it cannot be found. Nothing is opened but the system's own list.
"""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

LISTS = ("/proc/net/tcp", "/proc/net/tcp6")
LOOPBACK = "127."
LOCAL, REMOTE, USER = 1, 2, 7  # columns


def user_at(client: Any, server: Any) -> str:
    """The id of the user at the client's end."""
    if not (client and server):
        return ""
    # A browser that calls this machine by the address it has in a network calls from that same address.
    if client[0] != server[0] and not (client[0].startswith(LOOPBACK) and server[0].startswith(LOOPBACK)):
        return ""
    ends = _written(*client[:2]), _written(*server[:2])
    for path in LISTS:
        try:
            with open(path, encoding="ascii") as connections:
                for line in connections:
                    columns = line.split()
                    # An IPv4 address in the list for IPv6 ends in the same digits.
                    if columns[LOCAL].endswith(ends[0]) and columns[REMOTE].endswith(ends[1]):
                        return columns[USER]
        except (OSError, IndexError, ValueError):
            continue
    return ""


def _written(host: str, port: int) -> str:
    """One end as the lists write it: the address as numbers of 32 bits in this machine's byte order, then the port."""
    packed = ipaddress.ip_address(host).packed
    words = (int.from_bytes(packed[at : at + 4], sys.byteorder) for at in range(0, len(packed), 4))
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
