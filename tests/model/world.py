"""A world in one process: a home, a sink with moods, and an agent that can be made to crash between any two stages.

The flow is the real one; only its two ends are replaced: the transport answers from memory, and the committer raises
where a crash is wanted. A crash throws the agent away, and with it whatever it only knew in memory.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson

from collector.delivery.channel import Channel
from collector.delivery.gather import BatchLimits
from collector.delivery.settle import Policy
from collector.delivery.sinks.http import HttpSink
from collector.delivery.transport import Transport
from collector.delivery.window import Deliverer
from collector.errors import SinkError
from collector.flow.capture import Capture
from collector.flow.frame import Frame
from collector.flow.ledger import Ledger
from collector.flow.observer import UNOBSERVED, Observer
from collector.flow.receipt import Receipt
from collector.flow.source import FINGERPRINT_BYTES, digest
from collector.keeping.commit import Committer
from collector.keeping.quarantine import Quarantine
from collector.keeping.rescue import HeldFiles
from collector.keeping.state import JOURNAL_FROM_BYTES, State
from collector.pipeline import Flow, run_pass
from collector.reading.scope import Scope
from collector.redact import Options, Redactor
from collector.redact.all_rules import RULES
from collector.settings.options import RetrySettings, SinkSettings, SweptSettings
from collector.way_out import WayOut
from tests.scopes import FORM, root_of
from tests.scopes import scope as scope_of

# A single rule: this is about offsets, and redaction has its own tests.
REDACTOR = Redactor(Options(key=b"model", engine="python", disabled=frozenset(rule.id for rule in RULES[1:])))
WINDOW = 2
BATCH_EVENTS = 3
SMALL, TINY = 350, 100  # bytes that a picky sink accepts; a record becomes an event of about 250
Answering = Callable[[httpx.Request], httpx.Response]


class Crash(BaseException):
    """The process died here."""


class CrashingCommitter(Committer):
    """Dies at the wanted step of the wanted receipt."""

    def __init__(self, state: State, quarantine: Quarantine, crash_at: str, countdown: int) -> None:
        super().__init__(state, quarantine, WINDOW)
        self.crash_at = crash_at
        self.countdown = countdown
        self.is_dead = False

    def _die(self, step: str, *, at_once: bool = False) -> None:
        if self.crash_at == step:
            self.countdown -= 1
            if self.countdown < 0 or at_once:
                self.is_dead = True  # so that later cleanup saves nothing: in a real crash there is none
                raise Crash(step)

    def commit(self, receipt: Receipt, ledger: Ledger) -> None:
        self._die("before commit")
        super().commit(receipt, ledger)
        self._die("after commit")

    def _write_quarantine(self) -> None:
        before = size_of(self.quarantine.path)
        super()._write_quarantine()
        after = size_of(self.quarantine.path)
        if self.crash_at == "in quarantine" and after > before:
            os.truncate(self.quarantine.path, (before + after) // 2)
            self._die("in quarantine", at_once=True)
        self._die("after quarantine")

    def save(self, *, is_whole: bool = False) -> None:
        if self.is_dead or self.crash_at == "never saves":
            return
        self._die("before save")
        before = files_in(self.state.path.parent) if self.crash_at == "in save" else {}
        super().save(is_whole=is_whole)
        if self.crash_at == "in save" and not self.countdown and self.state.path.parent.exists():
            self._undo_half(before)
        self._die("in save")
        self._die("after save")

    def _undo_half(self, before: dict[str, bytes]) -> None:
        """Leaves what a crash in the middle of a save leaves: the old state, with half of the new one beside it."""
        path = self.state.path
        half = path.read_bytes()[: size_of(path) // 2] if path.exists() else b""
        quarantine = self.quarantine.path.name
        for name in files_in(path.parent).keys() - before.keys() - {quarantine}:
            (path.parent / name).unlink()
        for name in before.keys() - {quarantine}:
            replace_atomically(path.with_name(name), before[name])
        path.with_name(path.name + ".new").write_bytes(half)


class MoodySink:
    """Stores events by id; its `mood` decides how it answers."""

    def __init__(self) -> None:
        self.mood = "ok"
        self.stored: dict[str, dict[str, Any]] = {}
        self.posted: list[str] = []
        self.poison = b""
        self.bodies: list[bytes] = []
        self.lock = threading.Lock()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        lines = request.content.splitlines()
        events = [orjson.loads(line) for line in lines]
        bad = {event["id"] for event, line in zip(events, lines, strict=True) if self.poison and self.poison in line}
        with self.lock:
            self.bodies.append(request.content)
            match self.mood:
                case "down":
                    return httpx.Response(503)
                case "halted":
                    return httpx.Response(401)
                case "takes little" if len(request.content) > SMALL:
                    return httpx.Response(413)
                case "takes nothing" if len(request.content) > TINY:
                    return httpx.Response(413)
                case "refuses all":
                    return httpx.Response(400)
                case "breaks" if bad:
                    return httpx.Response(500)
                case "rejects":
                    self._store([event for event in events if event["id"] not in bad])
                    return httpx.Response(200, json={"rejected": [{"id": each, "reason": "bad"} for each in bad]})
                case _ if bad:
                    return httpx.Response(422)
            self._store(events)
            if self.mood == "forgets to answer":
                raise httpx.ReadError("gone")
            if self.mood == "stores and fails":
                return httpx.Response(502)
            return httpx.Response(200, content=b"\xff<html>")

    def _store(self, events: list[dict[str, Any]]) -> None:
        self.posted += [event["id"] for event in events]
        for event in events:
            self.stored.setdefault(event["id"], event)


class World:
    """The home, the sink, and what the agent has left on disk."""

    journal_from = JOURNAL_FROM_BYTES

    def __init__(self, directory: Path, redactor: Redactor = REDACTOR) -> None:
        self.redactor = redactor
        self.root = directory / ".claude"
        (self.root / "projects" / "-work-a").mkdir(parents=True)
        (self.root / "projects" / "-work-b").mkdir()
        (self.root / "store").mkdir()
        self.outside = directory / "outside.jsonl"
        self.outside.write_bytes(record(0))
        self.home = str(directory)
        self.state_path = directory / "agent" / "state.json"
        self.quarantine = Quarantine(directory / "agent" / "quarantine.jsonl", 10_000_000)
        self.sink = MoodySink()
        self.sink_settings = SinkSettings(compression="none")

    def flow(
        self,
        crash_at: str = "",
        countdown: int = 0,
        *,
        scope: Scope | None = None,
        answer: Answering | None = None,
        observer: Observer = UNOBSERVED,
    ) -> Flow:
        """A newly started agent; `answer`, if given, answers its requests instead of the sink."""
        state = State(self.state_path, FORM.name, self.journal_from).load()
        mock = httpx.MockTransport(answer or self.sink)
        channel = Channel(HttpSink(), Transport(self.sink_settings, "http://localhost/", None, mock))
        retry = RetrySettings(initial_interval=0.0001, max_interval=0.0002, max_wait=0.0, poison_tries=2)
        way_out = WayOut(
            redactor=self.redactor,
            limits=BatchLimits(BATCH_EVENTS, 100_000, 60.0),
            max_event_bytes=50_000,
            deliverer=Deliverer(channel, Policy(retry, window=WINDOW)),
        )
        return Flow(
            scope=scope or scope_of(root_of(self.root, "claude"), home=self.home),
            frame=Frame({"id": "h", "name": "h"}, "u"),
            capture=Capture(),
            state=state,
            way_out=lambda: way_out,
            committer=CrashingCommitter(state, self.quarantine, crash_at, countdown),
            held=HeldFiles(self.state_path.with_name("state.held"), SweptSettings(), name_companion=FORM.companion),
            observer=observer,
        )

    def run(self, crash_at: str = "", countdown: int = 0) -> Ledger | None:
        """Runs one pass of a new agent; returns None if it crashed or the sink failed."""
        flow, ledger = self.flow(crash_at, countdown), Ledger()
        with contextlib.suppress(Crash, SinkError):
            run_pass(flow, ledger)
            return ledger
        self.join()
        return None

    def join(self) -> None:
        """Waits for the requests that a failed pass abandoned: one may be about to be sent again."""
        for thread in threading.enumerate():
            if thread.name == "deliver":
                thread.join()

    def files(self) -> Iterator[Path]:
        """Every transcript that can be read; a link counts if its target is below the root."""
        for path in self.root.glob("projects/*/*.jsonl"):
            if path.is_file() and path.resolve().is_relative_to(self.root):
                yield path

    def settled(self) -> set[str]:
        """The marks that are stored or quarantined."""
        texts = [str(event) for event in self.sink.stored.values()]
        texts += [entry["payload"] for entry in self.quarantine.entries()]
        return {mark for text in texts for mark in marks(text)}

    def unsafe(self) -> list[str]:
        """Marks that lie before a saved offset but are neither stored nor quarantined: losses (promise 1)."""
        settled = self.settled()
        lost = []
        for key, entry in State(self.state_path, FORM.name).load().entries.items():
            path = Path(key.replace("~", self.home, 1))
            data = path.read_bytes() if path.is_file() else b""
            offset = entry.position.offset
            head, tail = data[: min(FINGERPRINT_BYTES, offset)], data[max(0, offset - FINGERPRINT_BYTES) : offset]
            if len(data) >= offset and (digest(head), digest(tail)) == (entry.position.head, entry.position.tail):
                lost += [mark for mark in marks(data[:offset].decode("utf-8", "replace")) if mark not in settled]
        return lost


def size_of(path: Path) -> int:
    """The size of a file, or 0 if it does not exist."""
    return path.stat().st_size if path.exists() else 0


def files_in(directory: Path) -> dict[str, bytes]:
    """The files in a directory, by name."""
    paths = directory.iterdir() if directory.exists() else ()
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def marks(text: str) -> list[str]:
    """The marks in a text; every record carries its own."""
    return [part.split(">>", 1)[0] for part in text.split("<<")[1:] if ">>" in part]


def record(mark: int, *, has_uuid: bool = True) -> bytes:
    """A record that carries a mark."""
    body: dict[str, Any] = {"type": "user", "message": {"role": "user", "content": f"say <<m{mark}>>"}}
    if has_uuid:
        body["uuid"] = f"00000000-0000-4000-8000-{mark:012d}"
    return orjson.dumps(body) + b"\n"


def replace_atomically(path: Path, data: bytes) -> None:
    """Replaces a file as an editor or a sync does: another inode under the same name."""
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(data)
    os.replace(temporary, path)
