"""The meaning of HTTP statuses, unless a sink knows better."""

from __future__ import annotations

import time

import pytest

from collector.delivery.sink import Answer, Halt, Refused, Retry, TooLarge
from collector.delivery.statuses import is_success, retry_after, verdict_of

NOW = 1000.0


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ((408, 423, 424, 425, 429, 100, 102, 500, 502, 503, 504, 599, 999), Retry),
        ((413,), TooLarge),
        ((400, 409, 412, 414, 418, 422), Refused),
        ((300, 301, 302, 303, 304, 307, 308, 401, 402, 403, 404, 405, 406, 407, 410, 411, 415, 421, 431, 451), Halt),
    ],
)
def test_every_status_other_than_2xx_has_a_verdict(statuses: tuple[int, ...], verdict: type) -> None:
    found = {status: type(verdict_of(Answer(status, {}, b""), NOW)) for status in statuses}
    assert found == dict.fromkeys(statuses, verdict)
    assert not any(is_success(Answer(status, {}, b"")) for status in statuses)


def test_failures_an_event_may_have_caused_are_told_apart_from_busy_answers() -> None:
    suspected = [status for status in (423, 429, 500, 502, 503, 504) if is_suspected(status)]
    assert suspected == [423, 500, 502, 504]


def is_suspected(status: int) -> bool:
    verdict = verdict_of(Answer(status, {}, b""), NOW)
    return isinstance(verdict, Retry) and verdict.may_be_poison


def test_a_redirect_is_named_without_its_query() -> None:
    verdict = verdict_of(Answer(307, {"location": "https://a.example/in?key=not-a-key"}, b""), NOW)
    assert isinstance(verdict, Halt)
    assert "https://a.example/in is right" in verdict.advice
    assert "not-a-key" not in verdict.advice


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("application/json", b'{"message": "over its quota"}\n', ': {"message": "over its quota"}'),
        ("text/plain", b"no org id", ": no org id"),
        ("text/html; charset=utf-8", b"<html>\n<TITLE >\nBlocked</title><p>Go away", ": Blocked"),
        ("", b"<!doctype html><title>400 No required SSL certificate was sent</title>", ": 400 No required SSL cert"),
        ("text/html", b"<h1>Go away</h1>", ""),
        ("text/plain", b"", ""),
    ],
)
def test_what_a_sink_says_is_part_of_the_reason(status: int, kind: str, body: bytes, words: str) -> None:
    verdict = verdict_of(Answer(status, {"content-type": kind}, body), NOW)
    assert verdict.reason.startswith(f"HTTP {status}{words}")
    assert "Go away" not in verdict.reason


def test_a_page_of_unfinished_titles_is_read_in_no_time() -> None:
    started = time.process_time()
    verdict = verdict_of(Answer(503, {"content-type": "text/html"}, b"<title" * 50_000), NOW)
    assert verdict.reason == "HTTP 503"
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("", None),
        ("9" * 400, float("9" * 12)),
        ("Thu, 99 Foo 1970 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_nonsense_is_ignored(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, NOW) == seconds
