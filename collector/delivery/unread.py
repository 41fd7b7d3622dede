"""Detects bytes that a server sent beyond its answer and httpx has already read: h11 would take them for the answer to
the next request.

In: a client, and the URL of a request that has been answered. Out: whether bytes are left over. If more arrive later,
httpcore notices by itself before it reuses the connection. No public API leads to these bytes, so if the private
attribute of a connection is missing, they count as left over: connections are then never reused, which costs time but
loses nothing.
"""

from __future__ import annotations

import httpx


def has_unread(client: httpx.Client, url: httpx.URL) -> bool:
    """Whether an open connection of this client holds bytes that belong to no answer."""
    pool = getattr(client._transport_for_url(url), "_pool", None)
    return pool is not None and any(_is_left_over(each) for each in pool.connections if not each.is_closed())


def _is_left_over(connection: object) -> bool:
    state = None
    while connection is not None and state is None:  # a connection through a proxy wraps a plain one
        state = getattr(connection, "_h11_state", None)
        connection = getattr(connection, "_connection", None)
    return state is None or bool(state.trailing_data[0])
