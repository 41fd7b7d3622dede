"""What a page is about: the period and the filters, as its address gives them.

In: a query string. Out: a Selection, the period before it, and addresses of the same page with something changed.
Invariant: every address gives a page; parameters that make no sense are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from collector.store.queries import Selection

FILTERS = ("project", "model", "host", "user", "agent")
PERIODS = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "1 year", "all": "all time"}
USUAL_PERIOD = "30"
DIMENSIONS = {"model": "model", "project": "project", "host": "host", "user": "user", "agent": "agent"}
METRICS = {"cost": "cost", "output": "output tokens", "tokens": "all tokens"}
KEPT = (*FILTERS, "days", "since", "until")  # parameters that go along to the next page
MANY_DAYS, VERY_MANY_DAYS = 120, 750
LONGEST, LARGEST = 512, 10**9


class Chosen(NamedTuple):
    """The choice of one request. `oldest` and `newest` are the first and the last day with anything in the store."""

    given: Mapping[str, str]
    path: str
    newest: date
    oldest: date

    @property
    def days(self) -> str:
        """The name of the period; empty if days are given instead."""
        if self._day("since") or self._day("until"):
            return ""
        return self.given.get("days", "") if self.given.get("days") in PERIODS else USUAL_PERIOD

    @property
    def since(self) -> date:
        """The first day."""
        if self.days == "all":
            return self.oldest
        if self.days:
            return self.until - timedelta(days=int(self.days) - 1)
        return min(max(self._day("since") or self.oldest, self.oldest), self.until)

    @property
    def until(self) -> date:
        """The last day."""
        return max(self.oldest, min(self._day("until") or self.newest, self.newest))

    @property
    def by(self) -> str:
        """What figures are split by."""
        return self._one_of("by", DIMENSIONS, "model")

    @property
    def metric(self) -> str:
        """The figure that the chart shows."""
        return self._one_of("metric", METRICS, "cost")

    @property
    def bucket(self) -> str:
        """What one bar stands for: a day, a week or a month."""
        days = (self.until - self.since).days + 1
        return "day" if days <= MANY_DAYS else "week" if days <= VERY_MANY_DAYS else "month"

    @property
    def selection(self) -> Selection:
        """The choice as the store's queries take it."""
        named = {name: value for name in FILTERS if (value := self.filter(name)) is not None}
        if self.days == "all":
            return Selection(**named)  # events without a time as well
        return Selection(self.since.isoformat(), self.until.isoformat(), **named)

    @property
    def before(self) -> Selection | None:
        """The same for the period of equal length just before this one; None if everything is chosen."""
        if self.days == "all":
            return None
        length = self.until - self.since + timedelta(days=1)
        first, last = self.since - length, self.since - timedelta(days=1)
        return self.selection._replace(since=first.isoformat(), until=last.isoformat())

    def filter(self, name: str) -> str | None:
        """The value of a filter; None if it is not set."""
        value = self.given.get(name)
        return value[:LONGEST] if value else None

    def text(self, name: str, most: int = LONGEST) -> str:
        """Any other parameter."""
        return self.given.get(name, "")[:most]

    def number(self, name: str) -> int:
        """A parameter that is a number; 0 if it is not one."""
        value = self.given.get(name, "")
        return min(int(value), LARGEST) if value.isascii() and value.isdigit() and len(value) < 20 else 0

    def link(self, path: str = "", **changes: str | int | None) -> str:
        """The address of this page with some parameters changed, or of another page with the same filters."""
        kept = {name: self.given[name] for name in (KEPT if path else self.given) if self.given.get(name)}
        if "days" in changes:
            kept.pop("since", None)
            kept.pop("until", None)
        kept |= {name: str(value) for name, value in changes.items() if value is not None}
        kept = {name: value for name, value in kept.items() if value and changes.get(name, value) is not None}
        return (path or self.path) + (f"?{urlencode(kept)}" if kept else "")

    def _day(self, name: str) -> date | None:
        try:
            return date.fromisoformat(self.given.get(name, ""))
        except ValueError:
            return None

    def _one_of(self, name: str, known: Mapping[str, str], usual: str) -> str:
        value = self.given.get(name, usual)
        return value if value in known else usual


def every_bucket(since: date, until: date, bucket: str) -> list[str]:
    """The names of all bars from the first day to the last, including empty ones."""
    names: dict[str, None] = {}
    for number in range((until - since).days + 1):
        day = since + timedelta(days=number)
        if bucket == "week":
            day -= timedelta(days=day.weekday())
        names[day.isoformat()[: 7 if bucket == "month" else 10]] = None
    return list(names)


def today() -> date:
    """Today in UTC, as the store counts days."""
    return datetime.now(UTC).date()
