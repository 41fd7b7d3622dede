"""The service's figures about itself: lag and totals add up."""

from __future__ import annotations

from collector.flow.ledger import Ledger
from collector.flow.source import Source, SourceKind, Stamp
from collector.reading.discover import Findings
from collector.service.figures import Lag, Totals
from tests.scopes import root_of


def source(key: str, priority: int, size: int) -> Source:
    stamp = Stamp(size, 1, 1)
    return Source(root_of("/r", "r"), f"/r/{key}", key, SourceKind("session", priority), "", "", "", stamp)


def everything(each: Source) -> int:
    return each.stamp.size


def test_lag_is_reported_by_priority_and_sources_at_rest_have_none() -> None:
    lag = Lag()
    lag.take_all(Findings([source("a", 0, 10), source("b", 0, 0), source("c", 2, 7)], at_rest={0: 3, 1: 1}), everything)
    assert lag.by_priority() == {
        "P0": {"sources": 5, "behind": 1, "lag": 10},
        "P1": {"sources": 1, "behind": 0, "lag": 0},
        "P2": {"sources": 1, "behind": 1, "lag": 7},
    }


def test_updating_some_sources_leaves_the_others_as_they_were() -> None:
    lag = Lag()
    lag.take_all(Findings([source("a", 0, 10), source("b", 0, 5), source("c", 0, 3)]), everything)
    lag.take([source("a", 0, 0), source("b", 0, 6)], everything, gone=["c"])
    assert lag.by_priority() == {"P0": {"sources": 3, "behind": 1, "lag": 6}}


def test_totals_of_a_running_pass_are_not_counted_twice() -> None:
    totals, ledger = Totals(), Ledger(batches=2, bytes=10)
    ledger.redactions["aws"] = 1
    totals.add(Ledger(batches=1))
    assert totals.with_ledger(ledger).as_dict()["batches"] == 3
    assert totals.as_dict()["batches"] == 1
    totals.add(ledger)
    assert totals.as_dict()["redactions"] == {"aws": 1}
