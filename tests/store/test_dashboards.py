"""The dashboards that the repository ships: every panel's question has an answer on the sample data."""

from __future__ import annotations

import json
import re
import time
from contextlib import closing
from pathlib import Path

import pytest

from collector.store.report import asking
from collector.store.writer import Writer
from tests.store.sample_set import sample_events
from tests.store.samples import event, row_of
from tests.store.shipped_dashboards import FILES, PANELS, SOURCES, dashboard
from tests.store.shipped_sql import CONFIG
from tests.store.test_questions import heard, questions


@pytest.mark.parametrize("source", SOURCES)
def test_the_dashboards_are_up_to_date_with_the_questions(source: str) -> None:
    told = (CONFIG / f"grafana-{source}.json").read_text()
    assert told == dashboard(source), "run `python -m tests.store.shipped_dashboards`"


def test_every_question_about_the_fleet_has_a_panel() -> None:
    asked = re.findall(r"^-- (\w+): ", (CONFIG / "fleet.sql").read_text(), re.MULTILINE)
    assert sorted(panel.question for panel in PANELS) == sorted(asked)


def test_every_panel_returns_rows_and_every_chart_finds_its_columns(tmp_path: Path) -> None:
    with closing(Writer(tmp_path / "events.db", own_prices=None)) as writer:
        writer.store(map(row_of, [*sample_events(), *heard(time.time()), event("unknown", record_type="new-thing")]))
    panels = [panel for name in FILES for panel in json.loads((CONFIG / name).read_text())["panels"]]
    known = questions()
    assert {panel["type"] for panel in panels} == {"table", "barchart"}
    with asking(tmp_path / "events.db") as connection:
        for panel, shown in zip(panels, PANELS * len(FILES), strict=True):
            [target] = panel["targets"]
            text = target["rawSql"].partition("\nSETTINGS")[0]
            assert text + ";" == known[shown.question]
            answer = connection.execute(text)
            columns = {column[0] for column in answer.description}
            named = {each["matcher"]["options"] for each in panel.get("fieldConfig", {}).get("overrides", ())}
            assert answer.fetchall(), panel["title"]
            assert named | {panel.get("options", {}).get("xField", "day")} - {"day"} <= columns
            assert panel["type"] != "barchart" or len(columns - named - {"day"}) == 1


def test_panels_do_not_overlap() -> None:
    for name in FILES:
        places = [panel["gridPos"] for panel in json.loads((CONFIG / name).read_text())["panels"]]
        cells = [
            (x, y)
            for at in places
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        ]
        assert len(cells) == len(set(cells))
