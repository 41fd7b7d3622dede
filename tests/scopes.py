"""Scopes for tests that read without a configuration, and a format that calls back while it is being used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from collector.agents.claude_code import ClaudeCode, places
from collector.flow.source import Place, Root, Source, SourceKind
from collector.pipeline import Flow
from collector.reading.scope import Scope

FORM = ClaudeCode()


def root_of(path: Path | str, label: str = "") -> Root:
    """A root of Claude Code."""
    return Root(str(path), label, FORM.name)


def scope(
    *roots: Path | Root, home: str = "", include: Sequence[str] = (), exclude: Sequence[str] = (), form: Any = FORM
) -> Scope:
    """What is read below these roots."""
    named = [root if isinstance(root, Root) else root_of(root, root.name) for root in roots]
    return Scope(named, {form.name: form}, home, include, [exclude])


class Asking(ClaudeCode):
    """Claude Code's format, with callbacks for when a directory is entered or a record's directory is asked for."""

    def __init__(self, entering: Callable[[], object] = int, recording: Callable[[], object] = int) -> None:
        self._entering, self._recording = entering, recording

    def enter(self, place: Place, name: str) -> Place | None:
        self._entering()
        return super().enter(place, name)

    def directory_of(self, source: Source, record: Mapping[str, Any]) -> str:
        self._recording()
        return super().directory_of(source, record)


def asking(flow: Flow, entering: Callable[[], object]) -> None:
    """Calls `entering` from now on, whenever a pass walks into a directory."""
    before = flow.scope
    flow.scope = Scope(before.roots, {FORM.name: Asking(entering)}, before.home, before.include, before.exclude)


def kinds() -> list[SourceKind]:
    """Every kind of source."""
    return list(places.KINDS.values())
