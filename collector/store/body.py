"""Turns the body of a request into rows and rejections.

In: bytes, and their form according to the headers. Out: a row or a rejection for each event; or a Refusal, the answer
to a body that cannot be taken at all. Invariant: everything is bounded before it is done: the bytes that are read, what
they unpack to, and how many events they hold.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import orjson
import zstandard
from isal import isal_zlib

from collector.store.limits import ReceiverLimits
from collector.store.rows import NOT_JSON, Rejected, Row, from_line, from_value

NDJSON = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"})
JSON = frozenset({"application/json"})
ENCODINGS = frozenset({"identity", "gzip", "x-gzip", "deflate", "zstd"})
GZIP_WINDOW, ZLIB_WINDOW, RAW_WINDOW = 31, 15, -15
ZSTD_WINDOW_BYTES = 1 << 23
CHUNK_BYTES = 1 << 16
PIECE_BYTES = 1 << 12
BROKEN: Any = (isal_zlib.error, zstandard.ZstdError, EOFError)


class Refusal(Exception):
    """The answer to a request that is refused as a whole."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, headers


class Form(NamedTuple):
    """The format and encoding of a body."""

    is_array: bool
    encoding: str


def form_of(headers: Mapping[str, str]) -> Form:
    """The form of a body according to its headers; raises Refusal for an unknown type or encoding."""
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in NDJSON | JSON:
        raise Refusal(
            415,
            f"Content-Type must be application/x-ndjson or application/json, not {content_type!r}.",
            accept="application/x-ndjson, application/json",
        )
    encoding = headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding not in ENCODINGS:
        raise Refusal(
            415,
            f"Content-Encoding must be gzip, zstd, deflate or identity, not {encoding!r}.",
            **{"accept-encoding": "gzip, zstd, deflate, identity"},
        )
    return Form(content_type in JSON, encoding)


def too_busy(seconds: float) -> Refusal:
    """The answer to a body that arrives while more comes in than can be stored."""
    reason = "Events are arriving faster than they can be stored; none of this batch was stored."
    return Refusal(503, reason, **{"retry-after": str(math.ceil(seconds))})


def too_large(limit: int) -> Refusal:
    """The answer to a body that is larger than the limit, packed or unpacked."""
    return Refusal(413, f"The body is larger than {limit} bytes. Send smaller batches.")


def events(body: bytes, form: Form, limits: ReceiverLimits) -> tuple[list[Row], list[Rejected]]:
    """The rows and the rejections in a body; raises Refusal if nothing in it can be read."""
    try:
        data = unpack(body, form.encoding, limits.body_bytes)
    except BROKEN as error:
        raise Refusal(400, f"The body is not valid {form.encoding}.") from error
    found = _from_array(data, limits) if form.is_array else _from_lines(data, limits)
    rows = [item for item in found if isinstance(item, Row)]
    rejected = [item for item in found if isinstance(item, Rejected)]
    return rows, rejected


def unpack(body: bytes, encoding: str, limit: int) -> bytes:
    """The body without its Content-Encoding; raises Refusal as soon as it becomes too large."""
    if encoding == "identity":
        return body
    unpacked = bytearray()
    chunks = _from_zstd(body) if encoding == "zstd" else _from_deflate(body, encoding)
    for chunk in chunks:
        unpacked += chunk
        if len(unpacked) > limit:
            raise too_large(limit)
    return bytes(unpacked)


def _from_zstd(body: bytes) -> Iterator[bytes]:
    unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
    with unpacker.stream_reader(io.BytesIO(body), read_across_frames=True) as reader:
        while chunk := reader.read(CHUNK_BYTES):
            yield chunk


def _from_deflate(body: bytes, encoding: str) -> Iterator[bytes]:
    """gzip, with one member or several, or deflate, which is zlib by the book and raw in the wild."""
    window = GZIP_WINDOW
    if encoding == "deflate":
        is_zlib = len(body) > 1 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
        window = ZLIB_WINDOW if is_zlib else RAW_WINDOW
    at = 0
    while at < len(body) or not at:
        unpacker = isal_zlib.decompressobj(window)
        while not unpacker.eof:
            # In small pieces: each member copies the rest for the next one, and there may be 800,000 empty members.
            piece = body[at : at + PIECE_BYTES]
            chunk = unpacker.decompress(piece, CHUNK_BYTES)
            at += len(piece) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
            if chunk:
                yield chunk
            elif not piece and not unpacker.eof:
                raise EOFError


def _from_lines(data: bytes, limits: ReceiverLimits) -> list[Row | Rejected]:
    if data.count(b"\n") > limits.events:
        raise _too_many(limits)
    lines = [line for line in data.split(b"\n") if line and not line.isspace()]
    if len(data) > limits.document_bytes and max(map(len, lines), default=0) > limits.document_bytes:
        raise Refusal(413, f"An event is larger than {limits.document_bytes} bytes. Shorten it.")
    found = [from_line(line) for line in lines]
    if found and not any(isinstance(item, Row) or item.reason != NOT_JSON for item in found):
        raise Refusal(400, "No line of the body is JSON. Send one event a line.")
    return found


def _from_array(data: bytes, limits: ReceiverLimits) -> list[Row | Rejected]:
    if len(data) > limits.document_bytes:
        raise too_large(limits.document_bytes)
    try:
        values = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Refusal(400, "The body is not valid JSON. Send an array of events.") from error
    if not isinstance(values, list):
        values = [values]
    if len(values) > limits.events:
        raise _too_many(limits)
    return [from_value(value) for value in values]


def _too_many(limits: ReceiverLimits) -> Refusal:
    return Refusal(413, f"The body holds more than {limits.events} events. Send smaller batches.")
