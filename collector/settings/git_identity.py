"""Who commits on this machine, according to git's own configuration. Read only if `redaction.identity` is on.

In: a home directory. Out: name and e-mail, empty if not configured. Files that cannot be read are ignored.
"""

from __future__ import annotations

import re
from pathlib import Path

PLACES = (".gitconfig", ".config/git/config")
LARGEST = 1 << 20
_section = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"[^\"]*\")?\s*\]")
_setting = re.compile(r"\s*(name|email)\s*=\s*(.*?)\s*(?:[#;].*)?$", re.IGNORECASE)


def git_identity(home: str | Path) -> tuple[str, str]:
    """The name and e-mail that git puts into commits."""
    told: dict[str, str] = {}
    for place in PLACES:
        section = ""
        for line in _lines(Path(home, place)):
            if heading := _section.match(line):
                section = heading[1].lower()
            elif section == "user" and (setting := _setting.match(line)):
                told.setdefault(setting[1].lower(), setting[2].strip().strip('"'))
    return told.get("name", ""), told.get("email", "")


def _lines(path: Path) -> list[str]:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return []
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
