"""What the packages contain besides the agent: man page, completions, pinned dependencies, scripts, the formula."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from typer.main import get_command

from collector import __version__
from collector.cli import app
from collector.errors import EXIT_CODES

TREE = Path(__file__).parent.parent
PACKAGING = TREE / "packaging"


def command_paths(command: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command a person can type, without the groups."""
    command = command or get_command(app)
    if not hasattr(command, "commands"):
        yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from command_paths(child, (*path, name))


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    """What reference.py prints, by kind."""
    script = str(PACKAGING / "reference.py")
    environment = {"PYTHONPATH": str(TREE), "HOME": "/nonexistent"}
    return {
        kind: subprocess.run(
            [sys.executable, script, kind], capture_output=True, text=True, check=True, env=environment
        ).stdout
        for kind in ("man", "bash", "zsh", "fish")
    }


def test_the_man_page_describes_every_command(reference: dict[str, str]) -> None:
    for path in command_paths():
        assert re.search(rf'^\.SS "collector {" ".join(path)}[ "]', reference["man"], re.MULTILINE), path


def test_the_man_page_lists_every_exit_code(reference: dict[str, str]) -> None:
    section = reference["man"].partition(".SH EXIT STATUS\n")[2].partition(".SH ")[0]
    assert re.findall(r"^\.B (\d+)$", section, re.MULTILINE) == [str(code) for code in EXIT_CODES]


def test_the_man_page_is_clean_troff(reference: dict[str, str]) -> None:
    for line in reference["man"].splitlines():
        assert re.match(r"\.[A-Z]{1,2}( |$)|[^.']", line), f"not a macro, and not text: {line!r}"
    assert "@" not in reference["man"]
    if shutil.which("groff"):
        command = ["groff", "-man", "-ww", "-Tutf8", "-z"]
        done = subprocess.run(command, input=reference["man"], capture_output=True, text=True, check=True)
        assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command(shell: str, reference: dict[str, str]) -> None:
    for path in command_paths():
        assert re.search(rf"\b{path[-1]}\b", reference[shell]), path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_valid(shell: str, reference: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "completion"
    script.write_text(reference[shell])
    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def completed(reference: dict[str, str], *words: str) -> list[str]:
    """What bash offers after these words."""
    listed = " ".join(f"'{word}'" for word in ("collector", *words))
    script = (
        f"{reference['bash']}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words)}; _collector; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_and_values(reference: dict[str, str]) -> None:
    assert completed(reference, "sca") == ["scan"]
    assert completed(reference, "service", "unin") == ["uninstall"]
    assert completed(reference, "service", "install", "--dry") == ["--dry-run"]
    assert completed(reference, "service", "install", "--platform", "l") == ["launchd"]


def test_every_dependency_is_pinned_with_its_hash() -> None:
    text = (PACKAGING / "requirements.txt").read_text()
    pinned = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))
    project = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
    for line in project["dependencies"]:
        wanted = Requirement(line)
        version = pinned.get(canonicalize_name(wanted.name))
        assert version, f"{wanted.name} is missing in packaging/requirements.txt"
        assert version in wanted.specifier, f"{wanted.name}=={version} is not {wanted.specifier}"
    blocks = re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in block for block in blocks)


@pytest.mark.parametrize("script", sorted((PACKAGING / "scripts").iterdir()), ids=lambda path: str(path.name))
def test_the_scripts_of_the_package_start_and_enable_nothing(script: Path) -> None:
    text = re.sub(r"^\s*#.*$", "", script.read_text(), flags=re.MULTILINE)
    assert not re.search(r"systemctl[^\n]*\b(start|enable|restart|preset)\b", text.replace("try-restart", ""))
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


