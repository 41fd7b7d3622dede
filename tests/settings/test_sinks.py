"""What a sink adds to the configuration: its name, its own table, and error messages that name the key."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from collector import settings
from collector.errors import ConfigurationError
from collector.settings import Settings
from collector.settings.section import Section


class Paint(Section):
    """The options of the painted sink."""

    colour: Literal["red", "blue"] = Field(examples=["red"], description="there is no usual one")
    coats: int = Field(default=2, ge=1, description="how thick")


class Frame(Section):
    """The options of the framed sink, which are in [sink] itself."""

    width: int = Field(default=3, description="of the frame")


@dataclass(frozen=True)
class Declared:
    """The part of a sink that settings need."""

    name: str
    options: type[Section]
    summary: str = "made up"
    has_own_table: bool = True
    needs_url: bool = True


PAINTED = Declared("painted", Paint)
FRAMED = Declared("framed", Frame, has_own_table=False)
STORE = Declared("store", Section, needs_url=False)
SINKS: dict[str, Any] = {each.name: each for each in (PAINTED, FRAMED, STORE)}
URL = "https://a.example/"


def load(sink: dict[str, Any], path: Path | None = None) -> Settings:
    return settings.load(path, {"sink": sink}, sinks=SINKS)


def complaint(sink: dict[str, Any], path: Path | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(sink, path)
    return str(caught.value)


def test_a_sink_gets_its_own_options_and_the_common_ones() -> None:
    chosen = load({"type": "painted", "url": URL, "timeout": 3.0, "painted": {"colour": "red"}})
    assert chosen.own_options(PAINTED) == Paint(colour="red", coats=2)
    assert chosen.sink.timeout == 3.0


def test_a_sinks_options_come_from_file_environment_and_flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.toml"
    path.write_text(f'[sink]\ntype = "painted"\nurl = "{URL}"\n[sink.painted]\ncolour = "red"\ncoats = 4\n')
    assert load({}, path).own_options(PAINTED) == Paint(colour="red", coats=4)
    monkeypatch.setenv("COLLECTOR_SINK__PAINTED__COATS", "5")
    assert load({}, path).own_options(PAINTED) == Paint(colour="red", coats=5)
    assert load({"painted": {"coats": 6}}, path).own_options(PAINTED) == Paint(colour="red", coats=6)


def test_a_wrong_option_is_named_with_its_place_and_a_guess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.toml"
    path.write_text('[sink.painted]\ncolour = "red"\ncoat = 1\n')
    expected = f"sink.painted.coat (in {path}) is not a setting. Did you mean `sink.painted.coats`?"
    assert complaint({}, path) == expected
    path.write_text('[sink.painted]\ncolour = "green"\n')
    assert complaint({}, path) == f"sink.painted.colour (in {path}): input should be 'red' or 'blue'."
    path.write_text("")
    monkeypatch.setenv("COLLECTOR_SINK__PAINTED__COAT", "1")
    assert "Did you mean COLLECTOR_SINK__PAINTED__COATS?" in complaint({}, path)


def test_a_required_option_is_required_only_if_its_sink_is_chosen() -> None:
    assert load({"type": "framed", "url": URL}).sink_type == "framed"
    assert complaint({"type": "painted", "url": URL}) == "sink.painted.colour: field required; sink.type is painted."


def test_an_unused_sink_may_be_configured_too() -> None:
    assert load({"type": "framed", "url": URL, "painted": {"colour": "blue"}}).sink_type == "framed"
    assert complaint({"type": "framed", "url": URL, "painted": {"coats": 0}}).startswith("sink.painted.colour")


def test_a_sinks_options_may_be_in_the_sink_section_itself() -> None:
    assert load({"type": "framed", "url": URL, "width": 7}).own_options(FRAMED) == Frame(width=7)
    assert load({"type": "framed", "url": URL}).own_options(FRAMED) == Frame()


@pytest.mark.parametrize("kind", ["painted", "framed"])
def test_every_sink_with_a_url_needs_one_that_is_not_in_the_clear(kind: str) -> None:
    sink = {"type": kind, "painted": {"colour": "red"}}
    assert complaint(sink).startswith(f"sink.type is {kind}, but sink.url is missing.")
    assert "would send to a.example in the clear" in complaint({**sink, "url": "http://a.example/"})
    assert load({**sink, "url": "http://a.example/", "allow_http": True}).sink_type == kind
    assert load({**sink, "url": "http://127.0.0.1:9/"}).sink_type == kind


def test_an_unknown_sink_is_reported_with_the_known_ones() -> None:
    assert complaint({"type": "carved"}).startswith("sink.type (in a command line flag): input should be 'painted'")
