"""A sink that counts the lines it is given, for the peers of `tests.bench.peers`: a drain that looks inside.

It speaks what they speak, judging by the first bytes of a connection: HTTP with NDJSON, OTLP or Elasticsearch's bulk
API, or plain lines in one zlib stream. It adds up the CRC of every line, so that order does not matter, and returns the
sums on `GET /counted`. Prints its port.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

READ_AT_ONCE = 1 << 18


class Counted(NamedTuple):
    """The count, size and checksum of some lines, in any order."""

    lines: int = 0
    size: int = 0
    crc: int = 0

    def more(self, lines: Iterable[bytes]) -> Counted:
        """These counts plus those of more lines; empty lines do not count."""
        count, size, crc = self
        for line in lines:
            if line:
                count += 1
                size += len(line)
                crc += zlib.crc32(line)
        return Counted(count, size, crc)


def counted_below(root: Path) -> Counted:
    """The lines below a root that are to be delivered."""
    counted = Counted()
    for path in root.rglob("*.jsonl"):
        counted = counted.more(path.read_bytes().split(b"\n"))
    return counted


class Counter:
    """Adds up what arrives on all connections."""

    def __init__(self) -> None:
        self.counted = Counted()
        self._lock = threading.Lock()

    def take(self, lines: Iterable[bytes]) -> None:
        """Counts these lines."""
        with self._lock:
            self.counted = self.counted.more(lines)


def in_otlp(body: bytes) -> Iterable[bytes]:
    """The lines in an OTLP request."""
    request = ExportLogsServiceRequest.FromString(body)
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                yield record.body.string_value.encode("utf-8", "surrogatepass")


def in_bulk(body: bytes) -> Iterable[bytes]:
    """The lines in a request of Elasticsearch's bulk API, where actions and documents alternate."""
    return (orjson.loads(document)["message"].encode() for document in body.split(b"\n")[1::2])


def answered(path: bytes, body: bytes, counter: Counter) -> bytes:
    """Counts the lines of a request; returns the body of the answer."""
    if path.startswith(b"/counted"):
        return orjson.dumps(counter.counted._asdict())
    if path.startswith(b"/v1/logs"):
        counter.take(in_otlp(body))
        return b""
    if path.startswith(b"/_bulk"):
        lines = list(in_bulk(body))
        counter.take(lines)
        return orjson.dumps({"errors": False, "items": [{"create": {"status": 201}}] * len(lines)})
    if path.startswith(b"/lines"):
        counter.take(body.split(b"\n"))
        return b""
    return orjson.dumps({"version": {"number": "7.17.0", "build_flavor": "default"}, "tagline": "You Know, for Search"})


def serve_http(connection: socket.socket, data: bytes, counter: Counter) -> None:
    """Serves request after request."""
    buffer = bytearray(data)

    def more() -> bool:
        taken = connection.recv(READ_AT_ONCE)
        buffer.extend(taken)
        return bool(taken)

    while True:
        while (end := buffer.find(b"\r\n\r\n")) < 0:
            if not more():
                return
        first, *rest = bytes(buffer[:end]).split(b"\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(b":") for line in rest)}
        del buffer[: end + 4]
        if headers.get(b"expect"):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(headers.get(b"content-length", b"0"))
        while len(buffer) < length:
            if not more():
                return
        body = bytes(buffer[:length])
        del buffer[:length]
        if headers.get(b"content-encoding") == b"gzip":
            body = zlib.decompress(body, wbits=31)
        answer = answered(first.split(b" ")[1], body, counter)
        kind = b"application/x-protobuf" if not answer else b"application/json"
        head = b"HTTP/1.1 200 OK\r\nX-Elastic-Product: Elasticsearch\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
        connection.sendall(head % (kind, len(answer)) + (b"" if first.startswith(b"HEAD") else answer))


def serve_stream(connection: socket.socket, data: bytes, counter: Counter) -> None:
    """Reads lines from one zlib stream until it ends."""
    unpacking, rest = zlib.decompressobj(), b""
    while data:
        *lines, rest = (rest + unpacking.decompress(data)).split(b"\n")
        counter.take(lines)
        data = connection.recv(READ_AT_ONCE)
    counter.take([rest])


def serve(connection: socket.socket, counter: Counter) -> None:
    """Serves one connection, whatever is spoken on it."""
    with connection:
        data = connection.recv(READ_AT_ONCE)
        if data[:1] == b"\x78":
            serve_stream(connection, data, counter)
        elif data:
            serve_http(connection, data, counter)


def main() -> None:
    """Listens until killed; given a root, prints the counts of its lines instead."""
    if len(sys.argv) > 1:
        print(json.dumps(counted_below(Path(sys.argv[1]))._asdict()))
        return
    counter = Counter()
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, counter), daemon=True).start()


if __name__ == "__main__":
    main()
