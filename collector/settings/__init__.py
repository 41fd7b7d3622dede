"""What can be configured (options, sinks, model), and where it comes from (layers, loading, variables).

environment.py reads everything else that the environment says.
"""

from __future__ import annotations

from collector.settings.environment import (
    as_in_a_service,
    cache_directory,
    home,
    moved_places,
    notify_socket,
    read_secret,
    state_key,
    user_config,
    variable,
    watchdog_seconds,
)
from collector.settings.fingerprint import fingerprint
from collector.settings.git_identity import git_identity
from collector.settings.identity import account, machine_id
from collector.settings.layers import Origins
from collector.settings.loading import A_FLAG, load, load_for_service, no_file, users_file
from collector.settings.model import Settings, masked, state_file, token_of, token_path, token_places, with_sinks
from collector.settings.proxies import proxy_of
from collector.settings.variables import set_here

__all__ = [
    "A_FLAG",
    "Origins",
    "Settings",
    "account",
    "as_in_a_service",
    "cache_directory",
    "fingerprint",
    "git_identity",
    "home",
    "load",
    "load_for_service",
    "machine_id",
    "masked",
    "moved_places",
    "no_file",
    "notify_socket",
    "proxy_of",
    "read_secret",
    "set_here",
    "state_file",
    "state_key",
    "token_of",
    "token_path",
    "token_places",
    "user_config",
    "users_file",
    "variable",
    "watchdog_seconds",
    "with_sinks",
]
