"""What can be configured (options, sinks) and where that comes from (layers); environment.py reads everything else."""

from __future__ import annotations

from collector.settings.environment import (
    cache_directory,
    credential,
    home,
    notify_socket,
    read_secret,
    state_key,
    user_config,
    variable,
    watchdog_seconds,
)
from collector.settings.fingerprint import fingerprint
from collector.settings.layers import Settings, config_file, load, masked, with_sinks

__all__ = [
    "Settings",
    "cache_directory",
    "config_file",
    "credential",
    "fingerprint",
    "home",
    "load",
    "masked",
    "notify_socket",
    "read_secret",
    "state_key",
    "user_config",
    "variable",
    "watchdog_seconds",
    "with_sinks",
]
