"""Checks the way to a sink, step by step as an event takes it: name, connection, certificate, token, acknowledgement.

In: the settings of one sink. Out: a check for each step, up to the first that fails. Unless declined, two synthetic
events of kind `canary` are sent, dated now and 40 days ago: only an acknowledgement proves that the sink accepts
events, and only an old event proves that a first scan, with months of history, will arrive. Invariant: while sending is
paused, no connection is made at all.
"""

from __future__ import annotations

import email.utils
import os
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from collector import settings as configuration
from collector.assembly import capture_of, frame_of, installation_of
from collector.delivery.channel import Channel, Posted
from collector.delivery.event_fields import ClockOptions
from collector.delivery.failures import CHECK_PROXY, about_certificate, advice_on_tls
from collector.delivery.names import addresses_of, is_number
from collector.delivery.probe import Place, connect, place_of
from collector.delivery.sink import Accepted, Answer, Halt, Refused, SinkType, TooLarge, Verdict
from collector.delivery.sinks.registry import SINKS
from collector.delivery.waiting import Waiting
from collector.delivery.window import Deliverer
from collector.flow.capture import captured_sender
from collector.flow.interrupt import Interrupt
from collector.flow.outcome import Sealed
from collector.inspection.check import Check, may, nearest
from collector.keeping.pause import standstill
from collector.log import counted, in_words
from collector.redact import seal
from collector.service.heartbeat import canary
from collector.settings import Settings
from collector.settings.options import is_loopback
from collector.way_out import make_redactor, open_channel, policy_of

CLOCK_SKEW_SECONDS = 300
DAY = 86_400
OLD_DAYS = 40  # longer than transcripts live (30 days), and than engines keep events by default
SOON_DAYS = 14
LOOKS = 6  # a second apart: engines that must index an event before they find it need one or two
MAY_NOT_READ = (401, 403, 404, 405)
Pause = Callable[[float], None]


class Sent(NamedTuple):
    """A canary, and the sink's answer to it."""

    event: Sealed
    posted: Posted
    took: float


def sink_checks(settings: Settings, *, has_canary: bool = True, pause: Pause = time.sleep) -> Iterator[Check]:
    """Every check of one sink, in the order in which things go wrong."""
    chosen = SINKS[settings.sink_type]
    if chosen.place is not None:  # a canary would create the store, or change it
        yield _events_kept_at(chosen.place(settings), chosen.address(settings))
        return
    url, address = str(settings.sink.url), chosen.address(settings)
    if settings.sink.allow_http and not settings.sink.is_encrypted:
        yield Check("sink", "warn", "events travel in the clear (sink.allow_http)", "Use https:// if you can.")
    proxy = None if is_loopback(url) else configuration.proxy_of(url)
    if proxy:
        yield Check("proxy", "ok", f"{proxy}; it resolves the sink's name and connects to it")
    if reason := standstill(settings):
        yield Check(
            "sink",
            "warn",
            f"not contacted, because nothing may leave: {reason}",
            "Run `collector doctor` again afterwards.",
        )
        return
    if not proxy:
        way = list(the_way(settings))
        yield from way
        if failed := next((check for check in way if check.level == "fail"), None):
            yield Check("sink", "fail", f"{address}: {failed.finding}", failed.advice)
            return
    if has_canary:
        yield from _canaries(settings, chosen, address, pause)
    else:
        yield Check("sink", "ok", f"{address}: not tested; no event was sent (--no-canary)")


def the_way(settings: Settings) -> Iterator[Check]:
    """Checks name, connection and certificate, up to the first that fails."""
    place = place_of(str(settings.sink.url))
    if not is_number(place.host):
        try:
            found = addresses_of(place.host, place.port, settings.sink.connect_timeout)
        except OSError as error:
            finding = f"{place.host} cannot be resolved ({error.strerror or error})"
            yield Check("dns", "fail", finding, "Check sink.url, and this machine's DNS or VPN.")
            return
        yield Check("dns", "ok", f"{place.host} is {', '.join(found[:4])}")
    yield from _connection(settings, place)


