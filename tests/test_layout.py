"""The architecture of DESIGN section 11, as rules: who may import whom, who may print, how long things get."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "collector"
OURS = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
ALL = OURS + sorted(path for path in (REPOSITORY / "tests").rglob("*.py") if "__pycache__" not in path.parts)

STAGES = {"discover", "tail", "snapshot", "normalize", "redact", "batch", "deliver", "commit"}
# Each may import itself and what stands further down; agent.py puts the parts together for scan and run alike.
RANKS = [{"__main__"}, {"cli"}, {"service"}, {"agent"}, {"pipeline"}, STAGES]
# A verb that needs a second file: still one stage.
SAME_STAGE = {"sending": "deliver", "passes": "service", "overview": "service", "doctor": "service"}
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "core", "base", "manager", "misc", "types"}
# Tables are data, not code: rules and schemas are read by looking one entry up.
TABLES = {"collector/redact/rules"}
# Where this checkout and this interpreter happen to lie; on the author's machine these are what would slip in.
MACHINE_PATHS = {str(REPOSITORY), sys.prefix, sys.base_prefix} - {"/usr", "/usr/local", "/"}


def name_of(path: Path) -> str:
    """The path as it is said in messages."""
    return path.relative_to(REPOSITORY).as_posix()


def part_of(path: Path) -> str:
    """The top-level part of the package that a file belongs to: `discover`, `cli`, `redact`, ..."""
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return SAME_STAGE.get(part, part)


def rank_of(part: str) -> int:
    """How far down the flow a part stands; nouns are last."""
    return next((rank for rank, parts in enumerate(RANKS) if part in parts), len(RANKS))


def imports_of(path: Path) -> Iterator[str]:
    """The parts of our package that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pytest.fail(f"{name_of(path)}:{node.lineno} imports relatively; write the full name")
        else:
            continue
        for name in names:
            if name.startswith("collector."):
                part = name.split(".")[1]
                yield SAME_STAGE.get(part, part)


def calls_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every call and attribute of a file as dotted text, with its line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.lineno, ast.unparse(node.func)
        elif isinstance(node, ast.Attribute):
            yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    for imported in imports_of(path):
        if imported == part or imported == "__version__":
            continue
        is_stage_to_stage = part in STAGES and imported in STAGES
        assert not is_stage_to_stage, f"{name_of(path)}: stage {part} imports stage {imported}"
        assert rank_of(part) < rank_of(imported) or rank_of(part) == rank_of(imported) == len(RANKS), (
            f"{name_of(path)}: {part} imports {imported}, which stands above it in the flow"
        )


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_the_environment_is_read_in_settings_only(path: Path) -> None:
    if part_of(path) == "settings":
        return
    found = [line for line, text in calls_of(path) if re.match(r"(os\.)?(environ|environb|getenv|putenv)\b", text)]
    assert not found, f"{name_of(path)} reads the environment in line {found}; settings.py is the place"


@pytest.mark.parametrize("path", OURS, ids=name_of)
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    if part_of(path) in {"cli", "__main__"}:
        return
    talks = r"(print|exit|quit|input|sys\.exit|os\._exit|sys\.stdout\b.*|typer\.(echo|secho|Exit)|rich\.print)$"
    found = [(line, text) for line, text in calls_of(path) if re.match(talks, text)]
    assert not found, f"{name_of(path)} prints or exits: {found}"


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_files_stay_short(path: Path) -> None:
    if any(name_of(path).startswith(table) for table in TABLES):
        return
    lines = len(path.read_text().splitlines())
    assert lines <= MAX_FILE_LINES, f"{name_of(path)} has {lines} lines: a concept is missing"


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_functions_stay_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= MAX_FUNCTION_LINES, f"{name_of(path)}: {node.name} has {lines} lines"


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), f"{name_of(path)} has no docstring"


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_no_module_has_a_name_that_says_nothing(path: Path) -> None:
    assert not FORBIDDEN_NAMES & {part.removesuffix(".py") for part in path.relative_to(REPOSITORY).parts}


@pytest.mark.parametrize("directory", ["packaging", "systemd", "launchd", "config"])
def test_recipes_are_not_importable(directory: str) -> None:
    modules = [name_of(path) for path in (REPOSITORY / directory).rglob("__init__.py")]
    assert not modules, "a package of this name would shadow a real one"


def test_nothing_names_this_machine() -> None:
    suffixes = {".py", ".md", ".toml", ".sql", ".service", ".plist", ".sh", ".json", ".yaml", ".txt", ".rb"}
    skipped = {".git", ".venv", "__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache", "build", "dist"}
    for path in REPOSITORY.rglob("*"):
        if path.suffix in suffixes and path.is_file() and not skipped & set(path.parts) and path != Path(__file__):
            text = path.read_text(errors="replace")
            found = [place for place in MACHINE_PATHS if re.search(re.escape(place) + r"\b", text)]
            assert not found, f"{name_of(path)} names a path of one machine: {found}"
