"""The CPU that `collector --version` takes."""

from __future__ import annotations

from tests.bench.measure import COLLECTOR, SCRATCH, cost_of, row


def main() -> None:
    """The command."""
    costs = sorted(cost_of([*COLLECTOR, "--version"], SCRATCH / "startup-home").cpu_seconds for _ in range(11))
    row("`collector --version`", "<= 100 ms CPU", f"{1000 * costs[5]:.0f} ms CPU (median of 11)")


if __name__ == "__main__":
    main()
