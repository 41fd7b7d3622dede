"""Packs the bodies of events, each on its own, with a dictionary that knows what events look like.

In: the JSON of an event. Out: a blob, and back. The dictionary is kept in the database, so that a database can be read
without knowing which version of collector wrote it. A blob begins with the number of its dictionary. A body that is
stored as text (by version 1, or because packing gains nothing) is passed through.
"""

from __future__ import annotations

import sqlite3
from importlib import resources

import zstandard

DICTIONARY = "dictionary.zstd"
LEVEL = 1
SMALLEST = 64  # bytes; below that, packing gains nothing
LARGEST = 512 * 2**20  # bytes of an unpacked body


class Packer:
    """Packs with the newest dictionary of a database, and unpacks with any of them. For one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, largest: int = LARGEST) -> None:
        self._largest = largest
        found = connection.execute("SELECT number, content FROM dictionaries ORDER BY number").fetchall()
        dictionaries = {number: _dictionary(content) for number, content in found}
        self._unpackers = {
            number: zstandard.ZstdDecompressor(dict_data=dictionary) for number, dictionary in dictionaries.items()
        }
        self._newest = max(dictionaries, default=0)
        self._prefix = bytes([self._newest])
        self._packer = (
            zstandard.ZstdCompressor(
                level=LEVEL, dict_data=dictionaries[self._newest], write_checksum=False, write_dict_id=False
            )
            if dictionaries
            else None
        )

    def packed(self, body: bytes) -> bytes | str:
        """The body as it is stored."""
        if self._packer is None or len(body) < SMALLEST:
            return body.decode()
        return self._prefix + self._packer.compress(body)

    def unpacked(self, stored: bytes | str | None) -> str | None:
        """The body as it was sent."""
        if stored is None or isinstance(stored, str):
            return stored
        packed = stored[1:]
        # zstandard believes the size that the data itself states, whatever the limit.
        if zstandard.frame_content_size(packed) > self._largest:
            raise ValueError("the body is too large")
        return self._unpackers[stored[0]].decompress(packed, max_output_size=self._largest).decode()


def shipped_dictionary() -> bytes:
    """The package's dictionary, trained on events that the builders of the tests made (`tests.store.sample_set`)."""
    return (resources.files(__package__) / DICTIONARY).read_bytes()


def _dictionary(content: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_AUTO)
