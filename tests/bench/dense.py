"""Text with as many places that may hold a secret as real transcripts: test reports, greps, compose files, scripts.

In real transcripts, a fifth of the events have a place that a rule must look at, and mostly several in a row, as in the
output of grep. What such places look like comes from the corpus of harmless text by cause.
"""

from __future__ import annotations

import random

from tests.bench.text import Library
from tests.redact.harmless.causes import CAUSES
from tests.redact.harmless.filling import filled

SHARE = 0.2  # share of the texts with such places; an event has one or two texts


class DenseLibrary(Library):
    """The pools of `Library`, with runs of lines from the corpus in some of the slices."""

    mean_run = 2  # lines in a row

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.lines = [
            filled(template, seed)
            for seed in range(8)
            for templates in CAUSES.values()
            for template in templates.strip().splitlines()
        ]

    def take(self, kind: str, size: float) -> str:
        """About `size` characters of a kind, in some cases with lines that mention secrets."""
        text = super().take(kind, size)
        if self.rng.random() >= SHARE:
            return text
        first = self.rng.randrange(len(self.lines))
        run = self.lines[first : first + 1 + int(self.rng.expovariate(1 / self.mean_run))]
        at = text.rfind("\n", 0, int(self.rng.random() * (len(text) + 1))) + 1
        return text[:at] + "\n".join(run) + "\n" + text[at:]


class LongRunsLibrary(DenseLibrary):
    """The same with longer runs, such as greps, test logs and listings print."""

    mean_run = 8
