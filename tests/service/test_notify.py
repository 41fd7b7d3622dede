"""Messages to the service manager, over a real datagram socket."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.service.notify import Notifier


class Manager:
    """The other end: a socket such as systemd listens on."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.settimeout(5)

    def hear(self) -> str:
        """The next message."""
        return self.socket.recv(4096).decode()

    def hears_nothing(self) -> bool:
        """Whether no message is waiting."""
        self.socket.setblocking(False)
        try:
            self.socket.recv(4096)
        except BlockingIOError:
            return True
        finally:
            self.socket.settimeout(5)
        return False


@pytest.fixture
def manager() -> Iterator[Manager]:
    with tempfile.TemporaryDirectory() as directory:  # a socket's path must be short
        manager = Manager(str(Path(directory) / "notify"))
        yield manager
        manager.socket.close()


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_ready_and_stopping_are_sent_at_once(manager: Manager) -> None:
    notifier = Notifier(manager.address)
    notifier.ready()
    notifier.stopping()
    assert (manager.hear(), manager.hear()) == ("READY=1", "STOPPING=1")


def test_reloading_is_sent_with_the_monotonic_time(manager: Manager) -> None:
    Notifier(manager.address).reloading()
    first, second = manager.hear().splitlines()
    assert first == "RELOADING=1"
    name, _, value = second.partition("=")
    assert name == "MONOTONIC_USEC"
    assert int(value) > 0


def test_a_status_is_sent_only_when_it_changes(manager: Manager) -> None:
    notifier = Notifier(manager.address)
    for text in ("nothing waiting", "nothing waiting", "lag 3 kB"):
        notifier.status(text)
    assert (manager.hear(), manager.hear()) == ("STATUS=nothing waiting", "STATUS=lag 3 kB")
    assert manager.hears_nothing()


def test_text_from_a_sink_cannot_inject_a_command(manager: Manager) -> None:
    Notifier(manager.address).status("halted: bad\nWATCHDOG_USEC=1\x1b[2J")
    assert manager.hear() == "STATUS=halted: bad\\nWATCHDOG_USEC=1\\x1b[2J"


def test_the_watchdog_is_fed_at_most_three_times_per_timeout(manager: Manager) -> None:
    clock = Time()
    notifier = Notifier(manager.address, watchdog_seconds=30.0, clock=clock)
    for second in range(31):
        clock.now = second
        for _ in range(100):
            notifier.alive()
    assert [manager.hear() for _ in range(3)] == ["WATCHDOG=1"] * 3
    assert manager.hears_nothing()


def test_without_progress_the_watchdog_is_not_fed(manager: Manager) -> None:
    clock = Time()
    notifier = Notifier(manager.address, watchdog_seconds=30.0, clock=clock)
    clock.now = 100.0
    notifier.status("a message is no food")
    assert manager.hear() == "STATUS=a message is no food"
    assert manager.hears_nothing()
    assert notifier.next_feed == 0.0


def test_an_abstract_socket_address_works() -> None:
    manager = Manager("@collector-test-notify")
    Notifier(manager.address).ready()
    assert manager.hear() == "READY=1"
    manager.socket.close()


@pytest.mark.parametrize("address", [None, "/nowhere/notify"])
def test_a_missing_manager_does_no_harm(address: str | None) -> None:
    notifier = Notifier(address, watchdog_seconds=None)
    notifier.ready()
    notifier.alive()
    assert notifier.next_feed == float("inf")