@pytest.mark.parametrize("has_one", [True, False])
def test_nothing_compiled_is_left_of_the_version_before(has_one: bool, tmp_path: Path) -> None:
    """rpm removes that version's files last, and keeps a directory that holds more than those."""
    assert "preinstall: scripts/before-install\n" in (PACKAGING / "nfpm.yaml").read_text()
    library = tmp_path / "collector"
    compiled = library / "site" / "dropped" / "__pycache__" / "dropped.cpython-311.pyc"
    if has_one:
        compiled.parent.mkdir(parents=True)
        compiled.touch()
    script = (PACKAGING / "scripts" / "before-install").read_text().replace("/usr/lib/collector", str(library))
    subprocess.run(["sh", "-c", script, "before-install", "2"], check=True)
    assert [path.name for path in library.rglob("*")] == (["site", "dropped"] if has_one else [])


@pytest.fixture(scope="module")
def build() -> dict[str, Any]:
    """The names defined by packaging/build, which is a program and not a module."""
    names: dict[str, Any] = {"__name__": "build", "__file__": str(PACKAGING / "build")}
    exec(compile((PACKAGING / "build").read_text(), "build", "exec"), names)
    return names


@pytest.mark.parametrize(
    ("words", "wanted"), [([], ["deb", "rpm"]), (["rpm"], ["rpm"]), (["formula", "--url", "https://x"], ["formula"])]
)
def test_both_packages_are_built_by_default(words: list[str], wanted: list[str], build: dict[str, Any]) -> None:
    assert build["_options"](words).what == wanted


def test_every_file_the_package_lists_is_laid_out_for_it(tmp_path: Path, build: dict[str, Any]) -> None:
    build["_lay_out"](tmp_path)
    listed = (PACKAGING / "nfpm.yaml").read_text()
    named = set(re.findall(r"src: ([^,}]+)", listed)) | set(re.findall(r"^ +\w+: (scripts/.+)$", listed, re.MULTILINE))
    made = {"library", "collector.toml", "collector.1.gz", *build["REFERENCE"].values()}
    assert {name for name in named - made if not (tmp_path / name).is_file()} == set()
    units = {path.name for path in (TREE / "systemd").iterdir()}
    assert units <= named, "a unit that no package installs"
    assert build["_version"]() == __version__


def test_the_package_contains_what_the_units_and_the_manual_name() -> None:
    listed = (PACKAGING / "nfpm.yaml").read_text()
    for path in (
        "/usr/lib/collector",
        "/usr/bin/collector",
        "/usr/lib/systemd/user/collector.service",
        "/usr/lib/systemd/system/collector@.service",
        "/usr/share/man/man1/collector.1.gz",
        "/usr/share/bash-completion/completions/collector",
    ):
        assert f"dst: {path}" in listed
    assert re.search(r"dst: /etc/collector/collector.toml, type: config\|noreplace", listed)


def test_the_formula_is_filled_in_for_one_release(tmp_path: Path, build: dict[str, Any]) -> None:
    sdist = tmp_path / "sdist.tar.gz"
    sdist.write_bytes(b"release")
    url = "https://downloads.test/claude_collector.tar.gz"
    text = build["_formula"](tmp_path, tmp_path, url, str(sdist)).read_text()
    assert f'url "{url}"' in text
    assert re.search(r'sha256 "[0-9a-f]{64}"', text)
    assert not re.search(r"@[A-Z]+@", text)
    if shutil.which("ruby"):
        assert subprocess.run(["ruby", "-c"], input=text, text=True, capture_output=True, check=False).returncode == 0


def test_the_repository_contains_no_build_output() -> None:
    git = shutil.which("git")
    if git is None or not (TREE / ".git").exists():
        pytest.skip("not a clone")
    listed = subprocess.run([git, "ls-files", "-z"], cwd=TREE, capture_output=True, text=True, check=True).stdout
    files = [TREE / name for name in listed.split("\0") if name and (TREE / name).is_file()]
    assert len(files) > 100
    assert [file.name for file in files if file.suffix in (".whl", ".gz", ".so", ".pyc")] == []
    assert [file.name for file in files if file.stat().st_size > 500_000] == []
