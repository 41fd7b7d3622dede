"""Writes sessions with the record mix and the byte distribution of real ones.

The weights below are counts from 306,640 real records; the mean sizes are the megabytes found there divided by the
records that carry them. A session is a list of serialized lines.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from tests.bench.text import Library

Record = dict[str, Any]

VERSIONS = ["2.0.76", "2.1.4", "2.1.12", "2.1.31", "2.1.52", "2.1.71", "2.1.92", "2.1.140", "2.1.197", "2.1.232"]
MODELS = ["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "claude-opus-4-6"]
# How many of 100 tool calls use each tool, and the mean size of its result's text in characters.
TOOLS = {"Bash": (42, 950), "Read": (22, 2300), "Edit": (12, 900), "Grep": (12, 4200), "Write": (4, 200)}
TOOLS |= {"Agent": (3, 9000), "WebFetch": (2, 9000), "TodoWrite": (3, 160)}
# Counts of the records between those of the conversation (assistant and user: 209,300).
PROGRESS = {"bash_progress": 22409, "hook_progress": 13839, "agent_progress": 6807, "mcp_progress": 166}
BOOKKEEPING = {
    "attachment": 18356,
    "file-history-snapshot": 7996,
    "queue-operation": 5600,
    "last-prompt": 4103,
    "permission-mode": 3154,
    "stop_hook_summary": 2782,
    "turn_duration": 2712,
    "ai-title": 2396,
    "mode": 1617,
    "bridge-session": 1147,
    "agent-name": 1103,
    "custom-title": 1087,
    "summary": 511,
    "local_command": 378,
    "away_summary": 337,
    "file-history-delta": 252,
    "compact_boundary": 105,
    "api_error": 103,
    "pr-link": 40,
    "informational": 14,
}
CONVERSATION = 209_300
HUGE_SHARE = 1 / 6000  # of tool results: 0.2 to 2 MB in one line
SECRET_SHARE = 1 / 2000  # of tool results


class Writer:
    """Makes the lines of one session after another; seeded, so the same calls give the same bytes."""

    def __init__(self, rng: random.Random, library: Library, secret_share: float = SECRET_SHARE) -> None:
        self.rng = rng
        self.library = library
        self.secret_share = secret_share
        self.now = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
        self.secrets: list[str] = []
        self.records = 0
        self._weights = {**PROGRESS, **BOOKKEEPING}
        self._between = sum(self._weights.values()) / CONVERSATION
        self._kinds = list(self._weights)
        self._shares = list(self._weights.values())

    def session(self, session_id: str, cwd: str, size: int, agent_id: str = "") -> list[bytes]:
        """Writes turns until there are about `size` bytes."""
        rng = self.rng
        self.lines: list[bytes] = []
        self.written = 0
        self.common: Record = {
            "isSidechain": bool(agent_id),
            "userType": "external",
            "cwd": cwd,
            "sessionId": session_id,
            "version": rng.choice(VERSIONS),
            "gitBranch": rng.choice(["main", "main", f"feature/{self.library.words(2).replace(' ', '-')}"]),
        }
        if agent_id:
            self.common["agentId"] = agent_id
        self.model = rng.choice(MODELS)
        self.parent: str | None = None
        while self.written < size:
            self._turn(size)
        return self.lines

    def uuid(self) -> str:
        """A uuid."""
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def timestamp(self) -> str:
        """A moment a little after the last one."""
        self.now += timedelta(milliseconds=int(self.rng.expovariate(1 / 4000)))
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"

    def token(self, prefix: str) -> str:
        """An id in the API's style."""
        return f"{prefix}{self.rng.getrandbits(124):024x}"[:28]

    # A turn: a prompt, some rounds of calls and results, an answer

    def _turn(self, size: int) -> None:
        library = self.library
        self._say("user", {"role": "user", "content": library.take("prose", library.sizes(750))}, promptSource="typed")
        for _ in range(1 + int(self.rng.expovariate(1 / 5))):
            self._message()
            if self.written >= size:
                return
        text = [{"type": "text", "text": library.take("prose", library.sizes(600))}]
        self._rows([text], "end_turn")

    def _message(self) -> None:
        """Writes one API message in several rows, then the results of its calls."""
        library, rng = self.library, self.rng
        rows: list[list[Record]] = []
        if rng.random() < 0.25:
            thought = library.take("prose", library.sizes(900))
            signature = library.opaque(library.sizes(2800, 0.5))
            rows.append([{"type": "thinking", "thinking": thought, "signature": signature}])
        if rng.random() < 0.5:
            rows.append([{"type": "text", "text": library.take("prose", library.sizes(450))}])
        calls = []
        for _ in range(1 if rng.random() < 0.8 else rng.randrange(2, 5)):
            name = rng.choices(list(TOOLS), [share for share, _ in TOOLS.values()])[0]
            call = {"type": "tool_use", "id": self.token("toolu_01"), "name": name, "input": self._given(name)}
            calls.append(call)
            rows.append([call])
        caller = self._rows(rows, "tool_use")
        for call in calls:
            self._result(call, caller)

    def _rows(self, rows: list[list[Record]], reason: str) -> str:
        """Writes the rows of one message, with the same ids and input and growing output."""
        rng = self.rng
        message_id, request = self.token("msg_01"), self.token("req_01")
        given, cached, made = rng.randrange(1, 12), rng.randrange(8000, 150_000), rng.randrange(0, 6000)
        output = 0
        for content in rows:
            output += rng.randrange(20, 900)
            usage = {
                "input_tokens": given,
                "cache_creation_input_tokens": made,
                "cache_read_input_tokens": cached,
                "cache_creation": {"ephemeral_5m_input_tokens": made, "ephemeral_1h_input_tokens": 0},
                "output_tokens": output,
                "service_tier": "standard",
            }
            message: Record = {"model": self.model, "id": message_id, "type": "message", "role": "assistant"}
            message |= {"content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}
            keys = {} if rng.random() < 0.08 else {"requestId": request}
            self._say("assistant", message, **keys)
        return self.parent or ""

    def _given(self, name: str) -> Record:
        """The input of a call."""
        library = self.library
        path = f"{self.common['cwd']}/src/{library.words(2).replace(' ', '/')}.py"
        match name:
            case "Bash":
                return {"command": library.take("output", library.sizes(130)), "description": library.words(4)}
            case "Write":
                return {"file_path": path, "content": library.take("code", library.sizes(3500))}
            case "Edit":
                old, new = (library.take("code", library.sizes(500)) for _ in "ab")
                return {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
            case "Grep":
                return {"pattern": library.words(1), "path": path, "output_mode": "content"}
            case "Agent" | "WebFetch":
                return {"prompt": library.take("prose", library.sizes(700)), "description": library.words(3)}
            case _:
                return {"file_path": path}

    def _result(self, call: Record, caller: str) -> None:
        """Writes the user record that answers a call, with its structured copy."""
        library, rng = self.library, self.rng
        name = call["name"]
        size = library.sizes(TOOLS[name][1])
        if rng.random() < HUGE_SHARE:
            size = rng.randrange(200_000, 1_000_000)
        elif rng.random() < 1 / 600:
            self._image(call, caller)
            return
        kind = "code" if name in {"Read", "Edit", "Write"} else "output" if name in {"Bash", "Grep"} else "prose"
        text = self._with_secret(library.take(kind, size))
        content: Any = text
        result: Any
        if name == "Bash":
            result = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        elif name == "Read":
            lines = text.count("\n") + 1
            content = library.numbered(text)
            file = {"filePath": call["input"]["file_path"], "content": text, "numLines": lines, "totalLines": lines}
            result = {"type": "text", "file": {**file, "startLine": 1}}
        elif name in {"Edit", "Write"}:
            result = self._edit(call["input"])
        elif name == "Grep":
            result = {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": text.count("\n")}
        elif rng.random() < 0.1:
            result = f"Error: {text[:300]}"
        else:
            content = [{"type": "text", "text": text}]
            result = {"status": "completed", "content": content, "totalDurationMs": rng.randrange(100_000)}
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": content, "is_error": False}
        message = {"role": "user", "content": [block]}
        self._say("user", message, toolUseResult=result, sourceToolAssistantUUID=caller)

    def _edit(self, given: Record) -> Record:
        """What an edit leaves in a record: the whole file before it, and a patch."""
        library = self.library
        new = str(given.get("new_string", ""))
        lines = ["+" + line for line in new.split("\n")] + [
            " " + line for line in library.take("code", 300).split("\n")
        ]
        patch = [{"oldStart": 40, "oldLines": 6, "newStart": 40, "newLines": 9, "lines": lines}]
        original = library.take("code", library.sizes(9000, 1.0))
        names = {"filePath": given["file_path"], "oldString": given.get("old_string", ""), "newString": new}
        return {**names, "originalFile": original, "structuredPatch": patch, "userModified": False, "replaceAll": False}

    def _image(self, call: Record, caller: str) -> None:
        data = self.library.opaque(self.library.sizes(120_000, 0.7))
        source = {"type": "base64", "media_type": "image/png", "data": data}
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": [{"type": "image", "source": source}]}
        result = {"type": "image", "file": {"base64": data, "type": "image/png", "originalSize": len(data) * 3 // 4}}
        message = {"role": "user", "content": [block]}
        self._say("user", message, toolUseResult=result, sourceToolAssistantUUID=caller)

    def _with_secret(self, text: str) -> str:
        """Plants a made-up secret in the output now and then."""
        if self.rng.random() > self.secret_share:
            return text
        digits = f"{self.rng.getrandbits(160):040x}"
        shapes = {
            "AKIA" + digits[:16].translate(str.maketrans("0189abcdef", "GHIJABCDEF")): "aws_access_key_id = {}",
            "Zx" + digits[:30] + "Q": "export DATABASE_PASSWORD={}",
            "pW" + digits[8:28] + "z": "connecting to postgres://app:{}@db.internal:5432/app",
        }
        secret, shape = self.rng.choice(list(shapes.items()))
        self.secrets.append(secret)
        return f"{text}\n{shape.format(secret)}\n"

    # Records

    def _say(self, kind: str, message: Record, **keys: Any) -> None:
        """Writes a record of the conversation, and now and then one of another kind."""
        uuid = self.uuid()
        record = {"parentUuid": self.parent, **self.common, "type": kind, "message": message, **keys}
        self._write({**record, "uuid": uuid, "timestamp": self.timestamp()})
        self.parent = uuid
        if self.rng.random() < self._between:
            self._aside(self.rng.choices(self._kinds, self._shares)[0])

    def _write(self, record: Record) -> None:
        line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        self.lines.append(line)
        self.written += len(line)
        self.records += 1

    def _aside(self, kind: str) -> None:
        """Writes a record of progress or bookkeeping."""
        library = self.library
        session = {"sessionId": self.common["sessionId"]}
        full = {"parentUuid": self.parent, **self.common}
        stamp = {"uuid": self.uuid(), "timestamp": self.timestamp()}
        text = library.take("prose", library.sizes(400))
        if kind in PROGRESS:
            data = self._progress(kind)
            self._write({**full, "type": "progress", "data": data, "toolUseID": self.token("toolu_01"), **stamp})
            return
        match kind:
            case "attachment":
                content = library.take("prose", library.sizes(2200))
                self._write(
                    {**full, "type": kind, "attachment": {"type": "nested_memory", "content": content}, **stamp}
                )
            case "file-history-snapshot":
                names = [f"src/{library.words(2).replace(' ', '/')}.py" for _ in range(self.rng.randrange(1, 25))]
                backups = {name: {"backupFileName": f"{self.uuid()[:16]}@v1", "version": 1} for name in names}
                snapshot = {"messageId": self.parent, "trackedFileBackups": backups, "timestamp": stamp["timestamp"]}
                self._write({"type": kind, "messageId": self.parent, "snapshot": snapshot, "isSnapshotUpdate": False})
            case "queue-operation":
                moment = {"timestamp": stamp["timestamp"]}
                self._write({"type": kind, "operation": "enqueue", **moment, **session, "content": text})
            case "last-prompt":
                self._write({"type": kind, "lastPrompt": text[:200], "leafUuid": self.parent, **session})
            case "permission-mode" | "mode":
                self._write({"type": kind, kind.replace("permission-m", "permissionM"): "default", **session})
            case "ai-title" | "custom-title" | "agent-name":
                keys = {"ai-title": "aiTitle", "custom-title": "customTitle", "agent-name": "agentName"}
                self._write({"type": kind, keys[kind]: library.words(5), **session})
            case "summary":
                self._write({"type": kind, "summary": library.words(6), "leafUuid": self.uuid()})
            case "bridge-session" | "pr-link" | "file-history-delta":
                self._write({"type": kind, **session, "value": library.words(3), "timestamp": stamp["timestamp"]})
            case _:
                self._write({**full, "type": "system", "subtype": kind, "content": text, "level": "info", **stamp})

    def _progress(self, kind: str) -> Record:
        library = self.library
        match kind:
            case "bash_progress":
                output = library.take("output", library.sizes(350))
                return {"type": kind, "output": output, "fullOutput": output, "elapsedTimeSeconds": 3, "totalLines": 9}
            case "agent_progress":
                text = library.take("output", library.sizes(3600))
                block = {"type": "tool_result", "tool_use_id": self.token("toolu_01"), "content": text}
                message = {"type": "user", "message": {"role": "user", "content": [block]}, "uuid": self.uuid()}
                return {"type": kind, "prompt": "", "agentId": self.uuid()[:7], "message": message}
            case _:
                return {"type": kind, "hookEvent": "PostToolUse", "hookName": "PostToolUse:Edit", "command": "check.sh"}
