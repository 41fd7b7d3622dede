"""Where engines are installed, and in which versions. Tests of a missing one are skipped with the reason."""

from __future__ import annotations

import os
from pathlib import Path

VERSIONS = {
    "clickhouse": "18.16",
    "elasticsearch": "8.19.21",
    "loki": "3.5.0",
    "opensearch": "2.19.5",
    "opentelemetry-collector": "0.161.0",
    "python": "1",
    "versitygw": "1.8.0",
    "victoria-logs": "1.121.0",
}


# Outside the checkout, so that a fresh clone finds what is installed. Read at import: later, HOME is a test's own.
CACHE = Path(
    os.environ.get("COLLECTOR_ENGINES")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "collector-engines"
)


def place_of(engine: str) -> Path:
    """The directory of one engine in its version."""
    return CACHE / f"{engine}-{VERSIONS[engine]}"


def is_installed(engine: str) -> bool:
    """Whether its installation was completed."""
    return (place_of(engine) / ".ready").exists()


PROGRAMS = {
    "clickhouse": "usr/sbin/clickhouse-server",
    "elasticsearch": "bin/elasticsearch",
    "loki": "loki",
    "opensearch": "bin/opensearch",
    "opentelemetry-collector": "otelcol",
    "python": "bin/python",
    "versitygw": "versitygw",
    "victoria-logs": "victoria-logs",
}


def program(engine: str) -> Path:
    """The program of an engine."""
    return place_of(engine) / PROGRAMS[engine]
