"""A section of the configuration: a table that rejects unknown keys, and booleans where numbers belong.

In: the values from a file, the environment or a flag. Out: a frozen model, or pydantic's error.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

YEAR = 31_536_000
Seconds = Annotated[float, Field(le=YEAR)]  # the system cannot wait much longer than that


def not_empty(path: str) -> str:
    """The path. An empty one would be the directory in which this process was started."""
    if not path:
        raise ValueError("must not be empty")
    return path


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_switch_is_a_number(cls, value: object, info: ValidationInfo) -> object:
        """Pydantic would take `timeout = true` for one second."""
        if isinstance(value, bool) and info.field_name is not None:
            annotation = cls.model_fields[info.field_name].annotation
            for kind in get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,):
                if kind in (int, float):
                    raise PydanticCustomError(f"{kind.__name__}_type", "must be a number")
        return value
