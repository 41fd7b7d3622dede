"""`doctor` checks a sink step by step, the way an event goes, up to the first failure, and says what to do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector import settings
from collector.delivery.sinks.registry import SINKS
from collector.inspection.check import Check
from collector.inspection.sink_checks import sink_checks
from collector.keeping.pause import pause
from tests.delivery.otlp_receiver import spans_of
from tests.redactors import CACHE
from tests.sink import Answer, Request, Sink
from tests.tls import Authority

DATE = {"Content-Type": "application/json"}


@pytest.fixture(autouse=True)
def _compiled_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(CACHE))


def checked(folder: Path, url: str, *, has_canary: bool = True, **options: Any) -> dict[str, Check]:
    """The checks of one sink by name. Polling an engine takes no time."""
    given = {"state": {"path": str(folder / "agent" / "state.json")}, "sink": {"url": url, **options}}
    chosen = settings.load(None, given, sinks=SINKS)
    found = list(sink_checks(chosen, has_canary=has_canary, pause=lambda _: None))
    assert len({check.name for check in found}) == len(found)
    assert all(check.advice for check in found if check.level != "ok")
    return {check.name: check for check in found}


def said(checks: dict[str, Check]) -> dict[str, str]:
    return {name: check.level for name, check in checks.items()}


def test_every_step_is_ok_for_a_sink_that_accepts_everything(tmp_path: Path, sink: Sink) -> None:
    assert said(checked(tmp_path, sink.url.replace("127.0.0.1", "localhost"))) == {
        **dict.fromkeys(("dns", "connection", "sink", "clock", "token", "old events"), "ok")
    }
    assert [event["attributes"].get("age_days", 0) for event in sink.events] == [0, 40]


def test_without_the_canary_nothing_is_sent(tmp_path: Path, sink: Sink) -> None:
    checks = checked(tmp_path, sink.url, has_canary=False)
    assert said(checks) == {"connection": "ok", "sink": "ok"}
    assert sink.requests == []
    assert "--no-canary" in checks["sink"].finding


def test_during_a_pause_no_connection_is_made(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    given = {"state": {"path": str(tmp_path / "agent" / "state.json")}, "sink": {"url": "http://127.0.0.1:9/"}}
    pause(settings.load(None, given, sinks=SINKS).state_path, time.time(), None)
    checks = checked(
        tmp_path, "http://127.0.0.1:9/"
    )  # nobody listens there, so a connection would be reported as failed
    assert said(checks) == {"sink": "warn"}
    assert "nothing may leave" in checks["sink"].finding


@pytest.mark.parametrize(
    ("url", "step", "advice"),
    [
        ("https://nowhere.invalid/events", "dns", "DNS"),
        ("http://127.0.0.1:1/events", "connection", "firewall"),
    ],
)
def test_the_first_step_that_fails_is_named(tmp_path: Path, url: str, step: str, advice: str) -> None:
    checks = checked(tmp_path, url)
    assert said(checks) == {step: "fail", "sink": "fail"}
    assert advice in checks[step].advice


def test_https_to_a_plain_http_port_is_not_blamed_on_certificates(tmp_path: Path, sink: Sink) -> None:
    checks = checked(tmp_path, sink.url.replace("http:", "https:"))
    assert said(checks) == {"tls": "fail", "sink": "fail"}
    assert {"That port does not speak TLS" in check.advice for check in checks.values()} == {True}


@pytest.mark.parametrize(
    ("name", "days", "is_trusted", "level", "finding", "advice"),
    [
        ("127.0.0.1", 90, True, "ok", "issued by collector tests, valid for 89 days more", ""),
        ("127.0.0.1", 2, True, "warn", "valid for 1 day more", "Renew"),
        ("127.0.0.1", -1, True, "fail", "expired", "Renew"),
        ("elsewhere.example", 90, True, "fail", "not valid for", "Use a name in sink.url"),
        ("127.0.0.1", 90, False, "fail", "was rejected", "sink.ca_file"),
    ],
)
def test_a_certificate_is_judged_by_issuer_name_and_expiry(
    tmp_path: Path, authority: Authority, name: str, days: int, is_trusted: bool, level: str, finding: str, advice: str
) -> None:
    trusted: dict[str, Any] = {"ca_file": str(authority.certificate)} if is_trusted else {}
    with Sink(tls=authority.server(name, days)) as sink:
        checks = checked(tmp_path, sink.url, **trusted)
    assert (checks["tls"].level, checks["sink"].level) == (level, "fail" if level == "fail" else "ok")
    assert finding in checks["tls"].finding
    assert advice in checks["tls"].advice
    assert (sink.posts == []) == (level == "fail")


def test_a_token_is_ok_once_the_sink_accepted_it(tmp_path: Path, sink: Sink) -> None:
    (token := tmp_path / "token").write_text("not-a-token")
    assert checked(tmp_path, sink.url, token_file=str(token))["token"].finding == "accepted"
    sink.then = Answer(401)
    checks = checked(tmp_path, sink.url, token_file=str(token))
    assert checks["sink"].level == "fail"
    assert "sink.token_file" in checks["sink"].advice
    assert not {"token", "old events"} & checks.keys()


@pytest.mark.parametrize(("status", "level"), [(200, "ok"), (404, "fail"), (500, "fail")])
def test_a_receiver_that_takes_logs_but_no_traces_fails_the_check(
    tmp_path: Path, sink: Sink, status: int, level: str
) -> None:
    sink.then = lambda request: Answer(status if "/v1/traces" in request.path else 200)
    sink_check = checked(tmp_path, sink.url, type="otlp", otlp={"traces": True})["sink"]
    assert (sink_check.level, "sink.otlp.traces = false" in sink_check.advice) == (level, level == "fail")
    assert [span.name for span in spans_of(sink.posts[0])] == ["canary"]


def test_a_receiver_that_says_yes_and_rejects_the_span_gets_a_warning(tmp_path: Path, sink: Sink) -> None:
    partial = Answer(200, DATE, b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "unknown tenant"}}')
    sink.then = lambda request: partial if "/v1/traces" in request.path else Answer()
    sink_check = checked(tmp_path, sink.url, type="otlp", otlp={"traces": True})["sink"]
    assert sink_check.level == "warn"
    assert "accepted an event, but remarked: it rejected 1 span. unknown tenant" in sink_check.finding


def refusing_what_is_old(request: Request) -> Answer:
    old = [event for event in request.events if "age_days" in event["attributes"]]
    rejected = [{"id": event["id"], "reason": "too old"} for event in old]
    return Answer(200, DATE, json.dumps({"rejected": rejected}).encode())


def test_an_engine_that_refuses_history_is_a_warning(tmp_path: Path, sink: Sink) -> None:
    sink.then = refusing_what_is_old
    old = checked(tmp_path, sink.url)["old events"]
    assert (old.level, "too old" in old.finding) == ("warn", True)


def test_refused_history_is_advised_to_use_event_time_days_if_the_sink_has_it(tmp_path: Path, sink: Sink) -> None:
    options: dict[str, Any] = {"type": "loki", "loki": {"event_time_days": 60}}
    calls = iter([Answer(204), Answer(403), Answer(400, body=b"entry too far behind")])
    sink.then = lambda _: next(calls)
    checks = checked(tmp_path, sink.url, **options)
    assert checks["old events"].level == "warn"
    assert "sink.loki.event_time_days" in checks["old events"].advice
    assert "can only write" in checks["read back"].finding


class Engine:
    """An engine that acknowledges every event, and finds the ids that `kept` accepts."""

    def __init__(self, kept: Callable[[str], bool], answer: Callable[[list[str]], bytes]) -> None:
        self.kept, self.answer, self.ids = kept, answer, list[str]()

    def __call__(self, request: Request) -> Answer:
        body = request.body.decode()
        if "_search" in request.path or body.startswith("SELECT") or "query_range" in request.path:
            return Answer(200, DATE, self.answer([each for each in self.ids if self.kept(each)]))
        self.ids.append(json.loads(body.splitlines()[-1])["id"] if "_bulk" in request.path else "")
        return Answer(200, DATE, b'{"errors":false}' if "_bulk" in request.path else b"")


def test_acknowledged_events_are_read_back_from_the_engine(tmp_path: Path, sink: Sink) -> None:
    sink.then = engine = Engine(lambda _: True, lambda ids: json.dumps(ids).encode())
    checks = checked(tmp_path, sink.url, type="elasticsearch")
    assert said(checks)["read back"] == said(checks)["old read back"] == "ok"
    engine.kept = lambda name: name == engine.ids[2]  # from now on, old events are acknowledged but dropped
    checks = checked(tmp_path, sink.url, type="elasticsearch")
    assert (said(checks)["read back"], said(checks)["old events"], said(checks)["old read back"]) == (
        "ok",
        "ok",
        "warn",
    )


@pytest.mark.parametrize(
    ("kind", "needle"),
    [("clickhouse", "SELECT id FROM default.event_rows"), ("loki", "event_id"), ("elasticsearch", "ids")],
)
def test_each_engine_is_queried_in_its_own_language(tmp_path: Path, sink: Sink, kind: str, needle: str) -> None:
    sink.then = Engine(lambda _: False, lambda _: b"{}")
    checks = checked(tmp_path, sink.url, type=kind)
    assert said(checks)["read back"] == "warn"
    asked = [request for request in sink.requests if needle in request.body.decode() + request.path]
    assert len(asked) >= 6
