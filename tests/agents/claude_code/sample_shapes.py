"""The keys that records of one writer have in common, and small parts that several samples use."""

from __future__ import annotations

import base64
import uuid
from typing import Any

Record = dict[str, Any]

SESSION = "d389b24d-28dd-4e76-b01d-bb6aeb3f0f72"
PROJECT_PATH = "/work/app"
VERSION = "2.1.140"
MODEL = "claude-opus-4-5-20251101"
CALL = "toolu_01G8C1t6Bq7ZkY3nW5xR9vLm"
MESSAGE_ID = "msg_01XJbUUaAZQJ98KvdRok42oJ"
REQUEST_ID = "req_011CSX7f5huB6UfCd5fdiktq"
PNG_BYTES = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
PNG = base64.b64encode(PNG_BYTES).decode()
SMALL_IMAGE = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SIGNATURE = base64.b64encode(b"signature" * 40).decode()


def uuid_of(name: str) -> str:
    """The uuid of the sample with that name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def common(kind: str, name: str, **keys: Any) -> Record:
    """A record with the keys of a conversation record."""
    number = int(uuid_of(name)[:4], 16)
    return {
        "parentUuid": uuid_of("parent of " + name),
        "isSidechain": False,
        "userType": "external",
        "entrypoint": "cli",
        "cwd": PROJECT_PATH,
        "sessionId": SESSION,
        "version": VERSION,
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid_of(name),
        "timestamp": f"2026-03-01T10:{number % 60:02d}:{number // 60 % 60:02d}.{number % 1000:03d}Z",
        **keys,
    }


def user(name: str, content: Any, **keys: Any) -> Record:
    """A user record."""
    return common("user", name, message={"role": "user", "content": content}, **keys)


def usage(output: int) -> Record:
    """A usage block."""
    return {
        "input_tokens": 3,
        "cache_creation_input_tokens": 5423,
        "cache_read_input_tokens": 13001,
        "cache_creation": {"ephemeral_5m_input_tokens": 5000, "ephemeral_1h_input_tokens": 423},
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": 20},
        "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 2},
        "service_tier": "standard",
        "speed": "standard",
        "inference_geo": "eu",
        "iterations": [{"input_tokens": 3, "output_tokens": output}],
    }


def assistant(name: str, content: Any, output: int = 150, **keys: Any) -> Record:
    """An assistant record; keys that belong to the API message go there."""
    message = {
        "model": keys.pop("model", MODEL),
        "id": keys.pop("message_id", MESSAGE_ID),
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": keys.pop("stop_reason", "end_turn"),
        "stop_sequence": None,
        "usage": keys.pop("usage", None) or usage(output),
    }
    return common("assistant", name, message=message, requestId=REQUEST_ID, **keys)


def tool_result(name: str, content: Any, result: Any = None, is_error: bool | None = False, **keys: Any) -> Record:
    """A user record with the result of a tool."""
    block: Record = {"tool_use_id": CALL, "type": "tool_result", "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    extra = {} if result is None else {"toolUseResult": result}
    return user(name, [block], **extra, sourceToolAssistantUUID=uuid_of("assistant_tool_call"), **keys)
