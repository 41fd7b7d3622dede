"""`collector redact`: removes secrets from text or JSON values, and says which rule found each one, and why."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from collector import settings
from collector.cli.options import Config
from collector.delivery.sinks.registry import SINKS
from collector.errors import CollectorError
from collector.flow import shorten
from collector.log import printable
from collector.reading import parse
from collector.redact import Finding, Redactor, TimeOut, TooMany


def redact(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="The file to read. Default, or with -: standard input.", show_default=False
        ),
    ] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Read one JSON value per line; print {redacted, findings} for each.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain each finding on stderr: where, by which rule, and why.")
    ] = False,
    config: Config = None,
) -> None:
    """Print text, or JSON values, with secrets removed.

    With --explain, stderr says where each secret was, which rule found it, and why, but never what it was. With --jsonl
    this is part of each line on stdout instead. For large line-based files, --jsonl is faster.

    Example: collector redact --explain notes.txt
    """
    from collector.assembly import installation_of
    from collector.way_out import make_redactor

    chosen = settings.load(config, sinks=SINKS, sends=False)
    installation = installation_of(chosen)
    redactor = make_redactor(chosen, installation.key)
    number = 0
    try:
        with _opened(file) as stream:
            if not jsonl:
                _redact_text(stream.read(), redactor, explain=explain)
            for number, line in enumerate(stream, 1):
                if value := line.strip():
                    _print(_redacted_line(value, number, redactor, explain=explain) + b"\n")
                if stream is sys.stdin.buffer:  # the program that writes to it may be waiting for the answer
                    sys.stdout.buffer.flush()
    except (TimeOut, TooMany):
        raise CollectorError(
            f"{f'Line {number}' if number else 'The text'} holds too much to redact at once, "
            "so it was not printed, nor anything after it. Split it into smaller parts."
        ) from None


def _opened(file: Path | None) -> contextlib.AbstractContextManager[BinaryIO]:
    """The file, or standard input if none is named."""
    if file is None or str(file) == "-":
        return contextlib.nullcontext(sys.stdin.buffer)
    try:
        return file.open("rb")
    except OSError as error:
        raise CollectorError(f"Cannot read {file}: {error.strerror}. Name another file.") from None


def _redact_text(data: bytes, redactor: Redactor, *, explain: bool) -> None:
    is_utf_16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16", "replace") if is_utf_16 else data.decode("utf-8", "surrogateescape")
    if explain:
        _explain(text, redactor)
    else:
        _print(redactor.text(text).encode("utf-8", "surrogateescape"))


def _redacted_line(line: bytes, number: int, redactor: Redactor, *, explain: bool) -> bytes:
    try:
        value = parse.load(line)
    except ValueError as error:
        reason = f"{error.msg} at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else error
        raise CollectorError(
            f"Line {number} is not a valid JSON value: {reason}. It was not printed, nor anything after it. "
            "Fix the line, or leave out --jsonl to redact the file as text."
        ) from None
    redacted, findings = redactor.value(value)
    about = [_finding(finding, redactor, explain=explain) for finding in findings]
    return shorten.dump({"redacted": redacted, "findings": about})


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
    """A place in a JSON value as a JSON pointer: `/a/0/b`, or empty for the value itself."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _explain(text: str, redactor: Redactor) -> None:
    redacted, findings = redactor.value(text)
    if not findings:
        typer.echo("No secrets found.", err=True)
    for finding in findings:
        line = text.count("\n", 0, finding.start) + 1
        column = finding.start - text.rfind("\n", 0, finding.start)
        place = f"line {line}, column {column}, {finding.end - finding.start} characters"
        typer.echo(f"{place}: {finding.rule}\n  {redactor.reason(finding)}", err=True)
    _print(redacted.encode("utf-8", "surrogateescape"))


def _print(text: bytes) -> None:
    """Prints text unchanged, except that on a terminal, control characters that would move the cursor are escaped."""
    if sys.stdout.isatty():
        parts = re.split(r"([\t\n])", text.decode("utf-8", "surrogateescape"))
        text = "".join(part if part in "\t\n" else printable(part) for part in parts).encode("utf-8", "surrogateescape")
    sys.stdout.buffer.write(text)
