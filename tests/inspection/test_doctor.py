"""`collector doctor`: what it finds, what it advises, and that it changes nothing."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from collector.delivery import sink as sink_seam
from collector.inspection.doctor import of_services
from collector.inspection.sink_checks import clock
from tests.agent import Agent, Result
from tests.build import Home
from tests.flow.event_schema import json_schema
from tests.sink import Answer, Sink, redirect, rejecting
from tests.tls import Authority

Checks = dict[str, list[dict[str, str]]]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.session().prompt("one")
    return home


def examine(agent: Agent, *flags: str, **environment: str) -> tuple[Checks, Result]:
    """Runs `collector doctor`; gives the checks by name, and the result."""
    result = agent.run("doctor", "--json", *agent.places(), *flags, env=environment)
    checks: Checks = {}
    for check in json.loads(result.stdout)["checks"]:
        checks.setdefault(check["name"], []).append(check)
    return checks, result


def levels(checks: Checks, name: str) -> list[str]:
    return [check["level"] for check in checks.get(name, [])]


def files(agent: Agent) -> dict[Path, Any]:
    """Every file outside the root, except the caches."""
    return {path: data for path, data in agent.kept().items() if "cache" not in str(path)}


def test_when_all_is_well_it_says_so_and_changes_nothing(home: Home, sink: Sink, agent: Agent) -> None:
    assert agent.scan().code == 0
    before = files(agent)
    checks, result = examine(agent)
    assert result.code == 0
    assert {name for name, found in checks.items() if found[0]["level"] != "ok"} == {"service"}
    assert files(agent) == before


OWN = {"unit": "collector.service", "state": "running", "says": "nothing waiting"}
SYSTEM = {"unit": "collector@alice.service", "state": "running", "says": "nothing waiting"}


@pytest.mark.parametrize(
    ("services", "is_running", "expected"),
    [
        ([OWN], True, ["ok collector.service: running: nothing waiting"]),
        ([OWN | {"says": "halted since noon: HTTP 401"}], True, ["fail collector.service: running: halted since noon"]),
        (
            [SYSTEM | {"state": "inactive (dead)", "next": "collector service start --system --for alice"}],
            False,
            ["fail collector@alice.service is installed, but inactive (dead)"],
        ),
        (
            [OWN | {"state": "failed (failed)", "ended": "exit-code, exit code 78", "next": "collector service logs"}],
            False,
            ["fail collector.service is installed, but failed (failed): exit-code, exit code 78"],
        ),
        ([OWN, SYSTEM], True, ["ok ", "ok ", "warn collector.service and collector@alice.service read the same"]),
        ([], True, ["ok not installed, but the agent is running"]),
        ([], False, ["warn not installed"]),
    ],
)
def test_an_installed_service_is_judged_by_its_state(
    services: list[dict[str, str]], is_running: bool, expected: list[str]
) -> None:
    found = list(of_services(services, is_agent_running=is_running))
    assert [check.level for check in found] == [line.partition(" ")[0] for line in expected]
    for check, line in zip(found, expected, strict=True):
        assert f"{check.level} {check.finding}".startswith(line)
        assert (check.level == "ok") == (not check.advice)


def test_doctor_says_what_to_run_where_there_is_no_service_manager() -> None:
    (check,) = of_services([], is_agent_running=False)
    assert "start `collector run`" in check.advice


def test_the_sink_gets_two_harmless_events(sink: Sink, agent: Agent) -> None:
    examine(agent)
    for event in sink.events:
        jsonschema.validate(event, json_schema())
    assert [event["kind"] for event in sink.events] == ["canary", "canary"]
    fresh, old = [datetime.fromisoformat(event["time"]) for event in sink.events]
    assert (fresh - old).days == 40
    assert agent.scan().ledger["delivered"] == 1


def test_lines_for_people_start_with_the_level(agent: Agent) -> None:
    result = agent.run("doctor", *agent.places())
    assert result.stdout.startswith("ok    configuration")
    assert "warn  service" in result.stdout
    assert "-> `collector service install`" in result.stdout


@pytest.mark.parametrize(("variable", "value"), [("RUN__NICE", "many"), ("PROJECTS__EXCLUDE", "*/[x")])
def test_with_a_bad_configuration_it_checks_nothing_else(agent: Agent, variable: str, value: str) -> None:
    checks, result = examine(agent, **{f"COLLECTOR_{variable}": value})
    assert result.code == 1
    assert list(checks) == ["configuration"]
    assert variable.lower().replace("__", ".") in checks["configuration"][0]["finding"]


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (Answer(401), "sink.token_file"),
        (Answer(404), "sink.url"),
        (Answer(400), "its schema, its limits"),
        (Answer(503), "It can be reached"),
        (redirect("http://127.0.0.1:1/"), "sink.url"),
    ],
)
def test_a_sink_that_does_not_accept_events_fails_with_advice(
    sink: Sink, agent: Agent, answer: Answer, advice: str
) -> None:
    sink.then = answer
    checks, result = examine(agent)
    assert result.code == 1
    assert levels(checks, "sink") == ["fail"]
    assert advice in checks["sink"][0]["advice"]


def test_a_sink_that_is_down_fails(sink: Sink, agent: Agent) -> None:
    sink.down()
    checks, result = examine(agent)
    assert (result.code, levels(checks, "sink")) == (1, ["fail"])


def test_a_sink_that_answers_and_rejects_is_a_warning(sink: Sink, agent: Agent) -> None:
    sink.then = rejecting(lambda event: True, "no such kind")
    checks, result = examine(agent)
    assert (result.code, levels(checks, "sink")) == (0, ["warn"])
    assert "no such kind" in checks["sink"][0]["finding"]


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Sun, 01 Mar 2026 13:00:10 GMT", ["ok"]),
        ("Sun, 01 Mar 2026 13:06:00 GMT", ["warn"]),
        ("Sun, 01 Mar 2026 12:00:00 GMT", ["warn"]),
        ("yesterday", []),
    ],
)
def test_a_clock_that_is_off_is_a_warning(date: str, expected: list[str]) -> None:
    answer = sink_seam.Answer(200, {"date": date}, b"")
    assert [check.level for check in clock(answer, now=1772370000.0)] == expected


def test_a_token_that_others_can_read_is_a_warning(agent: Agent, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t0ps3cret")
    token.chmod(0o644)
    checks, result = examine(agent, COLLECTOR_SINK__TOKEN_FILE=str(token))
    assert levels(checks, "secrets") == ["warn"]
    assert checks["secrets"][0]["advice"] == f"chmod 600 {token}"
    token.chmod(0o600)
    checks, result = examine(agent, COLLECTOR_SINK__TOKEN_FILE=str(token))
    assert levels(checks, "secrets") == ["ok"]
    assert "t0ps3cret" not in result.stdout + result.stderr


def test_a_named_sink_is_judged_by_its_own_credential(home: Home, agent: Agent, sink: Sink, tmp_path: Path) -> None:
    config = home.path / "collector.toml"
    config.write_text(f'[[sinks]]\nname = "a"\nurl = "{sink.url}"\n')
    for name in ("sink-token", "sink-token-a"):
        (tmp_path / name).write_text(f"token-for-{name}")
        (tmp_path / name).chmod(0o600)
    agent.sink = None
    checks, _ = examine(agent, "--config", str(config), CREDENTIALS_DIRECTORY=str(tmp_path))
    assert [check["finding"] for check in checks["secrets"]] == [f"sink.token_file: {tmp_path / 'sink-token-a'}"]


def test_a_damaged_installation_file_is_named(agent: Agent) -> None:
    assert levels(examine(agent)[0], "state") == ["ok"]
    agent.directory.mkdir(exist_ok=True)
    (agent.directory / "installation.json").write_text('{"id": "a", "key": "none"}')
    (agent.directory / "installation.json").chmod(0o600)
    checks, _ = examine(agent)
    assert "installation.json is damaged (ValueError)" in checks["state"][0]["finding"]
    assert levels(checks, "state") == ["warn", "ok"]


def test_http_to_a_port_that_speaks_tls_is_named(agent: Agent, tmp_path_factory: pytest.TempPathFactory) -> None:
    with Sink(tls=Authority(tmp_path_factory.mktemp("tls")).server()) as encrypted:
        agent.sink = None
        url = encrypted.url.replace("https:", "http:")
        checks, _ = examine(agent, "--sink-url", url)
        assert "sink.url must start with https://" in checks["sink"][0]["finding"]
        assert "sink.url must start with https://" in agent.scan("--sink-url", url, "--max-wait", "0").stderr


def test_a_missing_token_fails_and_the_other_checks_go_on(agent: Agent, tmp_path: Path) -> None:
    checks, result = examine(agent, COLLECTOR_SINK__TOKEN_FILE=str(tmp_path / "none"))
    assert result.code == 1
    assert "fail" in levels(checks, "secrets")
    assert "service" in checks


def test_a_root_that_is_not_there_is_a_warning(home: Home, agent: Agent) -> None:
    checks, result = examine(agent, "--root", str(home.path / "elsewhere"))
    assert result.code == 0
    assert levels(checks, "root") == ["ok", "warn"]


def test_a_link_that_keeps_sources_elsewhere_is_a_warning_but_no_other_link(home: Home, agent: Agent) -> None:
    elsewhere = home.path / "dotfiles"
    (elsewhere / "skills").mkdir(parents=True)
    for name in ("skills", "settings.json"):
        (home.root / name).symlink_to(elsewhere / name)
    checks, _ = examine(agent)
    assert levels(checks, "root") == ["ok"]
    (home.root / "projects").rename(elsewhere / "projects")
    (home.root / "projects").symlink_to(elsewhere / "projects")
    checks, result = examine(agent)
    assert result.code == 0
    assert [check["finding"] for check in checks["root"][1:]] == ["1 symbolic link leads out of a root"]


def test_a_damaged_state_is_reported_and_left_alone(agent: Agent) -> None:
    agent.scan()
    agent.state.write_text("{")
    agent.state.with_name("state.json.previous").unlink(missing_ok=True)
    before = files(agent)
    checks, _ = examine(agent)
    assert levels(checks, "state")[0] == "warn"
    assert files(agent) == before


def test_an_entry_in_quarantine_is_a_warning(home: Home, agent: Agent) -> None:
    broken = home.session()
    broken.path.write_bytes(b"not json\n")
    agent.scan()
    checks, _ = examine(agent)
    assert levels(checks, "quarantine") == ["warn"]


def test_unsent_sources_that_will_be_swept_are_a_warning(home: Home, agent: Agent) -> None:
    agent.scan()
    old = home.session()
    old.prompt("old")
    moment = old.path.stat().st_mtime - 26 * 86400
    os.utime(old.path, (moment, moment))
    checks, _ = examine(agent)
    assert levels(checks, "sweep") == ["warn"]


def test_the_python_engine_is_a_warning_only_if_it_was_not_chosen(agent: Agent) -> None:
    checks, _ = examine(agent, COLLECTOR_REDACTION__ENGINE="python")
    assert levels(checks, "redaction") == ["ok"]


def test_the_embedded_store_is_checked_without_being_created(home: Home) -> None:
    agent = Agent(home, None)
    checks, result = examine(agent, COLLECTOR_ENABLED="false")
    assert (result.code, levels(checks, "sink"), levels(checks, "sending")) == (0, ["ok"], ["warn"])
    assert "enabled = false" in checks["sending"][0]["finding"]
    assert "the first run creates it" in checks["sink"][0]["finding"]
    assert not list(home.path.rglob("events.db"))


def test_the_running_agent_and_its_problem_are_reported(home: Home, sink: Sink, agent: Agent) -> None:
    with agent.start(COLLECTOR_RETRY__MAX_INTERVAL="600", COLLECTOR_RETRY__INITIAL_INTERVAL="600") as running:
        sink.wait_for(lambda: sink.ids())
        sink.then = Answer(403)
        home.session().prompt("two")
        sink.wait_for(lambda: len(sink.posts) >= 2)

        def checks() -> Checks:
            return examine(agent)[0]

        found = checks()
        while levels(found, "agent") == ["ok"]:  # until the status file reports the problem
            found = checks()
        assert levels(found, "agent") == ["ok", "fail"]
        assert f"process {running.process.pid}" in found["agent"][0]["finding"]
        assert "sink.token_file" in found["agent"][1]["advice"]


def test_files_that_others_may_read_or_replace_are_named(home: Home, agent: Agent) -> None:
    agent.scan()
    agent.directory.chmod(0o777)
    (agent.directory / "installation.json").chmod(0o644)
    found = [check for check in examine(agent)[0]["state"] if check["level"] == "warn"]
    assert [check["advice"] for check in found] == [
        f"chmod 700 {agent.directory}",
        f"chmod 600 {agent.directory / 'installation.json'}",
    ]


def test_a_configuration_that_anybody_can_write_is_named(home: Home, agent: Agent) -> None:
    file = home.path / "made" / "collector.toml"
    file.parent.mkdir()
    file.write_text('[labels]\nteam = "a"\n')
    file.chmod(0o666)
    file.parent.chmod(0o777)
    found = examine(agent, "--config", str(file))[0]["configuration"]
    assert [check["advice"] for check in found if check["level"] == "warn"] == [
        f"chmod o-w {file}",
        f"chmod o-w {file.parent}",
    ]
    file.chmod(0o664)
    file.parent.chmod(0o1777)
    assert levels(examine(agent, "--config", str(file))[0], "configuration") == ["ok"]


def test_a_cache_that_others_can_write_to_is_named(home: Home, agent: Agent) -> None:
    cache = home.path / "cache" / "collector"
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    checks, result = examine(agent, XDG_CACHE_HOME=str(cache.parent))
    assert (levels(checks, "redaction"), result.code) == (["ok", "warn"], 0)
    assert "chmod 700" in checks["redaction"][1]["advice"]
    assert list(cache.iterdir()) == []
