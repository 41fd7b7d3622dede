"""Writes the Grafana dashboards that the repository ships, from the questions in config/fleet.sql.

    python -m tests.store.shipped_dashboards       # config/grafana-*.json

Every panel is a question and takes its title and SQL from it. So whatever the tests of the questions prove in every
engine also holds for the dashboards. A test fails when a file is out of date.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tests.store.shipped_sql import CONFIG

QUESTION = re.compile(r"^-- (\w+): (.*)\n((?:.+\n)+?.*;)", re.MULTILINE)
MANNER = "SETTINGS prefer_column_name_to_alias = 1, cast_keep_nullable = 1"
# The plugin of each data source, and the keys its targets need besides the SQL.
SOURCES: dict[str, tuple[str, dict[str, Any]]] = {
    "postgresql": ("grafana-postgresql-datasource", {"format": "table", "rawQuery": True, "editorMode": "code"}),
    "clickhouse": ("grafana-clickhouse-datasource", {"format": 1, "queryType": "table", "editorType": "sql"}),
}
FILES = tuple(f"grafana-{source}.json" for source in SOURCES)
WHOLE, HALF = 24, 12


class Panel(NamedTuple):
    """One panel: its question, its type, its width, and the columns a chart leaves out."""

    question: str
    kind: str = "table"
    width: int = HALF
    left_out: tuple[str, ...] = ()


PANELS = (
    Panel("silent"),
    Panel("lagging"),
    Panel("quarantining"),
    Panel("problems"),
    Panel("cost_per_day", "barchart", left_out=("output_tokens", "messages_without_price", "people", "hosts")),
    Panel("events_per_day", "barchart", left_out=("hosts", "sessions")),
    Panel("versions"),
    Panel("configurations"),
    Panel("claude_code_versions"),
    Panel("unknown_records"),
)


def dashboard(source: str) -> str:
    """The text of one file, which Grafana can both import and provision."""
    told = {name: (title, text) for name, title, text in QUESTION.findall((CONFIG / "fleet.sql").read_text())}
    panels, across, down = [], 0, 0
    for number, panel in enumerate(PANELS, 1):
        if across + panel.width > WHOLE:
            across, down = 0, down + 8
        title, text = told[panel.question]
        place = {"h": 8, "w": panel.width, "x": across, "y": down}
        panels.append(_panel(panel, number, title, text, source) | {"gridPos": place})
        across += panel.width
    kind, _ = SOURCES[source]
    chosen = {"name": "datasource", "label": "Data source", "type": "datasource", "query": kind}
    made = {
        "title": "collector: the fleet",
        "uid": f"collector-fleet-{source}",
        "description": "Who is there, who is behind, what runs where, and what it costs. Made from config/fleet.sql.",
        "tags": ["collector"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "5m",
        "time": {"from": "now-30d", "to": "now"},
        "templating": {"list": [chosen]},
        "panels": panels,
    }
    return json.dumps(made, indent=2) + "\n"


def _panel(panel: Panel, number: int, title: str, text: str, source: str) -> dict[str, Any]:
    kind, more = SOURCES[source]
    asked = text.rstrip(";\n") + (f"\n{MANNER}" if source == "clickhouse" else "")
    where = {"type": kind, "uid": "${datasource}"}
    made = {
        "id": number,
        "title": title,
        "type": panel.kind,
        "datasource": where,
        "targets": [{"refId": "A", "datasource": where, "rawSql": asked, **more}],
    }
    if panel.kind == "barchart":
        hidden = {"custom.hideFrom": {"legend": True, "tooltip": False, "viz": True}}
        made["options"] = {"xField": "day", "legend": {"showLegend": False}}
        made["fieldConfig"] = {
            "defaults": {},
            "overrides": [
                {
                    "matcher": {"id": "byName", "options": name},
                    "properties": [{"id": key, "value": value} for key, value in hidden.items()],
                }
                for name in panel.left_out
            ],
        }
    return made


if __name__ == "__main__":
    for source in SOURCES:
        (CONFIG / f"grafana-{source}.json").write_text(dashboard(source))
