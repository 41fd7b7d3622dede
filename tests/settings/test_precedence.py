"""Precedence: defaults, system files, the user's file, the environment, flags; what adds up, what a lock forbids."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from collector import cli, settings
from collector.assembly import scope_of
from collector.delivery.sinks.registry import SINKS
from collector.errors import ConfigurationError
from collector.settings import Settings


class Machine:
    """A machine with configuration files of its administrator and its user."""

    def __init__(self, directory: Path) -> None:
        self.system = directory / "etc"
        self.mine = settings.user_config()

    def write(self, name: str, text: str) -> str:
        """Writes a file of the administrator's."""
        return self._write(self.system / name, text)

    def mine_says(self, text: str) -> str:
        """Writes the user's file."""
        return self._write(self.mine, text)

    def load(self, given: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
        """The settings in force."""
        return settings.load(given, flags, sinks=SINKS, system=self.system)

    def complaint(self, given: Path | None = None, flags: Mapping[str, Any] | None = None) -> str:
        """The error that loading raises."""
        with pytest.raises(ConfigurationError) as caught:
            self.load(given, flags)
        return str(caught.value)

    def _write(self, path: Path, text: str) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_each_key_comes_from_the_layer_closest_to_the_person(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    main = machine.write(
        "collector.toml", "[retry]\nmax_wait = 1\npoison_tries = 11\nmax_interval = 1\n[batch]\nlinger = 1"
    )
    ten = machine.write("conf.d/10-team.toml", "[retry]\nmax_wait = 10\n[batch]\nlinger = 10\nmax_events = 10\n")
    two = machine.write("conf.d/20-site.toml", "[batch]\nmax_events = 20\n")
    machine.write("conf.d/30-not.txt", "[batch]\nmax_events = 30\n")
    machine.write("conf.d/.ansible_tmp1x2y40-half.toml", "[batch]\nmax_eve")
    mine = machine.mine_says("[retry]\nmax_wait = 100\nmax_interval = 100\n")
    monkeypatch.setenv("COLLECTOR_RETRY__MAX_WAIT", "1000")
    chosen = machine.load(flags={"retry": {"max_wait": 9000}})
    assert (chosen.retry.poison_tries, chosen.retry.max_interval, chosen.retry.max_wait) == (11, 100, 9000)
    assert (chosen.batch.linger, chosen.batch.max_events, chosen.batch.max_bytes) == (10, 20, 1_000_000)
    assert machine.load().retry.max_wait == 1000
    assert chosen.origins.files == (main, ten, two, mine)
    assert chosen.origins.places == {
        "retry.poison_tries": main,
        "batch.linger": ten,
        "batch.max_events": two,
        "retry.max_interval": mine,
        "retry.max_wait": "a command line flag",
    }


def test_a_file_given_by_config_replaces_the_users_file_but_not_the_systems(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = Path(machine.write("collector.toml", "[batch]\nmax_events = 3\nmax_bytes = 3000\nmax_event_bytes = 3000\n"))
    machine.mine_says("[batch]\nlinger = 7\n")
    named = Path(machine.write("../named.toml", "[batch]\nmax_events = 5\n"))
    assert machine.load(named).batch.model_dump() == machine.load().batch.model_dump() | {"linger": 1, "max_events": 5}
    monkeypatch.setenv("COLLECTOR_CONFIG", str(named))
    assert machine.load().batch.max_events == 5
    assert machine.load(main).origins.files == (str(main),)


def test_a_freshly_initialized_file_changes_nothing(machine: Machine) -> None:
    from collector.agents.registry import AGENTS
    from collector.settings.reference import Whereabouts, commented

    system = machine.write("collector.toml", 'locked = ["capture"]\n[sink]\nurl = "https://a.example/"\n')
    before = machine.load()
    machine.mine_says(commented(SINKS, [Whereabouts(f.title, f.root_variable, f.usual_roots) for f in AGENTS.values()]))
    after = machine.load()
    assert after.model_dump() == before.model_dump()
    assert after.origins.places == {"sink.url": system}
    assert after.origins.overruled == ()


def test_tables_merge_and_lists_replace(machine: Machine) -> None:
    machine.write(
        "collector.toml", '[sink.headers]\nA = "1"\nB = "1"\n[projects]\ninclude = ["/a"]\n[labels]\nteam = "x"'
    )
    machine.mine_says('[sink.headers]\nB = "2"\n[projects]\ninclude = ["/b"]\n[labels]\nsite = "y"\n')
    chosen = machine.load()
    assert chosen.sink.headers == {"A": "1", "B": "2"}
    assert chosen.projects.include == ["/b"]
    assert chosen.labels == {"team": "x", "site": "y"}


def test_exclusions_and_redacted_fields_of_all_layers_add_up(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person can exclude more than the administrator does, and undoes nothing by it."""
    main = machine.write("collector.toml", '[projects]\nexclude = ["/a"]\n[redaction]\nfields = ["pin"]\n')
    mine = machine.mine_says('[projects]\nexclude = ["/b", "/a"]\n[redaction]\nfields = []\n')
    monkeypatch.setenv("COLLECTOR_PROJECTS__EXCLUDE", "/c")
    chosen = machine.load()
    assert chosen.projects.exclude == ["/a", "/b", "/c"]
    assert chosen.redaction.fields == ["pin"]
    assert chosen.origins.places["projects.exclude"] == (
        f"{main} and {mine} and the environment variable COLLECTOR_PROJECTS__EXCLUDE"
    )


def test_an_exception_does_not_undo_another_layers_exclusion(machine: Machine) -> None:
    machine.write("collector.toml", '[projects]\nexclude = ["/secret"]\n')
    machine.mine_says('[projects]\nexclude = ["/mine/*", "!/secret", "!/mine/open"]\n')
    chosen = machine.load()
    taken = [place for place in ("/secret", "/secret/x", "/mine/x", "/mine/open", "/else") if _takes(chosen, place)]
    assert taken == ["/mine/open", "/else"]


def _takes(chosen: Settings, directory: str) -> bool:
    return all(each.takes(directory) for each in scope_of(chosen).filters.values())


@pytest.mark.parametrize(
    ("locked", "mine", "expected"),
    [
        ('["sink"]', '[sink]\nurl = "https://b.example/"\ntimeout = 3\n', ["sink.url", "sink.timeout"]),
        ('["sink.url"]', '[sink]\nurl = "https://b.example/"\n', ["sink.url"]),
        ('["sink.url"]', '[sink]\nurl = "https://a.example/"\n', []),
        ('["sink"]', "[sink]\n[sink.headers]\n", []),
        ('["sink"]', '[sink]\nulr = "https://b.example/"\n', ["sink.ulr"]),
        ('["sink.headers"]', '[sink.headers]\nX = "1"\n', ["sink.headers.X"]),
        ('["projects.exclude"]', '[projects]\nexclude = ["/mine"]\n', ["projects.exclude"]),
        ('["roots", "labels.team"]', 'roots = ["/x"]\n[labels]\nteam = "b"\n', ["roots", "labels.team"]),
    ],
)
def test_a_locked_key_keeps_its_value_and_the_attempt_is_named(
    machine: Machine, locked: str, mine: str, expected: list[str]
) -> None:
    main = machine.write("collector.toml", f'locked = {locked}\n[sink]\nurl = "https://a.example/"\ntimeout = 9\n')
    before = machine.load().model_dump()
    path = machine.mine_says(mine)
    chosen = machine.load()
    assert chosen.model_dump() == before
    assert [(each.key, each.place, each.locked_in) for each in chosen.origins.overruled] == [
        (key, path, main) for key in expected
    ]


def test_a_lock_binds_variables_and_flags_but_not_other_system_files(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = machine.write("collector.toml", 'locked = ["sink", "capture.level"]\n[capture]\nlevel = "metadata"\n')
    machine.write("conf.d/site.toml", '[sink]\nurl = "https://site.example/"\n')
    monkeypatch.setenv("COLLECTOR_CAPTURE__LEVEL", "full")
    monkeypatch.setenv("COLLECTOR_SINK", '{"url": "https://b.example/"}')
    chosen = machine.load(flags={"sink": {"url": "https://site.example/"}})
    assert (chosen.capture.level, chosen.sink.url) == ("metadata", "https://site.example/")
    place = "in the environment variable COLLECTOR_"
    assert {str(each) for each in chosen.origins.overruled} == {
        f"capture.level ({place}CAPTURE__LEVEL) has no effect: {main} locks capture.level",
        f"sink.url ({place}SINK) has no effect: {main} locks sink",
    }
    assert machine.complaint(flags={"sink": {"url": "https://b.example/"}}) == (
        f"sink.url (in a command line flag) cannot be changed: {main} locks sink. "
        "Leave out the flag, or ask whoever administers this machine."
    )


def test_a_lock_in_the_users_file_binds_variables_and_flags(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """This way a file meant for /etc can be tried with --config before it is rolled out."""
    machine.mine_says('locked = ["batch.linger"]\n[batch]\nlinger = 5\n')
    monkeypatch.setenv("COLLECTOR_BATCH__LINGER", "1")
    assert machine.load().batch.linger == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('locked = ["snik"]', "snik is not a setting. Did you mean `sink`?"),
        ('locked = "sink"', 'must be a list of keys and sections, such as ["sink"].'),
        ("[sink]\nlocked = []", "sink.locked"),
    ],
)
def test_an_invalid_lock_is_an_error(machine: Machine, text: str, said: str) -> None:
    path = machine.write("conf.d/a.toml", text)
    assert said in machine.complaint()
    assert path in machine.complaint()


def test_an_unreadable_system_file_is_an_error(machine: Machine, tmp_path: Path) -> None:
    machine.write("conf.d/a.toml", "[sink")
    assert "is not valid TOML" in machine.complaint()
    machine.system = tmp_path / ("n" * 300)
    assert "File name too long" in machine.complaint()


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"Team": "x"}, "labels (in a command line flag): the name 'Team' must start with a letter"),
        ({"a b": "x"}, "hold only a-z, 0-9 and _"),
        ({"team": ""}, "team must be 1 to 200 printable characters"),
        ({"team": "a\nb"}, "team must be 1 to 200 printable characters"),
        ({"team": " a"}, "without surrounding spaces"),
        ({f"l{n}": "x" for n in range(33)}, "at most 32 labels"),
    ],
)
def test_labels_must_be_few_short_and_printable(machine: Machine, labels: dict[str, str], said: str) -> None:
    assert said in machine.complaint(flags={"labels": labels})


def test_labels_come_from_variables_too(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.mine_says('[labels]\nteam = "a"\nsite = "b"\n')
    monkeypatch.setenv("COLLECTOR_LABELS__TEAM", "Größe 2")
    assert machine.load().labels == {"team": "Größe 2", "site": "b"}


def test_a_new_system_file_is_checked_although_the_old_one_locks_what_it_changes(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """As a configuration tool does before it replaces the file on every machine."""
    monkeypatch.setattr("collector.settings.loading.SYSTEM_DIRECTORY", machine.system)
    machine.write("collector.toml", 'locked = ["sink"]\n[sink]\nurl = "https://old.example/"\n')
    machine.mine_says('[sink]\nurl = "https://mine.example/"\n')
    new = tmp_path / "new.toml"
    new.write_text('locked = ["sink"]\n[sink]\nurl = "https://new.example/"\n')
    assert cli.run(["config", "show", "--system", "--config", str(new)]) == 0
    assert f'"https://new.example/"  ({new}, locked by {new})' in capsys.readouterr().out
    new.write_text('locked = ["sink"]\n[sink]\ntimeout = "soon"\n')
    assert cli.run(["config", "check", "--system", "--config", str(new)]) == 78
    assert f"sink.timeout (in {new})" in capsys.readouterr().err
    assert cli.run(["config", "show", "--system"]) == 0  # as they are now
    assert '"https://old.example/"' in capsys.readouterr().out


def test_commands_show_where_each_value_comes_from_and_what_has_no_effect(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A developer's file has an outdated address: the agent keeps using the administrator's, and commands say so."""
    monkeypatch.setattr("collector.settings.loading.SYSTEM_DIRECTORY", machine.system)
    main = machine.write(
        "collector.toml", 'locked = ["sink", "state"]\n[sink]\nurl = "http://127.0.0.1:9/"\n[batch]\nlinger = 2\n'
    )
    mine = machine.mine_says('[sink]\nurl = "https://old.example/"\n')
    said = f"sink.url (in {mine}) has no effect: {main} locks sink"

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.run(list(arguments))
        return code, *capsys.readouterr()

    code, shown, told = run("config", "show")
    assert (code, told) == (0, f"{said}\n")
    lines = {line.split()[0]: line.split(maxsplit=1)[1] for line in shown.splitlines()}
    assert lines["sink.url"] == f'"http://127.0.0.1:9/"  ({main}, locked by {main})'
    assert lines["sink.timeout"] == f"30.0  (default, locked by {main})"
    assert lines["batch.linger"] == f"2.0  ({main})"
    assert lines["host.name"] == f'"{socket.gethostname()}"  (default)'
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/a")
    told_all = json.loads(run("config", "show", "--json")[1])
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert told_all["options"]["roots"]["from"] == "the environment variable CLAUDE_CONFIG_DIR"
    assert told_all["files"] == [main, mine]
    assert told_all["options"]["sink.url"] == {"value": "http://127.0.0.1:9/", "from": main, "locked_by": main}
    assert told_all["options"]["batch.max_events"] == {"value": 1000, "from": "default", "locked_by": None}
    assert told_all["overruled"] == [{"key": "sink.url", "place": mine, "lock": "sink", "locked_in": main}]
    assert run("config", "check") == (0, f"{main}, {mine}: valid.\n", f"{said}\n")
    status = run("status")[1]
    for key, value, why in (
        ("PROJECTS__EXCLUDE", '["~nobody-at-all/x"]', "projects.exclude: '~nobody-at-all/x'"),
        ("SINKS", '[{"name": "l", "type": "loki", "url": "https://l/", "loki": {"labelled": ["modle"]}}]', "'modle'"),
        ("STORE__PRICES", main, f"store.prices: {main}"),
        ("SINKS", f'[{{"name": "far", "url": "https://far.example/", "ca_file": "{main}"}}]', "sink.ca_file"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(f"COLLECTOR_{key}", value)
            code, _, told = run("config", "check")
        assert (code, why in told) == (78, True), told
    assert f"overruled   {said}\n" in status
    assert f"locked      sink, state; in {main}\n" in status
    assert said in run("doctor")[1]
    for command in ("scan", "run", "status"):
        code, _, told = run(command, "--sink-url", "https://old.example/")
        assert (code, told.partition(". ")[0]) == (
            78,
            f"collector: sink.url (in a command line flag) cannot be changed: {main} locks sink",
        )
