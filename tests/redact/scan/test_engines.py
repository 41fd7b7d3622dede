"""The two engines find the same; the compiled database is cached, private, and made again when it is damaged."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from collector.log import configure
from collector.redact import Options, Redactor
from collector.redact.rule import AT_KEYS, WIDEST, sample, width
from collector.redact.scan import engines
from collector.redact.scan.compiling import compile_patterns, compiled_elsewhere, hyperscan
from collector.redact.scan.matching import scan_pattern
from collector.redact.table import RULES
from tests.redact.harmless import HARMLESS
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS
from tests.redact.structures.test_private_keys import SHAPES, key_lines
from tests.redactors import KEY

TEXT = "DB_PASSWORD=hunter22x"
FEW = frozenset(rule.id for rule in RULES if rule.id not in {"named-secret", "jwt"})  # compiles in no time


def corpus(redactor: Redactor) -> list[str]:
    texts = [template.replace("@", secret(kinds[0], 5), 1) for _, kinds, template in CONTEXTS]
    texts += [sample(template, 5) for _, template in HARMLESS]
    texts += [sample(example, 5) for rule in redactor.rules for example in (*rule.examples, *rule.near_misses)]
    texts += [shape(key_lines("RSA PRIVATE KEY")) for shape in SHAPES.values()]
    return texts


def test_both_engines_find_the_same_in_every_text(redactor: Redactor, python_redactor: Redactor) -> None:
    assert (redactor.engine_name, python_redactor.engine_name) == ("hyperscan", "python")
    for text in corpus(redactor):
        assert redactor.value(text) == python_redactor.value(text), text


def test_both_engines_find_the_same_in_one_long_text(redactor: Redactor, python_redactor: Redactor) -> None:
    texts = corpus(redactor)
    for joined in ("\n".join(texts), " ".join(texts), ",".join(reversed(texts))):
        assert redactor.value(joined) == python_redactor.value(joined)


def cached(directory: Path) -> Path:
    [file] = directory.glob("rules-*.hyperscan")
    return file


def test_the_database_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Redactor(Options(key=KEY, disabled=FEW, cache_dir=tmp_path / "cache"))
    assert stat.S_IMODE(cached(tmp_path / "cache").stat().st_mode) == 0o600
    for name in ("compile_patterns", "compiled_elsewhere"):
        monkeypatch.setattr(engines, name, lambda _: pytest.fail("compiled again"))
    second = Redactor(Options(key=KEY, disabled=FEW, cache_dir=tmp_path / "cache"))
    assert second.text(TEXT) == first.text(TEXT) != TEXT


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_database_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    Redactor(Options(key=KEY, disabled=FEW, cache_dir=tmp_path))
    whole = cached(tmp_path).read_bytes()
    cached(tmp_path).write_bytes(whole[:-100] if damage is None else damage)
    assert "hunter22x" not in Redactor(Options(key=KEY, disabled=FEW, cache_dir=tmp_path)).text(TEXT)
    assert len(cached(tmp_path).read_bytes()) == len(whole)


class Compilations:
    """How often rules were compiled, and whether anything was loaded that somebody left there."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0

        def counting(patterns: list[str]) -> bytes:
            self.count += 1
            return compiled_elsewhere(patterns)

        patch.setattr(engines, "compiled_elsewhere", counting)


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compilations:
    """Counts from a cache on that holds a database already."""
    assert "hunter22x" not in start(tmp_path / "cache")
    return Compilations(monkeypatch)


def start(directory: Path) -> str:
    return Redactor(Options(key=KEY, disabled=FEW, cache_dir=directory)).text(TEXT)


