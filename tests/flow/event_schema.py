"""The JSON Schemas of the event, made from its definition."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, get_args, get_origin, get_type_hints, is_typeddict

from collector.flow.event import SCHEMA, Event

SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
}


def json_schema() -> dict[str, Any]:
    """The strict JSON Schema (draft 2020-12): exactly the events of this version."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **object_schema(Event),
    }


def open_schema() -> dict[str, Any]:
    """The JSON Schema for receivers. It also accepts what later versions may add: new fields and new enum values."""
    made: dict[str, Any] = opened(json_schema())
    made["properties"]["schema"] = {"const": SCHEMA, "description": made["properties"]["schema"]["description"]}
    return made


def opened(part: Any) -> Any:
    """Opens a part of a schema: objects accept new fields, and enum values become mere examples."""
    if type(part) is list:
        return [opened(inner) for inner in part]
    if type(part) is not dict:
        return part
    made = {key: opened(value) for key, value in part.items()}
    if made.get("additionalProperties") is False:
        del made["additionalProperties"]
    if "enum" in made:
        made["type"], made["examples"] = "string", made.pop("enum")
    return made


def object_schema(definition: Any) -> dict[str, Any]:
    """The schema of a TypedDict. It is closed, so that every new field must be added here first."""
    hints = get_type_hints(definition, include_extras=True)
    return {
        "description": (definition.__doc__ or "").strip(),
        "type": "object",
        "properties": {name: type_schema(hint) for name, hint in hints.items()},
        "required": [name for name, hint in hints.items() if definition.__total__ or get_origin(hint) is Required],
        "additionalProperties": False,
    }


def type_schema(hint: Any) -> dict[str, Any]:
    """The schema of one type; Annotated adds a description (a string) or constraints (a dict)."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Required:
        return type_schema(arguments[0])
    if origin is Annotated:
        schema = type_schema(arguments[0])
        for note in arguments[1:]:
            schema |= {"description": note} if isinstance(note, str) else note
        return schema
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": type_schema(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": type_schema(arguments[1])}
    if is_typeddict(hint):
        return object_schema(hint)
    return dict(SIMPLE[hint])
