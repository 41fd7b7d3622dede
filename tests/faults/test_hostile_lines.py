"""No line can hang the agent, fill its memory or stop a pass: each costs at most itself and a bounded time."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest

from collector.redact import seal
from tests.faults.test_files_changes import records, run
from tests.model.world import World
from tests.redactors import every_rule

MEGABYTE = 1_000_000
MOST_SECONDS = 15.0  # of CPU for a hostile megabyte; measured: 2.3 at most


def secret(number: int) -> str:
    """A string in the shape of an access key, made from a number."""
    return "AKIA" + base64.b32encode(hashlib.sha256(str(number).encode()).digest()).decode()[:16]


def user(content: Any, **more: Any) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}, **more}).encode()


def text(unit: str, size: int = MEGABYTE) -> bytes:
    """A prompt that repeats one thing over and over."""
    return user(unit * (size // len(unit)))


def twice(unit: str, last: str) -> bytes:
    """A tool's output in two copies that are almost the same."""
    output = unit * (MEGABYTE // 2 // len(unit))
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": output + last}
    return user([block], toolUseResult={"stdout": output, "stderr": output[1:], "interrupted": False})


UNITS = [
    *(
        "a",
        " ",
        "\n",
        "\\",
        '"',
        "=",
        "\x1b[",
        "\0",
        "\U0001f600",
        "%41",
        "\\u0041",
        "0123456789abcdef",
        "A1b2C3d4E5f6",
    ),
    *(
        "[REDACTED:",
        "<persisted-output>",
        "eyJ",
        "eyJhbGciOiJ.",
        "AKIA",
        "ghp_",
        "sk-",
        "-p ",
        "&token=",
        "a.b.c.d.",
        "@",
    ),
    *("password=", "password: '", "Authorization: Bearer ", "Cookie: a=b; ", "://a:b@", "postgres://", "export A="),
    *('{"a":"', 'key": "', "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN CERTIFICATE-----"),
    "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + "\n",
]
HOSTILE = {
    **{f"{unit!r} in a text": text(unit) for unit in UNITS},
    "secrets without end": text(secret(1) + " "),
    "20,000 secrets in strings": user([{"type": "text", "text": f"say {secret(n)} now"} for n in range(20_000)]),
    "20,000 secrets in keys": user("x", data={f"say {secret(n)} now": 1 for n in range(20_000)}),
    "20,000 names and secrets": user("\n".join(f"PASSWORD_{n}={secret(n)[::-1]}x" for n in range(20_000))),
    "output twice": twice("a", "b"),
    "output twice, in lines": twice("ab\n", "\n\n"),
    "100,000 blocks": user([{"type": "text", "text": "a"}] * 100_000),
    "100,000 empty blocks": user([{}] * 100_000),
    "100,000 keys": user("x", **{f"k{n}": n for n in range(100_000)}),
    "100,000 levels": b"[" * 100_000,
    "100,000 levels of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "values without end": b'{"type":"user","x":[1' + b",1" * 500_000 + b"]}",
    "objects without end": b'{"type":"user","x":[{}' + b",{}" * 350_000 + b"]}",
    "an integer without end": b'{"type":"user","x":' + b"9" * MEGABYTE + b"}",
    "torn records": b'{"parentUuid":null,"type":"user' * 33_000,
    "torn records and a whole one": b'{"type":"user","message":{"content":"' * 30_000 + b'{"type":"user"}',
    "braces": b"}{" * 500_000,
    "quotes": b'"' * MEGABYTE,
    "quotes in braces": b'{"' * 500_000,
    "backslashes": b'{"type":"' + b"\\" * MEGABYTE,
    "surrogates": b'{"type":"user","message":{"role":"user","content":"' + b"\\ud800" * 160_000 + b'"}}',
    "invalid bytes": b'{"type":"user","message":{"role":"user","content":"' + b"\xff" * MEGABYTE + b'"}}',
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_line_takes_bounded_time_and_harms_no_other_line(tmp_path: Path, line: bytes) -> None:
    world = World(tmp_path, every_rule())
    (world.root / "projects" / "-work-a" / "s.jsonl").write_bytes(records(1) + line + b"\n" + records(2))
    before = time.process_time()
    counts = run(world)
    spent = time.process_time() - before
    assert {"m1", "m2"} <= world.settled()
    assert counts["lag"] == 0
    assert counts["delivered"] + counts["quarantined"] >= 3
    assert spent < MOST_SECONDS, f"{spent:.1f} CPU seconds"


def test_an_event_with_implausibly_many_secrets_is_withheld() -> None:
    few = seal({"id": "a", "text": f"{secret(1)} " * 100}, every_rule(), MEGABYTE)
    many = seal({"id": "a", "text": f"{secret(1)} " * 20_000}, every_rule(), MEGABYTE)
    assert "withheld" not in few.redactions
    assert "withheld" in many.redactions
    assert secret(1).encode() not in few.body + many.body
