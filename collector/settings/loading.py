"""Loads the settings: finds every layer, merges them, and explains each mistake by its key, its place and the reason.

In: the system's files, the user's file, COLLECTOR_* variables (nested with `__`), flags. Out: frozen Settings that know
where they come from, or a ConfigurationError. Invariant: unknown keys and unknown COLLECTOR_* names are errors; an
unreadable file is never ignored, because it may say what must not be collected.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from collector.errors import CollectorError, ConfigurationError, StateError
from collector.files import read_plain
from collector.settings.environment import SYSTEM_DIRECTORY, user_config
from collector.settings.layers import Layer, Origins, Rank, merge
from collector.settings.model import Settings, keys_of, section_of, state_in, with_sinks
from collector.settings.options import RootSetting, SinkSettings, refuse_clear_text
from collector.settings.section import Section
from collector.settings.sinks import DeclaredSink, Sinks, options_in
from collector.settings.variables import CONFIG_VARIABLE, layer_of_variables, meant

A_FLAG = "a command line flag"
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "text",
    "path": "text",
    "list": "a list in [brackets]",
    "dict": "a table",
    "model": "a table",
}


def load(
    given: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    sinks: Sinks,
    system: Path | None = None,
    sends: bool = True,
    is_for_system: bool = False,
) -> Settings:
    """All settings in force. Raises a ConfigurationError that names each wrong key, its place and what is wrong.

    A command that does not send needs no sink: perhaps only the flags of the running agent name one. With
    `is_for_system`, only the administrator's files are read, with the given one, about to be rolled out, as
    collector.toml.
    """
    model = with_sinks(sinks)
    variables = layer_of_variables(model)
    mine = _users_file(given)
    every = _system_files(system or SYSTEM_DIRECTORY, given if is_for_system else None)
    files, layers = _files_and_layers(model, every, None if is_for_system else mine)
    nearest = [variables, Layer(Rank.FLAG, flags or {}, lambda _: A_FLAG)]
    settings = _in_force(model, files, layers, nearest, str(users_file(given)))
    for number, each in enumerate(settings.each()) if sends else ():
        check_sink(each.sink, sinks[each.sink_type], f"sinks.{each.sink_name}" if each.sink_name else "sink")
        if each.sink_name in {other.sink_name for other in settings.each()[:number]}:
            raise ConfigurationError(f"sinks: two of them are named {each.sink_name}. Give each a name of its own.")
    return settings


def load_for_service(state: Path, given: Path | None, *, sinks: Sinks) -> Settings:
    """The settings of the system service that keeps this state, and beside it the embedded store. It sees neither the
    user's file, but perhaps one that it was given, nor the variables of this shell."""
    model = with_sinks(sinks)
    mine = given if given and _is_there(given) else None
    files, layers = _files_and_layers(model, _system_files(SYSTEM_DIRECTORY), mine)
    kept = {"state": {"path": str(state)}, "store": {"database": str(state.with_name("events.db"))}}
    unit = Layer(Rank.SYSTEM, kept, lambda _: "the unit of the service")
    return _in_force(model, files, [unit, *layers], [], str(given or ""))


def _files_and_layers(model: type[Settings], files: list[Path], mine: Path | None) -> tuple[list[Path], list[Layer]]:
    """The system's files and this user's, unless it is one of those, and the layers that they are, lowest first."""
    names = [".".join(keys) for keys in keys_of(model)]
    layers = [_layer(path, Rank.SYSTEM, names) for path in files]
    if mine is not None and not any(_is_same_file(mine, path) for path in files):
        files.append(mine)
        layers.append(_layer(mine, Rank.USER, names))
    return files, layers


def _in_force(
    model: type[Settings], files: list[Path], layers: Sequence[Layer], nearest: Sequence[Layer], users_file: str
) -> Settings:
    """The settings that these layers make: files first, with the file that holds a no, then what is nearest to the
    person."""
    merged = merge([*layers, *nearest])
    said_no = no_file(state_in(merged.values))
    # It is part of the state: unlike a mistake in the configuration, this may pass without anybody editing anything.
    if _is_there(said_no, StateError):
        files.append(said_no)
        merged = merge([*layers, _layer_of_a_no(said_no), *nearest])
    origins = merged.origins([str(path) for path in files], users_file)
    try:
        settings: Settings = model(**merged.values).with_origins(origins)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, [".".join(keys) for keys in keys_of(model)], origins)) from None
    _check(settings)
    _refuse_relative(settings, origins)
    return settings


