"""Pseudonyms: names that reveal nothing, but are the same for the same thing wherever the key is the same.

In: what a thing is called, and a key. Out: `project-1f2e3d4c5b6a`. Without the key, nobody can reverse one or check a
guess; with one key for a fleet (`redaction.key_file`), totals across all its machines group by the same pseudonyms.

Two more things are keyed in the same way: the id of an event that is derived from its content, once part of that is
removed, and hashes of messages that the agent itself keeps. Otherwise, somebody who has the rest of the content could
try short passwords, or prompts, until one matches.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from typing import Any

from collector.flow.anchor import has_uuid

PSEUDONYM = re.compile(r"[a-z_]{2,12}-[0-9a-f]{12}")


def pseudonym(kind: str, name: str, key: bytes) -> str:
    """The pseudonym of a name of this kind."""
    # The hash covers the kind, and a word that no redaction marker begins with, so that a branch that has the same name
    # as a project, or equals a secret, shares no hash with it.
    told = "\0".join(("name", kind, name)).encode("utf-8", "surrogatepass")
    return f"{kind}-{hmac.new(key, told, 'sha256').hexdigest()[:12]}"


def keeps_its_id(event: Mapping[str, Any], *, was_redacted: bool) -> bool:
    """Whether an event keeps its id whatever is removed from it now: the id comes from its uuid, or something was
    removed before."""
    return was_redacted or has_uuid(event) or "left_out" in event


def keyed_id(event_id: str, key: bytes) -> str:
    """The replacement id of an event that does not keep its own."""
    return _keyed("id", event_id, key)


def keyed_hash(found: str, key: bytes) -> str:
    """The replacement for a hash that the agent made of some text. Equal hashes give equal replacements."""
    return _keyed("hash", found, key)


def _keyed(kind: str, told: str, key: bytes) -> str:
    return hmac.new(key, f"{kind}\0{told}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:32]
