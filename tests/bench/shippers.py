"""Other shippers of files: how to get each one, and how to have it send every line below a root with gzip.

Nothing is installed in the system: Debian's packages are unpacked into a cache, and Go programs are built from their
modules. Each is configured to deliver long lines whole, and otherwise has its own defaults.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.engines.install import BUILDER, needs, run
from tests.engines.places import CACHE

LONGEST = 4 << 20  # bytes per line; the longest line in the backlog has a little more than two million
DEPTHS = (
    "*.jsonl",
    "projects/*/*.jsonl",
    "projects/*/*/*.jsonl",
    "projects/*/*/*/*.jsonl",
    "projects/*/*/*/*/*/*.jsonl",
)
OTEL_VERSION, PROVIDERS = "0.160.0", "v1.66.0"  # the configuration providers that go with it
BEATS, BEATS_VERSION = "github.com/elastic/beats/v7", "7.17.29"
MANIFEST = """dist: {{name: otelcol, output_path: {place}, version: {version}}}
receivers:
  - gomod: github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver v{version}
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v{version}
providers:
  - gomod: go.opentelemetry.io/collector/confmap/provider/fileprovider {providers}
  - gomod: go.opentelemetry.io/collector/confmap/provider/envprovider {providers}
"""


class Job(NamedTuple):
    """One run: what to ship, to which port of this machine, and where the program may write."""

    root: Path
    port: int
    work: Path


class Shipper(NamedTuple):
    """A program, how to install it into its own folder, and the command that ships."""

    name: str
    version: str
    install: Callable[[Path, Path], None]
    command: Callable[[Path, Job], Sequence[str | Path]]
    note: str = ""

    @property
    def place(self) -> Path:
        """Where it is once installed."""
        return CACHE / f"shipper-{self.name.lower().replace(' ', '-')}-{self.version}"

    def installed(self) -> str:
        """Installs it if it is missing; returns the reason if that fails, otherwise an empty string."""
        if (self.place / ".ready").exists():
            return ""
        shutil.rmtree(self.place, ignore_errors=True)  # left by an interrupted installation
        self.place.mkdir(parents=True)
        try:
            with tempfile.TemporaryDirectory(prefix="shipper-", dir=CACHE) as work:
                self.install(self.place, Path(work))
        except (RuntimeError, OSError) as error:
            shutil.rmtree(self.place, ignore_errors=True)
            return str(error)
        (self.place / ".ready").touch()
        return ""


def debian(*packages: str) -> Callable[[Path, Path], None]:
    """Unpacks packages, with those dependencies that are not installed here."""

    def install(place: Path, work: Path) -> None:
        needs("apt-get", "dpkg-deb")
        (work / "partial").mkdir()
        run(
            *("apt-get", "-q", "-y", "-o", "Debug::NoLocking=1", "-o", f"Dir::Cache::archives={work}"),
            *("install", "--download-only", "--no-install-recommends", "--reinstall", *packages),
        )
        for package in work.glob("*.deb"):
            run("dpkg-deb", "-x", package, place)

    return install


def with_libraries(place: Path, program: str) -> list[str | Path]:
    """The command for a program from unpacked packages, with the path to their libraries."""
    directories = sorted({str(path.parent) for path in place.rglob("*.so*")})
    return ["env", f"LD_LIBRARY_PATH={':'.join(directories)}", place / program]


def rsyslog(place: Path, job: Job) -> Sequence[str | Path]:
    """Reads with imfile. Debian does not package its HTTP output, so it sends one compressed stream over TCP."""
    inputs = "\n".join(f'input(type="imfile" file="{job.root}/{depth}" tag="backlog")' for depth in DEPTHS)
    path = job.work / "rsyslog.conf"
    path.write_text(f"""global(workDirectory="{job.work}" maxMessageSize="{LONGEST}")
module(load="imfile")
template(name="line" type="string" string="%msg%\\n")
{inputs}
action(type="omfwd" target="127.0.0.1" port="{job.port}" protocol="tcp" template="line"
       compression.mode="stream:always" ziplevel="1")
