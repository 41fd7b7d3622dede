"""The deb on a real systemd: installed, started, stopped, frozen, removed. Each check is a function of inside.py."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.system import inside, machine

pytestmark = pytest.mark.system


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both packages, built now unless COLLECTOR_TEST_PACKAGES names a directory that has them."""
    given = os.environ.get("COLLECTOR_TEST_PACKAGES")
    if given:
        return {kind: next(Path(given).glob(f"*.{kind}")) for kind in ("deb", "rpm")}
    return machine.built_packages(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def results(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of the checks inside the machine; one boot serves all tests."""
    assert os.geteuid() == 0, "the system test needs root: it makes namespaces and boots a machine in them"
    exchange = tmp_path_factory.mktemp("exchange")
    shutil.copy(packages["deb"], exchange / "collector.deb")
    return machine.boot(machine.prepared_root(), exchange) | {"exchange": str(exchange)}


@pytest.mark.parametrize("kind", ["deb", "rpm"])
def test_both_packages_contain_every_listed_file(kind: str, packages: dict[str, Path]) -> None:
    lines = (machine.TREE / "packaging" / "nfpm.yaml").read_text().splitlines()
    other = {"deb": "packager: rpm", "rpm": "packager: deb"}[kind]
    listed = [re.search(r"dst: ([^,}]+)", line) for line in lines if other not in line]
    wanted = [Path(found[1]) for found in listed if found]
    if kind == "deb":
        command = ["dpkg-deb", "--contents", str(packages[kind])]
        held = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        missing = [path for path in wanted if f".{path}" not in held]
    else:
        head = packages[kind].read_bytes()[:4_000_000]  # file names are in its header, which is not compressed
        missing = [path for path in wanted if path.name.encode() + b"\0" not in head]
    assert missing == []
    assert len(wanted) > 10


@pytest.mark.parametrize("check", [check.__name__ for check in inside.CHECKS])
def test_on_a_real_systemd(check: str, results: dict[str, Any]) -> None:
    found = results.get(check, "was never reached")
    assert found == "passed", f"{check}: {found}\nMore in {results['exchange']}/journal.txt"
