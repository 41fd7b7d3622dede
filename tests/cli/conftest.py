"""What tests of single commands need from the rooms behind them."""

from __future__ import annotations

from tests.install.conftest import manager
from tests.store.conftest import database

__all__ = ["database", "manager"]