def blind() -> bytes:
    """A database that finds nothing, with the checksum it needs."""
    body: bytes = hyperscan.dumpb(compile_patterns(["nothing is like this"]))
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def test_a_database_that_does_not_find_what_it_must_is_made_again(tmp_path: Path, compilations: Compilations) -> None:
    file = cached(tmp_path / "cache")
    sound = file.read_bytes()
    file.write_bytes(blind())
    assert "hunter22x" not in start(tmp_path / "cache")
    assert (compilations.count, file.read_bytes() == sound) == (1, True)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_database_that_others_can_write_is_made_again(tmp_path: Path, compilations: Compilations, mode: int) -> None:
    cached(tmp_path / "cache").chmod(mode)
    assert "hunter22x" not in start(tmp_path / "cache")
    assert (compilations.count, stat.S_IMODE(cached(tmp_path / "cache").stat().st_mode)) == (1, 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["file", "directory"])
def test_what_belongs_to_somebody_else_is_not_read(tmp_path: Path, compilations: Compilations, what: str) -> None:
    directory = tmp_path / "cache"
    os.chown(cached(directory) if what == "file" else directory, 12345, 12345)
    assert "hunter22x" not in start(directory)
    assert compilations.count == 1


def test_a_database_that_is_a_link_is_not_followed(tmp_path: Path, compilations: Compilations) -> None:
    file = cached(tmp_path / "cache")
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert "hunter22x" not in start(tmp_path / "cache")
    assert (compilations.count, file.is_symlink()) == (1, False)


def test_a_pipe_in_the_place_of_a_database_keeps_nobody_waiting(tmp_path: Path, compilations: Compilations) -> None:
    file = cached(tmp_path / "cache")
    file.unlink()
    os.mkfifo(file, 0o600)
    assert "hunter22x" not in start(tmp_path / "cache")
    assert (compilations.count, file.is_file()) == (1, True)


def test_a_cache_that_others_can_write_to_is_not_used_and_said_once(
    tmp_path: Path, compilations: Compilations, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "cache"
    directory.chmod(0o770)
    cached(directory).unlink()
    configure()
    for _ in range(2):
        assert "hunter22x" not in start(directory)
    assert (compilations.count, list(directory.iterdir())) == (2, [])
    [line] = capsys.readouterr().err.splitlines()
    assert [word in line for word in ("the cache is not used", str(directory), "chmod 700")] == [True] * 3


def test_all_rules_together_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Compilations(monkeypatch)
    for _ in range(2):
        Redactor(Options(key=KEY, cache_dir=tmp_path / "cache"))
    assert counted.count == 1


def test_other_rules_are_another_database(tmp_path: Path) -> None:
    Redactor(Options(key=KEY, disabled=FEW, cache_dir=tmp_path))
    Redactor(Options(key=KEY, disabled=FEW | {"jwt"}, cache_dir=tmp_path))
    assert len(list(tmp_path.glob("rules-*.hyperscan"))) == 2


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert "hunter22x" not in Redactor(Options(key=KEY, disabled=FEW, cache_dir=blocked)).text(TEXT)


def test_without_the_wheel_auto_takes_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "hyperscan", None)
    redactor = Redactor(Options(key=KEY))
    assert redactor.engine_name == "python"
    assert "hunter22x" not in redactor.text(TEXT)


def test_threads_do_not_disturb_each_other(redactor: Redactor) -> None:
    leaked: list[str] = []

    def work(number: int) -> None:
        for turn in range(50):
            value = secret("drawn", number * 1000 + turn)
            if value in redactor.text(f"{'x ' * 200}API_TOKEN={value}"):
                leaked.append(value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leaked == []


def test_without_a_process_of_its_own_it_compiles_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no interpreter"))
    redactor = Redactor(Options(key=KEY, disabled=FEW, cache_dir=tmp_path / "cache"))
    assert "hunter22x" not in redactor.text(TEXT)
    assert cached(tmp_path / "cache")


def test_a_start_waits_for_no_logger() -> None:
    """structlog and what it imports take longer than reading the compiled rules."""
    code = "import sys, collector.redact; sys.exit('structlog' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_rule_looks_further_than_the_scanner_expects() -> None:
    for rule in RULES:
        if rule.trigger != AT_KEYS:
            longest = max((len(word) for word in rule.keywords), default=-rule.reach)
            assert width(scan_pattern(rule))[1] <= WIDEST + rule.reach + longest, rule.id
            assert rule.reach_back <= WIDEST, rule.id
