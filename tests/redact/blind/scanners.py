"""Runs other secret scanners on the same text: one file per item, with sequences as a terminal shows them.

A scanner has found a secret if a match contains it or is part of it, on every line where it occurs; a match decoded
from base64 counts too.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.redact.blind.counting import Counted, Key
from tests.redact.blind.drawing import Item
from tests.redact.blind.sending import lines_of


class Match(NamedTuple):
    """A match that a scanner reported: the item, the text, its first and its last line."""

    item: int
    text: str
    first: int
    last: int


def gitleaks(program: str, texts: Path, report: Path) -> list[Match]:
    """Runs the scanner over the folder, like the functions below."""
    flags = ["--no-banner", "-f", "json", "-r", str(report), "--exit-code", "0", "--redact=0", "-l", "error"]
    _run([program, "dir", str(texts), *flags], report)
    found = json.loads(report.read_text() or "[]") or []
    return [Match(int(Path(f["File"]).stem), f["Secret"], f["StartLine"], f["EndLine"]) for f in found]


def betterleaks(program: str, texts: Path, report: Path) -> list[Match]:
    _run([program, str(texts), "--no-banner", "-s", "-o", str(report), "--exit-code=0", "-l", "error"], report)
    found = json.loads(report.read_text())["findings"]
    places = [(f["location"], f["match"]["value"]) for f in found]
    return [Match(int(Path(at["path"]).stem), text, at["start_line"], at["end_line"]) for at, text in places]


def kingfisher(program: str, texts: Path, report: Path) -> list[Match]:
    flags = ["--no-validate", "--no-dedup", "--format", "json", "-o", str(report)]
    _run([program, "scan", str(texts), *flags, "--git-history", "none", "--no-update-check"], report)
    found = [each["finding"] for each in json.loads(report.read_text().splitlines()[0])["findings"]]
    return [
        Match(int(Path(f["path"]).stem), f["snippet"], f["line"], f["line"] + f["snippet"].count("\n")) for f in found
    ]


SCANNERS: dict[str, Callable[[str, Path, Path], list[Match]]] = {
    "gitleaks": gitleaks,
    "betterleaks": betterleaks,
    "kingfisher": kingfisher,
}


def count_scanner(name: str, items: list[Item]) -> dict[Key, Counted] | None:
    """Counts what a scanner found in a half; None if it is not installed."""
    program = shutil.which(name)
    if program is None:
        return None
    shown = [_shown(item) for item in items]
    found: defaultdict[int, list[Match]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="collector-blind-") as folder:
        texts = Path(folder, "texts")
        texts.mkdir()
        for number, text in enumerate(shown):
            (texts / f"{number:05d}.txt").write_text(text + "\n")
        for match in SCANNERS[name](program, texts, Path(folder, "report.json")):
            found[match.item].append(match)
    counted: defaultdict[Key, Counted] = defaultdict(Counted)
    for number, item in enumerate(items):
        matches, secrets, lines = found[number], item["secrets"], shown[number].split("\n")
        row = Counted(secrets=len(secrets), finds=len(matches))
        row.found = sum(_is_reported(secret, lines, matches) for secret in secrets)
        row.true = sum(any(_touches(match.text, secret) for secret in secrets) for match in matches)
        if item["kind"] == "harmless":
            row.lines = len(lines_of(item))
            row.touched = len({line for match in matches for line in range(match.first, match.last + 1)})
        counted[item["kind"], item["class"]].add(row)
    return dict(counted)


def _shown(item: Item) -> str:
    if "text" in item:
        return str(item["text"])
    return "\n".join(f"$ {step['command']}\n{step['result']}" for step in item["sequence"])


def _run(command: list[str], report: Path) -> None:
    """Runs the scanner in a home of its own; its exit code only says whether it found something."""
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(report.parent), "LANG": "C.UTF-8"}
    finished = subprocess.run(command, env=environment, cwd=report.parent, capture_output=True, check=False)
    if not report.exists():
        raise SystemExit(f"{command[0]} wrote no report: {finished.stderr.decode(errors='replace')[-300:]}")


def _touches(text: str, secret: str) -> bool:
    if len(text) < 4:
        return False
    if secret in text or text in secret:
        return True
    try:
        return text in base64.b64decode(secret, validate=True).decode(errors="replace")
    except ValueError:
        return False


def _is_reported(secret: str, lines: list[str], matches: list[Match]) -> bool:
    own = [match for match in matches if _touches(match.text, secret)]
    places = [number for number, line in enumerate(lines, 1) if secret in line]
    return bool(own) and all(any(m.first - 1 <= place <= m.last + 1 for m in own) for place in places)
