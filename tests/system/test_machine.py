"""The deb on a real systemd: installed, started, stopped, frozen, removed. Each check is a function of inside.py."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.system import inside, machine

pytestmark = pytest.mark.system


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the checks inside the machine found; one boot serves all tests."""
    assert os.geteuid() == 0, "the system test needs root: it makes namespaces and boots a machine in them"
    exchange = tmp_path_factory.mktemp("exchange")
    given = os.environ.get("COLLECTOR_TEST_DEB")
    package = Path(given) if given else machine.built_package(tmp_path_factory.mktemp("package"))
    shutil.copy(package, exchange / "collector.deb")
    return machine.boot(machine.prepared_root(), exchange) | {"exchange": str(exchange)}


@pytest.mark.parametrize("check", [check.__name__ for check in inside.CHECKS])
def test_on_a_real_systemd(check: str, results: dict[str, Any]) -> None:
    found = results.get(check, "was never reached")
    assert found == "passed", f"{check}: {found}\nMore in {results['exchange']}/journal.txt"
