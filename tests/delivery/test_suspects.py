"""Finding the events that a sink fails on: blamed only while it takes another one, so never for an outage."""

from __future__ import annotations

import itertools
import random
import time
from contextlib import suppress
from dataclasses import replace

import httpx
import pytest

from collector.delivery.health import Health
from collector.delivery.settle import Policy, Settling
from collector.delivery.waiting import Waiting
from collector.errors import SinkHalted, SinkUnavailable
from collector.flow.interrupt import Interrupt
from tests.delivery.sending import QUICK, Receiver, batch, channel, failing_on, names, patient
from tests.delivery.test_settle import PATIENT, settle, waiting_at_most


@pytest.mark.parametrize("bad", [{"e0"}, {"e8"}, {"e0", "e8"}, {"e3", "e4"}])
def test_an_event_on_which_a_healthy_sink_always_fails_is_quarantined(bad: set[str]) -> None:
    receiver = Receiver(failing_on(*bad, status=500))
    first, second = settle(receiver, batch("good"), batch(*names(9)))
    assert first.refused == []
    assert {thing.id for thing in second.refused} == bad
    assert receiver.stored >= (set(names(9)) - bad)


@pytest.mark.parametrize("status", [302, 403, 404, 405, 406])
@pytest.mark.parametrize("bad", [{"e0"}, {"e8"}, {"e3", "e4"}])
def test_an_event_that_a_filter_in_between_blocks_is_quarantined(status: int, bad: set[str]) -> None:
    receiver = Receiver(failing_on(*bad, status=status))
    [receipt] = settle(receiver, batch(*names(9)))
    assert {thing.id for thing in receipt.refused} == bad
    assert receiver.stored == set(names(9)) - bad


@pytest.mark.parametrize("status", [403, 500])
def test_the_first_event_of_all_is_found_to_be_blocked_though_it_has_to_be_sent_alone(status: int) -> None:
    receiver = Receiver(lambda ids: httpx.Response(413 if len(ids) > 1 else status if ids == ["e0"] else 200))
    [receipt] = settle(receiver, batch(*names(9)))
    assert [thing.id for thing in receipt.refused] == ["e0"]
    assert receiver.stored == set(names(9)) - {"e0"}


@pytest.mark.parametrize("status", [403, 500])
def test_a_sink_that_failed_on_one_event_only_does_not_count_as_failing(status: int) -> None:
    health, way = Health(), channel(Receiver(failing_on("e8", status=status)))
    Settling(batch(*names(9)), way.post, health, PATIENT, Waiting(Interrupt()), way.address).receipt()
    assert (health.failing_since, health.tries, health.reason) == (None, 0, "")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_token_that_is_revoked_or_a_wrong_url_costs_a_few_requests(status: int) -> None:
    answers = itertools.chain([httpx.Response(200)], itertools.repeat(httpx.Response(status)))
    receiver = Receiver(lambda _: next(answers))
    with pytest.raises(SinkHalted, match=f"HTTP {status}"):
        settle(receiver, batch("good"), batch(*names(1000)))
    assert len(receiver.requests) <= 5


@pytest.mark.parametrize("status", [403, 500])
def test_a_sink_that_fails_in_the_middle_of_a_search_is_not_asked_about_every_event(status: int) -> None:
    canary = itertools.chain([200] * 2, itertools.repeat(status))
    receiver = Receiver(lambda ids: httpx.Response(next(canary) if ids == ["good"] else status))
    with pytest.raises((SinkHalted, SinkUnavailable)):
        settle(receiver, batch("good"), batch(*names(1000)), policy=waiting_at_most(0.05))
    assert len(receiver.requests) < 200


@pytest.mark.parametrize("how", [httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError, httpx.ReadTimeout])
def test_an_event_that_makes_a_healthy_sink_hang_up_or_time_out_is_quarantined(how: type[httpx.HTTPError]) -> None:
    def rule(ids: list[str]) -> httpx.Response:
        if "e3" in ids:
            raise how("gone")
        return httpx.Response(200)

    first, second = settle(Receiver(rule), batch("good"), batch(*names(9)))
    assert first.refused == []
    assert [thing.id for thing in second.refused] == ["e3"]


def test_a_request_that_always_times_out_is_split() -> None:
    def rule(ids: list[str]) -> httpx.Response:
        if len(ids) > 2:
            raise httpx.ReadTimeout("no answer")
        return httpx.Response(200)

    receiver = Receiver(rule)
    [receipt] = settle(receiver, batch(*names(9)))
    assert (receipt.refused, receiver.stored) == ([], set(names(9)))


@pytest.mark.parametrize("how", [httpx.ReadTimeout("no answer"), 403, 502])
def test_a_sink_that_fails_on_large_requests_is_soon_sent_smaller_ones(how: httpx.ReadTimeout | int) -> None:
    def rule(ids: list[str]) -> httpx.Response:
        if len(ids) <= 20:
            return httpx.Response(200)
        if isinstance(how, int):
            return httpx.Response(how)
        raise how

    receiver = Receiver(rule)
    receipts = settle(receiver, *(batch(*names(80)) for _ in range(6)))
    assert [receipt.refused for receipt in receipts] == [[]] * 6
    assert [len(ids) for ids in receiver.requests][-16:] == [20] * 16


def test_a_sink_that_fails_now_and_then_is_not_sent_ever_smaller_requests() -> None:
    chance, health, share = random.Random(1), Health(), 0.4
    receiver = Receiver(lambda _: httpx.Response(403 if chance.random() < share else 200))
    way, policy = channel(receiver), replace(PATIENT, uniform=chance.uniform)

    def send() -> None:
        Settling(batch(*names(64)), way.post, health, policy, Waiting(Interrupt()), way.address).receipt()

    for _ in range(100):
        with suppress(SinkHalted):
            send()
    share = 0.0
    send()
    assert receiver.requests[-1] == names(64)


