"""Commands on a machine where root has installed the system service for this user: they look at its files, not at those
of an agent that nobody runs. The service is played by scans with its $STATE_DIRECTORY, without the user's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from collector.settings import account
from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside
from tests.sink import Sink


class Service:
    """A system service as its user's commands see it; `etc` and `keeps` are its configuration and its state."""

    def __init__(self, directory: Path, agent: Agent) -> None:
        self.agent = agent
        self.etc, self.keeps = directory / "etc", directory / "var" / "lib" / "collector" / account()
        self.etc.mkdir()
        self.keeps.mkdir(parents=True)
        self.facts = {"unit": f"collector@{account()}.service", "state": "running", "keeps": str(self.keeps)}
        self.without_a_home = {"STATE_DIRECTORY": str(self.keeps), "XDG_CONFIG_HOME": str(directory / "nowhere")}

    def configured(self, text: str) -> None:
        (self.etc / "collector.toml").write_text(text)

    def sends(self) -> dict[str, int]:
        """Lets it do one pass. Returns its ledger."""
        result = self.agent.run("scan", "--json", env=self.without_a_home)
        assert result.code == 0, result.stderr
        return result.ledger


@pytest.fixture
def agent(home: Home) -> Agent:
    session = home.session()
    session.prompt("hello")
    return Inside(home)


