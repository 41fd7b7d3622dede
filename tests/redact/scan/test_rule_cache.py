"""The compiled rules are cached, private, made again if damaged, and never trusted if others could have written them.

Replacing them turns redaction off. `poisoned()` does exactly that, and would pass for the real rules.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from collector.log import configure
from collector.redact import Options, Redactor
from collector.redact.all_rules import RULES
from collector.redact.disguises.pieces import DISGUISES
from collector.redact.marker import OPENING
from collector.redact.redactor import SIGN_OF_A_PAGE
from collector.redact.scan.compiling import compile_patterns, hyperscan
from collector.redact.scan.matching import scan_patterns
from tests.redactors import CACHE, KEY, every_rule

TEXT = "DB_PASSWORD=hunter22x"
# Ten rules that compile fast. With so few, every other rule is a canary, and the one that finds passwords is not one.
CHEAP = [rule.id for rule in RULES if rule.provider in ("GitHub", "GitLab", "Google") and not rule.keywords]
USED = {*CHEAP[:8], "jwt", "named-secret"}
DISABLED = frozenset(rule.id for rule in RULES if rule.id not in USED)


def start(directory: Path) -> str:
    """What TEXT becomes in a redactor that keeps its compiled rules in this directory."""
    return Redactor(Options(key=KEY, disabled=DISABLED, cache_dir=directory)).text(TEXT)


def cached(directory: Path) -> Path:
    """The one file of compiled rules."""
    [file] = directory.glob("rules-*.hyperscan")
    return file


def made(file: Path) -> tuple[int, int]:
    """A value that changes whenever the file is made again."""
    found = file.stat()
    return found.st_ino, found.st_mtime_ns


def with_checksum(patterns: list[str]) -> bytes:
    """Compiled patterns in the form in which the cache keeps them."""
    body: bytes = hyperscan.dumpb(compile_patterns(patterns))
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


@functools.cache
def sound() -> tuple[str, bytes]:
    """The name and the content of the file of compiled rules."""
    with tempfile.TemporaryDirectory() as directory:
        assert "hunter22x" not in start(Path(directory))
        file = cached(Path(directory))
        return file.name, file.read_bytes()


@functools.cache
def poisoned() -> bytes:
    """The compiled rules, except the one that finds passwords."""
    rules = [rule for rule in RULES if rule.id in USED] + [disguise.rule for disguise in DISGUISES] + [SIGN_OF_A_PAGE]
    patterns = [
        f"nothing is like this {number}" if rule.id == "named-secret" else pattern
        for rule in rules
        for number, pattern in enumerate(scan_patterns(rule))
    ]
    return with_checksum([*patterns, re.escape(OPENING.decode())])


def keep(directory: Path, content: bytes) -> None:
    """Puts a file of compiled rules into a directory as the agent does."""
    directory.mkdir(mode=0o700)
    file = directory / sound()[0]
    file.touch(0o600)
    file.write_bytes(content)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache directory with poisoned rules that only this user could have written."""
    directory = tmp_path / "cache"
    keep(directory, poisoned())
    assert "hunter22x" in start(directory), "it is not believed where it must be, so it proves nothing elsewhere"
    return directory


def test_the_database_is_compiled_once(tmp_path: Path) -> None:
    first = start(tmp_path / "cache")
    before = made(cached(tmp_path / "cache"))
    assert stat.S_IMODE(cached(tmp_path / "cache").stat().st_mode) == 0o600
    assert start(tmp_path / "cache") == first != TEXT
    assert made(cached(tmp_path / "cache")) == before


def test_all_rules_together_are_compiled_once() -> None:
    every_rule()  # made by whichever test needed it first
    before = {file: made(file) for file in (CACHE / "collector").glob("rules-*.hyperscan")}
    assert before
    Redactor(Options(key=KEY, cache_dir=CACHE / "collector"))
    assert {file: made(file) for file in (CACHE / "collector").glob("rules-*.hyperscan")} == before


