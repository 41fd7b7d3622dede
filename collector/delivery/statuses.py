"""What an HTTP status means unless the sink knows better, and what the Retry-After header asks for.

In: an answer. Out: a verdict. A receiver may hide a permanent error in a 500, or store the good rows of a 400; its sink
reads such answers first, and comes here with the rest.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Mapping

from collector.delivery.sink import Answer, Halt, Refused, Retry, TooLarge

LOCKED, FAILED_BEFORE = 423, 424
RETRY_STATUSES = frozenset({408, LOCKED, FAILED_BEFORE, 425, 429})
CONFLICT = 409  # for ever, or just until the same request, which was thought lost, has been dealt with
CHECK_ACCESS = "Check the credentials (sink.token_file, sink.auth), and that they grant write access."
CHECK_URL = "Check sink.url: the host answers, but does not accept events at this path."
CHECK_CONTENT = "Check sink.type and its options: the sink does not accept this content type."
ABOUT_THE_SENDER = frozenset({401, 402, 407})  # never about what was sent
HALT_ADVICE: Mapping[int, str] = {
    401: CHECK_ACCESS,
    402: "Check your account with the sink: it asks for payment, or a quota is used up.",
    403: CHECK_ACCESS,
    404: CHECK_URL,
    405: CHECK_URL,
    406: CHECK_CONTENT,
    407: "The proxy asks for credentials: put them in the proxy's URL in the environment.",
    410: CHECK_URL,
    411: "Something between here and the sink requires a Content-Length; check the proxy.",
    415: CHECK_CONTENT,
    421: "Check the host in sink.url: the server that answers is not responsible for it.",
    431: "Check sink.headers: the request headers are too large for the sink.",
    451: "Blocked for legal reasons: ask whoever runs the sink, or the proxy in front of it.",
}
TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)


def is_success(answer: Answer) -> bool:
    """Whether it is a 2xx. Whether that acknowledges anything is for the sink to say."""
    return 200 <= answer.status < 300


def verdict_of(
    answer: Answer, now: float, halt_advice: Mapping[int, str] = HALT_ADVICE
) -> Retry | TooLarge | Refused | Halt:
    """What an answer other than 2xx means. `now` is the current time, to which Retry-After may refer."""
    status = answer.status
    reason = with_words(answer)
    if status in halt_advice:
        return Halt(reason, halt_advice[status], status not in ABOUT_THE_SENDER)
    if 300 <= status < 400:
        target = answer.headers.get("location", "").partition("?")[0]  # a query may repeat a token
        return Halt(
            f"HTTP {status}, a redirect",
            f"Redirects are not followed. If {target or 'its target'} is right, use it as sink.url.",
            may_be_poison=True,
        )
    if status == 413:
        return TooLarge(f"HTTP {status}")
    if status in RETRY_STATUSES or status >= 500 or status < 200:
        return Retry(reason, retry_after(answer.headers, now), may_be_poison(status))
    return Refused(reason, may_pass=status == CONFLICT)


def with_words(answer: Answer) -> str:
    """The status, and what the receiver says about it: its body, or the title of a page."""
    text = answer.body.decode("utf-8", "replace")
    words = "".join(letter if letter.isprintable() else " " for letter in text).strip()
    if answer.media_type == "text/html" or words[:1] == "<":
        title = TITLE.search(words)
        words = title[1].strip() if title else ""
    return f"HTTP {answer.status}" + (f": {words}" if words else "")


def not_from(receiver: str, answer: Answer) -> Retry:
    """A success that is not the receiver's own: it comes from something in between, or from another server."""
    return Retry(f"the answer does not come from {receiver}: {with_words(answer)}", may_be_poison=True)


def may_be_poison(status: int) -> bool:
    """Whether a failure may be caused by what was sent. A 503 is about the server; any other 5xx may be."""
    return (status >= 500 and status != 503) or status in (LOCKED, FAILED_BEFORE)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The Retry-After header in seconds, given as either form; None if it makes no sense."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:12])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
