"""The commented configuration file: generated from the models, complete, and valid once it is uncommented."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from collector import cli, errors
from collector.delivery.sinks.registry import SINKS
from collector.errors import EXIT_CODES
from collector.settings import with_sinks
from collector.settings.model import section_of
from collector.settings.options import SinkSettings
from collector.settings.reference import Whereabouts, commented
from tests.settings.configuration_page import PAGE_PATH, page_text
from tests.settings.test_sinks import PAINTED

ENTRY = re.compile(r"(?:# )?(\w+ = .*|\[\[?[\w.]+\]\]?)$")


AGENT = [Whereabouts("Claude Code", "CLAUDE_CONFIG_DIR", ("~/.claude", "~/.config/claude"))]


def uncommented(text: str) -> dict[str, Any]:
    """The content of the file with every option uncommented."""
    found = (ENTRY.match(line) for line in text.splitlines())
    return tomllib.loads("\n".join(entry[1] for entry in found if entry))


def keys(told: dict[str, Any]) -> set[str]:
    below = {f"{name}.{key}" for name, table in told.items() if isinstance(table, dict) for key in keys(table)}
    return {*told} | below


def fields(model: type[BaseModel]) -> set[str]:
    found = set()
    for name, field in model.model_fields.items():
        section = section_of(field)
        found |= {name} | ({f"{name}.{key}" for key in fields(section)} if section else set())
    return found


@pytest.mark.parametrize("sinks", [SINKS, {**SINKS, "painted": PAINTED}], ids=["registered", "and one more"])
def test_the_commented_file_has_every_option_and_is_valid_when_uncommented(sinks: Any) -> None:
    model = with_sinks(sinks)
    told = uncommented(commented(sinks, AGENT))
    assert keys(told) - {"labels.team"} == fields(model)  # an example; people choose their own label names
    assert model.model_validate(told)


def test_every_option_says_what_it_is_for() -> None:
    entries = [line for line in commented(SINKS, AGENT).splitlines() if ENTRY.match(line) and " = " in line]
    assert [entry for entry in entries if "  # " not in entry and not entry.startswith("# roots")] == []


def test_the_commented_file_changes_nothing_as_it_is() -> None:
    sinks: Any = {**SINKS, "painted": PAINTED}
    model = with_sinks(sinks)
    assert model.model_validate(tomllib.loads(commented(sinks, AGENT))) == model()


def test_the_page_on_sending_names_only_existing_settings_and_every_choice() -> None:
    page = (Path(__file__).parents[2] / "docs" / "receiver.md").read_text()
    sink = with_sinks(SINKS).model_fields["sink"].annotation
    assert isinstance(sink, type)
    assert issubclass(sink, SinkSettings)
    assert set(re.findall(r"`sink\.(\w+)", page)) - set(sink.model_fields) == set()
    choices = {*get_args(sink.model_fields["auth"].annotation), *get_args(sink.model_fields["compression"].annotation)}
    assert {choice for choice in choices if not re.search(rf'["`]{choice}["`]', page)} == set()


def test_the_shipped_configuration_file_is_current() -> None:
    """To update it, run `collector config init - > config/collector.toml`."""
    shipped = Path(__file__).parents[2] / "config" / "collector.toml"
    assert shipped.read_text() == commented(SINKS, AGENT)


def test_the_configuration_page_is_current() -> None:
    """To update it, run `python -m tests.settings.configuration_page`."""
    assert PAGE_PATH.read_text() == page_text()


def test_the_exit_code_of_every_error_is_documented() -> None:
    raised = [
        each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.CollectorError)
    ]
    assert {each.exit_code for each in raised} | {cli.FAULT, cli.NO_MEMORY, cli.NO_PERMISSION} <= set(EXIT_CODES)
