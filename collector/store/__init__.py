"""The embedded store: a receiver that speaks our own contract, and the SQLite database behind it.

    body -> rows -> database          receiver and server put HTTP around them, report asks what is stored

`collector receive` runs it for other machines. `EmbeddedStore` runs it inside the agent when no sink is configured: the
events take the same path, over HTTP, as they would to a sink elsewhere.
"""

from __future__ import annotations

import secrets
import socket
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from collector.store.limits import Keeping, ReceiverLimits


class EmbeddedStore:
    """The receiver on a loopback port of this process: a context manager with a `url` and a `token`."""

    def __init__(self, database_path: Path, keeping: Keeping | None = None) -> None:
        self._database_path = Path(database_path)
        self._keeping = keeping or Keeping()
        self._open = ExitStack()
        self.token = secrets.token_urlsafe(32)
        self.url = ""

    def __enter__(self) -> Self:
        """Opens the database and starts listening; raises CollectorError if the database cannot be used."""
        from collector.store.server import prepared, running  # here: 100 ms that nobody with a sink should pay

        with ExitStack() as opening:
            limits, keeping = ReceiverLimits(), self._keeping
            server = opening.enter_context(prepared(self._database_path, self.token, limits, keeping=keeping))
            listener = opening.enter_context(socket.create_server(("127.0.0.1", 0)))
            self.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/events"
            opening.enter_context(running(server, listener))
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Finishes what is in flight, stops listening, and closes the database."""
        self._open.close()
