"""Compression: the same bytes for the same body, smaller, and readable by the receiver."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import get_args

import pytest
import zstandard

from collector.delivery.compression import COMPRESSIONS
from collector.settings.options import SinkSettings
from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink

BODY = b'{"id":"a","text":"the same words again and again"}\n' * 50


def unpacked(name: str, body: bytes) -> bytes:
    return gzip.decompress(body) if name == "gzip" else zstandard.ZstdDecompressor().decompress(body)


def test_every_configurable_compression_is_implemented() -> None:
    assert {*COMPRESSIONS, "none"} == {*get_args(SinkSettings.model_fields["compression"].annotation)}


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_compressing_the_same_body_again_gives_the_same_bytes(name: str) -> None:
    packed = COMPRESSIONS[name](BODY)
    assert packed == COMPRESSIONS[name](BODY)
    assert len(packed) < len(BODY) / 5
    assert unpacked(name, packed) == BODY


@pytest.mark.parametrize("compression", ["zstd", "gzip", "none"])
def test_requests_use_the_configured_compression(tmp_path: Path, compression: str) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    with Sink() as sink:
        result = Agent(home, sink).scan(COLLECTOR_SINK__COMPRESSION=compression)
    assert result.code == 0, result.stderr
    assert [request.headers.get("content-encoding", "none") for request in sink.posts] == [compression]
    assert [event["text"] for event in sink.events] == ["one"]


def test_the_embedded_store_understands_zstd(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session().prompt("one")
    agent = Agent(home, environment={"COLLECTOR_STORE__DATABASE": str(tmp_path / "events.db")})
    assert agent.scan(COLLECTOR_SINK__COMPRESSION="zstd").ledger["delivered"] == 1
    assert json.loads(agent.run("report", "--json").stdout)["prompts"] == 1
