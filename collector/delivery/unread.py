"""What a server has sent beyond its answer, and httpx has read: h11 would take it for the answer to the next request.

In: a client, and where it sent a request that has been answered. Out: whether bytes are left over. What arrives later,
httpcore notices itself, before it uses a connection again. It keeps these where no public name leads, so what is not
found where it was counts as left over: then connections are not used again, which costs time and loses nothing.
"""

from __future__ import annotations

import httpx


def has_unread(client: httpx.Client, url: httpx.URL) -> bool:
    """Whether an open connection of this client holds bytes that belong to no answer."""
    pool = getattr(client._transport_for_url(url), "_pool", None)
    return pool is not None and any(_is_left_over(each) for each in pool.connections if not each.is_closed())


def _is_left_over(connection: object) -> bool:
    state = None
    while connection is not None and state is None:  # what goes through a proxy wraps what does not
        state = getattr(connection, "_h11_state", None)
        connection = getattr(connection, "_connection", None)
    return state is None or bool(state.trailing_data[0])
