"""Passes on their own: how a failure is recorded, how often it is logged, and when the next try is due."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from collector import settings
from collector.assembly import assembled
from collector.delivery.sinks.registry import SINKS
from collector.service.hints import Hints
from collector.service.passes import Passes
from tests.build import Home
from tests.service.steps import Clock
from tests.sink import Answer, Sink

NO_HINTS = Hints(frozenset(), is_everything=False)
RETRY = {"initial_interval": 1.0, "max_interval": 8.0, "max_wait": 0.0}
Begin = Callable[..., Passes]


@pytest.fixture
def begin(home: Home, sink: Sink, clock: Clock) -> Iterator[Begin]:
    """Makes passes over the home; their jitter always gives its longest wait."""
    with ExitStack() as parts:

        def made(**options: Any) -> Passes:
            passes = Passes(clock=clock.monotonic, wall=clock.wall, uniform=lambda _, longest: longest, **options)
            given = {
                "roots": [str(home.root)],
                "sink": {"url": sink.url},
                "state": {"path": str(home.path.parent / "agent" / "state.json")},
                "redaction": {"engine": "python"},
                "retry": RETRY,
            }
            chosen = settings.load(None, given, sinks=SINKS)
            passes.use(parts.enter_context(assembled(chosen, "test", observer=passes)), chosen.retry)
            return passes

        yield made


def everything(passes: Passes) -> None:
    passes.everything(NO_HINTS, is_watching=False)


def said(capsys: pytest.CaptureFixture[str], words: str) -> int:
    captured = capsys.readouterr()
    return (captured.out + captured.err).count(words)


def test_a_pass_counts_what_it_did_and_leaves_no_problem(home: Home, begin: Begin) -> None:
    home.session().prompt("hello")
    passes = begin()
    everything(passes)
    assert passes.totals_now().as_dict()["delivered"] == 1
    assert (passes.problem_now(), passes.seen.missing_roots, passes.seen.skipped) == (None, [], {})
    assert passes.lag.by_priority()["P0"]["behind"] == 0


@pytest.mark.parametrize(("status", "kind"), [(503, "unavailable"), (401, "halted")])
def test_a_failure_becomes_the_problem_and_each_wait_is_longer(
    home: Home, sink: Sink, clock: Clock, begin: Begin, status: int, kind: str
) -> None:
    home.session().prompt("hello")
    sink.then = Answer(status)
    passes = begin()
    waits = []
    for _ in range(5):
        everything(passes)
        waits.append(passes.retry_at - clock.now)
        clock.forward(waits[-1])
    problem = passes.problem_now()
    assert problem is not None
    assert (problem.kind, problem.tries, problem.since) == (kind, 5, clock.wall() - sum(waits))
    assert waits == [1.0, 2.0, 4.0, 8.0, 8.0]


def test_the_problem_ends_once_a_pass_works_again(
    home: Home, sink: Sink, clock: Clock, begin: Begin, capsys: pytest.CaptureFixture[str]
) -> None:
    home.session().prompt("hello")
    sink.then = Answer(401)
    passes = begin()
    everything(passes)
    clock.forward(7)
    sink.then = Answer()
    everything(passes)
    assert (passes.problem_now(), passes.acknowledged) == (None, clock.wall())
    assert said(capsys, "working again") == 1


def test_a_reason_is_logged_once_and_again_only_after_a_success(
    home: Home, sink: Sink, begin: Begin, capsys: pytest.CaptureFixture[str]
) -> None:
    session = home.session()
    session.prompt("one")
    passes = begin()
    complaints = []
    for status in (401, 401, 200, 401, 401):
        sink.then = Answer(status)
        session.prompt("more")
        everything(passes)
        complaints.append(said(capsys, "a person must act"))
    assert complaints == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    "words",
    ['{"request": "4e%d", "message": "over its quota"}', '{"n":%d,"error":"over its quota"}', "over its quota: %d"],
)
def test_what_a_sink_says_is_logged_once_although_it_names_another_request_every_time(
    home: Home, sink: Sink, begin: Begin, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    numbers = itertools.count(100)
    sink.then = lambda _: Answer(403, {}, (words % next(numbers)).encode())
    home.session().prompt("kept")
    passes = begin()
    for _ in range(3):
        everything(passes)
    assert said(capsys, "over its quota") == 1
    assert next(numbers) >= 103


def test_another_complaint_with_a_number_in_it_is_logged(
    home: Home, sink: Sink, begin: Begin, capsys: pytest.CaptureFixture[str]
) -> None:
    home.session().prompt("kept")
    passes = begin()
    for status, words in ((403, "quota"), (403, "disk"), (401, "disk")):
        sink.then = Answer(status, {}, f'{{"n":{status}1,"error":"{words}"}}'.encode())
        everything(passes)
        assert said(capsys, f"HTTP {status}") == 1


def test_the_number_of_remembered_reasons_is_bounded(home: Home, sink: Sink, begin: Begin) -> None:
    places = iter("abcdefghijklmnopqrstuvwxyz" * 100)
    sink.then = lambda _: Answer(302, {"Location": f"https://login.example/{next(places)}"})
    home.session().prompt("kept")
    passes = begin(many_reasons=10)
    for _ in range(25):
        everything(passes)
        assert 0 < len(passes._said) <= 10


def test_hinted_paths_are_enough_unless_one_is_a_link(home: Home, sink: Sink, begin: Begin) -> None:
    session = home.session()
    session.prompt("hello")
    passes = begin()
    everything(passes)
    session.prompt("again")
    assert passes.few(frozenset({str(session.path)})) is True
    assert [event["text"] for event in sink.events] == ["hello", "again"]
    link = session.path.with_name("link.jsonl")
    link.symlink_to(session.path.name)
    assert passes.few(frozenset({str(link)})) is False


def test_a_missing_root_is_logged_once_and_again_when_it_is_back(
    home: Home, begin: Begin, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = begin()
    counts = []
    away = Path(f"{home.root}-away")
    for is_there in (True, False, False, True):
        if is_there != home.root.exists():
            _ = home.root.rename(away) if home.root.exists() else away.rename(home.root)
        everything(passes)
        captured = capsys.readouterr()
        text = captured.out + captured.err
        counts.append((text.count("waiting for it"), text.count("all roots exist")))
    assert counts == [(0, 0), (1, 0), (0, 0), (0, 1)]
