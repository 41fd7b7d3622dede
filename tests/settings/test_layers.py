"""Settings: where they come from, and how a wrong one is reported."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from collector import settings
from collector.assembly import roots_of
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError
from collector.settings import Settings, token_of
from collector.settings.editing import list_in, put_list
from tests.agent import Agent
from tests.build import Home
from tests.sink import Sink


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(path: Path | None = None, flags: dict[str, object] | None = None) -> Settings:
    return settings.load(path, flags, sinks=SINKS)


def complaint(path: Path | None = None, flags: dict[str, object] | None = None) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(path, flags)
    return str(caught.value)


@pytest.mark.parametrize("home", ["~", "", "here"])
def test_a_user_without_a_home_directory_is_reported(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    """A container may run as any uid and set no HOME; then `~` expands to itself. With an empty HOME, the agent would
    take /.claude for the root."""
    monkeypatch.setenv("HOME", home)
    with pytest.raises(ConfigurationError, match="no home directory"):
        load()


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "c.toml", "[batch]\nmax_events = 2\nlinger = 2.0\n[retry]\nmax_interval = 2.0\n")
    monkeypatch.setenv("COLLECTOR_BATCH__LINGER", "0.03")
    monkeypatch.setenv("COLLECTOR_RETRY__MAX_INTERVAL", "3")
    chosen = load(path, {"retry": {"max_interval": 4.0}})
    assert (chosen.batch.max_events, chosen.batch.linger, chosen.retry.max_interval) == (2, 0.03, 4.0)
    assert chosen.batch.max_bytes == 1_000_000


def test_the_users_file_is_found_without_being_named(scratch_home: Path) -> None:
    write(settings.user_config(), "[batch]\nmax_events = 7\n")
    assert load().batch.max_events == 7


def test_an_unknown_key_is_named_with_the_file_and_a_guess(tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", '[sink]\nurll = "https://a.example/"\n')
    assert complaint(path) == f"sink.urll (in {path}) is not a setting. Did you mean `sink.url`?"


def test_a_missing_option_is_named_with_its_file(tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", '[[redaction.rules]]\nid = "x"\n')
    assert complaint(path) == f"redaction.rules.0.pattern (in {path}): field required."


def test_a_backslash_in_the_wrong_quotes_is_explained(tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", '[[redaction.rules]]\npattern = "\\d"\n')
    assert "line 2" in complaint(path)
    assert "in 'single quotes'" in complaint(path)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", "\ufeff[batch]\nmax_events = 7\n")
    assert load(path).batch.max_events == 7
    put_list(path, "exclude", ["/work/private"])
    assert list_in(path, "exclude") == ["/work/private"]
    assert load(path).batch.max_events == 7


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("state.path", '[state]\npath = "state.json"\n'),
        ("store.database", '[store]\ndatabase = "./events.db"\n'),
        ("sink.token_file", '[sink]\nurl = "https://a.example/"\ntoken_file = "token"\n'),
        ("sinks.0.ca_file", '[[sinks]]\nname = "a"\nurl = "https://a.example/"\nca_file = "ca.pem"\n'),
        ("roots.0.path", 'roots = ["claude"]\n'),
    ],
)
def test_relative_paths_in_a_configuration_file_are_rejected(tmp_path: Path, key: str, text: str) -> None:
    path = write(tmp_path / "c.toml", text)
    message = complaint(path)
    assert message.startswith(f"{key} (in {path}): ")
    assert "Write the path from / or ~/." in message


def test_flags_and_variables_may_use_relative_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLECTOR_STORE__DATABASE", "events.db")
    chosen = load(None, {"state": {"path": "state.json"}})
    assert (str(chosen.state_path), str(chosen.database_path)) == ("state.json", "events.db")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[sink]\ntimeout = "30s"', "sink.timeout (in {}): must be a number: seconds to wait for an answer."),
        (
            '[quarantine]\nmax_bytes = "1MB"',
            "quarantine.max_bytes (in {}): must be a whole number: bytes kept; oldest",
        ),
        ("[swept]\nmax_files = 1.5", "swept.max_files (in {}): must be a whole number: files held at once."),
        (
            '[run]\nwatch = "perhaps"',
            "run.watch (in {}): must be true or false: use file change notifications to notice new lines sooner.",
        ),
        ("[sink]\nurl = 2026-01-01", "sink.url (in {}): must be text: where batches are POSTed."),
        ('sink = "https://a.example/"', "sink (in {}): must be a table."),
        ('labels = "x"', "labels (in {}): must be a table: your own labels, such as a team or a site"),
        ('sinks = ["a"]', "sinks.0 (in {}): must be a table."),
        ("[sink]\ntimeout = true", "sink.timeout (in {}): must be a number: seconds to wait for an answer."),
        ("[swept]\nmax_files = false", "swept.max_files (in {}): must be a whole number: files held at once."),
        ("[store]\nretention_days = true", "store.retention_days (in {}): must be a whole number: days to keep events"),
        (
            "[store]\nretention_days = 3000000",
            "store.retention_days (in {}): input should be less than or equal to 36500",
        ),
        (
            "[sink]\nretry_statuses = [200]",
            "sink.retry_statuses (in {}): must be statuses from 300 to 599, and 200 is not",
        ),
        ("[sink]\ntoken_file = 5", "sink.token_file (in {}): must be text: a file with the secret"),
        ('[sinks]\nname = "a"', "sinks (in {}): must be a list in [brackets]: "),
    ],
)
def test_a_value_of_the_wrong_type_is_reported_with_the_right_type(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path / "c.toml", text + "\n")
    assert complaint(path).startswith(reason.format(path))


def test_an_unknown_variable_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLECTOR_SINK__ULR", "https://a.example/")
    expected = "The environment variable COLLECTOR_SINK__ULR is not a setting. Did you mean COLLECTOR_SINK__URL?"
    assert complaint() == expected


def test_a_wrong_value_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLECTOR_BATCH__LINGER", "soon")
    assert complaint().startswith("batch.linger (in the environment variable COLLECTOR_BATCH__LINGER): ")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("COLLECTOR_SINK__TIMEOUT", "inf", "sink.timeout (in the environment variable COLLECTOR_SINK__TIMEOUT): "),
        ("COLLECTOR_RUN__RESCAN_INTERVAL", "1e12", "run.rescan_interval (in the environment variable "),
        ("COLLECTOR_STATE__PATH", "", "state.path (in the environment variable COLLECTOR_STATE__PATH): must not be"),
        ("COLLECTOR_SINK", '{"window": 0}', "sink.window (in the environment variable COLLECTOR_SINK): "),
        ("COLLECTOR_SINK__HEADERS", '{"a": 1}', "sink.headers.a (in the environment variable COLLECTOR_SINK__HEADERS)"),
        ("COLLECTOR_SINK__HEADERS", "a", "The environment variable COLLECTOR_SINK__HEADERS must hold valid JSON"),
    ],
)
def test_an_invalid_value_in_a_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert complaint().startswith(message)


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("ftp://a.example/", "must look like https://host/path"),
        ("https://me:pw@a.example/", "must not hold credentials"),
        ("http://a.example/", "in the clear"),
        ("http://127.a.example/", "would send to 127.a.example in the clear"),
        ("http://a.example?key=me:pw", "would send to a.example in the clear"),
        ("https://me:pw/me:pw@a.example/", "is not a URL"),
        ("https://[::1", "is not a URL"),
        ("https://a.example:99999/", "has port 99999, but ports go from 1 to 65535"),
        ("https://a.example:0/", "has port 0,"),
    ],
)
def test_an_unusable_url_is_explained_without_repeating_credentials(url: str, part: str) -> None:
    message = complaint(None, {"sink": {"url": url}})
    assert part in message
    assert "me:pw" not in message
    assert "'pw" not in message


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-Key", "not-a-key\n"), ("X-Key", "not-a-key\u00e9"), ("X Key:", "x"), ("Content-Length", "3")],
)
def test_an_invalid_header_is_named_without_its_value(name: str, value: str) -> None:
    message = complaint(None, {"sink": {"headers": {name: value}}})
    assert message.startswith("sink.headers (in a command line flag): ")
    assert value not in message or name == "X Key:"
    assert "not-a-key" not in message


def test_plain_http_is_accepted_on_loopback_and_with_allow_http() -> None:
    assert load(None, {"sink": {"url": "http://127.0.0.1:9/"}}).sink_type == "http"
    assert load(None, {"sink": {"url": "http://a.example/", "allow_http": True}}).sink_type == "http"


def test_without_a_sink_events_go_to_the_embedded_store() -> None:
    assert load().sink_type == "store"


def test_roots_come_from_the_setting_then_claude_config_dir_then_the_defaults(
    scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch_home / ".config" / "claude").mkdir(parents=True)
    assert [root.path for root in roots_of(load())] == [f"{scratch_home}/.config/claude"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/a, /b")
    assert [root.path for root in roots_of(load())] == ["/a", "/b"]
    named = roots_of(load(None, {"roots": ["~/c", {"path": "/d", "label": "work"}]}))
    assert [tuple(root)[:2] for root in named] == [(f"{scratch_home}/c", "c"), ("/d", "work")]


def test_a_list_may_be_written_with_commas_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLECTOR_PROJECTS__EXCLUDE", "a, b")
    assert load().projects.exclude == ["a", "b"]


@pytest.mark.parametrize("text", ['[projects]\nexclude = "/work/a,b"', '[sink]\nformerly = "a"', 'roots = "/a, /b"'])
def test_a_text_where_a_list_belongs_is_an_error_in_a_file(tmp_path: Path, text: str) -> None:
    """A comma may be part of a name: split there, it would exclude something else."""
    assert "must be a list in [brackets]: " in complaint(write(tmp_path / "c.toml", text + "\n"))


def test_invalid_toml_is_reported_with_its_file(tmp_path: Path) -> None:
    path = write(tmp_path / "c.toml", "[sink\n")
    assert complaint(path).startswith(f"{path} is not valid TOML: ")


def test_a_missing_file_is_named() -> None:
    assert complaint(Path("/nowhere.toml")).startswith("There is no configuration file /nowhere.toml.")


@pytest.mark.parametrize("name", ["etc", "etc/conf.d", "home/.config"])
def test_an_unmounted_configuration_directory_is_an_error(scratch_home: Path, tmp_path: Path, name: str) -> None:
    link = {"etc": tmp_path / "etc", "etc/conf.d": tmp_path / "etc" / "conf.d"}.get(name, scratch_home / ".config")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(tmp_path / "volume")
    with pytest.raises(ConfigurationError, match=f"{re.escape(str(link))} is a broken link"):
        settings.load(sinks=SINKS, system=tmp_path / "etc")


@pytest.mark.parametrize("what", ["a link to nothing", "a directory", "a pipe"])
@pytest.mark.parametrize("name", ["home/.config/collector/collector.toml", "agent/excluded.toml"])
def test_an_unreadable_configuration_file_stops_the_scan(tmp_path: Path, what: str, name: str) -> None:
    """It may hold a person's exclusions, for example as a link into dotfiles that are not mounted."""
    home = Home(tmp_path)
    home.session().prompt("one")
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    if what == "a link to nothing":
        path.symlink_to("gone")
    else:
        path.mkdir() if what == "a directory" else os.mkfifo(path)
    with Sink() as sink:
        result = Agent(home, sink).scan()
    is_of_the_state = name.startswith("agent") and what == "a link to nothing"
    assert result.code == (74 if is_of_the_state else 78), result.stderr
    assert str(path) in result.stderr
    assert sink.posts == []