# Files


def _system_files(directory: Path, instead: Path | None = None) -> list[Path]:
    """The administrator's files, in the order in which they count: collector.toml, or a file instead, then conf.d by
    name."""
    more = directory / "conf.d"
    try:
        # Hidden files may be half written: editors and configuration tools rename them once they are complete.
        names = sorted(name for name in os.listdir(more) if name.endswith(".toml") and name[0] != ".")
    except (FileNotFoundError, NotADirectoryError):
        _refuse_broken_links(more)
        names = []
    except OSError as error:
        raise ConfigurationError(f"Cannot list {more}: {error.strerror}. Make it readable to this user.") from None
    first = instead or directory / "collector.toml"
    return [path for path in (first, *(more / name for name in names)) if _is_there(path)]


def users_file(given: Path | None) -> Path:
    """The user's file, even if it does not exist yet: the one to edit."""
    return _users_file(given) or user_config()


def _users_file(given: Path | None) -> Path | None:
    """The user's file: the flag's, $COLLECTOR_CONFIG's, the usual one, or none."""
    named = given or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    if named is None:
        usual = user_config()
        return usual if _is_there(usual) else None
    if not _is_there(named):
        raise ConfigurationError(f"There is no configuration file {named}. `collector config init` writes one.")
    return named


def _is_there(path: Path, unreadable: type[CollectorError] = ConfigurationError) -> bool:
    """Whether there is a file. Raises if that cannot be determined, or if it is not a regular file: ignoring it is not
    an option, because it may say what must not be collected."""
    try:
        is_plain = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        _refuse_broken_links(path, unreadable)
        return False
    except OSError as error:
        raise unreadable(f"Cannot read {_closed(path)}: {error.strerror}. Make it readable to this user.") from None
    if not is_plain:
        raise ConfigurationError(f"{path} is not a regular file. Put one there, or remove it.")
    return True


def _closed(path: Path) -> Path:
    """The directory above that this user may not enter, or the path itself."""
    return next((each for each in reversed(path.parents) if each.is_dir() and not os.access(each, os.X_OK)), path)


def _refuse_broken_links(path: Path, broken: type[CollectorError] = ConfigurationError) -> None:
    """Raises if a file is missing because it or a parent is a broken link: it, too, might say what not to collect."""
    for each in (path, *path.parents):
        if each.is_symlink() and not os.path.exists(each):
            raise broken(f"{each} is a broken link. Restore its target, or remove it.")


