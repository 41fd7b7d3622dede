"""Reloading: a new configuration does not forget unfinished work of the old one."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from collector import settings
from collector.errors import SinkRemoved
from collector.keeping.pause import pause, resume
from tests.build import Home
from tests.service.steps import Clock, Steps
from tests.sink import Sink, texts


def test_a_reload_keeps_entries_waiting_for_the_quarantine(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    with session.path.open("ab") as file:
        file.write(b'{"torn": tru\n')
    steps.hint(session.path)
    clock.forward(0.5)
    steps.service.step()
    assert steps.saved()[session.path.name] < session.path.stat().st_size
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(parts)
        steps.until_idle()
        committer = steps.service.flow.committer
        committer.save()
        assert steps.saved()[session.path.name] == session.path.stat().st_size
        assert [entry["reason"] for entry in committer.quarantine.entries()] == ["torn line"]


def test_what_a_reload_includes_is_not_counted_as_missed_hints(home: Home, sink: Sink, clock: Clock) -> None:
    with Steps(home, sink, clock, given={"projects": {"exclude": ["/work/app"]}}) as steps, ExitStack() as parts:
        home.session().prompt("one")
        steps.until_idle()
        clock.forward(10)
        steps.given["projects"] = {}
        steps.service.reload()
        steps.service._do_reload(parts)
        steps.until_idle()
        assert texts(sink) == ["one"]
        assert steps.service.describe()["watcher"]["missed_hints"] == 0


def test_the_status_names_settings_overruled_by_a_lock(
    home: Home, sink: Sink, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings.user_config()
    path.parent.mkdir(parents=True)
    path.write_text('locked = ["batch"]\n[batch]\nmax_events = 7\n')
    monkeypatch.setenv("COLLECTOR_BATCH__MAX_EVENTS", "8")
    with Steps(home, sink, clock, given={"batch": {}}) as steps:
        told = steps.service.describe()
    where = "in the environment variable COLLECTOR_BATCH__MAX_EVENTS"
    said = f"batch.max_events ({where}) has no effect: {path} locks batch"
    assert (told["locked"], told["overruled"]) == ({"batch": str(path)}, [said])
    assert steps.service.flow.limits.max_events == 7


def test_a_configuration_that_cannot_be_applied_stops_sending_and_is_tried_again(
    home: Home, steps: Steps, clock: Clock
) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    linger, steps.given["batch"] = steps.given["batch"], {"linger": -1}
    steps.given["capture"] = {"level": "metadata"}
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(parts)
        session.prompt("two")
        clock.forward(29)
        steps.until_idle()
        steps.service._progress()
        assert steps.told()["problem"]["kind"] == "configuration"
        assert (len(steps.sink.events), steps.service.is_interrupted) == (1, False)
        steps.given["batch"] = linger
        clock.forward(1)
        assert steps.service.is_interrupted
        steps.service._do_reload(parts)
        steps.until_idle()
        steps.service._progress()
    assert [event.get("text") for event in steps.sink.events] == ["one", None]
    assert (steps.told()["problem"], steps.service._reloads.due_in) == (None, float("inf"))


def test_a_new_sink_after_a_reload_has_its_own_offsets(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    with Sink() as other, ExitStack() as parts:
        for sink, delivered in ((other, ["one", "two"]), (steps.sink, ["one", "two", "three"])):
            steps.given["sink"] = {"url": sink.url}
            session.prompt("two" if sink is other else "three")
            steps.service.reload()
            steps.service._do_reload(parts)
            steps.until_idle()
            clock.forward(1)
            steps.until_idle()
            assert [event["text"] for event in sink.events] == delivered


def test_a_new_sink_waits_until_the_old_ones_offsets_are_saved(home: Home, steps: Steps) -> None:
    home.session().prompt("one")
    steps.until_idle()
    flow = steps.service.flow
    with Sink() as other, ExitStack() as parts:
        flow.state.path.with_name("state.json.new").mkdir()
        flow.state.is_dirty = True
        steps.given["sink"] = {"url": other.url}
        steps.service.reload()
        steps.service._do_reload(parts)
        assert steps.service.flow is flow
        assert other.posts == []


def test_the_first_few_of_many_reloads_run_at_once_and_the_rest_together(steps: Steps, clock: Clock) -> None:
    service, due = steps.service, []
    with ExitStack() as parts:
        for seconds in (0, 0, 0, 0, 0.5, 0.5, 60):
            clock.forward(seconds)
            service.reload()
            due.append(service.is_interrupted)
            if due[-1]:
                service._do_reload(parts)
        clock.forward(60)
        due.append(service.is_interrupted)
    assert due == [True, True, True, False, False, True, True, False]


def test_what_cannot_be_sent_for_a_wrong_configuration_is_held_unless_paused(
    home: Home, steps: Steps, clock: Clock
) -> None:
    steps.until_idle()
    deleted, excluded, paused = home.session(), home.session("-work-private"), home.session()
    deleted.prompt("one")
    excluded.prompt("two")
    linger, steps.given["batch"] = steps.given["batch"], {"linger": -1}
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(parts)
        steps.until_idle()
        deleted.path.unlink()
        pause(steps.service.settings.state_path, clock.wall(), None)
        paused.prompt("three")
        clock.forward(3600)
        steps.until_idle()
        assert steps.service.flow.held.summary()["files"] == 2
        resume(steps.service.settings.state_path)
        steps.given |= {"batch": linger, "projects": {"exclude": ["/work/private"]}}
        steps.service._do_reload(parts)
        assert steps.service.flow.held.summary()["files"] == 1
        steps.until_idle()
    assert sorted(texts(steps.sink)) == ["one", "three"]


def test_nothing_is_held_for_a_sink_that_was_removed(home: Home, steps: Steps, clock: Clock) -> None:
    def reread() -> settings.Settings:
        raise SinkRemoved("sinks: other was removed")

    steps.until_idle()
    home.session().prompt("one")
    steps.service._reread = reread
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(parts)
        steps.until_idle()
        clock.forward(3600)
        steps.until_idle()
        assert (steps.service.flow.held.summary()["files"], steps.sink.events) == (0, [])


def test_a_reload_does_not_call_a_sink_new_that_was_sent_to(
    home: Home, steps: Steps, capsys: pytest.CaptureFixture[str]
) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    session.prompt("two")
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(parts)
        steps.until_idle()
    assert "all history so far is sent" not in capsys.readouterr().err
    assert texts(steps.sink) == ["one", "two"]
