"""Whatever the documents name exists: files, make targets, modules, and what the hooks run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

TREE = Path(__file__).parent.parent
PAPERS = tuple(str(path.relative_to(TREE)) for folder in (TREE, TREE / "docs") for path in folder.glob("*.md"))
ON_OTHER_MACHINES = {"collector/collector.toml", "config/master.key"}  # below ~/.config, and in a Rails project
MAKEFILE = (TREE / "Makefile").read_text()


def named(pattern: str) -> set[tuple[str, str]]:
    """Every match of the pattern in the papers, as (paper, name)."""
    return {(paper, name) for paper in PAPERS for name in re.findall(pattern, (TREE / paper).read_text())}


def test_every_file_that_a_paper_names_exists() -> None:
    files = named(r"`((?:collector|tests|packaging|systemd|launchd|config)/[\w./@-]*)")
    assert len(files) > 10
    assert {
        (paper, name) for paper, name in files if not (TREE / name).exists() and name not in ON_OTHER_MACHINES
    } == set()


def test_every_target_that_a_paper_names_exists() -> None:
    targets = named(r"(?m)(?:`|^    )make ([a-z-]+)")
    assert len(targets) > 5
    known = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    assert {(paper, name) for paper, name in targets if name not in known} == set()


def test_every_module_that_a_paper_runs_exists() -> None:
    modules = named(r"python -m (tests[\w.]+)")
    assert len(modules) > 5
    paths = {(paper, name): TREE.joinpath(*name.split(".")) for paper, name in modules}
    assert {
        named for named, path in paths.items() if not path.is_dir() and not path.with_suffix(".py").exists()
    } == set()


def test_the_readme_lists_every_dependency() -> None:
    project = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
    given = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    named = set(
        re.findall(r"[\w-]+", (TREE / "README.md").read_text().partition("## Dependencies")[2].partition("\n## ")[0])
    )
    assert {re.split("[<>=;]", each)[0] for each in given} - named == set()


def test_every_message_in_the_troubleshooting_table_exists_in_the_code() -> None:
    table = (TREE / "docs/troubleshooting.md").read_text().partition("## By message")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    parts = {part for row in rows for said in re.findall("`([^`]+)`", row) for part in re.split("[….:()]", said)}
    wanted = {part.strip() for part in parts if len(part.strip()) > 8 and not re.match(r" ?HTTP \d", part)}
    source = "".join(path.read_text() for path in (TREE / "collector").rglob("*.py"))
    source = source.replace("{form.title}", "Claude Code").replace('"\n            "', "")
    assert len(wanted) > 15
    assert {part for part in wanted if part not in source} == set()


def test_the_hooks_run_what_make_test_runs() -> None:
    entries = re.findall(r"entry: (.*)", (TREE / ".pre-commit-config.yaml").read_text())
    recipes = [line.strip().replace("$(BIN)", ".venv/bin") for line in MAKEFILE.splitlines() if line.startswith("\t")]
    assert len(entries) == 4
    assert [entry for entry in entries if entry not in recipes and "pytest" not in entry] == []


def test_documented_deletions_name_tables_not_views() -> None:
    named = re.findall(r"ALTER TABLE (\w+) DELETE", (TREE / "docs/privacy.md").read_text())
    tables = re.findall(r"CREATE TABLE (\w+)", (TREE / "config/clickhouse.sql").read_text())
    assert named
    assert set(named) <= set(tables)