def _is_same_file(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _layer(path: Path, rank: Rank, names: Sequence[str]) -> Layer:
    """The values of a file, and the keys that it locks."""
    tables = _read_toml(path)
    locked = tables.pop("locked", [])
    if not isinstance(locked, list) or not all(isinstance(name, str) for name in locked):
        raise ConfigurationError(f'locked (in {path}): must be a list of keys and sections, such as ["sink"].')
    for name in locked:
        if name not in names and not name.startswith("labels."):
            raise ConfigurationError(f"locked (in {path}): {name} is not a setting. {meant(name, names)}")
    return Layer(rank, tables, lambda _: str(path), locked)


def no_file(state_path: Path) -> Path:
    """Where `collector exclude` writes for an agent that does not read the user's file: one with a file of its own, or
    a system service, which sees only the root in a home; for every agent, while a file is invalid or read-only."""
    return state_path.with_name("excluded.toml")


def _layer_of_a_no(path: Path) -> Layer:
    tables = _read_toml(path, StateError)
    projects = tables.get("projects", {})
    if tables.keys() - {"projects"} or not isinstance(projects, dict) or projects.keys() - {"exclude"}:
        raise ConfigurationError(f"{path} may hold only projects.exclude. Remove the rest.")
    return Layer(Rank.USER, tables, lambda _: str(path))


def _read_toml(path: Path, unreadable: type[CollectorError] = ConfigurationError) -> dict[str, Any]:
    try:
        return tomllib.loads(read_plain(path).decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{path} is not valid TOML: {error}. Fix it there; put a value with a backslash in 'single quotes'."
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not valid TOML: it is not UTF-8 text.") from None
    except OSError as error:
        raise unreadable(f"Cannot read {path}: {error.strerror}. Make it readable to this user.") from None


# What is wrong


def _explain(error: ValidationError, names: Sequence[str], origins: Origins) -> str:
    """One line for each wrong key: its name, where it was set, why it is wrong, and what would be right."""
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"])
        place = origins.place(key) or A_FLAG
        if problem["type"] == "extra_forbidden":
            lines.append(f"{key} (in {place}) is not a setting. {meant(key, names)}")
        else:
            reason = _wrong_kind(problem["type"], problem["loc"]) or problem["msg"].removeprefix("Value error, ")
            lines.append(f"{key} (in {place}): {reason[0].lower()}{reason[1:].rstrip('.')}.")
    return "\n".join(lines)


def _wrong_kind(problem: str, loc: Sequence[str | int]) -> str:
    """What a value of the wrong kind must be, and what the option means, as when `2s` is not a number of seconds."""
    kind, _, what = problem.partition("_")
    if kind not in KINDS or what not in {"type", "parsing", "from_float", "attributes_type"}:
        return ""
    section: type[BaseModel] | None = Settings
    meaning: str | None = ""
    for name in loc:
        field = section.model_fields.get(str(name)) if section else None
        meaning, section = (field.description, section_of(field)) if field else ("", None)
    return f"must be {KINDS[kind]}" + (f": {meaning}" if meaning else "")


def _check(settings: Settings) -> None:
    """Checks that involve more than one key."""
    if settings.batch.max_event_bytes > settings.batch.max_bytes:
        raise ConfigurationError("batch.max_event_bytes must not be larger than batch.max_bytes.")


def _refuse_relative(settings: Settings, origins: Origins) -> None:
    """Raises on relative paths in files. A service and a person start in different directories: with a state in each,
    everything would be sent twice."""
    for key, path in _paths_in(settings):
        place = origins.place(key)
        if place in origins.files and not path.startswith(("/", "~")):
            raise ConfigurationError(
                f"{key} (in {place}): {path!r} would be a different file in each directory collector is started in. "
                "Write the path from / or ~/."
            )


def _paths_in(section: object, above: str = "") -> Iterator[tuple[str, str]]:
    """Every path in the settings, with its key."""
    if isinstance(section, Path):
        yield above, str(section)
    elif isinstance(section, RootSetting):
        yield f"{above}.path", section.path
    elif isinstance(section, BaseModel | list):
        for name, value in enumerate(section) if isinstance(section, list) else section:
            yield from _paths_in(value, f"{above}.{name}".lstrip("."))


def check_sink(section: SinkSettings, sink: DeclaredSink[Section], name: str) -> None:
    """Checks one sink's section: options that need each other, and options that it needs. Messages use `name`."""
    if section.client_key and not section.client_cert:
        raise ConfigurationError(f"{name}.client_key needs {name}.client_cert too.")
    for key in ("ca_file", "client_cert", "client_key"):
        path = getattr(section, key)
        if path is not None and os.path.isdir(path):
            raise ConfigurationError(
                f"{name}.{key}: {path} is a directory. Name one PEM file; it may hold several certificates."
            )
        if path is not None and not os.path.isfile(path):
            raise ConfigurationError(
                f"{name}.{key}: there is no file {path}, or this user cannot reach it. "
                "Correct the path, or make the file readable."
            )
    for kind, key in (("basic", "auth_user"), ("header", "auth_header")):
        value = getattr(section, key)
        if section.auth == kind and not value:
            raise ConfigurationError(f"{name}.auth is {kind}, but {name}.{key} is missing. Set it too.")
        if section.auth != kind and value:
            raise ConfigurationError(
                f"{name}.{key} is set, but {name}.auth is {section.auth}. It only applies to {kind}."
            )
    if sink.needs_url:
        if not section.url:
            raise ConfigurationError(
                f"{name}.type is {sink.name}, but {name}.url is missing. Set it, or leave out {name}.type to use the "
                "embedded store."
            )
        refuse_clear_text(section.url, is_allowed=section.allow_http)
    try:
        options_in(section, sink)
    except ValidationError as error:
        table = f"{name}.{sink.name}" if sink.has_own_table else name
        wrong = [(".".join(map(str, (table, *problem["loc"]))), problem["msg"]) for problem in error.errors()]
        lines = [f"{key}: {reason[0].lower()}{reason[1:]}; {name}.type is {sink.name}." for key, reason in wrong]
        raise ConfigurationError("\n".join(lines)) from None
