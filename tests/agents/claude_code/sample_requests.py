"""The records that the newest writer keeps of every API call."""

from __future__ import annotations

from typing import Any

from tests.agents.claude_code.sample_attachments import SYSTEM_PROMPT, TOOL
from tests.agents.claude_code.sample_shapes import MESSAGE_ID, REQUEST_ID, SESSION, uuid_of

Record = dict[str, Any]

SHAPE_HASH = "06b429bba026bed87aa0499b7499f96c22716ca601e3d6600c96267312a418e6"


def blob(role: str, content: Any, digest: str) -> Record:
    """A message as it was sent to the API, with its hash."""
    return {
        "type": "api-request-blob",
        "sessionId": SESSION,
        "hash": digest * 32,
        "message": {"role": role, "content": content},
    }


RECORDS: dict[str, Record] = {
    "api_request_shape": {
        "type": "api-request-shape",
        "sessionId": SESSION,
        "shapeHash": SHAPE_HASH,
        "timestamp": "2026-11-18T11:22:48.302Z",
        "version": "2.1.326",
        "shape": {
            "system": [
                {"type": "text", "text": "You are a Claude agent."},
                {"type": "text", "text": "\n\n".join(reversed(SYSTEM_PROMPT))},
            ],
            "tools": [TOOL],
        },
    },
    "api_request_resumed": {
        "type": "api-request-resumed",
        "sessionId": SESSION,
        "timestamp": "2026-11-19T11:22:49.302Z",
        "version": "2.1.328",
        "requestRef": uuid_of("api-request"),
        "messageId": MESSAGE_ID,
        "pausedRequestId": "req_01paused",
        "resumedRequestId": REQUEST_ID,
    },
    "api_request_blob_copy": blob("user", [{"type": "text", "text": "Fix the login bug"}], "a1"),
    "api_request_blob_system": blob("system", [{"type": "text", "text": "# Environment\nYou are in a test."}], "b2"),
    "api_request": {
        "type": "api-request",
        "sessionId": SESSION,
        "id": uuid_of("api-request"),
        "timestamp": "2026-11-18T11:22:48.302Z",
        "version": "2.1.326",
        "querySource": "sdk",
        "shapeHash": SHAPE_HASH,
        "params": {
            "model": "claude-opus-5-5",
            "betas": ["claude-code-20250219"],
            "max_tokens": 128000,
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": "medium"},
        },
        "base": uuid_of("api-request before"),
        "keep": 2,
        "tail": ["a1" * 32, "b2" * 32],
        "cacheControl": [{"path": ["system", 0], "value": {"type": "ephemeral"}}],
        "requestDigest": "1d68" * 16,
    },
}
