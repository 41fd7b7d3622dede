"""What can be configured (options) and where it comes from (layers); the only room that reads the environment."""

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
]
