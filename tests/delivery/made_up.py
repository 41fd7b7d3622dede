"""A fictitious sink: the proof that a sink is one module plus one line of the registry.

Pigeons carry letters to a loft. HTTP statuses mean nothing to them: every answer is a 200, and its body says what
became of the letters. The sink has its own path, header, query, required option, and both limits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import Field

from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Refused,
    Request,
    Retry,
    SinkLimits,
    SinkType,
    TooLarge,
    Verdict,
)
from collector.delivery.statuses import is_success, verdict_of
from collector.flow.outcome import Sealed
from collector.settings.section import Section
from tests.delivery.contract import Receiving
from tests.sink import Answer as Scripted
from tests.sink import Request as Arrived


class PigeonOptions(Section):
    """The sink's options."""

    loft: str = Field(examples=["north"], description="where they fly to")
    is_express: bool = Field(default=False, description="the fast ones")


class PigeonSink:
    """Sends events as letters in one envelope."""

    limits = SinkLimits(body=3_000, event=1_500)

    def __init__(self, options: PigeonOptions) -> None:
        self._loft = options.loft
        self._speed = "express" if options.is_express else "plain"

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """Puts the idempotency key into the query, where this receiver looks for it."""
        letters = [{"to": event.id, "text": event.body.decode()} for event in events]
        headers = {"Content-Type": "application/x-letters", "X-Pigeon": self._speed}
        return Request(orjson.dumps({"letters": letters}), headers, f"/lofts/{self._loft}", {"flight": key})

    def classify(self, answer: Answer) -> Verdict:
        """Classifies by the word in the body; a 200 without one came from something in between, such as a proxy."""
        if not is_success(answer):
            return verdict_of(answer, 0.0)
        told = _read(answer.body)
        match told.get("word"):
            case "landed":
                lost = told.get("lost")
                return Accepted({str(name): str(why) for name, why in lost.items()} if isinstance(lost, dict) else {})
            case "storm":
                wait = told.get("wait")
                return Retry("storm", float(wait) if isinstance(wait, int) else None)
            case "heavy":
                return TooLarge("too heavy for a pigeon")
            case "illegible":
                return Refused("illegible")
            case "no such loft":
                return Halt("there is no such loft", "Check sink.pigeon.loft.")
        return Retry("nothing was said of the letters")


def _read(body: bytes) -> dict[str, Any]:
    try:
        told = orjson.loads(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


SINK = SinkType(name="pigeon", summary="letters, by air", options=PigeonOptions, make=PigeonSink)


def word(word: str, **more: Any) -> Scripted:
    """An answer of this receiver."""
    return Scripted(200, {"Content-Type": "application/json"}, json.dumps({"word": word, **more}).encode())


def letters(request: Arrived) -> list[dict[str, Any]]:
    """The events in a request."""
    return [json.loads(letter["text"]) for letter in json.loads(request.body)["letters"]]


RECEIVING = Receiving(
    sink=SINK,
    ids=lambda request: [letter["to"] for letter in json.loads(request.body)["letters"]],
    accepted=word("landed"),
    rejected=lambda event_id, _: word("landed", lost={event_id: "a hawk"}),
    later=lambda seconds: word("storm", wait=seconds),
    too_large=word("heavy"),
    refused=word("illegible"),
    halted=word("no such loft"),
    unacknowledged=(Scripted(200), Scripted(204), Scripted(200, {}, b"<html>Welcome</html>"), word("hello")),
    options={"loft": "north"},
    path="/lofts/north",
)
