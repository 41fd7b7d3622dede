"""The home, the sink and the command, as the stories of the long run use them."""

from __future__ import annotations

from tests.service.conftest import agent, home, sink

__all__ = ["agent", "home", "sink"]
