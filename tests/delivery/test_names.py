"""Host names: a resolver that never answers holds up a request no longer than any other part of connecting may."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.delivery.names import addresses_of
from tests.agent import Agent
from tests.build import Home

UNREACHABLE = 75
# Imitates a machine whose name server is unreachable; setting one up for real takes root.
SILENT = """
import socket, sys, time
known = socket.getaddrinfo
def silent(host, *more, **named):
    if host == "sink.test":
        time.sleep(600)
    return known(host, *more, **named)
socket.getaddrinfo = silent
sys.argv[0] = "collector"
from collector.__main__ import main
main()
"""


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    home = Home(tmp_path)
    home.session().prompt("hello")
    waits = {"COLLECTOR_SINK__CONNECT_TIMEOUT": "0.2"}
    return Agent(home, environment=waits, program=(sys.executable, "-c", SILENT))


def test_a_scan_gives_up_on_a_resolver_that_does_not_answer(agent: Agent) -> None:
    result = agent.scan("--sink-url", "https://sink.test/", "--max-wait", "0.5")
    assert result.code == UNREACHABLE
    assert "looking up sink.test took longer than 0.2 seconds" in result.stderr
    assert "All offsets are kept" in result.stderr


def test_doctor_reports_a_resolver_that_does_not_answer(agent: Agent) -> None:
    result = agent.run("doctor", *agent.places(), "--sink-url", "https://sink.test/")
    assert (
        "fail  dns           sink.test cannot be resolved (looking up sink.test took longer than 0.2 seconds"
        in result.stdout
    )


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A resolver that answers only once this event is set."""
    may_answer, known = threading.Event(), socket.getaddrinfo

    def slow(host: str, port: int, **named: int) -> object:
        may_answer.wait()
        return known("127.0.0.1" if host == "slow.test" else host, port, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    yield may_answer
    may_answer.set()


def test_repeated_lookups_share_one_pending_query(answer: threading.Event) -> None:
    def asking() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "names"]

    for _ in range(5):
        with pytest.raises(TimeoutError, match=r"slow\.test"):
            addresses_of("slow.test", 443, 0.01)
    assert len(asking()) == 1
    answer.set()
    assert addresses_of("slow.test", 443, 10) == ["127.0.0.1"]
    deadline = time.monotonic() + 10
    while asking() and time.monotonic() < deadline:
        asking()[0].join(1)
    assert asking() == []


def test_an_unknown_name_raises_the_systems_own_error(answer: threading.Event) -> None:
    answer.set()
    with pytest.raises(socket.gaierror):
        addresses_of("nowhere.invalid", 443, 30)
    assert addresses_of("::1", 443, 0) == ["::1"]
