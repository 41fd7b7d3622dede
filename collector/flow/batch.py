"""A batch: events that travel together, and the offsets that their acknowledgement makes safe (promise 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from collector.flow.counts import Counts
from collector.flow.line import Line, position_after
from collector.flow.outcome import Quarantined, Sealed
from collector.flow.source import Position


@dataclass(slots=True)
class Batch:
    """Events in reading order, and what their acknowledgement makes safe."""

    events: list[Sealed] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)  # (source key, line offset) of each event
    # source key -> the last item that may move its offset, or after a source's End the position, which holds no bytes
    ends: dict[str, Line | Position] = field(default_factory=dict)
    counts: dict[str, Counts] = field(default_factory=dict)  # source key -> its lines, if all events are accepted
    quarantined: list[Quarantined] = field(default_factory=list)
    size: int = 0

    @property
    def companions(self) -> Batch:
        """What its events bring along, to be sent before them, each at the place of its event."""
        brought = Batch()
        for event, place in zip(self.events, self.places, strict=True):
            for made in event.beside:
                if isinstance(made, Sealed):
                    brought.events.append(made)
                    brought.places.append(place)
        return brought

    @property
    def positions(self) -> dict[str, Position]:
        """Source key -> the position that an acknowledgement of this batch makes safe."""
        return {key: item if isinstance(item, Position) else position_after(item) for key, item in self.ends.items()}
