"""The commented configuration file: every option, its meaning and its default, generated from the models.

In: the models of options and sinks. Out: the text that `collector config init` writes; config/collector.toml is a copy.
Invariant: every option is commented out, so the file changes nothing until a line is uncommented. Imported only to
write the file, because a service that runs for months never does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_origin

import tomlkit
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from collector.settings.model import Settings, section_of, with_sinks
from collector.settings.options import OneOfSeveral, SinkSettings
from collector.settings.sinks import Sinks

HEADER = """\
Configuration of collector. Each commented-out line shows the default, or an example if there is none.
Later sources override earlier ones, key by key: /etc/collector/collector.toml, /etc/collector/conf.d/*.toml, the user's
file (`collector config init` writes one), COLLECTOR_* variables (such as COLLECTOR_SINK__URL), flags. Lists are
replaced, except projects.exclude, redaction.fields, .personal and .rules, which add up. `collector config show` says
where each value comes from.
An administrator can lock keys or sections with a line such as locked = ["sink", "capture.level"] above the first table.
Do not put secrets here: name a file that holds them (sink.token_file, redaction.key_file).
"""


class Whereabouts(NamedTuple):
    """Where a coding agent keeps its files by default: where a variable says, or else in the usual places."""

    title: str
    variable: str
    usual_roots: Sequence[str]


def commented(sinks: Sinks, agents: Sequence[Whereabouts]) -> str:
    """The text of the file, with these sinks' options and these agents' usual places."""
    document = tomlkit.document()
    lines = [*HEADER.splitlines(), "", "Which directories to read. By default:"]
    for agent in agents:
        places = " and ".join(agent.usual_roots)
        usual = f"${agent.variable}, else {places}" if agent.variable else places
        lines.append(f"for {agent.title}, {usual}.")
    for line in [*lines, f'roots = ["{agents[0].usual_roots[0]}"]']:
        document.add(tomlkit.comment(line) if line else tomlkit.nl())
    document.add(tomlkit.comment(_line("enabled", Settings.model_fields["enabled"])))
    for name, field in with_sinks(sinks).model_fields.items():
        for title, section in _sections(name, field):
            _add(document, title, section)
        if name == "sinks":
            _add_sinks(document)
        if get_origin(field.annotation) is dict:
            _add_open_table(document, name, field)
    return document.as_string()


def _sections(name: str, field: FieldInfo) -> Iterator[tuple[str, type[BaseModel]]]:
    """A section and the tables inside it, each with its full name."""
    section = section_of(field)
    if section is not None:
        yield name, section
        for key, option in section.model_fields.items():
            yield from _sections(f"{name}.{key}", option)


def _add(document: tomlkit.TOMLDocument, title: str, section: type[BaseModel]) -> None:
    document.add(tomlkit.nl())
    document.add(tomlkit.comment(" ".join((section.__doc__ or "").split())))
    options = [_line(key, option) for key, option in section.model_fields.items() if section_of(option) is None]
    if "." in title:  # a sink's table: an uncommented header alone would require its options without a default
        for line in (f"[{title}]", *options):
            document.add(tomlkit.comment(line))
        return
    table = tomlkit.table()
    for line in options:
        table.add(tomlkit.comment(line))
    document.append(title, table)
    table.trivia.indent = ""  # otherwise the library puts an empty line between the comment and its table


def _add_sinks(document: tomlkit.TOMLDocument) -> None:
    """Adds the options that only one of several sinks has; an uncommented header alone would require its name."""
    own = [name for name in OneOfSeveral.model_fields if name not in SinkSettings.model_fields]
    document.add(tomlkit.nl())
    options = [_line(name, OneOfSeveral.model_fields[name]) for name in own]
    for line in (OneOfSeveral.__doc__ or "", "[[sinks]]", *options):
        document.add(tomlkit.comment(line))


def _add_open_table(document: tomlkit.TOMLDocument, title: str, field: FieldInfo) -> None:
    """Adds a table whose keys a person chooses, with an example."""
    document.add(tomlkit.nl())
    document.add(tomlkit.comment(f"{title.capitalize()}: {field.description}."))
    table = tomlkit.table()
    for key, value in field.examples[0].items() if field.examples else ():
        table.add(
            tomlkit.comment(_line(key, FieldInfo(default=value, description="an example; choose your own names")))
        )
    document.append(title, table)
    table.trivia.indent = ""


def _line(key: str, option: FieldInfo) -> str:
    """`key = value  # what it is for`, as TOML writes it."""
    value = option.examples[0] if option.examples else option.default
    entry = tomlkit.document()
    entry.add(key, tomlkit.inline_table() if value == {} else value)
    return entry.as_string().strip() + (f"  # {option.description}" if option.description else "")
