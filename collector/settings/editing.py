"""Reads and edits a list of [projects] in a configuration file, leaving everything else as the person wrote it.

In: the file, the list's name and values. Out: the list, or the file, written whole. Invariant: the comments, order and
spelling of the rest stay; a file that is not valid TOML is not touched. Imported only by the commands that edit.
"""

from __future__ import annotations

import contextlib
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from collector.errors import ConfigurationError
from collector.files import make_directory, read_plain, replacing

SECTION = "projects"


def list_in(path: Path, name: str) -> list[str]:
    """A list of [projects] as the file has it; empty if the file does not set it."""
    try:
        found = tomllib.loads(read_plain(path).decode("utf-8-sig")).get(SECTION, {})
    except FileNotFoundError:
        return []
    except ValueError:
        raise ConfigurationError(f"{path} is not valid TOML, so it was left unchanged. Fix it first.") from None
    value = found.get(name) if isinstance(found, dict) else None
    return [str(each) for each in value] if isinstance(value, list) else []


def put_list(path: Path, name: str, values: Sequence[str]) -> None:
    """Writes the list into the file, which is created if there is none. An empty list is removed."""
    target = Path(os.path.realpath(path))  # a link, for example into a dotfiles repository, stays a link
    try:
        text = read_plain(target).decode("utf-8-sig") if target.exists() else ""
        changed = _with_list(text, name, values)
        _write(target, changed)
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"A name that is not UTF-8 cannot be written to {path}, which was left unchanged. Write a glob there, in "
            f"{SECTION}.{name}, with ? for each such byte."
        ) from None
    except (TOMLKitError, UnicodeDecodeError):
        raise ConfigurationError(f"{path} is not valid TOML, so it was left unchanged. Fix it first.") from None
    except OSError as error:
        raise ConfigurationError(
            f"Cannot write {path}: {error.strerror}. Nothing was changed; make it writable to this user."
        ) from None


def _with_list(text: str, name: str, values: Sequence[str]) -> str:
    document = tomlkit.parse(text)
    table: Any = document.get(SECTION)
    if table is None:
        if text and not text.endswith("\n\n"):
            document.add(tomlkit.nl())
        table = tomlkit.table()
        document[SECTION] = table
    if values:
        made = tomlkit.array()
        made.extend(list(values))
        table[name] = made.multiline(len(values) > 2)
    elif name in table:
        del table[name]
    return document.as_string()


def _write(path: Path, text: str) -> None:
    make_directory(path.parent)
    with replacing(path) as file:
        with contextlib.suppress(FileNotFoundError):
            os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
        file.write(text.encode())
