"""What people are told when a sink does not acknowledge: what failed, where, what happens next, what they can do."""

from __future__ import annotations

from collector.delivery.sink import Halt


def unavailable(address: str, reason: str) -> str:
    """When the sink is failing: said while the agent retries, and when it gives up."""
    return (
        f"The sink ({address}) did not acknowledge: {reason}. "
        "All offsets are kept, so nothing is lost; the next try sends the same data again. "
        "Check that the sink is up and well, and reachable from here."
    )


def halted(address: str, verdict: Halt) -> str:
    """When the sink takes nothing until somebody acts."""
    return (
        f"The sink ({address}) does not accept events: {verdict.reason}. "
        f"All offsets are kept, so nothing is lost. {verdict.advice}"
    )
