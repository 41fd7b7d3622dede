"""Runs the service manager, and the few other commands that a plan needs, one command at a time.

In: the words of a command. Out: its exit code and everything it printed. A command that is missing or hangs gets the
exit code that a shell would give.
"""

from __future__ import annotations

import subprocess

PATIENCE_SECONDS = 120


def ask(command: tuple[str, ...]) -> tuple[int, str]:
    """Runs a command to its end; returns its exit code and what it printed."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE_SECONDS
        )
    except FileNotFoundError:
        return 127, f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return 124, f"no answer within {PATIENCE_SECONDS} seconds"
    return done.returncode, done.stdout + done.stderr
