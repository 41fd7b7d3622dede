"""Compresses request bodies and unpacks answers, by the name of the Content-Encoding.

Invariant: equal bytes in, equal bytes out; and no answer takes more memory than its limit, however much it expands.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from isal import igzip

from collector.errors import ConfigurationError
from collector.settings.options import SinkSettings

LEVEL = 1
GZIP = b"\x1f\x8b"
MOST_MEMBERS = 1_000  # of one answer


def _gzip(body: bytes) -> bytes:
    """With isal: 1.3 CPU s/GB, where zlib takes 7.5 at level 1. No time in the header: a repeat must be identical."""
    return bytes(igzip.compress(body, LEVEL, mtime=0))


def _zstd(body: bytes) -> bytes:
    import zstandard  # here: it is half a megabyte, only for those who use it

    return zstandard.ZstdCompressor(level=LEVEL).compress(body)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {"gzip": _gzip, "zstd": _zstd}


def gzip_only(receiver: str) -> Callable[[object, SinkSettings], None]:
    """A sink's check of its settings, for a receiver that takes any other compression for broken events."""

    def check(_: object, settings: SinkSettings) -> None:
        if settings.compression == "zstd":
            raise ConfigurationError(f'sink.compression: {receiver} does not accept zstd. Use "gzip" or "none".')

    return check


ENDINGS = {"gzip": ".gz", "zstd": ".zst"}  # the suffixes of files that are compressed this way


def unpacked(answer: bytes, encoding: str, most: int) -> bytes | None:
    """Decompresses an answer to at most `most` bytes; None if that is not possible.

    We ask for uncompressed answers, but not everything respects Accept-Encoding.
    """
    try:
        match encoding.strip().lower():
            case "" | "identity":
                return answer[:most]
            case "gzip" | "x-gzip" | "deflate":
                return _inflated(answer, most)
            case "zstd":
                import zstandard

                try:
                    unpacker = zstandard.ZstdDecompressor(max_window_size=8_000_000)
                    return unpacker.stream_reader(answer, read_across_frames=True).read(most)
                except zstandard.ZstdError:
                    return None
    except zlib.error:
        return None
    return None


def _inflated(answer: bytes, most: int) -> bytes:
    """All members of an answer: what compresses it piece by piece makes one of each piece."""
    said = b""
    for _ in range(MOST_MEMBERS):
        member = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS)  # 32: either header
        said += member.decompress(answer, most - len(said))
        answer = member.unused_data
        if len(said) >= most or not answer.startswith(GZIP):
            break
    return said