def test_poison_at_both_ends_of_the_first_batch_does_not_look_like_an_outage() -> None:
    receiver = Receiver(failing_on("e0", "e8", status=500))
    [receipt] = settle(receiver, batch(*names(9)))
    assert {thing.id for thing in receipt.refused} == {"e0", "e8"}
    assert receiver.stored == set(names(9)) - {"e0", "e8"}


def test_events_that_a_filter_blocks_at_both_ends_of_the_first_batch_do_not_stop_every_pass() -> None:
    receiver, chance = Receiver(failing_on("e0", "e8", status=403)), random.Random(1)
    for _ in range(9):
        with suppress(SinkHalted):
            settle(receiver, batch(*names(9)), policy=replace(PATIENT, uniform=chance.uniform))
    assert receiver.stored == set(names(9)) - {"e0", "e8"}


def test_an_event_on_which_a_healthy_sink_fails_slowly_is_quarantined_too() -> None:
    passed = 0.0

    def rule(ids: list[str]) -> httpx.Response:
        nonlocal passed
        passed += 20.0 if "e3" in ids else 0.1
        return httpx.Response(504 if "e3" in ids else 200)

    policy = Policy(patient(60.0), window=1, clock=lambda: time.monotonic() + passed)
    first, second = settle(Receiver(rule), batch("good"), batch(*names(9)), policy=policy)
    assert first.refused == []
    assert [thing.id for thing in second.refused] == ["e3"]


def test_a_sink_that_fails_on_batches_and_refuses_single_events_is_given_up_in_time() -> None:
    receiver = Receiver(lambda ids: httpx.Response(500 if len(ids) > 1 else 400))
    with pytest.raises(SinkUnavailable):
        settle(receiver, batch(*names(9)), policy=waiting_at_most(0.2))


@pytest.mark.parametrize("status", [400, 413])
def test_the_first_answer_after_an_outage_counts(status: int) -> None:
    down = itertools.chain(itertools.repeat(True, QUICK.poison_tries + 2), itertools.repeat(False))
    afterwards = failing_on("e3", status=status)
    receiver = Receiver(lambda ids: httpx.Response(500) if next(down) else afterwards(ids))
    [receipt] = settle(receiver, batch(*names(9)))
    assert [thing.id for thing in receipt.refused] == ["e3"]
    assert receiver.stored == set(names(9)) - {"e3"}


def test_a_flapping_sink_is_not_blamed_on_an_event() -> None:
    posts: dict[str, int] = {}

    def flapping(ids: list[str]) -> httpx.Response:
        """Well for the canary but down for every try of `e` except the last but one: bad luck, not poison."""
        posts[ids[0]] = posts.get(ids[0], 0) + 1
        is_down = "e" in ids and posts["e"] != 2 * QUICK.poison_tries + 3
        return httpx.Response(500 if is_down else 200)

    receipts = settle(Receiver(flapping), batch("good"), batch("e"))
    assert [receipt.refused for receipt in receipts] == [[], []]


def test_a_sink_that_flaps_between_accepting_and_halting_is_not_blamed_on_an_event() -> None:
    posts: dict[str, int] = {}

    def flapping(ids: list[str]) -> httpx.Response:
        """One of two servers behind a balancer knows no token, and eight times in a row `e` comes to that one."""
        posts[ids[0]] = posts.get(ids[0], 0) + 1
        return httpx.Response(403 if "e" in ids and posts["e"] < 9 else 200)

    receipts = settle(Receiver(flapping), batch("good"), batch("e"))
    assert [receipt.refused for receipt in receipts] == [[], []]


def test_a_balancer_that_takes_turns_with_a_server_that_refuses_is_not_blamed_on_an_event() -> None:
    servers = itertools.cycle([200, 403])
    receiver = Receiver(lambda _: httpx.Response(next(servers)))
    with pytest.raises(SinkHalted, match="HTTP 403"):
        settle(receiver, batch("good"), batch("e"))
    [receipt] = settle(receiver, batch("e"))
    assert receipt.refused == []


def test_an_outage_is_never_blamed_on_an_event() -> None:
    down = itertools.chain([False], itertools.repeat(True, 60), itertools.repeat(False))
    receiver = Receiver(lambda _: httpx.Response(500 if next(down) else 200))
    receipts = settle(receiver, batch("good"), batch(*names(9)))
    assert [receipt.refused for receipt in receipts] == [[], []]


@pytest.mark.parametrize("status", [403, 500])
def test_a_sink_that_says_requests_come_too_fast_is_not_searched_in_vain(status: int) -> None:
    count = itertools.count(1)
    blocking = failing_on("e3", "e60", status=status)
    receiver = Receiver(lambda ids: httpx.Response(429) if next(count) % 3 == 0 else blocking(ids))
    [receipt] = settle(receiver, batch(*names(64)))
    assert {thing.id for thing in receipt.refused} == {"e3", "e60"}
    assert receiver.stored == set(names(64)) - {"e3", "e60"}


@pytest.mark.parametrize(("share", "most"), [(100, 20), (20, 13), (5, 9)])
def test_a_firewall_that_blocks_many_events_costs_few_requests_for_each(share: int, most: int) -> None:
    bad = names(2000)[::share]
    receiver = Receiver(failing_on(*bad, status=403))
    receipts = settle(receiver, batch(*names(1000)), batch(*names(2000)[1000:]))
    assert {thing.id for receipt in receipts for thing in receipt.refused} == set(bad)
    assert receiver.stored == set(names(2000)) - set(bad)
    assert len(receiver.requests) <= most * len(bad)
