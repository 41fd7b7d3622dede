"""Offsets belong to a sink: a new one gets the history, the old one continues where it was, and neither takes away
events from the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.build import Home
from tests.inside import Inside
from tests.sink import Answer, Sink, poison, texts


class Laptop:
    """A home with one session, and the command with any sink."""

    def __init__(self, directory: Path) -> None:
        self.home = Home(directory)
        self.session = self.home.session()
        self.session.prompt("one")
        self.session.prompt("two")
        self.agent = Inside(self.home)

    def scan(self, sink: Sink | None, *flags: str, **environment: str) -> tuple[int, int]:
        """Scans; returns how many events were delivered, and the lag in the ledger."""
        self.agent.sink = sink
        self.result = self.agent.scan(*flags, **environment).assert_balanced()
        assert self.result.code == 0, self.result.stderr
        return self.result.ledger["delivered"], self.result.ledger["lag"]

    def status(self, sink: Sink | None, **environment: str) -> dict[str, object]:
        self.agent.sink = sink
        told = self.agent.run("status", "--json", *self.agent.places(), env=environment)
        return dict(json.loads(told.stdout))


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path)


def test_a_new_sink_gets_what_the_embedded_store_already_has(laptop: Laptop) -> None:
    with Sink() as sink:
        laptop.agent.sink = None
        assert (
            "all history so far would be sent" in laptop.agent.run("scan", "--dry-run", *laptop.agent.places()).stderr
        )
        assert laptop.scan(None) == (2, 0)
        assert "all history so far is sent" in laptop.result.stderr
        assert "new sink" not in laptop.result.stderr  # there was no other sink before
        before = laptop.status(sink)
        assert (before["lag"], before["offsets"]["is_new"]) == (laptop.session.size, True)  # type: ignore[index]
        assert laptop.scan(sink) == (2, 0)
        assert "history waits for a new sink" in laptop.result.stderr
        assert texts(sink) == ["one", "two"]
        laptop.session.prompt("three")
        assert laptop.scan(None) == (1, 0)  # the store continues where it was
        assert "history waits" not in laptop.result.stderr
        assert laptop.scan(sink) == (1, 0)
        assert texts(sink) == ["one", "two", "three"]
        [other] = laptop.status(sink)["offsets"]["others"]  # type: ignore[index]
        assert other.startswith("store ~/")
        assert other.endswith("/events.db")


def test_a_sink_with_a_new_address_is_the_same_sink_if_configured_so(laptop: Laptop) -> None:
    with Sink() as old, Sink() as new:
        laptop.scan(old)
        laptop.session.prompt("three")
        said = {"COLLECTOR_SINK__FORMERLY": f"https://elsewhere.example/x,{old.url}/"}
        assert laptop.scan(new, **said) == (1, 0)
        assert texts(new) == ["three"]
        assert laptop.scan(new, **said) == (0, 0)
        told = laptop.status(new, **said)
        assert told["offsets"]["formerly"] == [old.url]  # type: ignore[index]
        assert told["offsets"]["others"] == []  # type: ignore[index]
        # Even if it is configured too late, it counts for whatever the new address has not been sent.
        with Sink() as third:
            laptop.session.prompt("four")
            third.then = Answer(503)
            laptop.agent.sink = third
            assert laptop.agent.scan("--max-wait", "0").code == 75
            third.clear_script()
            assert laptop.scan(third, COLLECTOR_SINK__FORMERLY=new.url) == (1, 0)


def test_from_now_leaves_history_out_once_and_says_so(laptop: Laptop) -> None:
    with laptop.session.path.open("ab") as file:
        file.write(b'{"type":"user","half":')
    laptop.home.stats()
    with Sink() as sink:
        half = len(b'{"type":"user","half":')
        assert laptop.scan(sink, "--from-now") == (0, half)
        assert "history left out, as asked" in laptop.result.stderr
        with laptop.session.path.open("ab") as file:
            file.write(b'1,"message":{"content":"whole"}}\n')
        laptop.session.prompt("three")
        assert laptop.scan(sink, "--from-now") == (2, 0)  # as a unit file would pass it at every start
        assert texts(sink) == ["whole", "three"]
        left_out = laptop.status(sink)["offsets"]["left_out"]  # type: ignore[index]
        assert left_out["sources"] == 2
        assert left_out["bytes"] > 0


def test_from_now_leaves_nothing_out_of_what_a_person_wants_sent_again(laptop: Laptop) -> None:
    with Sink() as sink:
        assert laptop.scan(sink) == (2, 0)
        environment = {"COLLECTOR_SINK__URL": sink.url}
        laptop.agent.run("reset", "--all", "--state", str(laptop.agent.state), env=environment)
        assert laptop.status(sink)["offsets"]["is_new"] is False  # type: ignore[index]
        assert laptop.scan(sink, "--from-now") == (2, 0)


def test_from_now_leaves_nothing_out_after_a_state_was_damaged(laptop: Laptop) -> None:
    with Sink() as sink:
        laptop.agent.directory.mkdir()
        laptop.agent.state.write_bytes(b"\0" * 100)
        assert laptop.scan(sink, "--from-now") == (2, 0)


def test_a_quarantined_event_is_not_retried_at_another_sink(laptop: Laptop) -> None:
    with Sink(then=poison(lambda event: event["text"] == "two")) as picky, Sink() as other:
        laptop.agent.sink = picky
        laptop.agent.scan()
        places = ("--state", str(laptop.agent.state))
        listed = laptop.agent.run("quarantine", "list", "--json", *places).stdout
        assert [json.loads(line)["sink"] for line in listed.splitlines()] == [f"http {picky.url}"]
        picky.clear_script()
        for sink, said in ((other, "for another sink 1"), (picky, "Delivered 1")):
            environment = {"COLLECTOR_SINK__URL": sink.url}
            assert said in laptop.agent.run("quarantine", "retry", "--all", *places, env=environment).stdout
        assert other.posts == []


def test_a_file_stays_held_until_every_sink_has_it(laptop: Laptop) -> None:
    held = laptop.agent.state.with_name("state.held")
    with Sink(then=Answer(503)) as down, Sink() as up:
        laptop.agent.sink = down
        assert laptop.agent.scan("--max-wait", "0").code == 75
        laptop.session.path.unlink()
        assert laptop.scan(up) == (2, 0)  # it reads what is held for the other, and releases nothing
        assert laptop.scan(up) == (0, 0)
        assert len(list(held.glob("*.jsonl"))) == 1
        down.clear_script()
        assert laptop.scan(down) == (2, 0)
        assert not held.exists()
        assert texts(up) == texts(down) == ["one", "two"]


def test_a_second_failing_sink_keeps_what_is_held_for_the_first(laptop: Laptop) -> None:
    held = laptop.agent.state.with_name("state.held")
    with Sink(then=Answer(503)) as first, Sink(then=Answer(503)) as second:
        for sink in (first, second):
            laptop.agent.sink = sink
            assert laptop.agent.scan("--max-wait", "0").code == 75
        laptop.session.path.unlink()
        for sink in (first, second):
            assert len(list(held.glob("*.jsonl"))) == 1
            sink.clear_script()
            assert laptop.scan(sink) == (2, 0)
        assert not held.exists()
