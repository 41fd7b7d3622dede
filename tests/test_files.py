"""Only this user can read what the agent writes, whatever the umask is and whatever was there before."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

import pytest

from collector.errors import StateError
from collector.files import created, replacing
from collector.flow.outcome import Quarantined
from collector.keeping.installation import load_installation
from collector.keeping.lock import lock
from collector.keeping.quarantine import Quarantine
from collector.keeping.state import State
from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside
from tests.redactors import FEW_RULES
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
def test_a_symlink_beside_the_state_leaves_its_target_untouched(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("dear")
    (tmp_path / name).symlink_to(victim)
    with contextlib.suppress(StateError), lock(tmp_path / "state.json", "scan"):
        State(tmp_path / "state.json", FORM.name).save()
    assert victim.read_text() == "dear"


def test_a_state_that_is_not_a_regular_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(StateError, match="is not a regular file"):
        State(path, FORM.name).load()
    assert path.is_fifo()


OURS = {
    "state.json": 74,
    "state.json.previous": 74,
    "state.json.lock": 74,
    "installation.json": 74,
    "state.held/index.json": 74,
    "paused.left-out.json": 74,
    "excluded.toml": 78,
    "token": 78,
    "state.quarantine.jsonl": 0,
    "state.json.journal": 0,
    "state.status.json": 0,
    "disclosed.json": 0,
    "paused.json": 0,
}


@pytest.mark.parametrize(("name", "code"), OURS.items())
def test_a_pipe_in_place_of_one_of_our_files_blocks_no_command(tmp_path: Path, name: str, code: int) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        agent = Agent(home, sink, {"COLLECTOR_SINK__TOKEN_FILE": str(tmp_path / "agent" / "token")})
        pipe = agent.directory / name
        pipe.parent.mkdir(parents=True, mode=0o700)
        (agent.directory / "token").write_text("planted-and-not-live\n")
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        scan = agent.scan("--max-wait", "0")
        commands = [("status",), ("doctor",), ("quarantine", "list"), ("pause",), ("resume",)]
        said = [scan, *(agent.run(*command, "--state", str(agent.state)) for command in commands)]
    assert scan.code == code, scan.stderr
    assert all("Traceback" not in each.stderr for each in said)
    if code:
        assert sink.posts == []
        assert name in scan.stderr or "next to the state" in scan.stderr or "state.held" in scan.stderr


def test_a_leave_out_request_that_cannot_be_withdrawn_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        agent = Agent(home, sink)
        (agent.directory / "state.leave-out").mkdir(parents=True)
        result = agent.scan()
    assert result.code == 74, result.stderr
    assert "state.leave-out: Is a directory" in result.stderr
    assert sink.posts == []


def test_a_file_system_whose_directories_cannot_be_synced_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in VirtualBox's shared folders, on AFS and on 9P: there is nothing to wait for, and nothing else is wrong."""
    synced = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        synced(descriptor)

    monkeypatch.setattr("os.fsync", only_files)
    home = Home(tmp_path)
    session = home.session()
    session.prompt("one")
    session.raw(b"{torn\n")
    with Sink(Answer(503), Answer(503)) as sink:
        agent = Inside(home, sink, FEW_RULES)
        assert agent.scan("--max-wait", "0").code == 75
        session.delete()  # held by then
        assert agent.scan().ledger["lag"] == 0
        state = ("--state", str(agent.state))
        again = [agent.run(*words, *state) for words in (("pause",), ("resume",), ("quarantine", "drop", "--all"))]
    assert ([event["text"] for event in sink.events], [each.code for each in again]) == (["one"], [0, 0, 0])


@pytest.mark.parametrize("words", [("pause",), ("exclude", "~/work"), ("resume",)])
def test_a_command_whose_directory_cannot_be_synced_says_what_applies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    agent = Inside(Home(tmp_path), None, {"COLLECTOR_SINK__TYPE": "store"})
    synced = os.fsync

    def failing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        synced(descriptor)

    def applies() -> tuple[bool, bool]:
        shown = agent.run("config", "show").stdout
        return "paused" in agent.run("status").stdout, "~/work" in shown

    if words == ("resume",):
        assert agent.run("pause").code == 0
    before = applies()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", failing)
        result = agent.run(*words)
    assert (applies() == before) == ("Nothing was changed" in result.stderr) == (result.code != 0), result.stderr


