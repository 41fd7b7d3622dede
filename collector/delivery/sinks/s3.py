"""The s3 sink: one object per batch, for Amazon S3 and compatible stores.

In: events. Out: a PUT of NDJSON whose key is made from its content, and from its answer a verdict. `If-None-Match: *`
makes a repeat harmless: 412 means that the object exists already, and an object of that name has that content. Events
that travel in a different batch after a crash end up in two objects: readers tell by their ids, as with every sink.
Requests are signed (aws_signature.py), and answers say nothing about single events.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from importlib.util import find_spec
from urllib.parse import quote

from pydantic import Field

from collector.delivery.aws_signature import NO_LIBRARY, AwsSignature
from collector.delivery.event_fields import fields_of, text_of
from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Request,
    Retry,
    Signer,
    SinkLimits,
    SinkType,
    TooLarge,
    Verdict,
)
from collector.delivery.statuses import CHECK_URL, is_success, not_from, retry_after, verdict_of
from collector.errors import ConfigurationError
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings
from collector.settings.section import Section

EXISTS, CONFLICT, NOT_IMPLEMENTED = 412, 409, 501
LARGEST_OBJECT = 5_000_000_000  # bytes, with a single PUT
_CODE, _MESSAGE = re.compile(rb"<Code>([\w.]{1,60})</Code>"), re.compile(rb"<Message>([^<]*)</Message>")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
CHECK_KEYS = (
    "Check the keys (docs/sinks.md says where they are looked up), and that they grant s3:PutObject for this prefix."
)
CHECK_CONDITIONAL = "This store does not support If-None-Match: set sink.s3.conditional = false."
ADVICE = {
    "NoSuchBucket": CHECK_URL,
    "PermanentRedirect": "Check sink.url and sink.s3.region: the bucket is in another region.",
    "AuthorizationHeaderMalformed": "Check sink.s3.region: the bucket is in another region.",
    "RequestTimeTooSkewed": "Correct this machine's clock: requests signed minutes off are rejected.",
    "NotImplemented": CHECK_CONDITIONAL,
}
LATER = frozenset(
    {"SlowDown", "RequestTimeout", "ExpiredToken", "InternalError", "ServiceUnavailable", "OperationAborted"}
)


class S3Options(Section):
    """How objects are named, and which keys write them."""

    prefix: str = Field(
        default="claude-code/", pattern=r"^([A-Za-z0-9._=-]+/)*$", description="prefix of keys; must end in /"
    )
    region: str = Field(default="", examples=["eu-central-1"], description="default: the one in the AWS configuration")
    profile: str | None = Field(
        default=None, examples=["collector"], description="the profile that holds the keys, in the AWS files"
    )
    conditional: bool = Field(default=True, description="send If-None-Match, so that no object is written twice")


class S3Sink:
    """One object per batch."""

    limits = SinkLimits(body=LARGEST_OBJECT)

    def __init__(self, options: S3Options | None = None, clock: Callable[[], float] = time.time) -> None:
        self._options = options or S3Options()
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """The partition is the day of the first event, so that a repeat has the same key whenever it is sent."""
        del key
        body = b"\n".join(event.body for event in events) + b"\n"
        found = _DATE.match(text_of(fields_of(events[0]), "time"))
        day = found[0] if found else "unknown"
        name = f"{self._options.prefix}dt={day}/{blake2b(body, digest_size=16).hexdigest()}.ndjson"
        headers = {"Content-Type": "application/x-ndjson"}
        if self._options.conditional:
            headers["If-None-Match"] = "*"
        return Request(body, headers, "/" + quote(name), method="PUT", names_encoding=True)

    def classify(self, answer: Answer) -> Verdict:
        """Judges by the status, and by the code in the body if there is one."""
        found = _CODE.search(answer.body[:4000])
        code = found[1].decode() if found else ""
        if answer.status == EXISTS and code == "PreconditionFailed":
            return Accepted()
        if is_success(answer):
            return Accepted() if answer.headers.get("etag") else not_from("an object store", answer)
        reason = f"HTTP {answer.status} {code}".rstrip()
        if message := _MESSAGE.search(answer.body[:4000]):
            reason += f": {message[1].decode('utf-8', 'replace')}"
        if code == "EntityTooLarge":
            return TooLarge(reason)
        if answer.status == CONFLICT or code in LATER:
            return Retry(reason, retry_after(answer.headers, self._clock()))
        if code in ADVICE or answer.status in (400, 403, NOT_IMPLEMENTED):
            usual = CHECK_CONDITIONAL if answer.status == NOT_IMPLEMENTED else CHECK_KEYS
            return Halt(reason, ADVICE.get(code, usual), may_be_poison=not code)
        verdict = verdict_of(answer, self._clock())
        return replace(verdict, reason=reason) if code else verdict


def signer(options: S3Options) -> Signer:
    """Signs with the keys that every AWS tool finds."""
    return AwsSignature("s3", options.region, options.profile)


def check(_: S3Options, __: SinkSettings) -> None:
    """Makes sure that botocore is installed, without importing it: that takes longer than most commands."""
    if find_spec("botocore") is None:
        raise ConfigurationError(NO_LIBRARY)


SINK = SinkType(
    name="s3",
    summary="objects for Amazon S3 and compatible stores",
    options=S3Options,
    make=S3Sink,
    within=lambda options: options.prefix,
    signer=signer,
    check=check,
)
