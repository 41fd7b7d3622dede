"""Fixtures for command tests, taken from the packages behind the commands."""

from __future__ import annotations

from tests.install.conftest import manager
from tests.store.conftest import database

__all__ = ["database", "manager"]
