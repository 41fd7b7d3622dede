"""Pseudonyms: a name that says nothing, the same for the same thing wherever the key is the same.

In: what a thing is called, and a key. Out: `project-1f2e3d4c5b6a`. Who has no key can neither turn it back nor try out
names; with one key for a fleet (`redaction.key_file`), sums of all its machines group by the same pseudonyms.
"""

from __future__ import annotations

import hmac
import re

PSEUDONYM = re.compile(r"[a-z_]{2,12}-[0-9a-f]{12}")


def pseudonym(kind: str, name: str, key: bytes) -> str:
    """What stands in the place of a name of this kind."""
    # The kind is part of what is hashed, and so is a word that no redaction marker begins with: a branch that is called
    # like a project, or like a secret, shares nothing with it.
    told = "\0".join(("name", kind, name)).encode("utf-8", "surrogatepass")
    return f"{kind}-{hmac.new(key, told, 'sha256').hexdigest()[:12]}"
