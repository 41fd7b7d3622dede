"""Lines and files of unexpected size are delivered or quarantined, in bounded memory, and are never fatal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.agent import Agent, scan_with
from tests.build import Home
from tests.sink import Answer, Sink

MB = 1_000_000


def big_line(home: Home, start: bytes, unit: bytes, end: bytes, size: int) -> None:
    """A session whose second line has this size, written piece by piece because this process must stay small."""
    session = home.session()
    session.prompt("before")
    with session.path.open("ab") as file:
        file.write(start)
        for _ in range(size // (len(unit) * 10_000)):
            file.write(unit * 10_000)
        file.write(end + b"\n")
    session.prompt("after")


PROMPT = b'{"type":"user","message":{"role":"user","content":"'
SECRETS = b"PASSWORD=h4Xk29sLq8Zz1 token: 9f8e7d6c5b4a39281706 "


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v and ru_maxrss are those of Linux")
@pytest.mark.parametrize(
    ("start", "unit", "end", "size", "code", "kinds"),
    [
        # One character beyond U+FFFF makes Python use four bytes for every character of the text.
        (PROMPT, b"x y ", "\N{GRINNING FACE}".encode() + b'"}}', 100 * MB, 0, 3),
        (PROMPT, SECRETS, b'"}}', 20 * MB, 0, 3),
        (PROMPT, b"x y ", b"", 64 * MB, 3, 2),
        (b'{"type":"user","x":[{}', b",{}", b"]}", 64 * MB, 3, 2),
    ],
    ids=["a text", "secrets", "a torn line", "objects"],
)
def test_the_longest_line_that_is_read_fits_into_the_memory_of_the_service(
    tmp_path: Path, start: bytes, unit: bytes, end: bytes, size: int, code: int, kinds: int
) -> None:
    home = Home(tmp_path)
    big_line(home, start, unit, end, size)
    with Sink() as sink:
        agent = Agent(home, sink)
        ended, peak, said = scan_with(2_000 * MB, agent)
        assert ended == code, said
        assert peak < 100 * MB + 12 * size
        assert len(sink.ids()) == kinds
        assert agent.scan().ledger["lines"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v and ru_maxrss are those of Linux")
def test_a_hole_in_a_file_counts_as_one_line_that_is_too_long(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = home.session()
    session.prompt("before")
    with session.path.open("ab") as file:
        file.truncate(600 * MB)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    session.prompt("after")
    with Sink() as sink:
        agent = Agent(home, sink)
        code, peak, said = scan_with(2_000 * MB, agent)
        assert code == 3, said
        assert peak < 500 * MB
        assert sorted(event["text"] for event in sink.events) == ["after", "before"]


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v and ru_maxrss are those of Linux")
@pytest.mark.parametrize("what", ["key", "sibling", "directory"])
def test_long_names_that_never_come_again_are_not_kept_in_memory(tmp_path: Path, what: str) -> None:
    home = Home(tmp_path)
    session = home.session()
    for number in range(100):
        name = f"{number}_" + "ab cd " * 200_000
        if what == "directory":
            session.user("hello", cwd=f"/work/{name}")
        else:
            session.tool_call("mcp__it__fill", {name: "x"} if what == "key" else {"element": name, "text": "x"})
    code, peak, said = scan_with(2_000 * MB, Agent(home))
    assert code == 0, said
    assert peak < 150 * MB


@pytest.mark.slow
def test_a_file_of_two_gigabytes_needs_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = home.session()
    line = PROMPT + b"word " * 40_000 + b'"}'
    with session.path.open("ab") as file:
        for number in range(10_000):
            file.write(line + b',"uuid":"00000000-0000-4000-8000-%012d"}\n' % number)
    assert session.path.stat().st_size > 2_000 * MB
    with Sink() as sink:
        sink.then = lambda request: counted(sink, request.ids)
        agent = Agent(home, sink)
        code, peak, said = scan_with(1_500 * MB, agent)
        assert code == 0, said
        assert peak < 200 * MB
    assert len(arrived) == 10_000


arrived: set[str] = set()


def counted(sink: Sink, ids: list[str]) -> Answer:
    """Remembers only ids: this process must stay small, too."""
    arrived.update(ids)
    sink.requests.clear()
    sink.answers.clear()
    return Answer()