def test_a_new_file_whose_name_cannot_be_synced_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut could still bring the old one back, whenever that happens to be noticed."""
    answers = iter([None, OSError(errno.EIO, "Input/output error")])

    def once(_: Path) -> None:
        if error := next(answers):
            raise error

    monkeypatch.setattr("collector.files.fsync_directory", once)
    with pytest.raises(OSError, match="Input/output"), replacing(tmp_path / "index.json") as file:
        file.write(b"new")


def test_a_restored_quarantine_is_made_private_again(tmp_path: Path) -> None:
    path = tmp_path / "state.quarantine.jsonl"
    path.touch()
    path.chmod(0o644)
    Quarantine(path, 10_000).add([Quarantined("a", "b", "c", 0, "d")])
    assert mode(path) == 0o600


@pytest.mark.parametrize("key", ["", "00" * 15, "no key"])
def test_a_missing_or_short_key_is_replaced(tmp_path: Path, key: str) -> None:
    path = tmp_path / "installation.json"
    path.write_text(f'{{"id": "a", "key": "{key}"}}')
    made = load_installation(path, may_write=True)
    assert len(made.key) == 32
    assert load_installation(path, may_write=True) == made


@pytest.mark.parametrize("answer", [Answer(), Answer(503)])
def test_no_umask_lets_others_write_or_read_our_files(tmp_path: Path, answer: Answer) -> None:
    home = Home(tmp_path)
    session = home.session()
    session.prompt("one")
    session.raw(b"{broken\n")
    with Sink(then=answer) as sink:
        agent = Agent(home, sink, {"XDG_CACHE_HOME": str(home.path / "cache"), **FEW_RULES})
        before = os.umask(0)
        try:
            agent.scan("--max-wait", "0")
            agent.run("config", "init")
        finally:
            os.umask(before)
    everything = (*agent.directory.rglob("*"), *home.path.rglob("*"))
    made = [path for path in everything if home.root not in path.parents and not path.is_symlink()]
    assert {path.name for path in made} >= {"state.json.lock", "installation.json", "collector.toml"}
    assert [path for path in made if mode(path) & 0o022 and path != home.root and path not in home.root.parents] == []
    private = [agent.directory, home.path / "cache" / "collector", *agent.directory.glob("state*")]
    assert [path for path in private if mode(path) & 0o077] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what belongs to others")
def test_files_that_root_makes_in_a_users_home_belong_to_that_user(tmp_path: Path) -> None:
    """Otherwise that user's own agent could not read its state after a `sudo collector`."""
    home, nobody = Home(tmp_path), 65534
    session = home.session()
    session.prompt("hello")
    with session.path.open("ab") as file:
        file.write(b'{"broken\n')
    os.chown(home.path, nobody, nobody)
    places = {f"XDG_{kind}_HOME": str(home.path / kind.lower()) for kind in ("STATE", "DATA", "CACHE", "CONFIG")}
    agent = Agent(home, environment=places | FEW_RULES)
    for more in ([], ["--sink-url", "http://127.0.0.1:1/", "--max-wait", "0"]):
        session.prompt("and again")
        agent.run("scan", "--root", str(home.root), *more)
    agent.run("exclude", "/work/private")
    agent.run("pause")
    made = [path for path in home.path.rglob("*") if not path.is_relative_to(home.root)]
    held = {path for path in made if path.samefile(session.path)}  # another name of the transcript
    expected = {"installation.json", "events.db", "paused.json", "state.quarantine.jsonl", "collector.toml"}
    assert expected <= {path.name for path in made}
    assert {path: path.stat().st_uid for path in made if path not in held} == dict.fromkeys(set(made) - held, nobody)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what belongs to others")
def test_root_does_not_chown_a_file_that_is_hard_linked_elsewhere(tmp_path: Path) -> None:
    victim, place = tmp_path / "victim", tmp_path / "place"
    victim.touch()
    place.mkdir()
    os.chown(place, 65534, 65534)
    os.link(victim, place / "state.json.lock")
    with lock(place / "state.json", "scan"):
        assert victim.stat().st_uid == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what belongs to others")
def test_root_does_not_chown_what_a_user_has_linked_to_as_the_store(tmp_path: Path) -> None:
    home, victim = Home(tmp_path), tmp_path / "shadow"
    home.session().prompt("hello")
    victim.write_text("root:*:20000::::::\n")
    os.chown(home.path, 65534, 65534)
    (home.path / "events.db").symlink_to(victim)
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(home.path / "events.db")} | FEW_RULES)
    result = agent.scan("--max-wait", "0")
    assert "file is not a database" in result.stderr
    assert victim.stat().st_uid == 0
