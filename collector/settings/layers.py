"""All settings in force: where each comes from and, if it is wrong, an error with its key, its place and the reason.

In: flags, then COLLECTOR_* variables (nested with `__`), then the first TOML file found, then the defaults below. Out:
frozen Settings, or a ConfigurationError. Invariant: unknown keys and unknown COLLECTOR_* names are errors, and secrets
are read from files, never from the configuration itself.
"""

from __future__ import annotations

import difflib
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import platformdirs
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from collector.errors import ConfigurationError
from collector.settings.environment import credential, read_secret, state_directory, user_config
from collector.settings.options import (
    BatchSettings,
    CaptureSettings,
    HeartbeatSettings,
    LogSettings,
    ProjectSettings,
    QuarantineSettings,
    RedactionSettings,
    RetrySettings,
    RootSetting,
    RunSettings,
    Section,
    SinkSettings,
    StateSettings,
    StoreSettings,
    SweptSettings,
    listed_roots,
    refuse_clear_text,
)
from collector.settings.sinks import DeclaredSink, Sinks, options_in, sink_section

ENV_PREFIX = "COLLECTOR_"
CONFIG_VARIABLE = "COLLECTOR_CONFIG"
SYSTEM_CONFIG = Path("/etc/collector/collector.toml")
MASK = "********"
OptionsT = TypeVar("OptionsT", bound=Section)


class Settings(BaseSettings):
    """All settings, by section."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, case_sensitive=False
    )

    roots: Annotated[list[RootSetting], NoDecode, BeforeValidator(listed_roots)] = Field(
        default=[], description="what to read"
    )
    sink: SinkSettings = SinkSettings()
    batch: BatchSettings = BatchSettings()
    retry: RetrySettings = RetrySettings()
    run: RunSettings = RunSettings()
    capture: CaptureSettings = CaptureSettings()
    projects: ProjectSettings = ProjectSettings()
    redaction: RedactionSettings = RedactionSettings()
    quarantine: QuarantineSettings = QuarantineSettings()
    swept: SweptSettings = SweptSettings()
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    state: StateSettings = StateSettings()
    store: StoreSettings = StoreSettings()
    log: LogSettings = LogSettings()

    @property
    def sink_type(self) -> str:
        """http when there is a URL, else the embedded store."""
        return self.sink.type or ("http" if self.sink.url else "store")

    @property
    def state_path(self) -> Path:
        """The state file; everything else the agent keeps is beside it."""
        if self.state.path is not None:
            return self.state.path / "state.json" if os.path.isdir(self.state.path) else self.state.path
        return state_directory() / "state.json"

    @property
    def database_path(self) -> Path:
        """The embedded store's database."""
        if self.store.database is not None:
            return self.store.database
        if os.environ.get("STATE_DIRECTORY"):
            return state_directory() / "events.db"
        return platformdirs.user_data_path("collector") / "events.db"

    def own_options(self, sink: DeclaredSink[OptionsT]) -> OptionsT:
        """The options of one sink."""
        return options_in(self.sink, sink)

    def sink_token(self) -> str | None:
        """The secret that the sink asks for: from sink.token_file, or from systemd's credential `sink-token`."""
        path = self.sink.token_file or credential("sink-token")
        return read_secret(path, "sink.token_file") if path else None


