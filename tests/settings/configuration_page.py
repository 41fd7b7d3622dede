"""Writes docs/configuration.md: the prose of configuration_page.md, with tables of the options and exit codes.

python -m tests.settings.configuration_page
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from collector.delivery.sinks.registry import SINKS
from collector.errors import EXIT_CODES
from collector.settings.environment import ENV_PREFIX
from collector.settings.model import section_of, with_sinks

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE_PATH = REPOSITORY / "docs" / "configuration.md"
TEXT_PATH = Path(__file__).with_name("configuration_page.md")


def page_text() -> str:
    """The whole page."""
    text = TEXT_PATH.read_text()
    text = text.replace("<!-- options -->", "\n".join(options()).strip())
    return text.replace("<!-- exit codes -->", "\n".join(exit_codes()))


def exit_codes() -> Iterator[str]:
    """The table of exit codes."""
    yield "| code | means |"
    yield "|---|---|"
    yield from (f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())


def options() -> Iterator[str]:
    """A table for each section, after one for the options outside of any section."""
    fields = with_sinks(SINKS).model_fields
    loose = {name: field for name, field in fields.items() if section_of(field) is None}
    yield from table("", loose)
    for name, field in fields.items():
        yield from section(name, section_of(field))


def section(name: str, model: type[BaseModel] | None) -> Iterator[str]:
    """A section and the tables inside it."""
    if model is None:
        return
    yield from ("", f"### [{name}]", "", " ".join((model.__doc__ or "").split()), "")
    yield from table(f"{name}.", {key: field for key, field in model.model_fields.items() if section_of(field) is None})
    for key, field in model.model_fields.items():
        yield from section(f"{name}.{key}", section_of(field))


def table(before: str, fields: dict[str, FieldInfo]) -> Iterator[str]:
    """The options of one section."""
    yield "| key | kind | default | variable | meaning |"
    yield "| --- | --- | --- | --- | --- |"
    for key, field in fields.items():
        variable = ENV_PREFIX + f"{before}{key}".replace(".", "__").upper()
        if f"{before}{key}" == "labels":
            variable += "__<NAME>"
        meaning = (field.description or "").replace("|", "\\|")
        yield f"| `{before}{key}` | {kind_of(field.annotation)} | {default_of(field)} | `{variable}` | {meaning} |"


def default_of(field: FieldInfo) -> str:
    """The default in TOML syntax, or an empty string if there is none."""
    value = field.default
    return "" if value is None or field.is_required() else f"`{json.dumps(value)}`"


def kind_of(annotation: Any) -> str:
    """The kind of value, in a few words."""
    origin, inner = get_origin(annotation), [each for each in get_args(annotation) if each is not NoneType]
    if origin is Annotated:
        return kind_of(inner[0])
    if origin in (Union, UnionType):
        return " or ".join(map(kind_of, inner))
    if origin is Literal:
        return ", ".join(f'`"{each}"`' for each in inner)
    if origin is list:
        if inner[0] is int:
            return "list of whole numbers"
        return "list of tables" if isinstance(inner[0], type) and issubclass(inner[0], BaseModel) else "list of texts"
    if origin is dict:
        return "table of texts"
    return {str: "text", int: "whole number", float: "number", bool: "true, false", Path: "path"}[annotation]


def main() -> None:
    """Writes the page."""
    PAGE_PATH.write_text(page_text())


if __name__ == "__main__":
    main()
