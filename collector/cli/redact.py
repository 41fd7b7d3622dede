"""`collector redact`: a text or JSON values in, the same without secrets out; says which rule found what and why."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import orjson
import typer

from collector import cut, settings
from collector.errors import CollectorError
from collector.log import printable
from collector.redact import Finding, Redactor, TimeOut, TooMany


def redact(
    file: Annotated[
        Path | None, typer.Argument(help="What to read; default: standard input.", show_default=False)
    ] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="One JSON value a line in, {redacted, findings} a line out.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Which rule found what, and why, in place of the text.")
    ] = False,
    config: Annotated[Path | None, typer.Option(help="The configuration file.")] = None,
) -> None:
    """Prints a text without its secrets; or, with --jsonl, JSON values and what was found in them."""
    from collector.agent import load_installation, make_redactor

    chosen = settings.load(config)
    installation = load_installation(chosen.state_path.with_name("installation.json"), may_write=False)
    redactor = make_redactor(chosen, installation.key)
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if file is None else _opened(file) as stream:
            if jsonl:
                _redact_lines(stream, redactor, explain=explain)
            else:
                _redact_text(stream.read(), redactor, explain=explain)
    except (TimeOut, TooMany):
        raise CollectorError(
            "There is too much to redact at once, and the rest was not printed. Give it in smaller parts."
        ) from None


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise CollectorError(f"Cannot read {file}: {error.strerror}. Give another file.") from None


def _redact_lines(stream: BinaryIO, redactor: Redactor, *, explain: bool) -> None:
    for number, line in enumerate(stream, 1):
        if line.strip():
            typer.echo(_shown(_redacted_line(line, number, redactor, explain=explain).decode()))


def _redact_text(data: bytes, redactor: Redactor, *, explain: bool) -> None:
    text = data.decode("utf-8", "surrogateescape")
    if explain:
        _explain(text, redactor)
    else:
        typer.echo(_shown(redactor.text(text)), nl=False)


def _redacted_line(line: bytes, number: int, redactor: Redactor, *, explain: bool) -> bytes:
    try:
        value = orjson.loads(line)
    except ValueError as first:
        value = _loaded_leniently(line, number, str(first))
    redacted, findings = redactor.value(value)
    about = [_finding(finding, redactor, explain=explain) for finding in findings]
    return cut.dump({"redacted": redacted, "findings": about})


def _loaded_leniently(line: bytes, number: int, problem: str) -> Any:
    """What orjson refuses and JSON allows: lone surrogates, huge integers."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise CollectorError(
            f"Line {number} is not JSON ({problem}). Leave --jsonl out to redact it as text."
        ) from None


def _finding(finding: Finding, redactor: Redactor, *, explain: bool) -> dict[str, Any]:
    about: dict[str, Any] = {
        "rule": finding.rule,
        "path": pointer(finding.path),
        "start": finding.start,
        "end": finding.end,
    }
    if finding.in_key:
        about["in"] = "key"
    if explain:
        about["why"] = redactor.reason(finding)
    return about


def pointer(path: tuple[Any, ...]) -> str:
    """A place in a JSON value as a JSON pointer: `/a/0/b`; empty for the value itself."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _explain(text: str, redactor: Redactor) -> None:
    redacted, findings = redactor.value(text)
    if not findings:
        typer.echo("Nothing found.")
    for finding in findings:
        line = text.count("\n", 0, finding.start) + 1
        column = finding.start - text.rfind("\n", 0, finding.start)
        typer.echo(f"line {line}, column {column}, {finding.end - finding.start} characters: {finding.rule}")
        typer.echo(f"  {redactor.reason(finding)}")
    if findings:
        typer.echo(_shown(f"\n{redacted}"))


def _shown(text: str) -> bytes:
    """The text as it is; on a terminal without what would move its cursor."""
    if sys.stdout.isatty():
        text = "".join(part if part in "\t\n" else printable(part) for part in re.split(r"([\t\n])", text))
    return text.encode("utf-8", "surrogateescape")
