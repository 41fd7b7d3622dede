"""The project filter: a person said no, and nothing of it is read, whatever it is called and wherever it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from collector.agents.claude_code.projects import key_of, may_name
from collector.reading.discover import Findings, discover, glance
from collector.reading.projects import ProjectFilter, Verdict
from tests.build import Home, Session
from tests.scopes import FORM, root_of, scope

DEEP = "/work/" + "/".join(["a-rather-long-name-of-a-directory"] * 7)
HASHED = key_of(DEEP) + "-1x2y3z"


def filtering(*exclude: str, include: tuple[str, ...] = (), home: str = "/home/me") -> ProjectFilter:
    return ProjectFilter(FORM, include, exclude, home)


def session(home: Home, directory: str, project: str = "") -> Session:
    """A session of this working directory, with one prompt."""
    made = home.session(project=project or key_of(directory))
    made.cwd = directory
    made.prompt("hello")
    return made


def found(home: Home, *exclude: str, include: tuple[str, ...] = ()) -> Findings:
    return discover(scope(home.root, home=str(home.path), include=include, exclude=exclude))


def projects(findings: Findings) -> set[str]:
    return {source.project for source in findings.files}


@pytest.mark.parametrize(
    ("glob", "directory", "is_left_out"),
    [
        ("/work/secret", "/work/secret", True),
        ("/work/secret", "/work/secret/deep/below", True),
        ("/work/secret", "/work/secret-not", False),
        ("/work/secret/", "/work/secret", True),
        ("~/private/*", "/home/me/private/diary/2026", True),
        ("~/private/*", "/home/me/private", False),
        ("~", "/home/me/anything", True),
        ("/work/**/keys", "/work/a/b/keys/c", True),
        ("private", "/work/private/x", True),
        ("private", "/work/privateer", False),
        ("clients/acme", "/work/clients/acme/app", True),
        ("-work-secret", "/work/secret", True),
        ("-work-secret", "/work/secret/below", True),
        ("-work-*", "/work/app", True),
        ("*secret*", "/work/top-secret-plans", True),
        ("/work/caf\u00e9", "/work/caf\u00e9/x", True),
        ("/work/\U0001f600", "/work/\U0001f600/x", True),
    ],
)
def test_an_excluded_directory_stands_for_all_that_is_below_it(glob: str, directory: str, is_left_out: bool) -> None:
    assert filtering(glob).takes(directory) is not is_left_out


def test_what_an_exception_says_is_taken_again() -> None:
    only = filtering("~/private/*", "!~/private/public")
    assert [only.takes(f"/home/me/private/{name}") for name in ("diary", "public")] == [False, True]


def test_with_an_include_only_that_is_taken_and_exclude_still_wins() -> None:
    only = filtering("/work/app/secret", include=("/work/app",))
    assert [only.takes(path) for path in ("/work/app/src", "/work/app/secret/x", "/tmp")] == [True, False, False]


def test_a_link_in_a_glob_is_also_excluded_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert not filtering(f"{tmp_path}/link/*").takes(f"{tmp_path.resolve()}/real/project")


@pytest.mark.parametrize(
    ("glob", "project", "verdict"),
    [
        ("/work/secret", "-work-secret", Verdict.IN_DOUBT),  # it may be /work.secret
        ("/work/secret", "-work-secret-below", Verdict.IN_DOUBT),  # or /work/secret-below
        ("/work/secret", "-work-public", Verdict.TAKEN),
        ("-work-secret", "-work-secret", Verdict.LEFT_OUT),
        ("/work/\U0001f600", "-work---", Verdict.IN_DOUBT),
        ("private", "-home-me-private-x", Verdict.IN_DOUBT),
        (DEEP, HASHED, Verdict.IN_DOUBT),
        ("/elsewhere/*", HASHED, Verdict.TAKEN),
    ],
)
def test_a_name_of_a_project_is_rarely_certain(glob: str, project: str, verdict: Verdict) -> None:
    assert filtering(glob).verdict(project) is verdict


def test_a_name_that_no_include_can_mean_is_left_out_without_a_look() -> None:
    assert filtering(include=("/work/app",)).verdict("-home-me-notes") is Verdict.LEFT_OUT


def test_every_directory_that_a_glob_matches_may_have_the_name_of_its_project() -> None:
    for glob, directory in (("/w/?x/*", "/w/\U0001f600x/y"), ("/w/[ab]c", "/w/ac"), ("/w/**/z", "/w/1/2/z/deep")):
        assert may_name(key_of(directory), glob), glob


def test_what_the_name_leaves_in_doubt_the_session_itself_decides(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for directory in ("/work/secret", "/work/secret/below", "/work/secret-not", "/work/app"):
        session(home, directory)
    findings = found(home, "/work/secret")
    assert projects(findings) == {"-work-secret-not", "-work-app"}
    assert findings.skipped == {"project": 2}


def test_two_directories_with_one_name_are_told_apart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/my.app")
    session(home, "/work/my-app")
    (source,) = found(home, "/work/my.app").files
    assert json.loads(Path(source.path).read_text().splitlines()[0])["cwd"] == "/work/my-app"


@pytest.mark.parametrize("directory", [DEEP, f"{DEEP}/below"])
def test_a_name_that_was_cut_and_hashed_is_no_way_out(tmp_path: Path, directory: str) -> None:
    home = Home(tmp_path)
    session(home, directory, project=HASHED)
    assert found(home, DEEP).files == []


def test_what_names_no_directory_goes_with_what_the_others_of_its_project_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for directory in ("/work/secret", "/work/secret-not"):
        session(home, directory).journal()
    assert {source.project for source in found(home, "/work/secret").files if source.kind.name == "journal"} == {
        "-work-secret-not"
    }


def test_what_stays_in_doubt_is_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(project="-work-secret").journal()
    (home.root / "projects" / "-work-secret" / "s.jsonl").write_text('{"type":"mode","mode":"plan"}\n')
    findings = found(home, "/work/secret/")
    assert (findings.files, findings.skipped["project"]) == ([], 2)


def test_a_glance_leaves_out_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home, "/work/secret/below").path
    findings = glance([str(path)], scope(home.root, home=str(home.path), exclude=["/work/secret"]))
    assert (findings.files, findings.gone) == ([], [])


def gate(home: Home, *exclude: str, name: str = "") -> Any:
    """The judge of the records of the one source of this kind."""
    what = scope(root_of(home.root), home=str(home.path), exclude=exclude)
    (source,) = [each for each in discover(what).files if each.kind.name == (name or "session")]
    return what.filter_of(source.root).gate(source)


def test_a_line_goes_by_its_own_directory_and_one_without_by_that_of_the_lines_before_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/app")
    takes = gate(home, "/work/app/secret")
    lines = [{}, {"cwd": "/work/app/secret/x"}, {"type": "mode"}, {"cwd": "/work/app"}, {"type": "mode"}]
    assert [takes(line) for line in lines] == [True, False, False, True, True]


def test_the_lines_of_the_history_go_one_by_one_and_one_of_no_project_is_in_doubt(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.history("one")
    takes = gate(home, "/work/secret", name="history")
    lines = [{"project": "/work/app"}, {"project": "/work/secret/x"}, {"display": "x"}, {"project": 7}]
    assert [takes(line) for line in lines] == [True, False, False, False]


def test_the_entries_of_an_index_go_one_by_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.index(session(home, "/work/app"))
    takes = gate(home, "/work/app/secret", name="session_index")
    assert [takes({"projectPath": path}) for path in ("/work/app", "/work/app/secret")] == [True, False]


def test_statistics_are_of_no_project(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.stats()
    assert gate(home, "/", name="stats")({}) is True


def test_without_a_filter_nothing_is_judged(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/app")
    assert gate(home) is None


def test_a_key_is_what_claude_code_makes_of_a_path() -> None:
    assert key_of("/home/me/my.app_2/caf\u00e9 \U0001f600") == "-home-me-my-app-2-caf----"
    assert re.fullmatch(r"[A-Za-z0-9-]{200}", key_of(DEEP))
