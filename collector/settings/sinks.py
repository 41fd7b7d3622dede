"""What sinks add to the configuration: their names as sink.type, and a table [sink.<name>] with the options of each.

In: sinks, as they declare themselves. Out: the model of [sink], so that a wrong key of a sink is reported like any
other. This room imports no other, so it does not know the sinks: the caller passes in the registry (delivery/sinks).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeVar

from pydantic import Field, ValidationError, create_model

from collector.settings.options import OneOfSeveral, SinkSettings
from collector.settings.section import Section

OptionsT_co = TypeVar("OptionsT_co", bound=Section, covariant=True)


class DeclaredSink(Protocol[OptionsT_co]):
    """What a sink declares about itself for the configuration."""

    @property
    def name(self) -> str:
        """The value of sink.type."""

    @property
    def summary(self) -> str:
        """A few words about the sink, for the reference."""

    @property
    def options(self) -> type[OptionsT_co]:
        """The options of this sink alone."""

    @property
    def has_own_table(self) -> bool:
        """Whether the sink's options go into [sink.<name>] rather than [sink] itself."""

    @property
    def needs_url(self) -> bool:
        """Whether the sink sends to sink.url."""


Sinks = Mapping[str, DeclaredSink[Any]]


def sink_section(sinks: Sinks) -> type[SinkSettings]:
    """The model of [sink], with all options of these sinks."""
    in_sink_itself = tuple(sink.options for sink in sinks.values() if not sink.has_own_table)
    tables: dict[str, Any] = {
        name: (sink.options | None, _without_being_told(sink.options))
        for name, sink in sinks.items()
        if sink.has_own_table and sink.options.model_fields
    }
    summaries = "; ".join(f"{name}: {sink.summary}" for name, sink in sinks.items())
    names = Field(default=None, examples=[next(iter(sinks))], description=summaries)
    tables["type"] = (Literal[*sinks] | None, names)
    section: type[SinkSettings] = create_model(
        "SinkSettings", __base__=(*in_sink_itself, SinkSettings), __doc__=SinkSettings.__doc__, **tables
    )
    return section


def named_section(section: type[SinkSettings]) -> type[OneOfSeveral]:
    """The model of one of [[sinks]]: everything that [sink] can hold, and options of its own."""
    model: Any = create_model("OneOfSeveral", __base__=(OneOfSeveral, section), __doc__=OneOfSeveral.__doc__)
    named: type[OneOfSeveral] = model
    return named


def options_in(section: SinkSettings, sink: DeclaredSink[OptionsT_co]) -> OptionsT_co:
    """The options of one sink. Raises ValidationError if an option without a default is not set."""
    if sink.has_own_table:
        given = getattr(section, sink.name, None)
        return given if isinstance(given, sink.options) else sink.options()
    return sink.options(
        **{name: getattr(section, name) for name in sink.options.model_fields if hasattr(section, name)}
    )


def _without_being_told(options: type[Section]) -> Section | None:
    try:
        return options()
    except ValidationError:  # an option has no default; it is required only if the sink is chosen
        return None