@pytest.fixture
def service(agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    service = Service(tmp_path, agent)
    monkeypatch.setattr("collector.install.installed.services_of", lambda *_: [service.facts])
    monkeypatch.setattr("collector.settings.loading.SYSTEM_DIRECTORY", service.etc)
    return service


def test_the_files_of_a_system_service_are_looked_at_by_every_command(agent: Agent, service: Service) -> None:
    assert service.sends()["delivered"] == 1
    [listed] = map(json.loads, agent.run("preview", "--json").stdout.splitlines())
    assert (listed["state"], listed["unsent"]) == ("sent", 0)
    assert json.loads(agent.run("report", "--json").stdout)["events"] == 1
    assert str(service.keeps / "events.db") in agent.run("store", "info").stdout
    assert json.loads(agent.run("store", "sql", "SELECT count(*) AS n FROM events").stdout) == {"n": 1}
    assert json.loads(agent.run("status", "--json").stdout)["state"] == str(service.keeps / "state.json")
    assert f"{service.keeps / 'state.json'}: 1 source known" in agent.run("doctor").stdout


def test_a_source_of_a_system_service_can_be_sent_again(agent: Agent, service: Service) -> None:
    service.sends()
    assert len(json.loads(agent.run("reset", "--all", "--json").stdout)["reset"]) == 1
    assert service.sends()["delivered"] == 1


def test_what_a_system_service_stored_can_be_sent_to_a_sink(agent: Agent, service: Service, sink: Sink) -> None:
    service.sends()
    assert agent.run("resend", "--from-store", "--sink-url", sink.url).code == 0
    assert len(sink.ids()) == 1


def test_a_preview_shows_what_the_service_sends_whatever_the_users_own_file_says(
    agent: Agent, service: Service
) -> None:
    own = agent.home.path / ".config" / "collector" / "collector.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[capture]\nlevel = "metadata"\n')
    assert "hello" in agent.run("preview", "--all").stdout
    service.configured('[capture]\nlevel = "metadata"\n')
    own.unlink()
    assert "hello" not in agent.run("preview", "--all").stdout


def test_a_service_that_was_given_a_file_is_seen_with_it(agent: Agent, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "given.toml"
    file.write_text('[capture]\nlevel = "metadata"\n')
    service.facts["config"] = str(file)
    assert "hello" not in agent.run("preview", "--all").stdout


def test_a_service_that_was_given_the_machines_file_reads_it_once(agent: Agent, service: Service) -> None:
    service.configured('[capture]\nlevel = "metadata"\n')
    service.facts["config"] = str(service.etc / "collector.toml")
    assert f" configuration {service.facts['config']}: valid\n" in agent.run("doctor", "--no-canary").stdout


def test_a_doctor_says_that_the_file_of_the_service_is_damaged(agent: Agent, service: Service, tmp_path: Path) -> None:
    file = tmp_path / "given.toml"
    file.write_text("[sink")
    service.facts["config"] = str(file)
    told = agent.run("doctor", "--json")
    assert (told.code, told.stderr) == (1, "")
    [check] = json.loads(told.stdout)["checks"]
    assert (check["name"], check["level"], str(file) in check["finding"]) == ("configuration", "fail", True)


@pytest.mark.parametrize("times", [1, 2])
def test_a_no_is_heard_although_the_file_of_the_service_is_damaged(
    agent: Agent, service: Service, tmp_path: Path, times: int
) -> None:
    file = tmp_path / "given.toml"
    file.write_text("[sink")
    service.facts["config"] = str(file)
    session = agent.home.session(project="-work-diary")
    session.cwd = "/work/diary"
    session.prompt("dear diary")
    for _ in range(times):
        said = agent.run("exclude", "/work/diary")
    assert (said.code, str(file) in said.stderr, "Excluded anyway" in said.stderr) == (78, True, True)
    assert "applies this now" not in said.stdout
    for place in (agent.home.path / ".config" / "collector" / "collector.toml", service.keeps / "excluded.toml"):
        assert '"/work/diary"' in place.read_text()
    file.write_text("")
    assert service.sends()["delivered"] == 1  # "hello", of another project


def test_what_needs_little_of_the_service_works_although_its_file_is_damaged(
    agent: Agent, service: Service, sink: Sink, tmp_path: Path
) -> None:
    service.sends()
    service.facts["config"] = str(tmp_path / "given.toml")
    agent.run("exclude", "/work/diary")
    agent.run("pause")
    (tmp_path / "given.toml").write_text("[sink")
    report = agent.run("report", "--json")
    assert (report.code, json.loads(report.stdout)["events"], "given.toml" in report.stderr) == (0, 1, True)
    assert agent.run("resume").stdout.startswith("Resumed.")
    assert agent.run("resend", "--from-store", "--sink-url", sink.url).code == 0
    included = agent.run("include", "/work/diary")
    assert (included.code, "Included anyway" in included.stderr) == (78, True)
    assert '"/work/diary"' not in (service.keeps / "excluded.toml").read_text()


def test_a_person_who_agrees_agrees_to_what_the_service_sends(agent: Agent, service: Service, sink: Sink) -> None:
    service.configured(f'[disclosure]\nrequire_ack = true\n[sink]\nurl = "{sink.url}"\n')
    own = agent.home.path / ".config" / "collector" / "collector.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[capture]\nlevel = "metadata"\n')
    said = agent.run("agree").stdout
    assert ["at level metadata" in said, "at level content" in said] == [True, True]
    assert service.sends()["delivered"] == 1


@pytest.mark.parametrize("how", ["state", "root", "file"])
def test_a_person_can_still_name_another_agent(agent: Agent, service: Service, how: str, tmp_path: Path) -> None:
    service.sends()
    file = tmp_path / "mine.toml"
    file.write_text("")
    named = {
        "state": ["--state", str(agent.state)],
        "root": ["--root", str(agent.home.root)],
        "file": ["--config", str(file)],
    }
    [listed] = map(json.loads, agent.run("preview", "--json", *named[how]).stdout.splitlines())
    assert listed["state"] == "pending"


def test_without_a_store_of_the_service_ones_own_is_shown(agent: Agent, service: Service, sink: Sink) -> None:
    service.configured(f'[sink]\nurl = "{sink.url}"\n')
    service.sends()
    agent.run("scan", "--sink-type", "store", "--root", str(agent.home.root))
    assert json.loads(agent.run("report", "--json").stdout)["events"] == 1


def test_a_pause_reaches_the_service_whatever_is_wrong_with_ones_own_file(agent: Agent, service: Service) -> None:
    own = agent.home.path / ".config" / "collector" / "collector.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[sink")
    said = agent.run("pause").stderr
    assert f"{agent.home.path / '.local' / 'state' / 'collector'} and {service.keeps}" in said
    assert service.sends()["delivered"] == 0


def test_the_service_of_somebody_else_keeps_nobody_from_a_pause_or_its_end(
    agent: Agent, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.facts["unit"] = "collector@somebody-else.service"
    monkeypatch.setattr("os.access", lambda path, _mode: str(path) != str(service.keeps))  # tests may run as root
    assert agent.run("pause").code == 0
    assert "paused since" in agent.run("scan", "--root", str(agent.home.root)).stderr
    assert agent.run("resume").code == 0
    assert "paused since" not in agent.run("scan", "--root", str(agent.home.root)).stderr
