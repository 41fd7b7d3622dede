"""Prints who imports whom, room by room: `make map`, or module by module: `make map MODULES=yes`.

In: the code, parsed with ast and never run. Out: text. Imports for types only and imports inside functions count as
well. Imports that the table of rooms (test_rooms.py) does not allow are listed at the end, and make the exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import NamedTuple

from tests.test_rooms import OURS, ROOMS, imports_of, may_import, module_of, name_of, room_of

WIDTH = 120


class Edge(NamedTuple):
    """One module imports another; `line` is where."""

    importer: str
    imported: str
    line: int
    is_allowed: bool


def edges() -> list[Edge]:
    """Every import of a module of ours by another, once for each pair."""
    found: dict[tuple[str, str], Edge] = {}
    for path in OURS:
        importer = module_of(path)
        for line, imported in imports_of(path):
            is_allowed = may_import(room_of(importer), imported)
            if imported != importer:
                found.setdefault((importer, imported), Edge(importer, imported, line, is_allowed))
    return list(found.values())


def by_room(graph: Iterable[Edge], modules: Iterable[str]) -> list[str]:
    """One line per room: how many modules it has, which rooms they import, and how many times."""
    sizes = counted(room_of(module) for module in modules)
    lines = [f"{'room':12} {'modules':>7}  imports (from how many pairs of modules)"]
    for room in sorted(sizes, key=list(ROOMS).index):
        others = (
            room_of(edge.imported)
            for edge in graph
            if room_of(edge.importer) == room and room_of(edge.imported) != room
        )
        listed = [f"{other} {count}" for other, count in sorted(counted(others).items(), key=_by_table)]
        lines += wrapped(f"{room:12} {sizes[room]:7}  ", listed or ["nothing"])
    return lines


def by_module(graph: Iterable[Edge], modules: Iterable[str]) -> list[str]:
    """One line per module: what it imports."""
    imported: dict[str, list[str]] = {module: [] for module in modules}
    for edge in graph:
        imported[edge.importer].append(edge.imported)
    width = max(map(len, imported)) + 2
    lines: list[str] = []
    for module in sorted(imported, key=lambda name: (list(ROOMS).index(room_of(name)), name)):
        lines += wrapped(f"{module:{width}}", sorted(imported[module]) or ["nothing"])
    return lines


def counted(names: Iterable[str]) -> dict[str, int]:
    """How often each name occurs."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def wrapped(head: str, words: list[str]) -> list[str]:
    """The words after the head, on as many lines as they need."""
    lines = [head]
    for word in words:
        if len(lines[-1]) + len(word) > WIDTH:
            lines.append(" " * len(head))
        lines[-1] += f"{word}  "
    return [line.rstrip() for line in lines]


def _by_table(pair: tuple[str, int]) -> int:
    return list(ROOMS).index(pair[0])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", action="store_true", help="module by module")
    options = parser.parse_args()
    graph, modules = edges(), [module_of(path) for path in OURS]
    print("\n".join((by_module if options.modules else by_room)(graph, modules)))
    refused = [edge for edge in graph if not edge.is_allowed]
    print(f"\n{len(modules)} modules, {len(graph)} imports among them, {len(refused)} that the table does not allow")
    paths = {module_of(path): name_of(path) for path in OURS}
    for edge in refused:
        print(f"  {paths[edge.importer]}:{edge.line} imports {edge.imported}")
    sys.exit(bool(refused))


if __name__ == "__main__":
    main()
