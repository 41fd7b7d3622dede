"""What people are told of a sink that does not acknowledge: what failed, where, what happens next, what they can do."""

from __future__ import annotations

from collector.delivery.sink import Halt


def unavailable(address: str, reason: str) -> str:
    """Of a sink that does not answer, while it is tried again and at the end."""
    return (
        f"The sink ({address}) did not acknowledge: {reason}. "
        "All offsets are kept, so nothing is lost; the same data is sent at the next try. "
        "Check that the sink is up and reachable from here."
    )


def halted(address: str, verdict: Halt) -> str:
    """Of a sink that takes nothing until somebody acts."""
    return (
        f"The sink ({address}) does not take events: {verdict.reason}. "
        f"All offsets are kept, nothing is lost. {verdict.advice}"
    )
