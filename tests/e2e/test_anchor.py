"""What happens twice arrives as two events, each sent once, across restarts and an upgrade."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink


@pytest.mark.parametrize("is_upgrade", [False, True])
def test_a_restart_between_records_without_uuids_repeats_nothing_and_gives_the_same_ids(
    home: Home, sink: Sink, agent: Agent, tmp_path: Path, is_upgrade: bool
) -> None:
    session = home.session()
    mode = {"type": "permission-mode", "permissionMode": "plan", "sessionId": session.session_id}
    session.records([mode, mode])
    session.prompt("one")
    session.records([mode, mode])
    agent.scan().assert_balanced()
    if is_upgrade:
        state = json.loads(agent.state.read_bytes())
        for entry in state["claude_code"]["files"].values():
            assert entry.pop("anchor")
        agent.state.write_text(json.dumps(state))
    session.records([mode])
    session.prompt("two")
    session.records([mode])
    agent.scan().assert_balanced()
    assert len(sink.events) == len(set(sink.ids())) == 8
    shutil.copytree(home.path, tmp_path / "restored" / "home")
    with Sink() as other:
        Agent(Home(tmp_path / "restored"), other).scan()
        assert sorted(other.ids()) == sorted(sink.ids())
