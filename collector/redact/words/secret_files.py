"""Which files hold one secret and nothing else, by their path: `config/master.key`, `~/.vault_pass`."""

from __future__ import annotations

import re
from functools import lru_cache

NAMES = (
    r"(?:vault-token|pgpass|token|secret|passwd|password|passphrase|passwort|credentials?|api[-_]?key|\.pw"
    r"|(?<![a-z])(?:pass|pw|pwd)(?=\.(?:txt|key|enc))|vault_pass|master(?=\.key)|config/credentials/[a-z]{2,20}(?=\.key)|initialAdminPassword)"
)
_holds_one = re.compile(
    rf"\S{{0,100}}/(?:run/secrets|\.?secrets)/\S{{1,80}}|\S{{0,100}}{NAMES}(?:\.(?:txt|key|secret|enc|dat))?"
)


@lru_cache(maxsize=1_000)
def holds_a_secret(path: str) -> bool:
    """Whether a file holds nothing but a secret."""
    return len(path) <= 250 and _holds_one.fullmatch(path) is not None
