"""All settings in force, as one frozen model: the sections, and values that follow from several keys.

In: values that loading.py has merged. Out: Settings. Invariant: unknown keys are errors, and a secret is read from its
file, never from the configuration itself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, TypeVar, Union, get_args, get_origin

import platformdirs
from pydantic import BaseModel, BeforeValidator, Field, PrivateAttr, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import NoDecode

from collector.errors import ConfigurationError
from collector.settings.addresses import told
from collector.settings.environment import credential_places, read_secret, state_directory
from collector.settings.identity import machine_id
from collector.settings.layers import Origins
from collector.settings.options import (
    BatchSettings,
    CaptureSettings,
    DisclosureSettings,
    HeartbeatSettings,
    HostSettings,
    Labels,
    LogSettings,
    OneOfSeveral,
    ProjectSettings,
    QuarantineSettings,
    RedactionSettings,
    RetrySettings,
    RootSetting,
    RunSettings,
    SinkSettings,
    StateSettings,
    StoreSettings,
    SweptSettings,
    listed_roots,
)
from collector.settings.section import Section
from collector.settings.sinks import DeclaredSink, Sinks, named_section, options_in, sink_section

MASK = "********"
OptionsT = TypeVar("OptionsT", bound=Section)


class Settings(Section):
    """All settings, by section."""

    needs_url: ClassVar[Mapping[str, bool]] = {}  # as each type of sink declares; set by `with_sinks`

    enabled: bool = Field(default=True, description="false: nothing is read and nothing is sent")
    roots: Annotated[list[RootSetting], NoDecode, BeforeValidator(listed_roots)] = Field(
        default=[], description="directories to read, as paths or as tables with path, label and agent"
    )
    sink: SinkSettings = SinkSettings()
    sinks: list[OneOfSeveral] = Field(default=[], description=(OneOfSeveral.__doc__ or "").rstrip("."))
    batch: BatchSettings = BatchSettings()
    retry: RetrySettings = RetrySettings()
    run: RunSettings = RunSettings()
    capture: CaptureSettings = CaptureSettings()
    projects: ProjectSettings = ProjectSettings()
    disclosure: DisclosureSettings = DisclosureSettings()
    redaction: RedactionSettings = RedactionSettings()
    quarantine: QuarantineSettings = QuarantineSettings()
    swept: SweptSettings = SweptSettings()
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    state: StateSettings = StateSettings()
    store: StoreSettings = StoreSettings()
    log: LogSettings = LogSettings()
    host: HostSettings = HostSettings()
    labels: Labels = Field(
        default={},
        examples=[{"team": "platform"}],
        description="your own labels, such as a team or a site, added to every event and heartbeat",
    )

    _origins: Origins = PrivateAttr(default_factory=Origins)

    @property
    def origins(self) -> Origins:
        """Where each setting comes from."""
        return self._origins

    def with_origins(self, origins: Origins) -> Self:
        """These settings, knowing where they come from."""
        self._origins = origins
        return self

    @property
    def sink_type(self) -> str:
        """sink.type; if unset, http if there is a URL, otherwise the embedded store."""
        return self.sink.type or ("http" if self.sink.url else "store")

    @property
    def destination(self) -> str | None:
        """The URL to which events go; None if the sink is a file on this machine, whatever sink.url says."""
        return self.sink.url if self.needs_url.get(self.sink_type, True) else None

    @property
    def host_id(self) -> str | None:
        """The machine's id in events; None if neither the configuration nor the system has one."""
        return self.host.id or machine_id()

    @property
    def host_name(self) -> str:
        """The machine's name in events."""
        return self.host.name or socket.gethostname()

    @property
    def state_path(self) -> Path:
        """The state file, with everything else the agent keeps beside it. A named sink's file carries its name."""
        path = state_file(self.state.path)
        return path.with_name(f"{path.stem}.{self.sink_name}{path.suffix}") if self.sink_name else path

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

    @property
    def exclusions(self) -> Sequence[Sequence[str]]:
        """projects.exclude, layer by layer: an exception in one layer does not undo what another excludes."""
        lists = self.origins.lists.get("projects.exclude", [self.projects.exclude])
        return [*lists, *filter(None, [self.sink.exclude if isinstance(self.sink, OneOfSeveral) else []])]

    @property
    def narrower(self) -> Sequence[str]:
        """What this sink includes, of all that projects.include does."""
        return self.sink.include if isinstance(self.sink, OneOfSeveral) else ()

    @property
    def sink_name(self) -> str:
        """The sink's name; empty for the one in [sink]."""
        return self.sink.name if isinstance(self.sink, OneOfSeveral) else ""

    def each(self) -> list[Self]:
        """The settings for each sink: those in [[sinks]], and the one in [sink] if it is set or there is no other."""
        has_unnamed = not self.sinks or self.sink.url is not None or self.sink.type is not None
        return [*([self] if has_unnamed else []), *map(self._with, self.sinks)]

    def one(self, name: str | None) -> Self:
        """The settings for the sink with this name, or for the first one."""
        every = self.each()
        found = [each for each in every if name is None or each.sink_name == name]
        if not found:
            names = ", ".join(each.sink_name or "(the one in [sink])" for each in every)
            raise ConfigurationError(f"There is no sink named {name}. Configured: {names}.")
        return found[0]

    def named(self, name: str | None) -> list[Self]:
        """The settings for each sink, or for the one with this name."""
        return self.each() if name is None else [self.one(name)]

    def _with(self, sink: OneOfSeveral) -> Self:
        """These settings, as if this were the only sink; the files that the agent keeps for it carry its name."""
        level = "metadata" if sink.level == "metadata" else self.capture.level  # a sink can only ask for less
        return self.model_copy(
            update={
                "sink": sink,
                "sinks": [],
                "capture": self.capture.model_copy(update={"level": level}),
            }
        )

    def redaction_key(self, own: bytes) -> bytes:
        """The key for markers and pseudonyms: the fleet's if there is one, otherwise the installation's own."""
        path = self.redaction.key_file
        return own if path is None else read_secret(path, "redaction.key_file").encode()


