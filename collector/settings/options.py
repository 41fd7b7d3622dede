"""Every option, by section, with its default and one line that says what it is for.

Plain pydantic models: sinks.py adds the options of sinks, layers.py fills them from flags, the environment and a file,
and reference.py makes the commented file from the descriptions. Nothing is read here.
"""

from __future__ import annotations

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, field_validator
from pydantic_settings import NoDecode

from collector.errors import ConfigurationError
from collector.flow.fields import SWITCHES
from collector.settings.addresses import in_utf_8
from collector.settings.section import Seconds, Section, not_empty


def _expanded(value: object) -> object:
    return os.path.expanduser(not_empty(value)) if isinstance(value, str) else value


_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
OWN_HEADERS = frozenset({"content-length", "content-encoding", "transfer-encoding"})

Names = Annotated[list[str], NoDecode]
_LABEL = re.compile(r"[a-z][a-z0-9_]{0,62}")
MOST_LABELS, LONGEST_LABEL = 32, 200
FilePath = Annotated[Path, BeforeValidator(_expanded), PlainSerializer(in_utf_8, return_type=str, when_used="json")]


def _level_today(value: object) -> object:
    """`content` was called `full` before there were switches."""
    return "content" if value == "full" else value


def _are_labels(labels: dict[str, str]) -> dict[str, str]:
    """Checks strictly: every store of events must be able to use labels as the names and values of columns."""
    if len(labels) > MOST_LABELS:
        raise ValueError(f"must hold at most {MOST_LABELS} labels")
    for name, text in labels.items():
        if not _LABEL.fullmatch(name):
            raise ValueError(
                f"the name {name[:80]!r} must start with a letter and hold only a-z, 0-9 and _ (63 at most)"
            )
        if not text or len(text) > LONGEST_LABEL or not text.isprintable() or text != text.strip():
            raise ValueError(
                f"{name} must be 1 to {LONGEST_LABEL} printable characters on one line, without surrounding spaces"
            )
    return labels


Labels = Annotated[dict[str, str], AfterValidator(_are_labels)]


