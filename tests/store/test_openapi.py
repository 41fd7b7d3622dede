"""The published contract describes what the receiver really does."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from collector.flow.event import SCHEMA
from tests.flow.event_schema import json_schema
from tests.store.samples import Client, event, lines

DOCUMENT: dict[str, Any] = json.loads((resources.files("collector.store") / "openapi.json").read_text())


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({**DOCUMENT, "$ref": f"#/components/schemas/{name}"})


def test_every_schema_is_valid() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert schemas
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def test_the_receiver_serves_the_document(client: Client) -> None:
    assert httpx.get(httpx.URL(client.url).join("/openapi.json")).json() == DOCUMENT


def test_the_receiver_serves_every_published_path(client: Client) -> None:
    for path, operations in DOCUMENT["paths"].items():
        for method in operations:
            response = client.http.request(method.upper(), httpx.URL(client.url).join(path))
            assert str(response.status_code) in operations[method]["responses"]


def test_every_answer_is_published_and_matches_its_schema(client: Client) -> None:
    answers = {
        200: client.post(lines([event(), event() | {"kind": ""}])),
        400: client.post(b"garbage"),
        401: httpx.post(client.url),
        403: client.post(b"", Origin="https://example.com"),
        413: client.post(bytes(17 * 2**20)),
        415: client.post(b"", "text/html"),
    }
    published = DOCUMENT["paths"]["/v1/events"]["post"]["responses"]
    for status, answer in answers.items():
        assert answer.status_code == status
        assert str(status) in published
        validator("Receipt" if status == 200 else "Error").validate(answer.json())


def test_health_matches_its_schema(client: Client) -> None:
    validator("Health").validate(httpx.get(httpx.URL(client.url).join("/health")).json())


def test_the_published_event_schema_agrees_with_the_full_one() -> None:
    full = json_schema()
    for name, published in DOCUMENT["components"]["schemas"]["Event"]["properties"].items():
        assert name in full["required"]
        if "pattern" in published:
            assert full["properties"][name]["pattern"] == published["pattern"]
    assert DOCUMENT["components"]["schemas"]["Event"]["properties"]["schema"]["const"] == SCHEMA


def test_the_documented_example_is_accepted(client: Client) -> None:
    example = DOCUMENT["components"]["schemas"]["Event"]["examples"][0]
    validator("Event").validate(example)
    assert client.send(example)["accepted"] == 1
