"""A text without its disguise, and where each part of it stands in the original.

In: pieces of the original, some left out, some replaced. Out: the text that rules see, and a function that maps a span
of it back to the original.
"""

from __future__ import annotations

from bisect import bisect_right


class View:
    """One string, or a part of one, without its disguise. `index` is the segment it belongs to."""

    def __init__(self, index: int, whole: tuple[int, int] | None = None) -> None:
        self.index = index
        self._whole = whole  # what every find stands for, if single characters cannot be mapped
        self._parts: list[str] = []
        self._begins: list[int] = []  # where each part begins in the view
        self._spans: list[tuple[int, int]] = []  # where each part stands in the original
        self._size = 0

    def add(self, text: str, start: int, end: int) -> None:
        """Adds what stands in the original from `start` to `end`, or its replacement."""
        if text:
            self._parts.append(text)
            self._begins.append(self._size)
            self._spans.append((start, end))
            self._size += len(text)

    @property
    def text(self) -> str:
        """What rules see."""
        return "".join(self._parts)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where a span of the view stands in the original."""
        return self._whole or (self._place(start), self._place(end - 1) + 1)

    def _place(self, at: int) -> int:
        part = bisect_right(self._begins, at) - 1
        first, last = self._spans[part]
        return min(first + at - self._begins[part], max(first, last - 1))