def token_of(sink: SinkSettings) -> str | None:
    """The secret that a sink asks for, read now: from its token_file, or from systemd's credential `sink-token`, which
    carries the name of a named sink; None if there is none."""
    path = token_path(sink)
    return read_secret(path, "sink.token_file") if path else None


def token_path(sink: SinkSettings) -> Path | None:
    """The file with the secret that a sink asks for; None if there is none."""
    return sink.token_file or next((path for path in token_places(sink) if path.is_file()), None)


def token_places(sink: SinkSettings) -> list[Path]:
    """Every file that may hold this secret while this process runs; the first one that exists counts."""
    if sink.token_file:
        return [sink.token_file]
    return credential_places(f"sink-token-{sink.name}" if isinstance(sink, OneOfSeveral) else "sink-token")


def with_sinks(sinks: Sinks) -> type[Settings]:
    """The model of all settings, including the options of these sinks."""
    return _with(tuple(sinks.items()))


@cache  # making it takes 10 ms, nine tenths of loading the settings, and every scan loads them twice
def _with(named: tuple[tuple[str, DeclaredSink[Section]], ...]) -> type[Settings]:
    sinks = dict(named)
    section = sink_section(sinks)
    several: Any = named_section(section)
    fields: Any = {"sink": (section, section()), "sinks": (list[several], Settings.model_fields["sinks"])}
    model: type[Settings] = create_model("Settings", __base__=Settings, **fields)
    model.needs_url = {name: sink.needs_url for name, sink in sinks.items()}
    return model


def keys_of(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every settable key, sections included: ("sink",), ("sink", "url"), ..."""
    for name, field in model.model_fields.items():
        yield (*above, name)
        if section := section_of(field):
            yield from keys_of(section, (*above, name))


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that is a section, optional or not; None for any other field."""
    is_optional = get_origin(field.annotation) in (Union, UnionType)
    kinds = get_args(field.annotation) if is_optional else (field.annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def masked(settings: Settings) -> dict[str, Any]:
    """The settings in force as plain data, with everything that may be secret hidden."""
    shown = settings.model_dump(mode="json")
    for sink in (shown["sink"], *shown["sinks"]):
        sink["headers"] = dict.fromkeys(sink["headers"], MASK)
        if sink["url"]:
            sink["url"] = told(sink["url"]) + (f"?{MASK}" if "?" in sink["url"] else "")
        sink["formerly"] = list(map(told, sink["formerly"]))
        if sink["auth_user"]:  # many receivers take the API key as the user, with any password
            sink["auth_user"] = MASK
    shown["state"]["path"] = str(settings.state_path)
    shown["store"]["database"] = str(settings.database_path)
    shown["sink"]["type"] = settings.sink_type
    shown["host"] = {"id": settings.host_id, "name": settings.host_name}
    return shown


def state_in(values: Mapping[str, Any]) -> Path:
    """The state file that merged values name, before they become settings."""
    section = values.get("state")
    named = section.get("path") if isinstance(section, Mapping) else None
    return state_file(Path(os.path.expanduser(str(named))) if named else None)


def state_file(named: Path | None) -> Path:
    """The state file with this name, or in this directory; the usual one if none is named."""
    path = named or state_directory()
    return path / "state.json" if named is None or os.path.isdir(path) else path
