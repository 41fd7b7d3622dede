"""Swept, with the real program: `scan` and `run` hold what a failing sink does not accept, and deliver it later."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.agent import COLLECTOR, Agent
from tests.build import Home
from tests.sink import Answer, Sink


def session(home: Home, prompts: int = 5) -> Path:
    made = home.session()
    for number in range(prompts):
        made.prompt(f"prompt {number}")
    return made.path


def test_a_failed_scan_holds_what_the_next_one_delivers(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home)
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink)
        assert agent.scan("--max-wait", "0").code == 75
        path.unlink()
        sink.clear_script()
        result = agent.scan().assert_balanced()
        assert (result.code, result.ledger["delivered"], result.ledger["lag"]) == (0, 5, 0)
        assert len(set(sink.ids())) == 5
    assert not agent.state.with_name("state.held").exists()


def test_reset_forget_drops_what_is_held(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home)
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink)
        agent.scan("--max-wait", "0")
        path.unlink()
        sink.clear_script()
        dropped = agent.run("reset", "--forget", "--state", str(agent.state))
        assert (dropped.code, dropped.stdout.splitlines()[0]) == (0, "Dropped 1 held file.")
        assert agent.scan().ledger["delivered"] == 0
        assert sink.ids() == []


def test_a_service_delivers_files_swept_while_its_sink_was_down(tmp_path: Path) -> None:
    home = Home(tmp_path)
    paths = [session(home) for _ in range(3)]
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink)
        with agent.start(COLLECTOR_RETRY__MAX_WAIT="0.05") as running:
            directory = agent.state.with_name("state.held")
            sink.wait_for(lambda: len(list(directory.glob("*.jsonl"))) == 3)
            for path in paths:
                path.unlink()
            sink.clear_script()
            sink.wait_for(lambda: len(set(sink.ids())) == 15)
            sink.wait_for(lambda: not directory.exists())
            assert running.stop() == 0
        assert len(set(sink.ids())) == len(sink.ids())


IN_A_MOUNT = 'mount -t tmpfs tmpfs "$1" && cp -a "$2/." "$1" && shift 2 && exec "$@"'


def can_mount() -> bool:
    """Whether this user may mount in its own namespace."""
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif("not can_mount()", reason="needs the right to mount in a namespace of its own")
def test_a_root_on_another_mount_is_copied_and_delivered(tmp_path: Path) -> None:
    """The root is a mount in the agent's own namespace and disappears with it: nothing is left of the originals."""
    home = Home(tmp_path)
    session(home)
    saved = home.root.rename(tmp_path / "saved")
    home.root.mkdir()
    with Sink(then=Answer(503)) as sink:
        agent = Agent(home, sink)
        scan = [*COLLECTOR, "scan", *agent.places(), "--max-wait", "0"]
        mounted = ["unshare", "-m", "sh", "-c", IN_A_MOUNT, "sh", str(home.root), str(saved), *scan]
        assert subprocess.run(mounted, env=agent.environment, capture_output=True, check=False).returncode == 75
        [copy] = agent.state.with_name("state.held").glob("*.jsonl")
        assert copy.stat().st_nlink == 1
        sink.clear_script()
        assert agent.scan().assert_balanced().ledger["delivered"] == 5
        assert len(set(sink.ids())) == 5
