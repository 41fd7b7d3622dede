"""Everything redaction finds, as digests: `python -m tests.bench.findings [--megabytes 50]`, before and after a change.

A change that only affects speed leaves every digest as it is, with either engine. `--write FILE` writes each redacted
event on a line of its own, so that two runs can be compared with `diff`.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from collector.flow import shorten
from collector.redact import Options, Redactor
from collector.redact.rule import sample
from tests.bench.dense import DenseLibrary
from tests.bench.redaction import KEY, MEGABYTE, SEEDS, transcript
from tests.bench.text import Library
from tests.redact.harmless.beside import BESIDE, planted
from tests.redact.harmless.causes import CAUSES
from tests.redact.harmless.filling import filled
from tests.redact.harmless.templates import HARMLESS
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS


def corpus(redactor: Redactor) -> Iterator[dict[str, Any]]:
    """Every text of the corpora in tests/redact, as events of one session."""
    texts = [sample(template, seed) for _, template in HARMLESS for seed in SEEDS]
    for templates in CAUSES.values():
        texts += [filled(template, seed) for template in templates.strip().splitlines() for seed in SEEDS]
    for rows in BESIDE.values():
        texts += [planted(row, seed)[0] for row in rows.strip().splitlines() for seed in SEEDS]
    for _, kinds, template in CONTEXTS:
        texts += [template.replace("@", secret(kind, seed), 1) for kind in kinds for seed in SEEDS]
    for rule in redactor.rules:
        texts += [sample(example, seed) for example in (*rule.examples, *rule.near_misses) for seed in SEEDS]
    for number, text in enumerate(texts):
        for event in ({"text": text}, {"output": {"lines": text.split("\n")}}, {text[:90]: text[90:]}):
            yield {"id": str(number), "session_id": f"session {number // 40}", **event}


def events(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """Lines as events, with the session id moved to where events have it."""
    for line in lines:
        event = orjson.loads(line)
        event["session_id"] = event.pop("sessionId", "")
        yield event


def main() -> None:
    """Prints a digest for each of the corpora."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    size = given.megabytes * MEGABYTE
    with ExitStack() as opened:
        file = opened.enter_context(given.write.open("wb")) if given.write else None
        for name in ("corpus", "dense", "plain"):
            redactor = Redactor(Options(key=KEY, engine=given.engine))
            lines = [] if name == "corpus" else transcript(size, DenseLibrary if name == "dense" else Library)[0]
            digest, count = hashlib.sha256(), 0
            for event in corpus(redactor) if name == "corpus" else events(lines):
                redactor.event(event)
                body = shorten.fit(event, 4 * MEGABYTE) + b"\n"
                digest.update(body)
                count += len(event.get("redactions", ()))
                if file:
                    file.write(body)
            print(f"{name:7} {redactor.engine_name:9} {count:9,} rules needed  {digest.hexdigest()[:32]}", flush=True)


if __name__ == "__main__":
    main()
