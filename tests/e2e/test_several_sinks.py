"""Several sinks: each has its own offsets, level and filter, and a dead one delays no other."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from collector.errors import StateLocked
from collector.keeping.lock import lock
from tests.agent import Agent
from tests.build import Home, Session
from tests.inside import Inside
from tests.service.steps import Clock, Steps
from tests.sink import PATIENCE, Answer, Sink, poison


class Laptop:
    """A home with two projects, and a configuration with an engine, an archive and the embedded store."""

    def __init__(self, directory: Path, engine: Sink, archive: Sink) -> None:
        self.home = Home(directory)
        self.app, self.secret = (self.home.session(project) for project in ("-work-app", "-work-secret"))
        self.app.prompt("app 1")
        self.app.record({"type": "progress", "data": {"type": "hook_progress"}})
        self.secret.prompt("secret 1")
        self.config = directory / "collector.toml"
        self.engine, self.archive = engine, archive
        self.write(
            f'[[sinks]]\nname = "engine"\nurl = "{engine.url}"\nlevel = "metadata"\n'
            f'[[sinks]]\nname = "archive"\nurl = "{archive.url}"\nexclude = ["/work/secret"]\n'
            '[[sinks]]\nname = "store"\ntype = "store"\n'
        )
        self.agent = Inside(self.home, environment={"COLLECTOR_CONFIG": str(self.config)})

    def write(self, sinks: str) -> None:
        self.config.write_text(sinks)

    def scan(self, *flags: str) -> tuple[int, dict[str, int]]:
        """Scans; returns the exit code, and how many events were delivered to each sink."""
        self.result = self.agent.scan(*flags)
        told = self.result.assert_balanced().ledger
        delivered = {name: each["delivered"] for name, each in told["sinks"].items()}
        assert told["delivered"] == sum(delivered.values())
        return self.result.code, delivered

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.agent.run("status", "--json", *self.agent.places()).stdout))


def has(sink: Sink, text: str) -> bool:
    return text in texts(sink)


def texts(sink: Sink) -> set[str]:
    return {event["text"] for event in sink.events if event["kind"] == "user_prompt"}


def test_each_sink_gets_what_it_may_have_and_keeps_its_own_offsets(tmp_path: Path) -> None:
    with Sink() as engine, Sink() as archive:
        laptop = Laptop(tmp_path, engine, archive)
        assert laptop.scan() == (0, {"engine": 2, "archive": 1, "store": 2})
        assert laptop.result.ledger["skipped"] == {"progress": 3}  # each sink skips it once
        assert [event for event in engine.events if "text" in event] == []
        assert texts(archive) == {"app 1"}
        laptop.app.prompt("app 2")
        archive.then = Answer(503)
        code, delivered = laptop.scan("--max-wait", "0")
        assert (code, delivered) == (75, {"engine": 1, "archive": 0, "store": 1})
        assert "archive: " in laptop.result.stderr
        report = laptop.status()
        assert {name: each["lag"] > 0 for name, each in report["sinks"].items()} == {
            "engine": False,
            "archive": True,
            "store": False,
        }
        assert report["lag"] == report["sinks"]["archive"]["lag"]
        assert report["sinks"]["engine"]["sink"] == engine.url
        shown = laptop.agent.run("status", *laptop.agent.places()).stdout
        headings = [line for line in shown.splitlines() if line.startswith("---")]
        assert headings == ["--- engine", "--- archive", "--- store"]
        laptop.app.path.unlink()  # it is held for the archive, which does not have it yet
        archive.clear_script()
        assert laptop.scan() == (0, {"engine": 0, "archive": 1, "store": 0})
        assert texts(archive) == {"app 1", "app 2"}
        assert not list(laptop.agent.directory.glob("*.held"))


def test_a_named_sink_may_move_and_an_unnamed_one_works_beside_it(tmp_path: Path) -> None:
    with Sink() as engine, Sink() as archive:
        laptop = Laptop(tmp_path, engine, archive)
        laptop.agent.environment["COLLECTOR_SINK__URL"] = archive.url
        laptop.write(f'[[sinks]]\nname = "engine"\nurl = "{engine.url}"\n')
        assert laptop.scan() == (0, {"[sink]": 2, "engine": 2})
        laptop.write(f'[[sinks]]\nname = "engine"\nurl = "{archive.url}"\n')
        assert laptop.scan() == (0, {"[sink]": 0, "engine": 0})


def test_commands_act_on_every_sink_or_on_the_named_one(tmp_path: Path) -> None:
    with Sink(then=poison(lambda event: event["text"].endswith("1"))) as picky, Sink() as other:
        laptop = Laptop(tmp_path, other, picky)
        laptop.app.prompt("app 2")
        assert laptop.scan()[0] == 3
        state = ("--state", str(laptop.agent.state))

        def said(*arguments: str, code: int = 0) -> str:
            result = laptop.agent.run(*arguments, *state)
            assert result.code == code, result.stderr
            return result.stdout or result.stderr

        [entry] = said("quarantine", "list", "--json").splitlines()
        assert json.loads(entry)["sink"] == "sink archive"
        assert said("quarantine", "list", "--sink", "engine") == "The quarantine is empty.\n"
        picky.clear_script()
        assert said("quarantine", "retry", "--all").startswith("Delivered 1,")
        assert texts(picky) == {"app 1", "app 2"}
        assert "app 1" in said("preview", "--all", "--sink", "archive", "--root", str(laptop.home.root))
        assert "app 1" not in said("preview", "--all", "--sink", "engine", "--root", str(laptop.home.root))
        assert "no sink named nobody" in said("preview", "--sink", "nobody", code=78)
        assert said("reset", "--all", "--sink", "archive").startswith("The next pass sends 1 source again")
        assert laptop.scan() == (0, {"engine": 0, "archive": 2, "store": 0})
        assert said("reset", str(laptop.secret.path)).startswith("The next pass sends 1 source again")
        assert laptop.scan() == (0, {"engine": 1, "archive": 0, "store": 1})
        assert "Nothing was changed" in said("reset", "nothing", str(laptop.app.path), code=1)
        assert laptop.scan() == (0, {"engine": 0, "archive": 0, "store": 0})
        assert said("resend", "--from-store", "--sink", "archive", "--json")


def test_an_hour_long_outage_of_one_sink_does_not_affect_the_other(tmp_path: Path) -> None:
    home, clock = Home(tmp_path), Clock()
    session = home.session()

    class OneOf(Steps):
        """The service for one of the two sinks."""

        def settings(self) -> Any:
            return super().settings().one(self.name)

        def __init__(self, name: str) -> None:
            self.name = name
            sinks = [{"name": "engine", "url": engine.url}, {"name": "archive", "url": archive.url}]
            super().__init__(home, engine, clock, given={"sink": {}, "sinks": sinks})

    def say(text: str) -> None:
        session.prompt(text)
        for steps in (slow, quick):
            steps.hint(session.path)
        clock.forward(300)
        for steps in (slow, quick):
            steps.until_idle()

    with Sink() as engine, Sink() as archive, OneOf("engine") as slow, OneOf("archive") as quick:
        say("before")
        engine.then = Answer(503)
        for minute in range(5, 65, 5):
            say(f"minute {minute}")
            assert texts(archive) >= {f"minute {minute}"}
        assert texts(engine) == {"before"}
        assert slow.service.describe()["problem"]["kind"] == "unavailable"
        assert quick.service.describe()["problem"] is None
        engine.clear_script()
        clock.forward(60)
        slow.until_idle()
        assert texts(engine) == texts(archive)


def test_after_a_kill_each_sink_is_sent_what_it_lacks(tmp_path: Path) -> None:
    with Sink() as engine, Sink() as archive:
        home = Home(tmp_path)
        session: Session = home.session()
        config = tmp_path / "collector.toml"
        config.write_text(
            f'[[sinks]]\nname = "engine"\nurl = "{engine.url}"\n[[sinks]]\nname = "archive"\nurl = "{archive.url}"\n'
        )
        environment = {"COLLECTOR_CONFIG": str(config), "COLLECTOR_BATCH__MAX_EVENTS": "2"}
        agent = Agent(home, environment=environment)
        for number in range(12):
            session.prompt(f"{number}")
        engine.then = Answer(503)
        with agent.start() as running:
            archive.wait_for(lambda: len(texts(archive)) == 12)
            running.kill()
        engine.clear_script()
        with agent.start() as running:
            engine.wait_for(lambda: len(texts(engine)) == 12)
            session.prompt("again")
            for sink in (engine, archive):
                sink.wait_for(partial(has, sink, "again"))
            config.write_text(f'[[sinks]]\nname = "engine"\nurl = "{engine.url}"\n')
            assert running.stop() == 0
        assert "Traceback" not in running.stderr
        lags = [json.loads(path.read_bytes())["lag"] for path in agent.directory.glob("*.status.json")]
        assert lags == [0, 0]


def test_if_one_sink_cannot_run_none_does_and_the_reason_is_given(tmp_path: Path) -> None:
    """The service manager starts all of them again, and a person can read why."""
    with Sink() as engine, Sink() as archive:
        laptop = Laptop(tmp_path, engine, archive)
        agent = Agent(laptop.home, environment=laptop.agent.environment)
        with lock(agent.state.with_name("state.archive.json"), "test"), agent.start() as running:
            assert running.process.wait(PATIENCE) == StateLocked.exit_code
        assert "archive: The state" in running.stderr


@pytest.mark.parametrize(
    ("sinks", "said"),
    [
        ('[[sinks]]\nname = "Not A Name"\n', "sinks.0.name"),
        ('[[sinks]]\ntype = "store"\n', "sinks.0.name"),
        ('[[sinks]]\nname = "a"\n[[sinks]]\nname = "a"\n', "two of them are named a"),
        ('[[sinks]]\nname = "a"\ntype = "http"\n', "sinks.a.url is missing"),
        ('[[sinks]]\nname = "a"\nurl = "http://elsewhere.example/"\n', "in the clear"),
        ('[[sinks]]\nname = "a"\nlevle = "full"\n', "sinks.0.levle"),
    ],
)
def test_an_invalid_sink_is_reported(tmp_path: Path, sinks: str, said: str) -> None:
    home = Home(tmp_path)
    (tmp_path / "collector.toml").write_text(sinks)
    result = Inside(home).run("scan", "--config", str(tmp_path / "collector.toml"))
    assert result.code == 78
    assert said in result.stderr
