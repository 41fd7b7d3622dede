"""The service manager's commands, as the tests of the service use them."""

from __future__ import annotations

from tests.install.conftest import manager

__all__ = ["manager"]
