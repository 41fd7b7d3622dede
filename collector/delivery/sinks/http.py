"""The http sink: our own contract (docs/receiver.md), and any receiver that takes NDJSON or a JSON array.

Any 2xx acknowledges; a JSON body {"accepted", "duplicate", "rejected": [{"id", "reason"}]} refines it. A body that is
something else changes nothing: receivers answer 2xx with empty bodies, HTML and prose.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Mapping, Sequence

import orjson

from collector.delivery.sink import Accepted, Answer, Halt, Refused, Request, Retry, TooLarge, Verdict
from collector.flow.outcome import Sealed

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
RETRY_STATUSES = frozenset({408, 425, 429})
CHECK_ACCESS = "Check the token (sink.token_file) and that it may write there."
CHECK_URL = "Check sink.url: the host answers, but takes no events at this path."
HALT_ADVICE = {
    401: CHECK_ACCESS,
    403: CHECK_ACCESS,
    404: CHECK_URL,
    405: CHECK_URL,
    406: "Check sink.format and sink.content_type: the sink does not take this content type.",
    407: "The proxy wants credentials: set them in the proxy's URL in the environment.",
    410: CHECK_URL,
    411: "Something between here and the sink wants a Content-Length; check the proxy.",
    415: "Check sink.format, sink.content_type and sink.compression: the sink does not take this content.",
    431: "Check sink.headers: the sink finds the request's headers too large.",
}


class HttpSink:
    """NDJSON or a JSON array over HTTP."""

    def __init__(
        self, layout: str = "ndjson", content_type: str | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self.is_array = layout == "json"
        usual = "application/json" if self.is_array else "application/x-ndjson"
        self.content_type = content_type or usual
        self._clock = clock

    def render(self, events: Sequence[Sealed]) -> Request:
        """One event a line, or one array."""
        bodies = [event.body for event in events]
        body = b"[" + b",".join(bodies) + b"]" if self.is_array else b"\n".join(bodies) + b"\n"
        return Request(body, {"Content-Type": self.content_type})

    def classify(self, answer: Answer) -> Verdict:
        """DESIGN section 9, by status; the body only refines a 2xx."""
        status = answer.status
        if 200 <= status < 300:
            return _read_receipt(answer)
        reason = f"HTTP {status}"
        if status in HALT_ADVICE:
            return Halt(reason, HALT_ADVICE[status])
        if 300 <= status < 400:
            target = answer.headers.get("location", "").partition("?")[0][:200]  # a query may repeat a token
            return Halt(
                f"{reason}, a redirect",
                f"Redirects are not followed. If {target or 'its target'} is right, use it as sink.url.",
            )
        if status == 413:
            return TooLarge(reason)
        if status in RETRY_STATUSES or status >= 500 or status < 200:
            may_be_poison = status >= 500 and status != 503
            return Retry(reason, retry_after(answer.headers, self._clock()), may_be_poison)
        return Refused(reason)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The Retry-After header in seconds, in either form; nonsense is None."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None


def _read_receipt(answer: Answer) -> Accepted | TooLarge:
    body = answer.body.removeprefix(BYTE_ORDER_MARK).lstrip()  # some servers begin every answer with an empty line
    try:
        receipt = orjson.loads(body) if body[:1] == b"{" else None
    except ValueError:
        if answer.is_cut and b'"rejected"' in body:
            return TooLarge("it rejects more than is read of its answer")  # the one to a smaller request is shorter
        return Accepted()
    if not isinstance(receipt, dict):
        return Accepted()
    rejected = receipt.get("rejected")
    named = {
        item["id"]: str(item.get("reason") or "no reason given")[:500]
        for item in (rejected if isinstance(rejected, list) else [])
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }
    duplicates = receipt.get("duplicate")
    return Accepted(named, duplicates if isinstance(duplicates, int) and duplicates > 0 else 0)
