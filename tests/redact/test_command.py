"""`collector redact`: text in, text out; JSON values in, findings out; explanations on request."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
import typer
from typer.testing import CliRunner

from collector.cli.redact import redact
from collector.reading import parse

app = typer.Typer()
app.command()(redact)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests, so that the rules are compiled once."""
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


def test_explain_names_the_rule_and_the_reason_but_not_the_secret() -> None:
    given = b"a\nDB_PASSWORD=hunter22x\n"
    result = CliRunner().invoke(app, ["--explain"], input=given, catch_exceptions=False)
    assert "line 2, column 13, 9 characters: named-secret" in result.stderr
    assert "a name that says it is a secret" in result.stderr
    assert "hunter22x" not in result.output
    assert re.sub(r":[0-9a-f]{12}]", "", result.stdout) == "a\nDB_PASSWORD=[REDACTED:named-secret\n"
    harmless = CliRunner().invoke(app, ["--explain"], input=b"nothing here", catch_exceptions=False)
    assert (harmless.stdout, harmless.stderr) == ("nothing here", "No secrets found.\n")


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (
            b'{"a": 1}\n\n{"a"\n{"b": 2}\n',
            "Line 3 is not a valid JSON value: Expecting ':' delimiter at character 5.",
        ),
        (b'{"a": 1}\n\0{}\n', "Line 2 is not a valid JSON value: Expecting value at character 1."),
        (b'{"a": 1}\n[%s]\n' % (b'"password=%06dxX",' * 10_001 % tuple(range(10_001)))[:-1], "too much to redact"),
    ],
)
def test_a_line_that_cannot_be_redacted_is_named_and_ends_the_command(given: bytes, what: str) -> None:
    result = CliRunner().invoke(app, ["--jsonl"], input=given)
    assert what in str(result.exception)
    assert result.stdout == '{"redacted":{"a":1},"findings":[]}\n'


ODD_LINES = [
    b'\xef\xbb\xbf{"a": "DB_PASSWORD=hunter22x"}\r\n',
    b'{"a\\ud83d": "lone \\ud83d DB_PASSWORD=hunter22x"}\n',
    b'{"a": "\xff\xfe DB_PASSWORD=hunter22x"}\n',
    b'{"a": [1e400, NaN, -0.0, 18446744073709551615], "b": "DB_PASSWORD=hunter22x"}\n',
    '{"a": "\\u0000\\u008f \U0001f600 DB_PASSWORD=hunter22x\\r\\n"}\n'.encode(),
]


@pytest.mark.parametrize("line", ODD_LINES)
def test_an_odd_line_is_read_as_the_agent_reads_it_and_the_span_is_the_secret(line: bytes) -> None:
    original = parse.load(line)
    [finding] = orjson.loads(run("--jsonl", given=line))["findings"]
    [text] = [value for key, value in original.items() if finding["path"] == f"/{key}"]
    assert text[finding["start"] : finding["end"]] == "hunter22x"


@pytest.mark.parametrize(("opens", "closes"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_a_value_nested_ten_thousand_levels_deep_is_redacted(opens: bytes, closes: bytes) -> None:
    out = run("--jsonl", given=opens * 10_000 + b'"DB_PASSWORD=hunter22x"' + closes * 10_000)
    assert len(orjson.loads(out)["findings"]) == 1
    assert "hunter22x" not in out


def test_text_in_utf_16_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("DB_PASSWORD=hunter22x", encoding="utf-16")
    assert run(str(tmp_path / "x")).startswith("DB_PASSWORD=[REDACTED:")


def test_a_dash_is_standard_input() -> None:
    assert run("-", given=b"fine") == "fine"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [str(tmp_path / "none")])
    assert f"Cannot read {tmp_path / 'none'}" in str(result.exception)
