"""Installs real engines by name and version, with the ordinary clients: go, mvn, apt-get, pip.

    python -m tests.engines.install [NAME ...]      # `make engines`

Each goes into its own directory below `places.CACHE`, and counts as installed once it is complete. One that cannot be
installed is reported with the reason and does not affect the others; `make test-engines` skips its tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.engines.places import CACHE, VERSIONS, is_installed, place_of

BUILDER = "go.opentelemetry.io/collector/cmd/builder@v0.164.0"
PROVIDERS = "v1.67.0"  # the configuration providers that go with v0.161.0
MANIFEST = """dist: {{name: otelcol, output_path: {place}, version: {version}}}
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v{version}
processors:
  - gomod: go.opentelemetry.io/collector/processor/memorylimiterprocessor v{version}
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v{version}
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter v{version}
  - gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v{version}
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider {providers}
  - gomod: go.opentelemetry.io/collector/confmap/provider/yamlprovider {providers}
  - gomod: go.opentelemetry.io/collector/confmap/provider/envprovider {providers}
"""
VICTORIA = "github.com/VictoriaMetrics/VictoriaMetrics"
LOKI, LOKI_PUSH = "github.com/grafana/loki/v3", "github.com/grafana/loki/pkg/push"
# Loki's own go.mod replaces this by a folder of its repository, which the published module does not contain.
LOKI_PUSH_VERSION = "v0.0.0-20240924133635-758364c7775f"
PACKAGES = ("chdb==4.4.0", "ddapm-test-agent==1.69.1", "moto[server,s3]==5.2.5", "duckdb==2.0.0")


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Runs one command; its output is shown only if it fails."""
    told = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        last = (told.stderr.strip() or told.stdout.strip()).splitlines()[-3:]
        raise RuntimeError(f"{Path(str(command[0])).name} {command[1]}: {' | '.join(last)}")
    return told.stdout


def needs(*programs: str) -> None:
    """Raises an error that names the missing clients, if any."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        raise RuntimeError(f"needs {', '.join(missing)}")


def opentelemetry_collector(place: Path, work: Path) -> None:
    """Builds it from its modules with its own builder."""
    needs("go")
    run("go", "install", BUILDER, GOBIN=str(work))
    told = MANIFEST.format(place=work / "built", version=VERSIONS["opentelemetry-collector"], providers=PROVIDERS)
    (work / "manifest.yaml").write_text(told)
    run(work / "builder", "--config", work / "manifest.yaml", "--skip-strict-versioning", CGO_ENABLED="0")
    shutil.copy2(work / "built" / "otelcol", place)


def victoria_logs(place: Path, work: Path) -> None:
    """Builds it as a dependency: `go install` would ask for the list of its module's versions, which is unavailable."""
    needs("go")
    version = f"v{VERSIONS['victoria-logs']}"
    (work / "go.mod").write_text(f"module engine\n\ngo 1.24\n\nrequire {VICTORIA} {version}\n")
    (work / "tools.go").write_text(f'//go:build tools\n\npackage tools\n\nimport _ "{VICTORIA}/app/victoria-logs"\n')
    run("go", "mod", "tidy", cwd=work)
    run("go", "build", "-o", place / "victoria-logs", f"{VICTORIA}/app/victoria-logs", cwd=work, CGO_ENABLED="0")


def loki(place: Path, work: Path) -> None:
    """Builds it from its module."""
    needs("go")
    told = json.loads(run("go", "mod", "download", "-json", f"{LOKI}@v{VERSIONS['loki']}", cwd=work))
    source = work / "source"
    shutil.copytree(told["Dir"], source)
    run("chmod", "-R", "u+w", source)
    run("go", "mod", "edit", f"-replace={LOKI_PUSH}={LOKI_PUSH}@{LOKI_PUSH_VERSION}", cwd=source)
    run(
        *("go", "build", "-o", place / "loki", "./cmd/loki"),
        cwd=source,
        GOFLAGS="-mod=mod",
        GOTOOLCHAIN="local",
        CGO_ENABLED="0",
    )


def versitygw(place: Path, work: Path) -> None:
    """Builds an S3 server that checks signatures."""
    needs("go")
    run("go", "install", f"github.com/versity/versitygw/cmd/versitygw@v{VERSIONS['versitygw']}", GOBIN=str(place))


def search_engine(name: str, place: Path, work: Path) -> None:
    """Unpacks the distribution that the engine's own integration tests use."""
    needs("mvn", "java", "unzip")
    artifact = f"org.{name}.distribution.integ-test-zip:{name}:{VERSIONS[name]}:zip"
    run("mvn", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={work}", cwd=work)
    run("unzip", "-q", next(work.glob("*.zip")), "-d", work)
    shutil.copytree(next(work.glob(f"{name}-*/")), place, dirs_exist_ok=True, symlinks=True)


def clickhouse(place: Path, work: Path) -> None:
    """Unpacks Debian's package and its dependencies; nothing is installed in the system."""
    needs("apt-get", "dpkg-deb")
    (work / "partial").mkdir()
    run(
        *("apt-get", "-q", "-y", "-o", "Debug::NoLocking=1", "-o", f"Dir::Cache::archives={work}"),
        *("install", "--download-only", "--no-install-recommends", "--reinstall", "clickhouse-server"),
    )
    for package in work.glob("*.deb"):
        run("dpkg-deb", "-x", package, place)


def python(place: Path, work: Path) -> None:
    """Installs what comes from PyPI into its own environment: chDB, ddapm-test-agent, moto, DuckDB."""
    run(sys.executable, "-m", "venv", place)
    run(place / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", *PACKAGES)


INSTALLED_BY: dict[str, Callable[[Path, Path], None]] = {
    "python": python,
    "clickhouse": clickhouse,
    "versitygw": versitygw,
    "victoria-logs": victoria_logs,
    "opentelemetry-collector": opentelemetry_collector,
    "elasticsearch": partial(search_engine, "elasticsearch"),
    "opensearch": partial(search_engine, "opensearch"),
    "loki": loki,
}


def install(name: str) -> str:
    """Installs one engine; returns the outcome in words."""
    if is_installed(name):
        return "is there"
    place = place_of(name)
    shutil.rmtree(place, ignore_errors=True)  # left by an interrupted installation
    place.mkdir(parents=True)
    try:
        with tempfile.TemporaryDirectory(prefix="engine-", dir=CACHE) as work:
            INSTALLED_BY[name](place, Path(work))
    except (RuntimeError, OSError, StopIteration) as error:
        shutil.rmtree(place, ignore_errors=True)
        return f"skipped: {error}"
    (place / ".ready").touch()
    return "installed"


def main() -> None:
    """Installs all engines, or the named ones."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or INSTALLED_BY:
        print(f"{name} {VERSIONS[name]}: {install(name)}", flush=True)


if __name__ == "__main__":
    main()