""")
    modules = next(place.glob("usr/lib/*/rsyslog"))
    return [*with_libraries(place, "usr/sbin/rsyslogd"), "-n", "-f", path, "-i", job.work / "pid", "-M", modules]


def syslog_ng(place: Path, job: Job) -> Sequence[str | Path]:
    """Reads with wildcard-file. It polls, because watching takes an inotify instance per directory and a user has only
    128 of them. Its http() can only compress since the version after Debian's."""
    path = job.work / "syslog-ng.conf"
    path.write_text(f"""@version: 3.38
@module affile
@module http
options {{ log-msg-size({LONGEST}); stats-freq(0); }};
source backlog {{
  wildcard-file(base-dir("{job.root}") filename-pattern("*.jsonl") recursive(yes) monitor-method("poll")
    max-files(100000) follow-freq(1) log-fetch-limit(1000) log-iw-size(100000000) flags(no-parse));
}};
destination sink {{
  http(url("http://127.0.0.1:{job.port}/lines") method("POST") body("$MESSAGE") delimiter("\\n") workers(1)
    batch-lines(1000) batch-bytes(1000000) batch-timeout(200));
}};
log {{ source(backlog); destination(sink); flags(flow-control); }};
""")
    files = ("-f", path, "-R", job.work / "persist", "-c", job.work / "control", "-p", job.work / "pid")
    modules = next(place.glob("usr/lib/syslog-ng/*/"))
    return [*with_libraries(place, "usr/sbin/syslog-ng"), "-F", "--no-caps", *files, "--module-path", modules]


def opentelemetry_collector_from_modules(place: Path, work: Path) -> None:
    """Builds it with its own builder, including a receiver that reads files."""
    needs("go")
    run("go", "install", BUILDER, GOBIN=str(work))
    told = MANIFEST.format(place=work / "built", version=OTEL_VERSION, providers=PROVIDERS)
    (work / "manifest.yaml").write_text(told)
    run(work / "builder", "--config", work / "manifest.yaml", "--skip-strict-versioning", CGO_ENABLED="0")
    shutil.copy2(work / "built" / "otelcol", place)


def opentelemetry_collector(place: Path, job: Job) -> Sequence[str | Path]:
    """Configures its queue to block when full instead of dropping, and to make requests of about a megabyte."""
    queue = {"block_on_overflow": True, "sizer": "bytes", "queue_size": 8_000_000, "num_consumers": 1}
    batch = {"flush_timeout": "200ms", "min_size": 1_000_000, "max_size": 0}
    told = {
        "receivers": {
            "filelog": {
                "include": [f"{job.root}/**/*.jsonl"],
                "start_at": "beginning",
                "max_log_size": LONGEST,
                "include_file_name": False,
            }
        },
        "exporters": {
            "otlphttp": {
                "endpoint": f"http://127.0.0.1:{job.port}",
                "compression": "gzip",
                "compression_params": {"level": 1},
                "sending_queue": {**queue, "batch": batch},
            }
        },
        "service": {
            "telemetry": {"metrics": {"level": "none"}},
            "pipelines": {"logs": {"receivers": ["filelog"], "exporters": ["otlphttp"]}},
        },
    }
    path = job.work / "otelcol.json"
    path.write_text(json.dumps(told))
    return [place / "otelcol", "--config", f"file:{path}"]


def filebeat_from_modules(place: Path, work: Path) -> None:
    """Builds it in a copy of its module, because the module's `replace` directives only apply there."""
    needs("go")
    told = json.loads(run("go", "mod", "download", "-json", f"{BEATS}@v{BEATS_VERSION}", cwd=work))
    source = work / "source"
    shutil.copytree(told["Dir"], source)
    run("chmod", "-R", "u+w", source)
    run("go", "build", "-o", place / "filebeat", "./filebeat", cwd=source, GOFLAGS="-mod=mod", CGO_ENABLED="0")


def filebeat(place: Path, job: Job) -> Sequence[str | Path]:
    """Uses its newer input, and its output for Elasticsearch."""
    told = {
        "filebeat.inputs": [
            {
                "type": "filestream",
                "id": "backlog",
                "paths": [f"{job.root}/{depth}" for depth in DEPTHS],
            }
        ],
        "output.elasticsearch": {
            "hosts": [f"http://127.0.0.1:{job.port}"],
            "compression_level": 1,
            "worker": 1,
        },
        "setup": {"ilm.enabled": False, "template.enabled": False},
        "logging": {"level": "warning", "to_stderr": True, "metrics.enabled": False},
        "path": {"home": str(job.work), "data": str(job.work / "data"), "logs": str(job.work / "logs")},
    }
    path = job.work / "filebeat.yml"
    path.write_text(json.dumps(told))
    path.chmod(0o600)
    return [place / "filebeat", "-e", "-c", path, "--strict.perms=false"]


SHIPPERS = (
    Shipper("rsyslog", "debian", debian("rsyslog"), rsyslog, "over TCP, not HTTP"),
    Shipper("syslog-ng", "debian", debian("syslog-ng-core", "syslog-ng-mod-http"), syslog_ng, "without gzip"),
    Shipper(
        "OpenTelemetry Collector",
        OTEL_VERSION,
        opentelemetry_collector_from_modules,
        opentelemetry_collector,
    ),
    Shipper("Filebeat", BEATS_VERSION, filebeat_from_modules, filebeat),
)
