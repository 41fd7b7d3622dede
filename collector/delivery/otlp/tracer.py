"""The tracer: follows every transcript as it is read, and attaches completed spans to the event that completed them.

In: the items of a source, in order. Out: the same items, but some events now carry spans, so that they are sent,
retried and acknowledged together. Invariant: spans depend on the transcript alone, not on where reading began. When
reading resumes in the middle, as after a restart, the transcript is read again from the beginning of the open turn,
without sending it.

Crash window: if an answer is the last thing in its file, its spans are made two seconds later and travel with the next
event of any source. A crash in between loses these spans, but never an event.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

from collector.delivery.event_fields import fields_of
from collector.delivery.otlp import mapping
from collector.delivery.otlp.conversation import Completed, Conversation, span_id, trace_id
from collector.delivery.otlp.records import INTERNAL, Context, Span
from collector.flow.line import End, Line
from collector.flow.outcome import Item, Sealed

MOST_KNOWN = 4_096  # conversations; a forgotten one is read again if it goes on
MOST_HELD = 500  # items held back after an event, so that the end of the file can still add spans to it
FIRST_REACH, LONGEST_REACH = 128 << 10, 64 << 20
QUIET_SECONDS = 2.0  # the rows of one answer are written together
GIVEN_UP_SECONDS = 3600.0  # how long to wait for the last answer; versions 2.1.12 to 2.1.51 never mark it as such

Before = Callable[[int], Iterable[Item]]


class Tracer:
    """One per flow; used by the thread that reads."""

    def __init__(
        self, machine: dict[str, str], clock: Callable[[], float] = time.time, most_known: int = MOST_KNOWN
    ) -> None:
        self._machine = machine
        self._most_known = most_known
        self._clock = clock
        self._known: OrderedDict[str, Conversation] = OrderedDict()
        self._due: dict[str, float] = {}  # sources whose file ends with an answer -> when it was read
        self._late: list[Completed] = []  # spans that wait for an event to travel with

    def follow(self, key: str, offset: int, items: Iterable[Item], before: Before) -> Iterator[Item]:
        """Passes on the items of a source from an offset on. `before(n)` gives those in the n bytes before it."""
        conversation: Conversation | None = None
        held: list[Item] = []  # an event, and the items after it that have none
        for item in items:
            line, outcome = item
            if conversation is None:
                start = line.offset if isinstance(line, Line) else line.end
                conversation = self._conversation(key, offset if start >= offset else 0, before)
            if isinstance(outcome, Sealed) or len(held) >= MOST_HELD:
                yield from held
                held = []
            if isinstance(outcome, Sealed):
                event = fields_of(outcome)
                spans = conversation.follow(event, self._machine)
                context = conversation.context(event)
                held.append(_with(item, [*([context] if context else ()), *self._take_late(), *spans]))
            elif isinstance(line, End):
                held = self._ended(key, conversation, line, held)
                held.append(item)
            else:
                held.append(item)
            conversation.at = line.end
        yield from held

    def _conversation(self, key: str, offset: int, before: Before) -> Conversation:
        """The conversation up to this offset; if it is not known, rebuilt from the beginning of the open turn."""
        known = self._known.get(key)
        self._due.pop(key, None)
        if known is None or known.at != offset:
            known = self._again(offset, before)
        self._known[key] = known
        self._known.move_to_end(key)
        while len(self._known) > self._most_known:
            self._due.pop(self._known.popitem(last=False)[0], None)
        return known

    def _again(self, offset: int, before: Before) -> Conversation:
        reach = FIRST_REACH
        while True:
            made = Conversation()
            for _, outcome in before(reach) if offset else ():
                if isinstance(outcome, Sealed):
                    made.follow(fields_of(outcome), self._machine)
            made.at = offset
            if made.is_certain or reach >= min(offset, LONGEST_REACH):
                return made
            reach *= 8

    def _ended(self, key: str, conversation: Conversation, end: End, held: list[Item]) -> list[Item]:
        """At the end of the file: closes the turn if it has been quiet for long enough to be over."""
        turn = conversation.turn
        if turn is None:
            return held
        silent = self._clock() - end.reading.stamp.mtime_ns / 1e9
        if silent >= (QUIET_SECONDS if turn.is_answered else GIVEN_UP_SECONDS):
            spans = conversation.close()
            if held and isinstance(held[0][1], Sealed):
                return [_with(held[0], spans), *held[1:]]
            self._late += spans
        elif turn.is_answered:
            self._due[key] = self._clock()
        return held

    def _take_late(self) -> list[Completed]:
        """Spans for the next event to carry, also those of other sources whose turns have been over for a while."""
        if self._due:
            now = self._clock()
            for key in [key for key, read in self._due.items() if now - read >= QUIET_SECONDS]:
                del self._due[key]
                self._late += self._known[key].close()
        late, self._late = self._late, []
        return late


def with_canary_span(event: Sealed, machine: dict[str, str]) -> Sealed:
    """A test event with a span of its own."""
    told = fields_of(event)
    ids, at = (trace_id(told, event.id), span_id("canary", event.id), b""), mapping.nanoseconds(told["time"])
    span = Span(*ids, "canary", INTERNAL, at, at, {})
    return event._replace(beside=(_sealed(Completed(mapping.resource(told, machine), span), event),))


def _with(item: Item, made: Sequence[Completed | Context]) -> Item:
    line, outcome = item
    if not made or not isinstance(outcome, Sealed):
        return item
    sealed = (_sealed(each, outcome) if isinstance(each, Completed) else each for each in made)
    return line, outcome._replace(beside=(*outcome.beside, *sealed))


def _sealed(made: Completed, event: Sealed) -> Sealed:
    """A span that a sealed event completes, as something to be sent. It is made of nothing but sealed events."""
    return event._replace(id=f"span {made.span.span_id.hex()}", body=b"", redactions={}, beside=(made,))
