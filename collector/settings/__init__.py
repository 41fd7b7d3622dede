"""What can be configured (options, sinks) and where it comes from (layers). Only here is the environment read."""

from __future__ import annotations

from collector.settings.layers import (
    Settings,
    cache_directory,
    config_file,
    credential,
    home,
    load,
    masked,
    notify_socket,
    read_secret,
    state_key,
    user_config,
    variable,
    watchdog_seconds,
    with_sinks,
)

__all__ = [
    "Settings",
    "cache_directory",
    "config_file",
    "credential",
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
