"""The rooms: what may be where, and what may import what. The table is the architecture; docs/architecture.md shows it.

One test per law; each lists all offenders at once.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "collector"
OURS = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
ALL = OURS + sorted(path for path in (REPOSITORY / "tests").rglob("*.py") if "__pycache__" not in path.parts)

EVERYBODY = {"collector", "errors", "log", "files"}  # `collector` itself is the version, nothing else
FLOW = {"flow"}
WORKING = FLOW | {"agents", "reading", "redact", "settings", "delivery", "keeping", "store"}
# Each room, and the rooms or single modules that it may import besides itself and what everybody may import.
# A room that is not in this table does not exist.
ROOMS: dict[str, set[str]] = {
    "collector": set(),
    "errors": set(),
    "log": set(),
    "files": set(),
    "flow": set(),
    "agents": FLOW,
    "reading": FLOW | {"agents.format"},
    "redact": FLOW,
    "settings": FLOW,
    "delivery": FLOW | {"settings"},
    "keeping": FLOW | {"reading.opened", "settings"},
    "store": FLOW,
    "way_out": WORKING,
    "pipeline": WORKING | {"way_out"},
    "leaving_out": WORKING | {"pipeline"},
    "assembly": WORKING | {"pipeline", "leaving_out", "way_out"},
    "service": WORKING | {"pipeline", "leaving_out", "assembly"},
    "inspection": WORKING | {"pipeline", "assembly", "way_out", "service"},
    "install": set(),
    "cli": WORKING | {"pipeline", "leaving_out", "assembly", "way_out", "service", "inspection", "install"},
    "__main__": {"cli"},
}
READS_THE_ENVIRONMENT = {"settings"}
PRINTS_OR_EXITS = {"cli", "__main__"}
PROGRAMS = {  # run as processes of their own, whose job is to print and exit
    "collector/redact/scan/compiling.py",
    "collector/redact/own_rules/trial.py",
    "collector/store/asking.py",
}
# What changes the state of a source: these methods of State, and any change to its entries.
STATE, COMMITTER = "collector/keeping/state.py", "collector/keeping/commit.py"
MOVES_OFFSETS = {
    *("advance_offsets", "set_offset", "mark_skipped", "rename_entry", "mark_missing", "drop_entries"),
    "reset_entries",
}
CHANGES_A_DICTIONARY = {"clear", "pop", "popitem", "setdefault", "update"}
# Tables are data, not code: one looks up a single row, so they may be any length.
TABLES = {
    *("collector/redact/formats/providers.py", "tests/redact/harmless/causes.py"),
    *("tests/redact/blind/harmless.py", "tests/redact/blind/told.py", "tests/redact/harmless/outputs.py"),
}
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
NAMES_THAT_SAY_NOTHING = {"utils", "util", "helpers", "helper", "common", "core", "base", "manager", "misc", "types"}
# Where this checkout and this interpreter happen to be: the paths that would slip into a file by accident.
MACHINE_PATHS = {str(REPOSITORY), sys.prefix, sys.base_prefix} - {"/usr", "/usr/local", "/"}


def name_of(path: Path) -> str:
    """The path as messages show it."""
    return path.relative_to(REPOSITORY).as_posix()


def module_of(path: Path) -> str:
    """`flow.event` for collector/flow/event.py; `collector` for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__") or "collector"


def room_of(module: str) -> str:
    """The room that a module is in."""
    return module.partition(".")[0]


def agent_of(module: str) -> str:
    """The package of a coding agent that a module is in: `agents.claude_code`."""
    return ".".join(module.split(".")[:2])


def is_module(name: str) -> bool:
    """Whether this is one of our modules rather than a name inside one."""
    place = PACKAGE.joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every one of our modules that a file imports, at any depth of its code, imports for types only included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("."):
                yield node.lineno, name  # a relative import is in no room, so it is refused: write the full name
            elif name == "collector" or name.startswith("collector."):
                inner = name.removeprefix("collector").removeprefix(".")
                while inner and not is_module(inner):
                    inner = inner.rpartition(".")[0]
                yield node.lineno, inner or "collector"


def may_import(room: str, module: str) -> bool:
    """Whether the table allows it."""
    allowed = ROOMS[room] | EVERYBODY | {room}
    return any(module == each or module.startswith(f"{each}.") for each in allowed)


def calls_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every call and attribute of a file as dotted text, with its line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.lineno, ast.unparse(node.func)
        elif isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node)


def uses(pattern: str, *, allowed_in: set[str]) -> list[str]:
    """Where a call or attribute that matches is used outside the rooms it is allowed in."""
    return [
        f"{name_of(path)}:{line} {text}"
        for path in OURS
        if room_of(module_of(path)) not in allowed_in and name_of(path) not in PROGRAMS
        for line, text in calls_of(path)
        if re.match(pattern, text)
    ]


