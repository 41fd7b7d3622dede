"""Speaks to the service manager, and to the few other commands that a plan needs: one command, to its end.

In: the words of a command. Out: its exit code and everything it printed; a command that is missing or hangs has an exit
code too, the one a shell would give.
"""

from __future__ import annotations

import subprocess

PATIENCE_SECONDS = 120


def ask(command: tuple[str, ...]) -> tuple[int, str]:
    """Runs a command to its end: its exit code, and what it printed."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE_SECONDS
        )
    except FileNotFoundError:
        return 127, f"{command[0]} is not installed"
    except subprocess.TimeoutExpired:
        return 124, f"no answer within {PATIENCE_SECONDS} seconds"
    return done.returncode, done.stdout + done.stderr
