"""What the environment provides besides settings: home, the platform's directories, systemd's variables, secret files.

In: environment variables and small files. Out: paths and values. Invariant: a secret that cannot be read becomes a
ConfigurationError that names the setting, never the secret.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import platformdirs

from collector.errors import ConfigurationError
from collector.files import read_plain

# Where an administrator configures the machine for everybody: collector.toml and conf.d/*.toml.
SYSTEM_DIRECTORY = Path("/etc/collector")
ENV_PREFIX = "COLLECTOR_"
PLACES = {
    "XDG_CONFIG_HOME": platformdirs.user_config_path,
    "XDG_STATE_HOME": platformdirs.user_state_path,
    "XDG_DATA_HOME": platformdirs.user_data_path,
    "XDG_CACHE_HOME": platformdirs.user_cache_path,
}


def home() -> str:
    """The home directory, which keys abbreviate as `~`. Raises if there is none, as for some users of containers."""
    found = os.path.expanduser("~")
    if not os.path.isabs(found) or os.environ.get("HOME") == "":
        given = "is not set, and the system knows no account for this user" if found == "~" else "is empty or relative"
        raise ConfigurationError(
            f"There is no home directory: HOME {given}. Set HOME to a directory that this user can write to."
        )
    return found


def state_key(source: str) -> str:
    """The key in the state for a source that a person named by its path."""
    if source.startswith("~"):
        return source
    path, base = os.path.abspath(source), home()
    return "~" + path.removeprefix(base) if path.startswith(base + "/") else path


def cache_directory() -> Path:
    """The directory for files that can be rebuilt at any time."""
    return platformdirs.user_cache_path("collector")


def user_config() -> Path:
    """The user's own configuration file."""
    home()  # raises an error that a person can act on; platformdirs would raise a RuntimeError
    return platformdirs.user_config_path("collector") / "collector.toml"


def notify_socket() -> str | None:
    """The socket on which systemd expects to hear from this process."""
    return os.environ.get("NOTIFY_SOCKET")


def watchdog_seconds() -> float | None:
    """Seconds within which systemd expects a sign of life from this process; None if it expects none."""
    value, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not value.isdigit() or (process and process != str(os.getpid())):
        return None
    return int(value) / 1_000_000


def credential_places(name: str) -> list[Path]:
    """The files in which systemd may give this service a credential; the first one that exists counts.

    systemd copies it once, at the start. The unit's ExecReload= puts a replacement into the runtime directory, which
    counts from then on.
    """
    places = [os.environ.get(variable) for variable in ("RUNTIME_DIRECTORY", "CREDENTIALS_DIRECTORY")]
    return [Path(place, name) for place in places if place]


def read_secret(path: Path, setting: str) -> str:
    """The secret in a file, which must be its only line."""
    try:
        text = read_plain(path).decode("utf-8-sig", "replace").strip()
    except OSError as error:
        raise ConfigurationError(
            f"{setting}: cannot read {path}: {error.strerror}. Name a file that this user can read."
        ) from None
    if not text or "\n" in text or not text.isprintable() or not text.isascii():
        raise ConfigurationError(f"{setting}: {path} must hold the secret itself, as one line of printable ASCII text.")
    return text


def state_directory() -> Path:
    """$STATE_DIRECTORY under systemd, otherwise the platform's directory for state."""
    given = os.environ.get("STATE_DIRECTORY", "").split(":")[0]
    return Path(given) if given else platformdirs.user_state_path("collector")


def moved_places() -> dict[str, str]:
    """The variables of this process that move files of ours; one that names the usual place is left out."""
    named = {name: value for name, value in os.environ.items() if name in PLACES}
    here = {name: PLACES[name]("collector") for name in named}
    with _environment({name: value for name, value in os.environ.items() if name not in PLACES}):
        return {name: value for name, value in named.items() if PLACES[name]("collector") != here[name]}


def as_in_a_service(given: Mapping[str, str]) -> contextlib.AbstractContextManager[None]:
    """While the block runs, this process has the variables that a service is given, and none that configure it here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ENV_PREFIX)}
    return _environment({**kept, **given})


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def variable(name: str) -> str:
    """An environment variable that is not one of our settings; empty if it is not set."""
    return os.environ.get(name, "")
