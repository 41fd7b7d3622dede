"""Builds the two halves of the corpus: `python -m tests.redact.blind.build FOLDER` writes dev.jsonl and held.jsonl."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.redact.blind.drawing import Halved, Item, gather
from tests.redact.blind.harmless import HARMLESS
from tests.redact.blind.secrets import texts_with_secrets
from tests.redact.blind.sequences import sequences

SEED = "held-out-1"
HALVES = ("dev", "held")


def items(half: str) -> list[Item]:
    """All items of a half, harmless text first, each with its id."""
    number = HALVES.index(half)
    drawn = [*_harmless(number), *texts_with_secrets(SEED, number), *sequences(SEED, number)]
    ordered = sorted(drawn, key=lambda item: (item["kind"], item["class"]))
    return [{**item, "id": f"{half}/{item['class']}/{at}"} for at, item in enumerate(ordered)]


def _harmless(half: int) -> Iterator[Item]:
    texts = []
    for kind, forms in sorted(HARMLESS.items()):
        rng = Halved(f"{SEED} {kind} {half}", half)
        for text in gather(rng, rng.mine(forms), 180 if kind == "whole-outputs" else 90):
            texts.append(text)
            yield {"class": kind, "kind": "harmless", "text": text, "secrets": []}
    # The same lines as they appear in events, several together, so that a find in one could be copied into another.
    Halved(f"{SEED} joined {half}", half).shuffle(texts)
    for at in range(0, 480, 8):
        yield {"class": "joined-lines", "kind": "harmless", "text": "\n".join(texts[at : at + 8]), "secrets": []}


def main() -> None:
    """Writes both halves, one item per line."""
    folder = Path(sys.argv[1])
    for half in HALVES:
        lines = [json.dumps(item, ensure_ascii=True) + "\n" for item in items(half)]
        (folder / f"{half}.jsonl").write_text("".join(lines))


if __name__ == "__main__":
    main()
