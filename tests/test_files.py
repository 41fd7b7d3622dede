"""What the agent writes is for this user's eyes only, whatever the umask is and whatever lay there before."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

import pytest

from collector.errors import StateError
from collector.files import created
from collector.flow.outcome import Quarantined
from collector.keeping.installation import load_installation
from collector.keeping.lock import lock
from collector.keeping.quarantine import Quarantine
from collector.keeping.state import State
from tests.agent import Agent
from tests.build import Home
from tests.scopes import FORM
from tests.sink import Answer, Sink


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_others_hold_open_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "state.json.new"
    path.touch()
    path.chmod(0o666)
    with path.open("rb") as theirs:
        with created(path) as ours:
            ours.write(b"ours")
        assert theirs.read() == b""
    assert (path.read_bytes(), mode(path)) == (b"ours", 0o600)


@pytest.mark.parametrize("name", ["state.json.lock", "state.json.new"])
def test_a_link_beside_the_state_costs_its_target_nothing(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("dear")
    (tmp_path / name).symlink_to(victim)
    with contextlib.suppress(StateError), lock(tmp_path / "state.json", "scan"):
        State(tmp_path / "state.json", FORM.name).save()
    assert victim.read_text() == "dear"


def test_a_state_that_is_no_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(StateError, match="is not a file"):
        State(path, FORM.name).load()
    assert path.is_fifo()


def test_a_quarantine_from_a_backup_is_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "state.quarantine.jsonl"
    path.touch()
    path.chmod(0o644)
    Quarantine(path, 10_000).add([Quarantined("a", "b", "c", 0, "d")])
    assert mode(path) == 0o600


@pytest.mark.parametrize("key", ["", "00" * 15, "no key"])
def test_a_key_that_can_be_guessed_is_made_anew(tmp_path: Path, key: str) -> None:
    path = tmp_path / "installation.json"
    path.write_text(f'{{"id": "a", "key": "{key}"}}')
    made = load_installation(path, may_write=True)
    assert len(made.key) == 32
    assert load_installation(path, may_write=True) == made


@pytest.mark.parametrize("answer", [Answer(), Answer(503)])
def test_under_no_umask_may_others_write_or_look_inside(tmp_path: Path, answer: Answer) -> None:
    home = Home(tmp_path)
    session = home.session()
    session.prompt("one")
    session.raw(b"{broken\n")
    with Sink(then=answer) as sink:
        agent = Agent(home, sink, {"XDG_CACHE_HOME": str(home.path / "cache")})
        before = os.umask(0)
        try:
            agent.scan("--max-wait", "0")
            agent.run("config", "init")
        finally:
            os.umask(before)
    made = [path for path in (*agent.directory.rglob("*"), *home.path.rglob("*")) if home.root not in path.parents]
    assert {path.name for path in made} >= {"state.json.lock", "installation.json", "collector.toml"}
    assert [path for path in made if mode(path) & 0o022 and path != home.root and path not in home.root.parents] == []
    private = [agent.directory, home.path / "cache" / "collector", *agent.directory.glob("state*")]
    assert [path for path in private if mode(path) & 0o077] == []
