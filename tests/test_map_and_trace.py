"""`make map` counts imports, and `make trace` shows that a line passes only through the rooms of the flow."""

from __future__ import annotations

from tests.map import Edge, by_module, by_room
from tests.trace import outline, traced


def test_the_map_counts_imports_room_by_room_and_names_them_module_by_module() -> None:
    pairs = [("keeping.state", "flow.line"), ("keeping.commit", "flow.line"), ("keeping.commit", "keeping.state")]
    graph = [Edge(importer, imported, 1, True) for importer, imported in pairs]
    modules = ["flow.line", "keeping.commit", "keeping.state"]
    assert [line.split() for line in by_room(graph, modules)[1:]] == [
        ["flow", "1", "nothing"],
        ["keeping", "2", "flow", "2"],
    ]
    assert [line.split() for line in by_module(graph, modules)] == [
        ["flow.line", "nothing"],
        ["keeping.commit", "flow.line", "keeping.state"],
        ["keeping.state", "flow.line"],
    ]


def test_a_line_passes_through_the_rooms_of_the_flow_and_no_others() -> None:
    steps = traced("python")
    rooms = {step.room for step in steps}
    assert {"pipeline", "reading", "agents", "redact", "delivery", "keeping"} <= rooms
    assert rooms & {"service", "inspection", "install", "settings", "store"} == set()
    shown = "\n".join(outline(steps))
    assert all(step.name in shown for step in steps if step.is_function)