def config_file(given: Path | None) -> Path | None:
    """The configuration file in force: the flag's, $COLLECTOR_CONFIG's, the user's, the system's, or none."""
    named = given or (Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None)
    if named is not None:
        if not _is_file(named):
            raise ConfigurationError(f"There is no configuration file {named}. `collector config init` writes one.")
        return named
    return next((path for path in (user_config(), SYSTEM_CONFIG) if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    """Raises if that cannot be found out. The file is not passed over: it may say what must not be collected."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {error.strerror}. Make it readable to this user.") from None


def load(given: Path | None = None, flags: Mapping[str, Any] | None = None, *, sinks: Sinks) -> Settings:
    """All settings in force. Raises a ConfigurationError that names each wrong key, its place and what is wrong."""
    path = config_file(given)
    tables = _read_toml(path) if path else {}
    model = with_sinks(sinks)
    known = {ENV_PREFIX + "__".join(keys).upper() for keys in _keys(model)} | {CONFIG_VARIABLE}
    # Checked here, because pydantic looks only for variables that it knows, and a misspelt one must not go unnoticed.
    unknown = [name for name in sorted(os.environ) if name.startswith(ENV_PREFIX) and name not in known]
    if unknown:
        raise ConfigurationError("\n".join(_unknown_variable(name, known) for name in unknown))

    class Layered(model):  # type: ignore[misc, valid-type]
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            del dotenv_settings, file_secret_settings
            # The first one wins: flags, then variables, then the file.
            return init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=tables)

    names = [".".join(keys) for keys in _keys(model)]
    try:
        settings: Settings = Layered(**dict(flags or {}))
    except ValidationError as error:
        raise ConfigurationError(_explain(error, names, path, tables)) from None
    except SettingsError as error:
        variables = " or ".join(sorted(set(os.environ) & set(_json_variables(model)))) or str(error)
        raise ConfigurationError(f"The environment variable {variables} must hold JSON, but does not.") from None
    _check(settings)
    _check_sink(settings, sinks[settings.sink_type])
    return settings


def with_sinks(sinks: Sinks) -> type[Settings]:
    """The model of all settings, including those of these sinks."""
    section = sink_section(sinks)
    model: type[Settings] = create_model("Settings", __base__=Settings, sink=(section, section()))
    return model


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{path} is not valid TOML: {error}. Correct it there; write a value with a backslash in 'single quotes'."
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path} is not valid TOML: it is not UTF-8 text.") from None
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {error.strerror}. Make it readable to this user.") from None


def _keys(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every settable key, sections included: ("sink",), ("sink", "url"), ..."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        if section := section_of(field):
            yield from _keys(section, (*above, name))


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that is a section, optional or not; None for any other field."""
    is_optional = get_origin(field.annotation) in (Union, UnionType)
    kinds = get_args(field.annotation) if is_optional else (field.annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _json_variables(model: type[BaseModel], above: str = ENV_PREFIX) -> Iterator[str]:
    """The variables that must hold JSON: sections, tables, and lists that are not split at commas."""
    for name, field in model.model_fields.items():
        variable = above + name.upper()
        if section := section_of(field):
            yield variable
            yield from _json_variables(section, f"{variable}__")
        elif get_origin(field.annotation) in (dict, list) and NoDecode not in field.metadata:
            yield variable


def _unknown_variable(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    advice = f"Did you mean {close[0]}?" if close else "`collector config show` lists what can be set."
    return f"The environment variable {name} is not a setting. {advice}"


def _explain(
    error: ValidationError,
    names: Sequence[str],
    path: Path | None = None,
    tables: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """One line for each wrong key: which it is, where it was set, why it is wrong, what would be right."""
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"])
        variable = _variable_of(problem["loc"])
        if variable:
            place = f"the environment variable {variable}"
        else:
            stands = problem["loc"][: -1 if problem["type"] == "missing" else None]  # what is missing is in no file
            place = str(path) if path and _holds(tables, stands) else "a command line flag"
        if problem["type"] == "extra_forbidden":
            close = difflib.get_close_matches(key, names, n=1)
            advice = f"Did you mean `{close[0]}`?" if close else "`collector config show` lists what can be set."
            lines.append(f"{key} (in {place}) is not a setting. {advice}")
        else:
            reason = problem["msg"].removeprefix("Value error, ")
            lines.append(f"{key} (in {place}): {reason[0].lower()}{reason[1:].rstrip('.')}.")
    return "\n".join(lines)


def _variable_of(keys: Sequence[int | str]) -> str:
    """The variable that sets this key, or a section above it as JSON; empty if there is none."""
    names = [ENV_PREFIX + "__".join(map(str, keys[:count])).upper() for count in range(len(keys), 0, -1)]
    return next((name for name in names if name in os.environ), "")


def _holds(tables: Any, keys: Sequence[int | str]) -> bool:
    for key in keys:
        try:
            tables = tables[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _check(settings: Settings) -> None:
    """Checks that involve more than one key."""
    sink = settings.sink
    if settings.batch.max_event_bytes > settings.batch.max_bytes:
        raise ConfigurationError("batch.max_event_bytes must not be larger than batch.max_bytes.")
    if sink.client_key and not sink.client_cert:
        raise ConfigurationError("sink.client_key needs sink.client_cert as well.")
    for name, path in (
        ("ca_file", sink.ca_file),
        ("client_cert", sink.client_cert),
        ("client_key", sink.client_key),
    ):
        if path is not None and not os.path.isfile(path):
            raise ConfigurationError(f"sink.{name}: there is no file {path}, or this user cannot reach it.")
    for kind, name, value in (("basic", "auth_user", sink.auth_user), ("header", "auth_header", sink.auth_header)):
        if sink.auth == kind and not value:
            raise ConfigurationError(f"sink.auth is {kind}, but sink.{name} is missing. Set it as well.")
        if sink.auth != kind and value:
            raise ConfigurationError(f"sink.{name} is set, but sink.auth is {sink.auth}. It is only for {kind}.")


def _check_sink(settings: Settings, sink: DeclaredSink[Section]) -> None:
    """Checks what the chosen sink needs: a URL that may carry events, and its options that have no default."""
    url = settings.sink.url
    if sink.needs_url:
        if not url:
            raise ConfigurationError(
                f"sink.type is {sink.name}, but sink.url is missing. Set it, or leave sink.type out to use the "
                "embedded store."
            )
        refuse_clear_text(url, is_allowed=settings.sink.allow_http)
    try:
        settings.own_options(sink)
    except ValidationError as error:
        table = f"sink.{sink.name}" if sink.has_own_table else "sink"
        wrong = [(".".join(map(str, (table, *problem["loc"]))), problem["msg"]) for problem in error.errors()]
        lines = [f"{key}: {reason[0].lower()}{reason[1:]}; sink.type is {sink.name}." for key, reason in wrong]
        raise ConfigurationError("\n".join(lines)) from None


def masked(settings: Settings) -> dict[str, Any]:
    """The settings in force as plain data, with everything that may be secret hidden."""
    shown = settings.model_dump(mode="json")
    sink = shown["sink"]
    sink["headers"] = dict.fromkeys(sink["headers"], MASK)
    if sink["url"] and "?" in sink["url"]:
        sink["url"] = f"{sink['url'].partition('?')[0]}?{MASK}"
    if sink["auth_user"]:  # many receivers take the key as the user, and any password
        sink["auth_user"] = MASK
    shown["state"]["path"] = str(settings.state_path)
    shown["store"]["database"] = str(settings.database_path)
    sink["type"] = settings.sink_type
    return shown
