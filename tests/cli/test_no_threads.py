"""A machine that allows no further thread, as at the process limit of a container."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent import REPOSITORY, Agent
from tests.build import Home
from tests.sink import Sink

AT_THE_LIMIT = """
import threading

def start(*_, **__):
    raise RuntimeError("can't start new thread")

threading._start_new_thread = threading._start_joinable_thread = start  # the latter from Python 3.13 on
"""


@pytest.mark.parametrize("has_sink", [True, False])
def test_a_scan_explains_that_no_thread_can_be_started(tmp_path: Path, has_sink: bool) -> None:
    """It must not ask people to report a bug. Root has no process limit, so Python itself imitates one here."""
    home = Home(tmp_path)
    home.session().prompt("one")
    (tmp_path / "sitecustomize.py").write_text(AT_THE_LIMIT)
    with Sink() as sink:
        agent = Agent(home, sink if has_sink else None)
        result = agent.scan(PYTHONPATH=f"{tmp_path}:{REPOSITORY}")
        assert result.code == 71
        assert "The system would not start another thread. Nothing is lost" in result.stderr
        assert "report" not in result.stderr
        assert agent.scan().assert_balanced().ledger["delivered"] == 1
