"""One redactor for each engine, shared by all tests here."""

from __future__ import annotations

import pytest

from collector.redact import Redactor
from tests.redactors import every_rule


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return every_rule()


@pytest.fixture(scope="session")
def python_redactor() -> Redactor:
    return every_rule("python")
