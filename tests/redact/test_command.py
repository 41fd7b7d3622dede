"""`collector redact`: text in, text out; JSON values in, findings out; and why."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import typer
from typer.testing import CliRunner

from collector.cli.redact import redact

app = typer.Typer()
app.command()(redact)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all, so that the rules are compiled once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(autouse=True)
def _own_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home))


def run(*arguments: str, given: bytes = b"") -> str:
    result = CliRunner().invoke(app, list(arguments), input=given, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_a_text_is_printed_redacted_and_otherwise_unchanged() -> None:
    out = run(given="first \u00e9\r\nDB_PASSWORD=hunter22x\n\nlast".encode())
    before, _, after = out.partition("[REDACTED:named-secret:")
    assert before == "first \u00e9\nDB_PASSWORD=" or before == "first \u00e9\r\nDB_PASSWORD="
    assert after[12:].replace("\r", "") == "]\n\nlast"


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("DB_PASSWORD=hunter22x")
    assert "hunter22x" not in run(str(tmp_path / "x"))


def test_json_lines_say_what_was_found_and_where() -> None:
    lines = [{"a": [{"text": "see hunter22x"}], "b/c": "DB_PASSWORD=hunter22x"}, "fine", 5, None, {"hunter": 1}]
    out = [orjson.loads(line) for line in run("--jsonl", given=b"\n".join(map(orjson.dumps, lines))).splitlines()]
    assert [line["findings"] for line in out[1:]] == [[], [], [], []]
    assert [line["redacted"] for line in out[1:]] == lines[1:]
    assert sorted(out[0]["findings"], key=lambda finding: str(finding["path"])) == [
        {"rule": "named-secret", "path": "/a/0/text", "start": 4, "end": 13},
        {"rule": "named-secret", "path": "/b~1c", "start": 12, "end": 21},
    ]
    assert "hunter22x" not in str(out)


def test_a_finding_in_a_key_says_so() -> None:
    [line] = run("--jsonl", given=b'{"https://u1:hunter22x@host/": 1}').splitlines()
    [finding] = orjson.loads(line)["findings"]
    assert (finding["in"], finding["start"], finding["end"]) == ("key", 11, 20)


def test_explain_says_which_rule_and_why_and_not_what() -> None:
    out = run("--explain", given=b"a\nDB_PASSWORD=hunter22x\n")
    assert "line 2, column 13, 9 characters: named-secret" in out
    assert "a name that tells" in out
    assert "hunter22x" not in out
    assert run("--explain", given=b"nothing here") == "Nothing found.\n"


def test_a_line_that_is_no_json_is_named() -> None:
    result = CliRunner().invoke(app, ["--jsonl"], input=b'{"a": 1}\n{"a"')
    assert "Line 2 is not JSON" in str(result.exception)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path / "none")])
    assert f"Cannot read {tmp_path / 'none'}" in str(result.exception)
