"""The channel: turns events into requests to one sink, limits their rate, and lets no secret out through a verdict."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence

import httpx
import pytest

from collector.delivery.channel import MOST_HEARD, Channel, idempotency_key
from collector.delivery.credentials import Credentials, basic, bearer
from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Pending,
    Refused,
    Request,
    Retry,
    TooLarge,
    Verdict,
)
from collector.delivery.sinks.http import HttpOptions, HttpSink
from collector.delivery.sinks.registry import SINKS
from collector.delivery.statuses import is_success, verdict_of
from collector.delivery.transport import Transport
from collector.delivery.waiting import Waiting
from collector.errors import SinkHalted, Stopped
from collector.flow.interrupt import Interrupt
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings
from tests.delivery.sending import Receiver, channel, sealed, taking
from tests.delivery.test_waiting import Clock

HEADED = "not-in-a-header"
PLAIN = SinkSettings(compression="none", headers={"X-Key": HEADED})
SECRET = "not-for-the-log"
QUERIED = "not-a-short-one"


def transport(answer: Callable[[httpx.Request], httpx.Response], credentials: Credentials | None = None) -> Transport:
    return Transport(PLAIN, f"https://sink.invalid/in?key={QUERIED}&v=1", credentials, httpx.MockTransport(answer))


def test_only_a_repeat_has_the_same_idempotency_key() -> None:
    assert idempotency_key([sealed("a"), sealed("b")]) == idempotency_key([sealed("a"), sealed("b")])
    others = [[sealed("b"), sealed("a")], [sealed("a")], [sealed("a", 9), sealed("b")]]
    assert len({idempotency_key(events) for events in [*others, [sealed("a"), sealed("b")]]}) == 4


def test_uploads_stay_below_the_maximum_rate() -> None:
    clock = Clock()
    sent: list[tuple[float, int]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((clock.now, len(request.content)))
        return httpx.Response(200)

    channel = Channel(HttpSink(), transport(answer), max_rate=1000, clock=clock)
    waiting = Waiting(Interrupt(lambda: clock), clock)
    for number in range(4):
        channel.post([sealed(str(number), 2000)], waiting)
    for (before, size), (after, _) in itertools.pairwise(sent):
        assert after - before == pytest.approx(size / 1000)


def test_a_stop_ends_the_wait_for_the_rate_limit_and_nothing_is_sent() -> None:
    clock = Clock()
    interrupt = Interrupt(lambda: clock)
    channel = Channel(HttpSink(), transport(lambda _: pytest.fail("it was sent")), max_rate=1, clock=clock)
    interrupt.stop()
    with pytest.raises(Stopped):
        channel.post([sealed("a")], Waiting(interrupt, clock))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Accepted(later=frozenset("b")), Accepted(later=frozenset("b"))),
        (Accepted(later=frozenset("ab")), Retry("it accepts none of these events for now")),
        (Accepted(later=frozenset("bx")), Retry("it defers some events without naming them")),
        (Accepted({"a": "no", "x": "no"}), Accepted({"a": "no"}, unnamed=1)),
        (Accepted({"a": "no"}, later=frozenset("a")), Accepted({"a": "no"})),
    ],
)
def test_an_answer_counts_only_for_events_that_were_sent(said: Accepted, meant: Verdict) -> None:
    class Saying(HttpSink):
        def classify(self, answer: Answer) -> Verdict:
            return said

    posted = channel(lambda _: httpx.Response(200), Saying()).post([sealed("a"), sealed("b")], Waiting(Interrupt()))
    assert posted.verdict == meant


def echoes() -> list[Callable[[str], httpx.Response]]:
    """Servers that echo the secrets they were sent, in each place that ends up in a verdict."""
    return [
        lambda told: httpx.Response(307, headers={"Location": f"https://{told}.invalid/"}),
        lambda told: httpx.Response(200, json={"rejected": [{"id": "a", "reason": f"no schema for {told}"}]}),
    ]


@pytest.mark.parametrize("echo", echoes(), ids=["a redirect", "a reason"])
@pytest.mark.parametrize(
    "credentials",
    [bearer(SECRET), basic("ada", SECRET), Credentials("X-Api-Key", SECRET, (SECRET,))],
    ids=["bearer", "basic", "header"],
)
def test_no_verdict_repeats_a_secret(credentials: Credentials, echo: Callable[[str], httpx.Response]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return echo(f"{request.headers[credentials.header]} {SECRET} {request.url.params['key']} {HEADED} end")

    verdict = Channel(HttpSink(), transport(answer, credentials)).post([sealed("a")], Waiting(Interrupt())).verdict
    said = str(verdict)
    assert "end" in said
    for secret in (SECRET, QUERIED, HEADED, credentials.value.removeprefix("Basic ")):
        assert secret not in said


# Every place where a sink quotes its receiver. The secret is repeated so often that any cut must go through one.
OFTEN = f"{SECRET} " * 400
ERROR = f"Code: 27. DB::Exception: {OFTEN} (X)"
ITEM = {"create": {"_id": "a", "status": 400, "error": OFTEN}}
LONG = [
    ("http", 200, json.dumps({"rejected": [{"id": "a", "reason": OFTEN}]})),
    ("http", 307, ""),
    ("clickhouse", 400, ERROR),
    ("clickhouse", 500, ERROR),
    ("loki", 400, OFTEN),
    ("splunk_hec", 400, json.dumps({"code": 6, "text": OFTEN})),
    ("otlp", 400, OFTEN),
    ("otlp", 200, json.dumps({"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": OFTEN}})),
    ("elasticsearch", 200, json.dumps({"errors": True, "items": [ITEM]})),
]


@pytest.mark.parametrize(("name", "status", "body"), LONG, ids=[f"{name} {status}" for name, status, _ in LONG])
def test_secrets_are_masked_before_an_answer_is_cut_short(name: str, status: int, body: str) -> None:
    headers = {"Content-Type": "application/json", "Location": f"https://sink.invalid/{SECRET * 400}"}
    sink = SINKS[name].make(SINKS[name].options())
    way = transport(lambda _: httpx.Response(status, headers=headers, text=body), bearer(SECRET))
    said = str(Channel(sink, way).post([sealed("a")], Waiting(Interrupt())).verdict)
    assert "********" in said
    assert SECRET[:8] not in said
    assert len(said) < 1000


@pytest.mark.parametrize("written", [r"a\/b\u002bc=", r"a\u002Fb+c\u003d", r"a\\\/b+c="])
@pytest.mark.parametrize("status", [200, 400, 401, 503])
def test_a_secret_is_masked_however_json_writes_it(written: str, status: int) -> None:
    body = f'{{"rejected": [{{"id": "a", "reason": "{written}"}}], "authorization": "Bearer {written}"}}'
    way = transport(lambda _: httpx.Response(status, text=body), bearer("a/b+c="))
    said = str(Channel(HttpSink(), way).post([sealed("a")], Waiting(Interrupt())).verdict)
    assert "********" in said
    assert "a\\" not in said


def test_everything_quoted_from_a_sink_is_redacted() -> None:
    def cleaned(verdict_of: httpx.Response) -> Verdict:
        channel = Channel(HttpSink(), transport(lambda _: verdict_of), clean=lambda text: text.replace("Ada", "[X]"))
        return channel.post([sealed("a")], Waiting(Interrupt())).verdict

    assert cleaned(httpx.Response(302, headers={"Location": "https://Ada/"})) == Halt(
        "HTTP 302, a redirect", "Redirects are not followed. If https://[X]/ is right, use it as sink.url.", True
    )
    rejecting = httpx.Response(200, json={"rejected": [{"id": "a", "reason": "Ada wrote it"}]})
    assert cleaned(rejecting) == Accepted({"a": "[X] wrote it"})
    assert cleaned(httpx.Response(422, json={"error": "Ada?"})) == Refused('HTTP 422: {"error":"[X]?"}')
    assert cleaned(httpx.Response(400, html="<p>Ada</p>")) == Refused("HTTP 400")


def test_text_that_cannot_be_redacted_is_withheld_and_delivery_goes_on() -> None:
    heard: list[int] = []

    def clean(text: str) -> str:
        heard.append(len(text))
        if "bad" in text:
            raise TimeoutError
        return text.replace("long", "")

    def said(reason: str) -> str:
        answer = httpx.Response(200, json={"rejected": [{"id": "a", "reason": reason}]})
        verdict = Channel(HttpSink(), transport(lambda _: answer), clean=clean).post(
            [sealed("a")], Waiting(Interrupt())
        )
        assert isinstance(verdict.verdict, Accepted)
        return verdict.verdict.rejected["a"]

    assert said("bad") == "withheld, because it could not be redacted: TimeoutError"
    assert said("so " + "long" * 4_997 + " half-a-secret" + "x" * 400_000) == "so "
    assert max(heard) == MOST_HEARD


def test_a_request_over_the_sinks_limit_is_not_sent_at_all() -> None:
    channel = Channel(HttpSink(HttpOptions(max_body=1000)), transport(lambda _: pytest.fail("it was sent")))
    posted = channel.post([sealed("a", 2000)], Waiting(Interrupt()))
    assert posted == (TooLarge("the sink accepts at most 1000 bytes"), 0, None, False)


class Slow(HttpSink):
    """A sink whose receiver acknowledges only when asked again."""

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        return Request(key.encode(), {}, "/one", method="PUT", names_encoding=True)

    def classify(self, answer: Answer) -> Verdict | Pending:  # type: ignore[override]
        if answer.status == 202:
            return Pending(Request(b"", {}, "/done", method="GET"), "it has not said that it is done", patience=3.0)
        return Accepted() if is_success(answer) else verdict_of(answer, 0.0)


def asked_of_slow(*statuses: int) -> tuple[Verdict, list[str]]:
    """The verdict after these answers, and the requests that were made."""
    seen: list[str] = []
    said = iter(statuses)
    clock = Clock()

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(f"{request.method} {request.url.path} {request.headers.get('content-encoding', '')}".strip())
        return httpx.Response(next(said))

    way = Transport(SinkSettings(), "http://localhost/in", None, httpx.MockTransport(answer))
    posted = Channel(Slow(), way, clock=clock).post([sealed("a")], Waiting(Interrupt(lambda: clock), clock))
    return posted.verdict, seen


def test_a_pending_acknowledgement_is_polled_until_patience_runs_out() -> None:
    verdict, seen = asked_of_slow(202, 202, 200)
    assert verdict == Accepted()
    assert seen == ["PUT /in/one.gz gzip", "GET /in/done", "GET /in/done"]
    assert asked_of_slow(*[202] * 9)[0] == Retry("it has not said that it is done")


@pytest.mark.parametrize("status", [400, 413, 500, 503])
def test_a_failure_to_ask_for_an_acknowledgement_is_not_taken_for_a_no_to_the_events(status: int) -> None:
    verdict, seen = asked_of_slow(202, status, 200)
    assert verdict == Accepted()
    assert seen == ["PUT /in/one.gz gzip", "GET /in/done", "GET /in/done"]
    verdict, seen = asked_of_slow(202, *[status] * 9)
    assert verdict == Retry(f"HTTP {status}")
    assert len(seen) < 9
    blocked, _ = asked_of_slow(202, 403)
    assert isinstance(blocked, Halt)
    assert not blocked.may_be_poison, "or events that were received would be sent again to find the one to blame"


@pytest.mark.parametrize("url", ["http://localhost/in", "http://localhost/a folder", "http://localhost/für/+{x}"])
def test_the_signature_covers_the_request_exactly_as_sent(url: str) -> None:
    signed: list[tuple[str, str, bytes]] = []

    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        signed.append((method, url, body))
        return {"Authorization": f"signed {headers['Content-Encoding']}"}

    def answer(request: httpx.Request) -> httpx.Response:
        assert signed[-1] == (request.method, str(request.url), request.content)
        return httpx.Response(200 if request.headers["authorization"] == "signed gzip" else 403)

    way = Transport(SinkSettings(), url, None, httpx.MockTransport(answer), sign=sign)
    assert Channel(Slow(), way).post([sealed("a")], Waiting(Interrupt())).verdict == Accepted()
    assert len(signed) == 1


def test_without_keys_to_sign_with_nothing_is_sent_until_a_person_acts() -> None:
    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        raise SinkHalted("no keys were found")

    receiver = Receiver(taking)
    way = Transport(SinkSettings(), "http://localhost/in", None, httpx.MockTransport(receiver), sign=sign)
    verdict = Channel(HttpSink(), way).post([sealed("a")], Waiting(Interrupt())).verdict
    assert isinstance(verdict, Halt)
    assert (verdict.reason, receiver.requests) == ("no keys were found", [])