def test_every_module_stands_in_a_room() -> None:
    assert [name_of(path) for path in OURS if room_of(module_of(path)) not in ROOMS] == []


def test_a_room_imports_only_what_the_table_allows() -> None:
    assert [
        f"{name_of(path)}:{line} imports {module}"
        for path in OURS
        for line, module in imports_of(path)
        if not may_import(room_of(module_of(path)), module)
    ] == []


def test_nothing_but_the_registry_knows_an_agent() -> None:
    assert [
        f"{name_of(path)}:{line} imports {module}"
        for path in OURS
        for line, module in imports_of(path)
        if module.startswith("agents.") and module not in {"agents.format", "agents.registry"}
        if module_of(path) != "agents.registry" and agent_of(module_of(path)) != agent_of(module)
    ] == []


def test_the_environment_is_read_in_settings_only() -> None:
    pattern = r"(os\.)?(environ|environb|getenv|putenv)\b"
    assert uses(pattern, allowed_in=READS_THE_ENVIRONMENT) == []


def test_only_the_command_line_prints_or_exits() -> None:
    pattern = r"(print|exit|quit|input|sys\.exit|os\._exit|sys\.stdout\b.*|typer\.(echo|secho|Exit)|rich\.print)$"
    assert uses(pattern, allowed_in=PRINTS_OR_EXITS) == []


def moves_of(path: Path) -> Iterator[tuple[int, str]]:
    """Where a file moves an offset: by a method of the state, or by changing its entries."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Attribute | ast.Subscript):
            continue
        is_changed = not isinstance(node.ctx, ast.Load)
        if isinstance(node, ast.Attribute):
            is_entries = isinstance(node.value, ast.Attribute) and node.value.attr == "entries"
            is_move = (
                node.attr in MOVES_OFFSETS
                or (is_entries and node.attr in CHANGES_A_DICTIONARY)
                or (is_changed and node.attr == "entries")
            )
        else:
            is_move = is_changed and isinstance(node.value, ast.Attribute) and node.value.attr == "entries"
        if is_move:
            yield node.lineno, ast.unparse(node)


def test_keeping_reads_files_in_a_way_that_never_blocks_on_a_pipe() -> None:
    found = [
        f"{name_of(path)}:{line} {call}"
        for path in (PACKAGE / "keeping").glob("*.py")
        for line, call in calls_of(path)
        if call.endswith((".read_bytes", ".read_text"))
    ]
    assert found == [], "use collector.files.read_plain"


def test_offsets_move_in_the_committer_only() -> None:
    assert [
        f"{name_of(path)}:{line} {text}"
        for path in OURS
        if name_of(path) not in {STATE, COMMITTER}
        for line, text in moves_of(path)
    ] == []


def test_every_offset_moving_method_exists_and_is_used_by_the_committer() -> None:
    """Otherwise renaming a method would quietly lift the ban on it."""
    assert {text.rpartition(".")[2] for _, text in moves_of(REPOSITORY / COMMITTER)} == MOVES_OFFSETS
    methods = {node.name for node in ast.walk(ast.parse((REPOSITORY / STATE).read_text())) if hasattr(node, "name")}
    assert methods >= MOVES_OFFSETS


def test_files_stay_short() -> None:
    lengths = {name_of(path): len(path.read_text().splitlines()) for path in ALL}
    too_long = {name: lines for name, lines in lengths.items() if lines > MAX_FILE_LINES}
    assert {name: lines for name, lines in too_long.items() if not name.startswith(tuple(TABLES))} == {}


def test_functions_stay_short() -> None:
    assert [
        f"{name_of(path)}: {node.name} has {(node.end_lineno or 0) - node.lineno + 1} lines"
        for path in ALL
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    ] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [name_of(path) for path in ALL if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    stems = {name_of(path): {part.removesuffix(".py") for part in Path(name_of(path)).parts} for path in ALL}
    assert [name for name, parts in stems.items() if parts & NAMES_THAT_SAY_NOTHING] == []


def test_recipes_are_not_importable() -> None:
    """A package with such a name would shadow a real one."""
    recipes = ("packaging", "systemd", "launchd", "config")
    assert [name_of(path) for name in recipes for path in (REPOSITORY / name).rglob("__init__.py")] == []


def test_nothing_names_this_machine() -> None:
    suffixes = {".py", ".md", ".toml", ".sql", ".service", ".plist", ".sh", ".json", ".yaml", ".txt", ".rb"}
    passed_over = {".git", ".venv", "__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache", "build", "dist"}
    texts = {
        name_of(path): path.read_text(errors="replace")
        for path in REPOSITORY.rglob("*")
        if path.suffix in suffixes and path.is_file() and not passed_over & set(path.parts) and path != Path(__file__)
    }
    assert [
        f"{name} names {place}"
        for name, text in texts.items()
        for place in MACHINE_PATHS
        if re.search(re.escape(place) + r"\b", text)
    ] == []
