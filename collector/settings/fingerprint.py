"""A short name for the configuration in force, so that a fleet sees which machines run which.

In: the settings. Out: 16 hex digits, the same wherever the same is configured: paths below the home directory count as
`~`. Nothing can be read back from it.
"""

from __future__ import annotations

from hashlib import blake2b

from collector.settings.environment import home
from collector.settings.layers import Settings


def fingerprint(settings: Settings) -> str:
    """The name of these settings."""
    told = settings.model_dump_json().replace(home(), "~")
    return blake2b(told.encode(), digest_size=8).hexdigest()
