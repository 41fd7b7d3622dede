"""Fixtures for service tests: scripted manager commands, a person, and a machine without any package."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from collector.install.plans import Machine, Person
from tests.install.scripted import ServiceManager


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ServiceManager:
    """Puts the scripted commands first on the PATH."""
    scripted = ServiceManager(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{scripted.directory}:/usr/bin:/bin")
    return scripted


@pytest.fixture
def person(scratch_home: Path) -> Person:
    """The user who runs the test, with a scratch home."""
    return Person("alice", os.getuid(), str(scratch_home))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any unit of ours, and with a kernel switch that tests can set."""
    return Machine(
        packaged_units=tmp_path / "package",
        local_units=tmp_path / "etc",
        lingering=tmp_path / "linger",
        booted_by_systemd=tmp_path,
        no_namespaces=((tmp_path / "restrict_userns", "1"),),
    )
