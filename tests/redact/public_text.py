"""Counts what is found in sources and documents: `python -m tests.redact.public_text FOLDER... [--show]`.

Meant for text that anybody can get by name (an sdist, an npm package, Debian's /usr/share/doc) and count again. Files
are read in pieces about as long as an agent reads them; compressed ones are opened, those that are not text skipped.
With --show, each find is printed with its line for a person to read: use it only on text that is public.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from collector.redact import Redactor
from collector.redact.findings import Finding
from tests.redactors import every_rule

LINES_AT_ONCE = 500
MOST_SHOWN = 110  # characters on either side of a find


def main() -> None:
    """Prints lines, finds and finds per million lines for each folder, then finds by rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="each find with what stands around it")
    asked = parser.parse_args()
    redactor = every_rule()
    for folder in asked.folders:
        lines, found = 0, Counter[str]()
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
            for text in pieces(path):
                lines += text.count("\n")
                for find in finds(redactor, text):
                    found[find.rule] += 1
                    if asked.show:
                        print(f"{find.rule}\t{path.relative_to(folder)}\t{shown(text, find)}")
        total = sum(found.values())
        print(f"{folder.name}: {lines:,} lines, {total} finds, {1e6 * total / max(lines, 1):.0f} in a million lines")
        print("   ", ", ".join(f"{rule} {times}" for rule, times in found.most_common()))


def pieces(path: Path) -> Iterator[str]:
    """The text of a file, some lines at a time; nothing if it is not text."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError):
        return
    if b"\0" in content[:4096]:
        return
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    for at in range(0, len(lines), LINES_AT_ONCE):
        yield "".join(lines[at : at + LINES_AT_ONCE])


def finds(redactor: Redactor, text: str) -> list[Finding]:
    """The findings in a piece, in order."""
    return sorted(redactor.value(text)[1], key=lambda find: find.start)


def shown(text: str, find: Finding) -> str:
    """A find within its line, between marks."""
    first = max(text.rfind("\n", 0, find.start) + 1, find.start - MOST_SHOWN)
    end = text.find("\n", find.end)
    last = min(end if end >= 0 else len(text), find.end + MOST_SHOWN)
    value = text[find.start : find.end].replace("\n", "\\n")
    return f"{text[first : find.start]}⟦{value[:200]}⟧{text[find.end : last]}"


if __name__ == "__main__":
    main()
