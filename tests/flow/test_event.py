"""The definition of the event, and the files and pages made from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema

from collector.flow.event import KINDS, SCHEMA
from tests.agents.claude_code.reader import normalized
from tests.agents.claude_code.samples import ALL_RECORDS
from tests.flow import privacy_page
from tests.flow.event_pages import OPEN_PATH, PAGE_PATH, STRICT_PATH, page_text, schema_text
from tests.flow.event_schema import json_schema, open_schema


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every closed object in a schema."""
    if "properties" in schema:
        yield schema
        for part in schema["properties"].values():
            yield from objects(part)
    if "items" in schema:
        yield from objects(schema["items"])


def test_the_schemas_in_the_package_are_current() -> None:
    assert STRICT_PATH.read_text() == schema_text(json_schema()), "run: python -m tests.flow.event_pages"
    assert OPEN_PATH.read_text() == schema_text(open_schema()), "run: python -m tests.flow.event_pages"


def test_the_open_schema_accepts_later_additions_and_nothing_wrong() -> None:
    today = normalized(ALL_RECORDS["assistant_tool_call"])
    tomorrow = today | {"kind": "dream", "origin": "moon", "mood": {"is": "new"}, "quality": ["imagined"]}
    tomorrow |= {"usage": today["usage"] | {"dreamt_tokens": 7}, "host": today["host"] | {"os": "linux"}}
    check, strict = jsonschema.Draft202012Validator(open_schema()), jsonschema.Draft202012Validator(json_schema())
    assert check.is_valid(today)
    assert check.is_valid(tomorrow)
    assert not strict.is_valid(tomorrow)
    for wrong in ({"schema": "collector.event/2"}, {"usage": {"output_tokens": "9"}}, {"time": "now"}, {"id": 7}):
        assert not check.is_valid(today | wrong)


def test_the_page_about_events_is_current() -> None:
    assert PAGE_PATH.read_text() == page_text(), "run: python -m tests.flow.event_pages"


def test_the_schema_is_a_valid_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.Draft202012Validator.check_schema(open_schema())


def test_every_field_has_a_description() -> None:
    for described in objects(json_schema()):
        missing = [name for name, part in described["properties"].items() if not part.get("description")]
        assert not missing, missing


def test_every_object_is_closed_and_lists_its_required_fields() -> None:
    schema = json_schema()
    assert all(part["additionalProperties"] is False for part in objects(schema))
    always = {"id", "schema", "kind", "priority", "time", "host", "client", "source"}
    assert set(schema["required"]) == always
    assert schema["properties"]["host"]["required"] == ["id", "name"]


def test_every_event_names_its_schema_version() -> None:
    properties = json_schema()["properties"]
    assert properties["schema"]["enum"] == [SCHEMA]
    assert properties["kind"]["enum"] == list(KINDS)


def test_the_page_mentions_every_kind_and_every_field() -> None:
    page = PAGE_PATH.read_text()
    names = {*KINDS, *json_schema()["properties"]}
    assert not [name for name in names if f"`{name}`" not in page]


def test_the_page_about_privacy_is_current() -> None:
    assert privacy_page.PAGE_PATH.read_text() == privacy_page.page_text(), "run: python -m tests.flow.privacy_page"
