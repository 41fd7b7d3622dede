"""Writes one JSONL file of records as Claude Code does; build.py puts such files into a home.

Everything is seeded: the same calls give the same bytes. Methods that write a record return it.
"""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Record = dict[str, Any]

START = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
VERSION = "2.1.140"
MODEL = "claude-opus-4-5-20251101"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4).decode()


class Pen:
    """Supplies everything that differs from record to record, from a seeded generator and its own clock."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = START

    def uuid(self) -> str:
        """The next uuid."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def token(self, prefix: str, length: int = 24) -> str:
        """The next id in the API's style, such as msg_01..."""
        letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
        return prefix + "".join(self.random.choices(letters, k=length))

    def hex(self, length: int) -> str:
        """The next id in hex, such as an agent's."""
        return f"{self.random.getrandbits(4 * length):0{length}x}"

    def timestamp(self) -> str:
        """The next moment, one second after the last."""
        self.now += timedelta(seconds=1)
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"


def encode(record: Record) -> bytes:
    """A record as the line Claude Code writes for it: compact JSON in UTF-8."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def usage(output: int, given: int = 3, cache_read: int = 1000, cache_creation: int = 200) -> Record:
    """The usage block of an assistant record."""
    return {
        "input_tokens": given,
        "cache_creation_input_tokens": cache_creation,
        "cache_read_input_tokens": cache_read,
        "cache_creation": {"ephemeral_5m_input_tokens": cache_creation, "ephemeral_1h_input_tokens": 0},
        "output_tokens": output,
        "service_tier": "standard",
    }


class Transcript:
    """One JSONL file of records; the methods append to it and return what they wrote."""

    def __init__(self, pen: Pen, path: Path, session_id: str, cwd: str, agent_id: str = "") -> None:
        self.pen = pen
        self.path = path
        self.session_id = session_id
        self.cwd = cwd
        self.agent_id = agent_id
        self.last_uuid: str | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    # What people and the model say

    def prompt(self, text: str, **keys: Any) -> Record:
        """A prompt typed by a person."""
        return self.user(text, promptSource="typed", origin={"kind": "human"}, **keys)

    def user(self, content: Any, **keys: Any) -> Record:
        """A user record of any kind."""
        return self.common("user", message={"role": "user", "content": content}, **keys)

    def reply(
        self,
        text: str | list[Record] = "Done.",
        *,
        tokens: int = 10,
        message_id: str = "",
        model: str = MODEL,
        **keys: Any,
    ) -> Record:
        """One row of the model's reply: a text, or the given content blocks."""
        blocks = [{"type": "text", "text": text}] if isinstance(text, str) else text
        calls = any(block.get("type") == "tool_use" for block in blocks)
        message = {
            "model": model,
            "id": message_id or self.pen.token("msg_01"),
            "type": "message",
            "role": "assistant",
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": keys.pop("usage", None) or usage(tokens),
        }
        request = keys.pop("requestId", self.pen.token("req_01"))
        more = {"requestId": request} if request else {}
        return self.common("assistant", message=message, **more, **keys)

    def rows(self, *blocks: Record, tokens: int = 30, **keys: Any) -> list[Record]:
        """One API message written as one row per block: the same ids, with output growing to `tokens`."""
        message_id = keys.pop("message_id", "") or self.pen.token("msg_01")
        request = self.pen.token("req_01")
        share = max(1, tokens // len(blocks))
        counts = [min(tokens, share * (number + 1)) for number in range(len(blocks) - 1)] + [tokens]
        return [
            self.reply([block], tokens=count, message_id=message_id, requestId=request, **keys)
            for block, count in zip(blocks, counts, strict=True)
        ]

    def thinking(self, text: str, **keys: Any) -> Record:
        """A row with a thinking block."""
        return self.reply([{"type": "thinking", "thinking": text, "signature": PNG[:200]}], **keys)

    def tool_call(self, name: str = "Bash", given: Record | None = None, **keys: Any) -> Record:
        """A row that calls a tool; `call_of` returns the call's id."""
        block = {
            "type": "tool_use",
            "id": self.pen.token("toolu_01"),
            "name": name,
            "input": {"command": "ls -la", "description": "List files"} if given is None else given,
        }
        return self.reply([block], **keys)

    def tool_result(
        self,
        call: Record | None,
        content: Any = "ok",
        *,
        result: Any = None,
        is_error: bool = False,
        **keys: Any,
    ) -> Record:
        """A tool's result, with the structured copy that Claude Code keeps beside it."""
        block = {
            "tool_use_id": call_of(call) if call else self.pen.token("toolu_01"),
            "type": "tool_result",
            "content": content,
            "is_error": is_error,
        }
        if result is None and isinstance(content, str):
            result = {"stdout": content, "stderr": "", "interrupted": False, "isImage": False}
        extra = {} if result is None else {"toolUseResult": result}
        if call:
            extra["sourceToolAssistantUUID"] = call["uuid"]
        return self.user([block], **extra, **keys)

    def system(self, subtype: str, content: str | None = None, **keys: Any) -> Record:
        """A system record."""
        extra = {} if content is None else {"content": content}
        return self.common("system", subtype=subtype, level="info", isMeta=False, **extra, **keys)

    def common(self, kind: str, **keys: Any) -> Record:
        """Writes a record with the keys that conversation records share."""
        return self.record(self.unwritten(kind, **keys))

    def unwritten(self, kind: str, **keys: Any) -> Record:
        """A record with the keys that conversation records share, not written to the file."""
        record: Record = {
            "parentUuid": self.last_uuid,
            "isSidechain": bool(self.agent_id),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self.cwd,
            "sessionId": self.session_id,
            "version": VERSION,
            "gitBranch": "main",
        }
        if self.agent_id:
            record["agentId"] = self.agent_id
        record |= {"type": kind, **keys}
        record.setdefault("uuid", self.pen.uuid())
        record.setdefault("timestamp", self.pen.timestamp())
        self.last_uuid = record["uuid"]
        return record

    # Bytes

    def record(self, record: Record) -> Record:
        """Appends exactly this record."""
        self.raw(encode(record))
        return record

    def records(self, records: Iterable[Record]) -> list[Record]:
        """Appends exactly these records."""
        return [self.record(record) for record in records]

    def raw(self, data: bytes) -> bytes:
        """Appends exactly these bytes, in one write."""
        with self.path.open("ab") as file:
            file.write(data)
        return data

    def half(self, record: Record | None = None) -> bytes:
        """Appends the first half of a line; returns the missing bytes (`raw(rest)` completes it)."""
        if record is None:
            message = {"role": "user", "content": "Half a line now, the rest later"}
            record = self.unwritten("user", message=message)
        line = encode(record)
        middle = len(line) // 2
        self.raw(line[:middle])
        return line[middle:]

    @property
    def lines(self) -> list[bytes]:
        """The lines of the file, with their line endings."""
        return self.path.read_bytes().splitlines(keepends=True)

    @property
    def size(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    def clear(self) -> None:
        """Empties the file."""
        self.path.write_bytes(b"")

    # What happens to files

    def dated(self, seconds: float) -> Transcript:
        """Sets the file's mtime to `seconds` after the start of the clock."""
        moment = START.timestamp() + seconds
        os.utime(self.path, (moment, moment))
        return self

    def truncate(self, size: int) -> None:
        """Cuts the file in place."""
        os.truncate(self.path, size)

    def rewrite(self, records: Iterable[Record] | None = None) -> None:
        """Replaces the file atomically, so that it has a new inode, with the same bytes or with other records."""
        data = self.path.read_bytes() if records is None else b"".join(map(encode, records))
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        temporary.write_bytes(data)
        temporary.replace(self.path)

    def move(self, directory: Path) -> None:
        """Moves the file to another directory, as a relocated project does."""
        directory.mkdir(parents=True, exist_ok=True)
        self.path = Path(shutil.move(self.path, directory / self.path.name))

    def delete(self) -> None:
        """Deletes the file, as the 30-day sweep does."""
        self.path.unlink()


def call_of(record: Record) -> str:
    """The id of the tool call in an assistant record."""
    blocks = record["message"]["content"]
    return next(str(block["id"]) for block in blocks if block["type"] == "tool_use")


def milliseconds(pen: Pen) -> int:
    """The pen's clock as Claude Code writes it in history.jsonl."""
    return int(pen.now.timestamp() * 1000)
