"""Files that nobody would write on purpose: random bytes, damaged records, and records with anything under any key.

A planted secret is always a word of its own inside a string, as a person or a tool would write it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.agents.claude_code.samples import ALL_RECORDS, HISTORY_LINES, INDEX_ENTRIES, JOURNAL_LINES, STATS

# Derived from a hash, in the shape of an access key: it has never opened anything.
SECRET = "AKIA" + base64.b32encode(hashlib.sha256(b"fuzz").digest()).decode()[:16]
SAMPLES = [*ALL_RECORDS.values(), *HISTORY_LINES.values(), *JOURNAL_LINES.values(), *INDEX_ENTRIES.values(), STATS]
ENDINGS = [b"\n", b"\r\n", b"", b"\n\n", b" \n", b"\0\n", b"\xef\xbb\xbf\n", b"\x1e\n", b"\r"]
PLACES = ["projects/-w/s.jsonl"] * 6 + [
    *("projects/-w/agent-a.jsonl", "projects/-w/s/subagents/agent-b.jsonl", "projects/-w/s/subagents/journal.jsonl"),
    *("projects/-w/sessions-index.json", "history.jsonl", "stats-cache.json", "projects/-w/s/agent-c.meta.json"),
]


def keys_of(value: Any) -> set[str]:
    """Every key in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = set(value) if isinstance(value, dict) else set()
    return own.union(*map(keys_of, inner))


KEYS = sorted(set().union(*map(keys_of, SAMPLES)))
TYPES = sorted({str(record.get("type")) for record in SAMPLES})
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(max_size=len(SECRET) - 1)  # hypothesis reuses strings it has seen: too short for a glued-on secret
    | st.sampled_from(
        ["", "Warmup", "user", "assistant", "2026-13-45T99:99:99Z", "\ud800", "\x1b[2J\n", "../../../etc"]
    )
    | st.sampled_from([f"say {SECRET} now", SECRET, f"KEY={SECRET}\n", json.dumps({"a": {"b": SECRET}})])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
        | st.dictionaries(st.text(max_size=6), inner, max_size=2)
    ),
    max_leaves=15,
)


def encoded(record: Any) -> bytes:
    """A line as a careless writer would write it, with lone surrogates as escapes, NaN and the like."""
    return json.dumps(record).encode()


@st.composite
def records(draw: Callable[..., Any]) -> Any:
    """A known record with a few of its values replaced, or a bag of known keys."""
    if draw(st.booleans()):
        bag = draw(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8))
        return {"type": draw(st.sampled_from(TYPES)), **bag}
    record = json.loads(json.dumps(draw(st.sampled_from(SAMPLES))))
    for _ in range(draw(st.integers(0, 3))):
        holder = record
        while True:
            key = draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
            if isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 3)):
                holder = holder[key]
            else:
                holder[key] = draw(VALUES)
                break
        if not record:
            break
    return record


@st.composite
def damaged(draw: Callable[..., Any]) -> bytes:
    """The bytes of a record, cut, doubled or with a few changed. No secret is planted: it might be damaged too."""
    line = bytearray(encoded(draw(st.sampled_from(SAMPLES))))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(line)))
        match draw(st.integers(0, 4)):
            case 0:
                line[at : at + 1] = draw(st.binary(max_size=4))
            case 1:
                del line[at:]
            case 2:
                line += line[:at]
            case 3:
                line[at:at] = draw(st.sampled_from([b"[" * 5000, b'{"a":' * 5000, b"\0" * 3000, b"9" * 5000, b'\\"']))
            case 4:
                del line[:at]
    return bytes(line)


noise = st.binary(max_size=400).filter(lambda data: SECRET.encode() not in data)
lines = st.one_of(records().map(encoded), records().map(encoded), damaged(), noise)
contents = st.lists(st.tuples(lines, st.sampled_from(ENDINGS)), max_size=8).map(
    lambda parts: b"".join(line + ending for line, ending in parts)
)
homes = st.dictionaries(st.sampled_from(PLACES), contents | noise, min_size=1, max_size=4)