def test_a_state_directory_that_is_not_mounted_yet_does_not_count_as_bad_configuration(tmp_path: Path) -> None:
    """The systemd units start the agent again after any exit code but 78 and 2."""
    home = Home(tmp_path)
    home.session().prompt("one")
    volume = tmp_path / "volume"
    (tmp_path / "agent").symlink_to(volume)
    with Sink() as sink:
        agent = Agent(home, sink)
        refused, doubted = agent.run("run", *agent.places()), agent.run("doctor", *agent.places())
        assert (refused.code, "agent is a broken link" in refused.stderr, sink.posts) == (74, True, [])
        assert (doubted.code, "agent is a broken link" in doubted.stdout) == (1, True)
        volume.mkdir()
        assert agent.scan().ledger["delivered"] == 1


def test_a_file_that_cannot_be_examined_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 300)
    assert complaint(path) == f"Cannot read {path}: File name too long. Make it readable to this user."


def test_a_secret_must_be_one_line_of_a_file_and_is_never_repeated(tmp_path: Path) -> None:
    path = write(tmp_path / "token", "not-a-token\n")
    assert token_of(load(None, {"sink": {"token_file": str(path)}}).sink) == "not-a-token"
    write(path, "one-part\ntwo-part\n")
    with pytest.raises(ConfigurationError) as caught:
        token_of(load(None, {"sink": {"token_file": str(path)}}).sink)
    assert "one-part" not in str(caught.value)


