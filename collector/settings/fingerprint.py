"""A short name for the configuration in force, so that a fleet sees which machines run which.

In: the settings. Out: 16 hex digits, the same on all machines with the same configuration: the home directory counts as
`~`, and settings that name one machine do not count. Nothing can be read back from them.
"""

from __future__ import annotations

from hashlib import blake2b

from collector.settings.addresses import in_utf_8
from collector.settings.environment import home
from collector.settings.model import Settings

OF_ONE_MACHINE = {"host", "labels"}


def fingerprint(settings: Settings) -> str:
    """The short name of these settings."""
    told = settings.model_dump_json(exclude=OF_ONE_MACHINE).replace(in_utf_8(home()), "~")
    return blake2b(told.encode(), digest_size=8).hexdigest()
