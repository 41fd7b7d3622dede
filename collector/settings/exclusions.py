"""What the configuration files exclude by now, even if something else in them is invalid.

In: settings in force, or a file. Out: globs. A file is read for its [projects] alone, so a mistake elsewhere in it does
not hide a no.
"""

from __future__ import annotations

import contextlib
import tomllib
from pathlib import Path

from collector.errors import ConfigurationError
from collector.files import read_plain
from collector.settings.loading import no_file
from collector.settings.model import Settings
from collector.settings.options import listed

SECTION = "projects"


def exclusions_now(settings: Settings) -> list[list[str]]:
    """The exclusions in each file, of those that these settings come from or `collector exclude` writes to."""
    if settings.origins.locked_by(f"{SECTION}.exclude"):
        return []
    files = [*settings.origins.files, settings.origins.users_file, str(no_file(settings.state_path))]
    found = []
    for path in dict.fromkeys(files):
        with contextlib.suppress(OSError, ConfigurationError):
            found.append(list_in(Path(path), "exclude"))
    return found


def list_in(path: Path, name: str) -> list[str]:
    """A list of [projects] as the file has it; empty if the file does not set it."""
    try:
        found = tomllib.loads(read_plain(path).decode("utf-8-sig")).get(SECTION, {})
    except FileNotFoundError:
        return []
    except ValueError:
        raise ConfigurationError(f"{path} is not valid TOML, so it was left unchanged. Fix it first.") from None
    value = listed(found.get(name, [])) if isinstance(found, dict) else []
    return [str(each) for each in value] if isinstance(value, list) else []
