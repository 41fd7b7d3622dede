"""Fills in the package's templates, which escape whatever they print."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from collector import __version__
from collector.store.pages import shown
from collector.store.pages.chosen import PERIODS


def rendered(template: str, **values: Any) -> str:
    """A template, filled in."""
    return environment().get_template(template).render(version=__version__, **values)


@cache
def macros(template: str) -> Any:
    """The macros of a template, as functions."""
    return environment().get_template(template).module


def weighed(template: str, macro: str, values: Iterable[Any], most_bytes: int) -> tuple[list[Markup], bool]:
    """Each value rendered by a macro, until the page is full; and whether that left something out."""
    made: list[Markup] = []
    size = 0
    for value in values:
        row = Markup(getattr(macros(template), macro)(value))  # noqa: S704 - a template has made it
        size += len(row.encode())
        if made and size > most_bytes:
            return made, True
        made.append(row)
    return made, False


@cache
def environment() -> Environment:
    """The templates in the package."""
    folder = resources.files(__package__) / "templates"
    loader = DictLoader({item.name: item.read_text(encoding="utf-8") for item in folder.iterdir()})
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, cache_size=-1
    )
    made.filters |= shown.FILTERS
    made.globals |= {"percent": shown.percent, "periods": PERIODS}
    return made
