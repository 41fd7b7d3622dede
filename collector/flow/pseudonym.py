"""Pseudonyms: a name that says nothing, the same for the same thing wherever the key is the same.

In: what a thing is called, and a key. Out: `project-1f2e3d4c5b6a`. Who has no key can neither turn it back nor try out
names; with one key for a fleet (`redaction.key_file`), sums of all its machines group by the same pseudonyms.

So it is with the id of an event that comes from its content, once something of that stays here, and with hashes that
the agent itself keeps of messages: who has the rest could try out a short password, or a prompt, until one is right.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import Any

from collector.flow.anchor import has_uuid

PSEUDONYM = re.compile(r"[a-z_]{2,12}-[0-9a-f]{12}")


def pseudonym(kind: str, name: str, key: bytes) -> str:
    """What stands in the place of a name of this kind."""
    # The kind is part of what is hashed, and so is a word that no redaction marker begins with: a branch that is called
    # like a project, or like a secret, shares nothing with it.
    told = "\0".join(("name", kind, name)).encode("utf-8", "surrogatepass")
    return f"{kind}-{hmac.new(key, told, 'sha256').hexdigest()[:12]}"


def keeps_its_id(event: Mapping[str, Any], *, was_redacted: bool) -> bool:
    """Whether an event is called the same whatever is now taken out of it: its uuid names it, or something was taken
    out before."""
    return was_redacted or has_uuid(event) or "left_out" in event


def keyed_id(event_id: str, key: bytes) -> str:
    """The id of an event that does not keep its own."""
    return _keyed("id", event_id, key)


def keyed_hash(found: str, key: bytes) -> str:
    """What stands in the place of a hash that the agent made of words: equal where that is equal."""
    return _keyed("hash", found, key)


def _keyed(kind: str, told: str, key: bytes) -> str:
    return hmac.new(key, f"{kind}\0{told}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]
