"""Who an event is from: machine, installation, account and labels, as a receiver sees them."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import jsonschema

from collector.settings import machine_id
from tests.agent import Agent
from tests.build import Home
from tests.flow.event_schema import json_schema
from tests.sink import Sink


def test_every_event_says_which_machine_installation_and_team_it_is_from(
    home: Home, sink: Sink, tmp_path: Path
) -> None:
    """Two installations on one machine; the second is configured as a container might be."""
    home.session().prompt("hello")
    first = Agent(home, sink, {"LOGNAME": "somebody-else", "COLLECTOR_LABELS__TEAM": "platform"})
    assert first.scan().code == 0
    second = Agent(home, sink, {"COLLECTOR_HOST__ID": "runner-7", "COLLECTOR_HOST__NAME": "ci"})
    second.state = tmp_path / "second" / "state.json"
    assert second.scan(COLLECTOR_CAPTURE__LEVEL="metadata", COLLECTOR_LABELS__TEAM="platform").code == 0
    one, two = sink.events
    for event in (one, two):
        jsonschema.validate(event, json_schema())
        assert event["labels"] == {"team": "platform"}
    assert one["user"] == pwd.getpwuid(os.getuid()).pw_name
    assert two["user"].startswith("user-")
    assert one["host"]["id"] == (machine_id() or one["installation_id"])
    assert two["host"]["id"] == "runner-7"
    assert two["host"]["name"].startswith("host-")
    assert len({one["installation_id"], two["installation_id"]}) == 2
    assert one["id"] == two["id"]
