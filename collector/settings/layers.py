"""The layers of the configuration: system files, the user's file, the environment, flags. One decides each key.

In: the values of each layer. Out: the values in force, where each comes from, and which ones a lock overrules. Tables
merge key by key, and the layer nearest to the person wins; a list replaces the list below it, except for lists that
only ever hold something back, which add up. Invariant: nothing changes what a layer of lower rank has locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from collector.errors import ConfigurationError

Keys = tuple[str, ...]
NOTHING: Mapping[str, Any] = MappingProxyType({})
# Every no counts: a person can withhold more than the administrator does, but not less.
ADDS_UP = frozenset({"projects.exclude", "redaction.fields", "redaction.personal", "redaction.rules"})


class Rank(IntEnum):
    """The authority of a layer. Files of one rank are one authority: a lock binds only layers that rank above it."""

    SYSTEM = 0
    USER = 1
    ENVIRONMENT = 2
    FLAG = 3


class Layer(NamedTuple):
    """The values of one file, the environment or the command line, and what messages call the place of a key in it."""

    rank: Rank
    values: Mapping[str, Any]
    place_of: Callable[[Keys], str]
    locked: Sequence[str] = ()


class Overruled(NamedTuple):
    """A key that was set but has no effect, because a file of lower rank has locked it."""

    key: str
    place: str
    lock: str
    locked_in: str

    def __str__(self) -> str:
        return f"{self.key} (in {self.place}) has no effect: {self.locked_in} locks {self.lock}"


class Origins(NamedTuple):
    """Where the settings in force come from. Keys are dotted; a key that is not in `places` has its default."""

    files: Sequence[str] = ()
    places: Mapping[str, str] = NOTHING
    locks: Mapping[str, str] = NOTHING
    overruled: Sequence[Overruled] = ()
    lists: Mapping[str, Sequence[Sequence[Any]]] = NOTHING
    """For each key that adds up, the lists of the layers."""
    users_file: str = ""
    """The user's file, even if it does not exist yet."""

    def place(self, key: str) -> str:
        """Where a key, the keys below it or the table that holds it were set; empty for a default."""
        parts = key.split(".")
        above = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
        found = [self.places[name] for name in above if name in self.places][:1]
        found = found or [place for name, place in self.places.items() if name.startswith(f"{key}.")]
        return " and ".join(dict.fromkeys(found))

    def as_dict(self) -> dict[str, Any]:
        """The keys that an administrator has locked, and the settings that have no effect because of that."""
        overruled = list(map(str, self.overruled))
        return {"locked": dict(self.locks), "overruled": overruled, "users_file": self.users_file}

    def locked_by(self, key: str) -> str:
        """The file that locks a key, or a section above it; empty if none does."""
        return next((place for name, place in self.locks.items() if is_below(key, name)), "")


@dataclass(slots=True)
class Merged:
    """The values of all layers so far."""

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    locks: dict[str, tuple[Rank, str]] = field(default_factory=dict)
    overruled: list[Overruled] = field(default_factory=list)
    lists: dict[str, list[list[Any]]] = field(default_factory=dict)

    def add(self, layer: Layer) -> None:
        """Adds a layer that ranks as high as those before it, or higher."""
        for keys, value in leaves(layer.values):
            key, place = ".".join(keys), layer.place_of(keys)
            lock = next(
                (name for name, (rank, _) in self.locks.items() if is_below(key, name) and rank < layer.rank), ""
            )
            if not lock:
                self._set(keys, value, place)
            elif not _is_same(value, _found(self.values, keys)):
                self._overrule(layer, Overruled(key, place, lock, self.locks[lock][1]))
        for name in layer.locked:
            self.locks.setdefault(name, (layer.rank, layer.place_of(())))

    def origins(self, files: Sequence[str], users_file: str) -> Origins:
        """Where all values come from."""
        locks = {name: place for name, (_, place) in self.locks.items()}
        return Origins(tuple(files), self.places, locks, tuple(self.overruled), self.lists, users_file)

    def _overrule(self, layer: Layer, found: Overruled) -> None:
        """A file or a variable may be older than the lock, so the agent ignores it; a flag was given just now."""
        if layer.rank is Rank.FLAG:
            raise ConfigurationError(
                f"{found.key} (in {found.place}) cannot be changed: {found.locked_in} locks {found.lock}. "
                "Leave out the flag, or ask whoever administers this machine."
            )
        self.overruled.append(found)

    def _set(self, keys: Keys, value: Any, place: str) -> None:
        key, table = ".".join(keys), self.values
        for name in keys[:-1]:
            inner = table.get(name)
            if not isinstance(inner, dict):
                inner = table[name] = {}
            table = inner
        if key in ADDS_UP and isinstance(value, list):
            self.lists.setdefault(key, []).append(value)
            before = table.get(keys[-1])
            if isinstance(before, list):
                value = before + [each for each in value if each not in before]
                place = f"{self.places[key]} and {place}"
        table[keys[-1]] = value
        self.places[key] = place


def merge(layers: Sequence[Layer]) -> Merged:
    """Merges layers, given lowest first."""
    merged = Merged()
    for layer in layers:
        merged.add(layer)
    return merged


def leaves(table: Mapping[str, Any], above: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Every value that is not a table, with its keys. Empty tables are ignored."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from leaves(value, (*above, name))
        else:
            yield (*above, name), value


def is_below(key: str, name: str) -> bool:
    """Whether a dotted key has this name, or is in the section of this name."""
    return key == name or key.startswith(f"{name}.")


def _found(values: Mapping[str, Any], keys: Keys) -> Any:
    found: Any = values
    for name in keys:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _is_same(value: Any, in_force: Any) -> bool:
    """Whether a value is the one already in force; variables give it as text."""
    return value == in_force or (in_force is not None and str(value).lower() == str(in_force).lower())
