"""Several sinks: each starts from the common settings, and can only be sent less than they allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from collector import settings
from collector.assembly import scope_of, sink_of
from collector.delivery.sinks.registry import SINKS
from collector.settings import Settings, token_of
from tests.scopes import root_of


def loaded(**given: Any) -> Settings:
    return settings.load(None, given, sinks=SINKS)


def named(*sinks: dict[str, Any], **given: Any) -> list[Settings]:
    return loaded(sinks=[{"type": "store", **sink} for sink in sinks], **given).each()


def test_the_unnamed_sink_counts_only_if_it_is_set_or_the_only_one(tmp_path: Path) -> None:
    state = {"path": str(tmp_path / "s.json")}
    assert [each.sink_name for each in loaded(state=state).each()] == [""]
    assert [each.sink_name for each in named({"name": "a"}, {"name": "b"}, state=state)] == ["a", "b"]
    both = named({"name": "a"}, sink={"url": "https://sink.example/"}, state=state)
    assert [each.sink_name for each in both] == ["", "a"]
    assert [each.state_path.name for each in both] == ["s.json", "s.a.json"]
    assert [sink_of(each).text for each in both] == ["http https://sink.example", "sink a"]
    assert [both[0].one(name).sink_name for name in (None, "", "a")] == ["", "", "a"]


@pytest.mark.parametrize(
    ("of_all", "own", "in_force"),
    [("content", "full", "content"), ("full", "metadata", "metadata"), ("metadata", "content", "metadata")],
)
def test_no_sink_gets_more_than_the_common_capture_level(tmp_path: Path, of_all: str, own: str, in_force: str) -> None:
    [each] = named({"name": "a", "level": own}, capture={"level": of_all}, state={"path": str(tmp_path / "s.json")})
    assert each.capture.level == in_force


def test_no_sink_gets_a_project_that_the_common_filter_excludes(tmp_path: Path) -> None:
    projects = {"include": ["/work"], "exclude": ["/work/secret"]}
    sinks = {"name": "a", "include": ["/work/app", "/home"]}, {"name": "b", "exclude": ["/work/app"]}
    scopes = [scope_of(each) for each in named(*sinks, projects=projects, roots=[str(tmp_path)])]
    places = ("/work/app", "/work/other", "/work/secret", "/home/x")
    taken = [[place for place in places if scope.filter_of(root_of(tmp_path)).takes(place)] for scope in scopes]
    assert taken == [["/work/app"], ["/work/other"]]


def test_no_sink_gets_the_token_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "sink-token").write_text("of the first")
    url = "https://sink.example/"
    first, second = named({"name": "a", "type": "http", "url": url}, sink={"url": url})
    assert (token_of(first.sink), token_of(second.sink)) == ("of the first", None)
    (tmp_path / "sink-token-a").write_text("its own")
    assert token_of(second.sink) == "its own"


def test_former_names_are_kept_and_former_addresses_are_normalized(tmp_path: Path) -> None:
    former = ["engine", "https://old.example/v1/?token=x", "~/events.db"]
    [each] = named({"name": "a", "formerly": former}, state={"path": str(tmp_path / "s.json")})
    assert sink_of(each).formerly == ("engine", "https://old.example/v1", "~/events.db")