def _connection(settings: Settings, place: Place) -> Iterator[Check]:
    where, started = f"{place.host} port {place.port}", time.monotonic()
    try:
        certificate = connect(place, settings.sink)
    except ssl.SSLCertVerificationError as error:
        finding = f"the certificate was rejected ({error.verify_message.rstrip('.')})"
        yield Check("tls", "fail", finding, about_certificate(error.verify_message))
    except ssl.SSLError as error:
        reason = error.reason or str(error)
        yield Check("tls", "fail", f"TLS failed ({reason})", advice_on_tls(reason))
    except OSError as error:
        advice = "Check that it is up and reachable from here: sink.url, a firewall, a VPN."
        yield Check("connection", "fail", f"no connection to {where} ({error.strerror or error})", advice)
    else:
        yield Check("connection", "ok", f"{where}, {(time.monotonic() - started) * 1000:.0f} ms")
        if certificate is not None:
            issuer = f", issued by {certificate.issuer}" if certificate.issuer else ""
            yield _until(certificate.ends, f"{certificate.version}{issuer}", time.time())


def _until(ends: float | None, said: str, now: float) -> Check:
    if ends is None:
        return Check("tls", "ok", said)
    left = int((ends - now) // DAY)
    finding = f"{said}, valid for {counted(left, 'day')} more"
    if left < SOON_DAYS:
        return Check("tls", "warn", finding, "Renew the sink's certificate; once it expires, nothing can be sent.")
    return Check("tls", "ok", finding)


def _canaries(settings: Settings, chosen: SinkType[Any], address: str, pause: Pause) -> Iterator[Check]:
    known, now = installation_of(settings), time.time()
    redactor, frame = make_redactor(settings, known.key), frame_of(settings, known)
    capture = capture_of(settings, known)
    with open_channel(settings, redactor) as channel:
        deliverer = Deliverer(channel, policy_of(settings))

        def sent(age_days: int) -> Sent:
            made = captured_sender(canary(frame, now, age_days), capture)
            event, started = seal(made, redactor, settings.batch.max_event_bytes), time.monotonic()
            event = chosen.accompanied(settings.own_options(chosen), event)
            return Sent(event, deliverer.ask(event), time.monotonic() - started)

        fresh = sent(0)
        yield _verdict(address, fresh)
        if fresh.posted.answer is not None:
            yield from clock(fresh.posted.answer, time.time())
        if not _is_taken(fresh.posted.verdict):
            return
        yield Check(
            "token", "ok", "accepted" if channel.has_credentials else "none is set, and the sink did not ask for one"
        )
        yield from _read_back("read back", settings, chosen, channel, fresh, pause)
        old = sent(OLD_DAYS)
        yield _old(settings, chosen, old.posted.verdict)
        if _is_taken(old.posted.verdict):
            yield from _read_back("old read back", settings, chosen, channel, old, pause)


def _is_taken(verdict: Verdict) -> bool:
    return isinstance(verdict, Accepted) and not (verdict.rejected or verdict.later or verdict.unnamed)


def _why_not(verdict: Verdict) -> str:
    match verdict:
        case Accepted():
            return next(iter(verdict.rejected.values()), verdict.remark or "it gives no reason")
        case _:
            return verdict.reason


def _verdict(address: str, sent: Sent) -> Check:
    verdict = sent.posted.verdict
    match verdict:
        case Accepted() if _is_taken(verdict) and verdict.remark:
            finding = f"{address} accepted an event, but remarked: {verdict.remark}"
            return Check(
                "sink", "warn", finding, "Check whether it arrived; `collector reset` sends again what did not."
            )
        case Accepted() if _is_taken(verdict):
            return Check("sink", "ok", f"{address} accepted an event in {sent.took * 1000:.0f} ms")
        case Halt(reason=reason, advice=advice) | Refused(reason=reason, advice=advice) if advice:
            return Check("sink", "fail", f"{address}: {reason}", advice)
        case Accepted() | Refused() | TooLarge():
            finding = f"{address} answers, but rejected the canary: {_why_not(verdict)}"
            advice = "Check which events it accepts: its schema, its limits, this token's rights."
            return Check("sink", "warn" if isinstance(verdict, Accepted) else "fail", finding, advice)
        case _ if sent.posted.answer is not None:
            advice = "It can be reached. What it says, and its own log, tell what is wrong."
            return Check("sink", "fail", f"{address}: {verdict.reason}", advice)
        case _:
            advice = CHECK_PROXY if "the proxy" in verdict.reason else "Check that it is up and reachable from here."
            return Check("sink", "fail", f"{address}: {verdict.reason}", advice)


def clock(answer: Answer, now: float) -> Iterator[Check]:
    """Compares the sink's clock with ours; if ours is wrong, events are filed under the wrong day."""
    told = answer.headers.get("date", "")
    try:
        skew = now - email.utils.parsedate_to_datetime(told).timestamp()
    except (ValueError, TypeError):
        return
    if abs(skew) > CLOCK_SKEW_SECONDS:
        finding = f"this machine's clock and the sink's differ by {abs(skew):.0f} seconds"
        yield Check("clock", "warn", finding, "Correct this machine's clock, for example with NTP.")
    else:
        yield Check("clock", "ok", f"within {counted(round(abs(skew) + 1), 'second')} of the sink's")


def _old(settings: Settings, chosen: SinkType[Any], verdict: Verdict) -> Check:
    """Whether history is accepted: engines drop events that are too old, each in its own way."""
    options = settings.own_options(chosen)
    what = f"an event from {OLD_DAYS} days ago"
    is_dated = isinstance(options, ClockOptions)
    if _is_taken(verdict):
        filed = ""
        if isinstance(options, ClockOptions) and options.event_time_days < OLD_DAYS:
            filed = f", filed under the time of arrival (event_time_days = {options.event_time_days:g})"
        return Check("old events", "ok", f"accepted {what}{filed}")
    key = f"sink.{chosen.name}.event_time_days"
    advice = (
        f"Set {key} to the days the engine accepts; older events are then filed under the time of arrival."
        if is_dated
        else "History this old would go into quarantine: make the receiver accept it, or start with --from-now."
    )
    return Check("old events", "warn", f"{what} was not accepted: {_why_not(verdict)}", advice)


def _read_back(
    name: str, settings: Settings, chosen: SinkType[Any], channel: Channel, sent: Sent, pause: Pause
) -> Iterator[Check]:
    """Whether the engine has the event that it acknowledged: some answer 2xx and keep nothing."""
    if chosen.lookup is None:
        return
    waiting, now = Waiting(Interrupt()), time.time()
    asked = chosen.lookup(settings.own_options(chosen), sent.event, now)
    status = 0
    for look in range(LOOKS):
        if look:
            pause(1.0)
        answer = channel.ask(asked, waiting)
        status = answer.status if isinstance(answer, Answer) else 0
        if isinstance(answer, Answer) and 200 <= status < 300 and sent.event.id.encode() in answer.body:
            yield Check(name, "ok", "the sink has the event it acknowledged")
            return
        if status in MAY_NOT_READ:
            yield Check(name, "ok", f"not possible (HTTP {status}): this token can only write, as it should")
            return
    if 200 <= status < 300:
        advice = "It acknowledges events, but they do not show up: check its log, its limits on age, and its table."
        yield Check(name, "warn", f"acknowledged, but not found after {LOOKS} seconds", advice)
    else:
        why = f"HTTP {status}" if status else "no answer"
        yield Check(name, "warn", f"not possible ({why})", f"Search the engine for event {sent.event.id} yourself.")


def _events_kept_at(path: Path, address: str) -> Check:
    closed = next((each for each in (nearest(path.parent), path) if each.exists() and not may(each, os.W_OK)), None)
    if closed is not None:
        advice = "Make it writable to this user, or name another place with store.database."
        return Check("sink", "fail", f"{address}: {closed} is not writable", advice)
    if not path.exists():
        return Check("sink", "ok", f"{address}; the first run creates it")
    from collector.store.database import open_to_read

    open_to_read(path).close()
    return Check("sink", "ok", f"{address}, {in_words(path.stat().st_size)}")