def _check_header_name(name: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise ValueError("a header name may hold only letters, digits and -")
    if name.lower() in OWN_HEADERS:
        raise ValueError(f"must not set {name}: collector sets it itself")


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine, so nothing sent there reaches a network. `127.a.example` is a name."""
    import httpx  # imported here: the embedded store has no URL, and this costs as much as all the rest of this module

    host = httpx.URL(url).host
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_clear_text(url: str, *, is_allowed: bool) -> None:
    """Raises if events and credentials would leave this machine unencrypted, unless a person has allowed that."""
    import httpx

    parts = httpx.URL(url)
    if parts.scheme == "http" and not is_allowed and not is_loopback(url):
        raise ConfigurationError(
            f"sink.url: http:// would send to {parts.host} in the clear. Use https://, "
            "or set sink.allow_http = true if you own the network in between."
        )


class RootSetting(Section):
    """A directory in which a coding agent keeps its files, the label for it in events, and which agent that is."""

    path: Annotated[str, AfterValidator(not_empty), PlainSerializer(in_utf_8, return_type=str, when_used="json")]
    label: str = ""
    agent: str = ""


def listed_roots(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [{"path": item} if isinstance(item, str) else item for item in value]


class SinkSettings(Section):
    """Where events go. Without a URL they go to the embedded store."""

    type: str | None = None  # the choices, and the options of each, are added by sinks.py
    url: str | None = Field(
        default=None, examples=["https://telemetry.example/v1/events"], description="where batches are POSTed"
    )
    formerly: Names = Field(
        default=[],
        examples=[["https://old.example/v1/events"]],
        description="previous addresses or names of this same sink; what it already received is not sent again",
    )
    token_file: FilePath | None = Field(
        default=None,
        examples=["/etc/collector/sink-token"],
        description="a file with the secret the sink asks for",
    )
    auth: Literal["bearer", "basic", "header"] = Field(
        default="bearer",
        description="how the secret is sent: as a bearer token, auth_user's password (basic), or auth_header's value",
    )
    auth_user: str | None = Field(default=None, examples=["collector"], description="only for basic")
    auth_header: str | None = Field(default=None, examples=["X-Api-Key"], description="only for header")
    headers: dict[str, str] = Field(default={}, description="extra request headers; no secrets here")
    compression: Literal["gzip", "zstd", "none"] = Field(default="gzip", description="compression of request bodies")
    timeout: Seconds = Field(default=30.0, gt=0, description="seconds to wait for an answer")
    connect_timeout: Seconds = Field(default=10.0, gt=0, description="seconds to wait for a connection")
    window: int = Field(default=4, ge=1, le=32, description="requests in flight at once; one for the embedded store")
    ca_file: FilePath | None = Field(
        default=None,
        examples=["/etc/collector/ca.pem"],
        description="certificate authorities to trust instead of the system's",
    )
    client_cert: FilePath | None = Field(
        default=None, examples=["/etc/collector/client.pem"], description="client certificate (PEM)"
    )
    client_key: FilePath | None = Field(
        default=None, examples=["/etc/collector/client.key"], description="its private key, if not in the same file"
    )
    allow_http: bool = Field(default=False, description="allow http:// to hosts other than this machine")
    max_rate: int = Field(default=0, ge=0, description="upload limit in bytes per second; 0 for none")

    @property
    def is_encrypted(self) -> bool:
        """Whether sink.url is an https:// address, in whichever case."""
        return str(self.url).lower().startswith("https:")

    @field_validator("url")
    @classmethod
    def _url_is_usable(cls, value: str | None) -> str | None:
        if value is None:
            return None
        import httpx

        try:
            url = httpx.URL(value)
        except httpx.InvalidURL:  # the error's text may quote part of a password
            raise ValueError("is not a URL; it must look like https://host/path") from None
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("must look like https://host/path")
        if url.port is not None and not 0 < url.port < 65_536:  # the system would take 99999 for 34463
            raise ValueError(f"has port {url.port}, but ports go from 1 to 65535")
        if url.userinfo:
            raise ValueError("must not hold credentials; put the token in a file and name it in sink.token_file")
        return value

    @field_validator("headers")
    @classmethod
    def _headers_can_be_sent(cls, value: dict[str, str]) -> dict[str, str]:
        """Checked here, with the value left out: the HTTP library would quote it in its error, and that gets logged."""
        for name, text in value.items():
            _check_header_name(name)
            if not text.isascii() or not text.isprintable() or text != text.strip():
                raise ValueError(f"{name} must be one line of printable ASCII text, without surrounding spaces")
        return value

    @field_validator("auth_header")
    @classmethod
    def _auth_header_can_be_sent(cls, value: str | None) -> str | None:
        if value is not None:
            _check_header_name(value)
        return value

    @field_validator("auth_user")
    @classmethod
    def _auth_user_can_be_sent(cls, value: str | None) -> str | None:
        if value is not None and (":" in value or not value.isprintable()):
            raise ValueError("must be printable and hold no colon, because the password starts after one")
        return value


class OneOfSeveral(SinkSettings):
    """A further sink, with a name, its own offsets, and any option of [sink]. No sink delays another."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", examples=["engine"], description="its name: a-z, 0-9, - and _"
    )
    level: Annotated[Literal["content", "metadata"], BeforeValidator(_level_today)] = Field(
        default="content", description="metadata: send no text to this sink"
    )
    include: Names = Field(default=[], description="of the projects collected, only these; empty for all")
    exclude: Names = Field(default=[], description="never these, in addition to projects.exclude")


class BatchSettings(Section):
    """How many events go into one request."""

    linger: Seconds = Field(default=1.0, ge=0, description="seconds `run` waits for more events to fill a batch")
    max_events: int = Field(default=1000, ge=1, description="events per request; doubled for the embedded store")
    max_bytes: int = Field(
        default=1_000_000,
        ge=1_000,
        description="bytes per request, before compression; doubled for the embedded store",
    )
    max_event_bytes: int = Field(default=500_000, ge=1_000, description="larger events are cut to this size")


class RetrySettings(Section):
    """How a failing sink is retried: exponential, with full jitter."""

    initial_interval: Seconds = Field(default=0.5, gt=0, description="longest wait before the second try, in seconds")
    max_interval: Seconds = Field(default=60.0, gt=0, description="longest wait between tries, in seconds")
    max_wait: Seconds = Field(default=60.0, ge=0, description="seconds `scan` waits for a failing sink, in total")
    poison_tries: int = Field(
        default=6, ge=2, description="failures of a batch before it is split to find the event at fault"
    )


class RunSettings(Section):
    """How `collector run` behaves."""

    rescan_interval: Seconds = Field(default=60.0, gt=0, description="seconds between full rescans, with jitter")
    shutdown_timeout: Seconds = Field(default=10.0, ge=0, description="seconds to finish what is in flight on stop")
    watch: bool = Field(default=True, description="use file change notifications to notice new lines sooner")
    nice: int = Field(default=10, ge=0, le=19, description="CPU niceness")


class CaptureSettings(Section):
    """How much of a record is sent."""

    level: Annotated[Literal["content", "metadata"], BeforeValidator(_level_today)] = Field(
        default="content", description="metadata: send no text, and pseudonyms instead of names"
    )
    prompts: bool = Field(default=True, description="send what people type and paste")
    answers: bool = Field(default=True, description="send what the model answers")
    thinking: bool = Field(default=True, description="send what the model thinks")
    tool_input: bool = Field(default=True, description="send tool inputs, such as commands")
    tool_output: bool = Field(default=True, description="send tool results, such as file contents")
    file_paths: bool = Field(default=True, description="send working directories and the paths in fields of their own")
    names: Literal["pseudonym", "omit"] = Field(
        default="pseudonym",
        description="at level metadata: replace or omit names of projects, branches, users, hosts, servers, skills",
    )
    account: bool = Field(
        default=False, description="send the account's e-mail and organisation where a record names them"
    )

    @property
    def off(self) -> frozenset[str]:
        """The switches that are off."""
        return frozenset(name for name in SWITCHES if not getattr(self, name))


class ProjectSettings(Section):
    """Which projects are collected: globs as in .gitignore, so a directory covers everything below it."""

    include: Names = Field(default=[], description="only these; empty for all")
    exclude: Names = Field(default=[], description="never these; ~ is your home, also under a name it had before")


class DisclosureSettings(Section):
    """What people on this machine are told about what leaves it."""

    text: str = Field(
        default="", max_length=2000, description="your organisation's own words, shown with what is sent and where"
    )
    require_ack: bool = Field(default=False, description="send nothing to a sink until `collector agree` was run here")


class HeartbeatSettings(Section):
    """A regular sign of life, for watching a fleet."""

    interval: Seconds = Field(default=300.0, ge=0, description="seconds between heartbeats; 0 turns them off")


class SweptSettings(Section):
    """Keeping unsent transcripts that Claude Code's 30-day sweep would delete."""

    hold: bool = Field(default=True, description="hold unsent files while the sink is failing")
    max_files: int = Field(default=1000, ge=1, description="files held at once")
    max_bytes: int = Field(default=1_000_000_000, ge=1, description="bytes held at once")


class QuarantineSettings(Section):
    """Lines and events that could not be read or delivered, kept for a person to look at."""

    max_bytes: int = Field(default=50_000_000, ge=10_000, description="bytes kept; oldest entries are dropped first")


class UserRule(Section):
    """A redaction rule of your own."""

    id: str
    pattern: str
    keywords: list[str] = Field(default=[])


Personal = Literal["email", "phone", "card", "iban", "national_id", "ip", "mac", "account"]


class RedactionSettings(Section):
    """What is recognised as a secret. There is no off switch."""

    engine: Literal["auto", "hyperscan", "python"] = Field(default="auto", description="which engine to scan with")
    disable: Names = Field(default=[], description="ids of rules to turn off")
    fields: Names = Field(default=[], description="key names whose values are always withheld")
    identity: bool = Field(
        default=False,
        description="also remove account names, this host's name, committers' names and e-mail addresses",
    )
    rules: list[UserRule] = Field(default=[], description="rules of your own")
    personal: Annotated[list[Personal], NoDecode] = Field(
        default=[],
        description="personal data to remove as well: " + ", ".join(get_args(Personal)),
    )
    key_file: FilePath | None = Field(
        default=None,
        examples=["/etc/collector/redaction-key"],
        description="the fleet's key for markers; without it, each installation makes its own",
    )


class StateSettings(Section):
    """Where the agent keeps its state."""

    path: FilePath | None = Field(
        default=None, examples=["~/.local/state/collector/state.json"], description="the state file"
    )


class StoreSettings(Section):
    """The embedded store."""

    database: FilePath | None = Field(
        default=None, examples=["~/.local/share/collector/events.db"], description="the SQLite database"
    )
    retention_days: int | None = Field(
        default=None, ge=1, le=36_500, examples=[365], description="days to keep events; without it, forever"
    )
    prices: FilePath | None = Field(
        default=None,
        examples=["~/.config/collector/prices.toml"],
        description="your own prices of models, overriding the built-in table",
    )


class LogSettings(Section):
    """What is logged to stderr."""

    level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="the lowest level to log")
    format: Literal["auto", "json", "text"] = Field(default="auto", description="auto: text on a terminal, else json")


class HostSettings(Section):
    """What the machine is called in events."""

    id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.:-]{1,64}$",
        examples=["build-runner-7"],
        description="default: derived from the system's machine id; set it where that changes, as in containers",
    )
    name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_.:-]{1,253}$",
        examples=["ada-laptop"],
        description="default: the host name",
    )