def test_a_systemd_credential_is_used_as_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "sink-token", "from-systemd")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert token_of(load().sink) == "from-systemd"


@pytest.mark.parametrize("kind", ["http", "store"])
def test_plain_http_is_refused_only_for_sinks_that_use_the_url(kind: str) -> None:
    """The embedded store does not use the URL, so there it is accepted."""
    flags: dict[str, object] = {"sink": {"type": kind, "url": "http://a.example/"}}
    if kind == "store":
        assert load(None, flags).sink_type == "store"
    else:
        assert "would send to a.example in the clear" in complaint(None, flags)


@pytest.mark.parametrize(
    ("sink", "part"),
    [
        ({"auth": "basic"}, "sink.auth is basic, but sink.auth_user is missing"),
        ({"auth": "header"}, "sink.auth is header, but sink.auth_header is missing"),
        ({"auth_user": "ada"}, "sink.auth_user is set, but sink.auth is bearer"),
        (
            {"auth": "basic", "auth_user": "a", "auth_header": "X-Key"},
            "sink.auth_header is set, but sink.auth is basic",
        ),
        ({"auth": "basic", "auth_user": "ada:pw"}, "sink.auth_user (in a command line flag): must be printable"),
        ({"auth": "header", "auth_header": "X Key"}, "sink.auth_header (in a command line flag): "),
        ({"auth": "header", "auth_header": "Content-Length"}, "sink.auth_header (in a command line flag): "),
        ({"auth": "digest"}, "sink.auth (in a command line flag): input should be 'bearer', 'basic' or 'header'"),
    ],
)
def test_authentication_needs_exactly_its_own_options(sink: dict[str, str], part: str) -> None:
    assert part in complaint(None, {"sink": {"url": "https://a.example/", **sink}})


def test_effective_values_are_shown_with_possible_secrets_masked() -> None:
    sink = {
        "url": "https://a.example/in?key=not-a-key",
        "headers": {"X-Key": "not-a-key"},
        "auth": "basic",
        "auth_user": "not-a-key",
    }
    shown = settings.masked(load(None, {"sink": sink}))
    assert "not-a-key" not in str(shown)
    assert shown["sink"]["url"].startswith("https://a.example/in?")
