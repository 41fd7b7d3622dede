"""The layer of the environment: COLLECTOR_* variables, nested with `__`.

In: this process's variables. Out: their values in the shape of the settings, or a ConfigurationError that names the
variable. Invariant: an unknown COLLECTOR_* name is an error.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any, get_origin

from pydantic import BaseModel
from pydantic_settings import EnvSettingsSource, NoDecode, SettingsError

from collector.errors import ConfigurationError
from collector.settings.environment import ENV_PREFIX
from collector.settings.layers import Keys, Layer, Rank
from collector.settings.model import Settings, keys_of, section_of

CONFIG_VARIABLE = "COLLECTOR_CONFIG"
LABEL_PREFIX = "COLLECTOR_LABELS__"


def layer_of_variables(model: type[Settings]) -> Layer:
    """The layer of this process's variables."""
    _refuse_unknown(model)
    return Layer(Rank.ENVIRONMENT, _values(model), lambda keys: f"the environment variable {_name_of(keys)}")


def set_here(also: Collection[str]) -> list[str]:
    """This process's variables that configure collector, plus those in `also`: a service does not receive them."""
    return sorted(name for name in os.environ if name.startswith(ENV_PREFIX) or name in also)


def meant(name: str, known: Sequence[str], mark: str = "`") -> str:
    """A hint at the known name that is closest to an unknown one."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {mark}{close[0]}{mark}?" if close else "`collector config show` lists all settings."


def _values(model: type[Settings]) -> dict[str, Any]:
    """The values from the environment, in the shape of the settings."""
    try:
        # It is meant for models that read the environment themselves, but needs only their fields.
        source = EnvSettingsSource(model, env_prefix=ENV_PREFIX, env_nested_delimiter="__")  # type: ignore[arg-type]
        return _with_lists(source(), model)
    except SettingsError as error:
        variables = " or ".join(sorted(set(os.environ) & set(_json_variables(model)))) or str(error)
        raise ConfigurationError(
            f"The environment variable {variables} must hold valid JSON. Correct it, or unset it."
        ) from None


def _with_lists(values: dict[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """The same, with a list in place of `a,b` wherever that is what it must be; JSON lists work too."""
    for name, value in values.items():
        field = model.model_fields.get(name)
        section = section_of(field) if field else None
        if section and isinstance(value, dict):
            _with_lists(value, section)
        elif field and NoDecode in field.metadata and isinstance(value, str):
            values[name] = _listed(value)
    return values


def _listed(text: str) -> object:
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def _refuse_unknown(model: type[Settings]) -> None:
    """Raises on unknown variables: pydantic reads only those it knows, but a misspelt one must not go unnoticed."""
    known = {ENV_PREFIX + "__".join(keys).upper() for keys in keys_of(model)} | {CONFIG_VARIABLE}
    ours = [name for name in sorted(os.environ) if name.startswith(ENV_PREFIX) and name not in known]
    unknown = [name for name in ours if not name.startswith(LABEL_PREFIX)]
    if unknown:
        raise ConfigurationError("\n".join(_unknown(name, known) for name in unknown))


def _json_variables(model: type[BaseModel], above: str = ENV_PREFIX) -> Iterator[str]:
    """The variables that must hold JSON: sections, tables, and lists that are not split at commas."""
    for name, field in model.model_fields.items():
        variable = above + name.upper()
        if section := section_of(field):
            yield variable
            yield from _json_variables(section, f"{variable}__")
        elif get_origin(field.annotation) in (dict, list) and NoDecode not in field.metadata:
            yield variable


def _unknown(name: str, known: set[str]) -> str:
    return f"The environment variable {name} is not a setting. {meant(name, sorted(known), mark='')}"


def _name_of(keys: Keys) -> str:
    """The variable that sets this key, or a section above it as JSON."""
    names = [ENV_PREFIX + "__".join(keys[:count]).upper() for count in range(len(keys), 0, -1)]
    return next((name for name in names if name in os.environ), names[0])
