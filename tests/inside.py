"""Runs the command in this process, for tests of many commands: they take half the time they would as processes.

    agent = Inside(home, sink)          # like tests.agent.Agent, but `run` starts no process

Whatever needs a process of its own (signals, kill -9, memory, exit) is tested with Agent.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from unittest import mock

from collector import cli
from tests.agent import Agent, Result


class Inside(Agent):
    """The command, bound to a home, a sink and a state of its own."""

    def run(self, *arguments: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
        """Runs any command to its end."""
        out, err = io.BytesIO(), io.BytesIO()
        before = {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}
        with (
            mock.patch.dict(os.environ, {**before, **self.environment, **(env or {})}, clear=True),
            mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8")),
            mock.patch.object(sys, "stdout", io.TextIOWrapper(out, "utf-8", write_through=True)),
            mock.patch.object(sys, "stderr", io.TextIOWrapper(err, "utf-8", write_through=True)),
        ):
            code = cli.run(list(arguments))
            sys.stdout.flush()
            sys.stderr.flush()
            return Result(code, out.getvalue().decode(), err.getvalue().decode())