def test_what_earlier_versions_compiled_does_not_pile_up(tmp_path: Path) -> None:
    left = {
        tmp_path / "rules-1.hyperscan": 40,
        tmp_path / "rules-2.hyperscan.7-7.new": 40,
        tmp_path / "rules-3.hyperscan": 1,
    }
    for file, days in left.items():
        file.touch()
        os.utime(file, (time.time() - days * 86400,) * 2)
    start(tmp_path)
    assert {file.name for file, days in left.items() if file.exists()} == {"rules-3.hyperscan"}
    (tmp_path / "rules-3.hyperscan").unlink()
    assert cached(tmp_path).stat().st_size


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_database_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    _, whole = sound()
    keep(tmp_path / "cache", whole[:-100] if damage is None else damage)
    assert "hunter22x" not in start(tmp_path / "cache")
    assert len(cached(tmp_path / "cache").read_bytes()) == len(whole)


def test_a_database_that_misses_what_it_must_find_is_made_again(cache: Path) -> None:
    cached(cache).write_bytes(with_checksum(["nothing is like this"]))
    before = made(cached(cache))
    assert "hunter22x" not in start(cache)
    assert made(cached(cache)) != before


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_database_that_others_can_write_is_made_again(cache: Path, mode: int) -> None:
    cached(cache).chmod(mode)
    assert "hunter22x" not in start(cache)
    assert stat.S_IMODE(cached(cache).stat().st_mode) == 0o600
    assert cached(cache).read_bytes() != poisoned()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_cache_that_belongs_to_somebody_else_is_not_read(cache: Path, what: str) -> None:
    os.chown(cached(cache) if what == "file" else cache, 12345, 12345)
    assert "hunter22x" not in start(cache)


def test_a_database_that_is_a_link_is_not_followed(cache: Path) -> None:
    file = cached(cache)
    file.rename(cache.parent / "elsewhere")
    file.symlink_to(cache.parent / "elsewhere")
    assert "hunter22x" not in start(cache)
    assert not file.is_symlink()
    assert (cache.parent / "elsewhere").read_bytes() == poisoned()


def test_a_pipe_in_place_of_a_database_does_not_block(cache: Path) -> None:
    file = cached(cache)
    file.unlink()
    os.mkfifo(file, 0o600)
    assert "hunter22x" not in start(cache)
    assert file.is_file()


def test_a_cache_that_others_can_write_to_is_not_used_and_reported_once(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache.chmod(0o770)
    configure()
    assert "hunter22x" not in start(cache)
    cached(cache).unlink()
    assert "hunter22x" not in start(cache)
    assert list(cache.iterdir()) == []
    [line] = capsys.readouterr().err.splitlines()
    assert [word in line for word in ("the cache is not used", str(cache), "chmod 700")] == [True] * 3


def test_other_rules_get_another_database(tmp_path: Path) -> None:
    keep(tmp_path / "cache", sound()[1])
    Redactor(Options(key=KEY, disabled=DISABLED | {"jwt"}, cache_dir=tmp_path / "cache"))
    assert len(list((tmp_path / "cache").glob("rules-*.hyperscan"))) == 2


def test_a_cache_that_cannot_be_written_is_not_needed(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert "hunter22x" not in start(blocked)


def test_a_cache_for_which_the_disk_is_too_full_takes_no_room(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))  # a file cannot grow, as on a full disk
    try:
        assert "hunter22x" not in start(tmp_path / "cache")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list((tmp_path / "cache").iterdir()) == []


def test_without_a_process_of_their_own_rules_are_compiled_in_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no interpreter"))
    assert "hunter22x" not in start(tmp_path / "cache")
    assert cached(tmp_path / "cache")


def test_rules_are_compiled_elsewhere_where_only_the_launcher_knows_the_modules() -> None:
    """As in a system package, where the agent kept the memory that compiling takes."""
    start = f"import sys; sys.path[:] = {sys.path}; from collector.redact.scan import compiling; "
    start += "print(bool(compiling.compiled_elsewhere(['a'])))"
    python = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))
    done = subprocess.run([python, "-I", "-c", start], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
