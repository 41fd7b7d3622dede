"""The guard in conftest.py stops a test that reaches for the real home or the network."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import conftest


@pytest.fixture
def expected_trespass() -> Iterator[None]:
    """For a test that trespasses on purpose: takes its violations off the list again."""
    before = len(conftest.violations)
    yield
    assert conftest.violations[before:], "the guard noticed nothing"
    del conftest.violations[before:]


@pytest.mark.usefixtures("expected_trespass")
def test_opening_the_real_claude_directory_is_stopped() -> None:
    with pytest.raises(conftest.Trespass):
        Path(conftest.FORBIDDEN[0], "history.jsonl").read_bytes()


@pytest.mark.usefixtures("expected_trespass")
def test_listing_the_real_claude_directory_is_stopped() -> None:
    with pytest.raises(conftest.Trespass):
        os.scandir(conftest.FORBIDDEN[0])


@pytest.mark.usefixtures("expected_trespass")
def test_a_connection_that_leaves_the_machine_is_stopped() -> None:
    with socket.socket() as connection, pytest.raises(conftest.Trespass):
        connection.connect(("192.0.2.1", 80))


@pytest.mark.usefixtures("expected_trespass")
def test_a_name_lookup_that_leaves_the_machine_is_stopped() -> None:
    with pytest.raises(conftest.Trespass):
        socket.getaddrinfo("example.com", 80)


@pytest.mark.usefixtures("expected_trespass")
def test_starting_an_agent_without_a_scratch_home_is_stopped() -> None:
    with pytest.raises(conftest.Trespass):
        subprocess.run([sys.executable, "-m", "collector", "--version"], env={"PATH": os.defpath}, check=False)


def test_home_is_a_scratch_folder(tmp_path: Path) -> None:
    assert Path("~").expanduser() == tmp_path / "home"


def test_loopback_is_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass
