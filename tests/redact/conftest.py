"""One redactor of each engine for all tests here: compiling a hundred times would only cost time."""

from __future__ import annotations

import pytest

from collector.redact import Options, Redactor

KEY = b"a key for tests only"


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return Redactor(Options(key=KEY))


@pytest.fixture(scope="session")
def python_redactor() -> Redactor:
    return Redactor(Options(key=KEY, engine="python"))
