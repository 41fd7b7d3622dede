"""Every event that leaves conforms to the published schema, even if half of it was redacted."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import collector
from tests.agent import Agent
from tests.build import Home
from tests.e2e.test_secrets import SHAPES, Planter, fill
from tests.sink import Sink

SCHEMA = json.loads(Path(collector.__file__).parent.joinpath("flow", "event.strict.schema.json").read_bytes())


def assert_valid(sink: Sink) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for event in sink.events:
        errors = [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(event)]
        assert not errors, (event["kind"], errors)


def test_every_event_conforms_to_the_schema(home: Home, sink: Sink, agent: Agent) -> None:
    home.with_everything()
    agent.scan()
    assert sink.events
    assert_valid(sink)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_redacted_event_conforms_to_the_schema(home: Home, sink: Sink, agent: Agent, shape: str) -> None:
    fill(home, Planter(shape))
    agent.scan()
    assert sink.events
    assert_valid(sink)


def test_an_event_at_the_level_metadata_conforms_to_the_schema(home: Home, sink: Sink, agent: Agent) -> None:
    home.session().prompt("only the shape of this may leave")
    home.with_everything()
    agent.scan(COLLECTOR_CAPTURE__LEVEL="metadata")
    assert sink.events
    assert b"only the shape of this" not in sink.raw_bytes
    assert_valid(sink)
