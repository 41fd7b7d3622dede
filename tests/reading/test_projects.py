"""The project filter: once a person has excluded a project, nothing of it is read, under any name and in any place."""

from __future__ import annotations

import json
import os
import pwd
import re
import time
from pathlib import Path

import pytest

from collector.agents.claude_code.projects import key_of, may_name
from collector.errors import ConfigurationError
from collector.flow.line import Line
from collector.reading import document, tail
from collector.reading.discover import Findings, discover, glance
from collector.reading.projects import ProjectFilter, Verdict
from tests.build import Home, Session
from tests.scopes import FORM, root_of, scope

DEEP = "/work/" + "/".join(["a-rather-long-name-of-a-directory"] * 7)
HASHED = key_of(DEEP) + "-1x2y3z"


def filtering(*exclude: str, include: tuple[str, ...] = (), home: str = "/home/me") -> ProjectFilter:
    return ProjectFilter(FORM, include, [exclude], home)


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


@pytest.mark.parametrize("glob", ["~no-such-user-here/x", "/work/\0", "/work/\ud800"])
@pytest.mark.parametrize("key", ["include", "exclude"])
def test_an_unusable_glob_is_reported_with_its_key(key: str, glob: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^projects.{key}: .* is not a valid glob"):
        ProjectFilter(FORM, [glob] if key == "include" else [], [[glob] if key == "exclude" else []], "/home/me")


def test_a_home_stays_excluded_when_its_user_can_no_longer_be_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory service may be unreachable for a while."""
    filtered, known = filtering("~root/private"), pwd.getpwnam("root").pw_dir
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)
    filtered.keep_up()
    assert not filtered.takes(f"{known}/private/diary")


def test_many_globs_cost_little_per_project() -> None:
    """A pass checks every project's name, and each glob below ~ also stands for homes with other names."""
    filtered = filtering(*(f"~/work/client {number}/private" for number in range(200)))
    before = time.process_time()
    said = {filtered.verdict(f"-home-me-work-app-{number}") for number in range(100)}
    assert time.process_time() - before < 2
    assert said == {Verdict.TAKEN}


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
def test_excluding_a_directory_excludes_everything_below_it(glob: str, directory: str, is_left_out: bool) -> None:
    assert filtering(glob).takes(directory) is not is_left_out


def test_an_exception_is_collected_again() -> None:
    only = filtering("~/private/*", "!~/private/public")
    assert [only.takes(f"/home/me/private/{name}") for name in ("diary", "public")] == [False, True]


def test_only_included_directories_are_collected_and_exclude_still_wins() -> None:
    only = filtering("/work/app/secret", include=("/work/app",))
    assert [only.takes(path) for path in ("/work/app/src", "/work/app/secret/x", "/tmp")] == [True, False, False]


def test_a_link_in_a_glob_also_excludes_its_target(tmp_path: Path) -> None:
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
def test_a_project_name_rarely_decides_for_certain(glob: str, project: str, verdict: Verdict) -> None:
    assert filtering(glob).verdict(project) is verdict


def test_a_project_name_that_no_include_can_match_is_left_out_without_reading() -> None:
    assert filtering(include=("/work/app",)).verdict("-home-me-notes") is Verdict.LEFT_OUT


def test_a_glob_may_name_the_project_of_any_directory_it_matches() -> None:
    for glob, directory in (("/w/?x/*", "/w/\U0001f600x/y"), ("/w/[ab]c", "/w/ac"), ("/w/**/z", "/w/1/2/z/deep")):
        assert may_name(key_of(directory), glob), glob


def test_where_the_name_leaves_doubt_the_session_itself_decides(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for directory in ("/work/secret", "/work/secret/below", "/work/secret-not", "/work/app"):
        session(home, directory)
    findings = found(home, "/work/secret")
    assert projects(findings) == {"-work-secret-not", "-work-app"}
    assert findings.skipped == {"project": 2}


def test_two_directories_with_the_same_project_name_are_told_apart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/my.app")
    session(home, "/work/my-app")
    (source,) = found(home, "/work/my.app").files
    assert json.loads(Path(source.path).read_text().splitlines()[0])["cwd"] == "/work/my-app"


@pytest.mark.parametrize("directory", [DEEP, f"{DEEP}/below"])
def test_a_name_that_was_cut_and_hashed_does_not_escape_the_filter(tmp_path: Path, directory: str) -> None:
    home = Home(tmp_path)
    session(home, directory, project=HASHED)
    assert found(home, DEEP).files == []


def kinds(findings: Findings) -> list[str]:
    return sorted(source.kind.name for source in findings.files)


def test_a_file_without_a_directory_goes_with_the_other_files_of_its_session(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for directory in ("/work/secret", "/work/secret-not"):
        session(home, directory).journal()
    findings = found(home, "/work/secret")
    assert (projects(findings), kinds(findings)) == ({"-work-secret-not"}, ["journal", "session"])


def test_a_file_without_a_directory_does_not_go_with_another_session_of_the_same_project_name(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    session(home, "/work/my-app")
    gone = session(home, "/work/my.app")
    gone.journal()
    gone.delete()
    begun = home.session(project="-work-my-app")
    begun.record({"type": "queue-operation", "operation": "enqueue", "content": "the first prompt"})
    assert kinds(found(home, "/work/my.app")) == ["session"]
    begun.cwd = "/work/my-app"
    begun.prompt("the first prompt")
    assert kinds(found(home, "/work/my.app")) == ["session", "session"]


def test_a_directory_named_late_in_the_file_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = home.session(project="-work-my-app")
    made.records({"type": "mode", "mode": "x" * 2_000} for _ in range(300))
    made.cwd = "/work/my-app"
    made.prompt("hello")
    assert kinds(found(home, "/work/my.app")) == ["session"]


def test_a_directory_unrelated_to_the_project_settles_no_doubt(tmp_path: Path) -> None:
    home = Home(tmp_path)
    main = session(home, "/work/secret")
    elsewhere = main.subagent()
    elsewhere.cwd = "/trees/1"
    elsewhere.user("hello")
    relocated = session(home, "/work/app", project="-work-secret")
    relocated.record({"type": "queue-operation", "operation": "enqueue", "content": "the first prompt here"})
    assert found(home, "/work/secret").files == []


def test_a_directory_below_the_projects_settles_the_doubt(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/app-two/src", project="-work-app-two")
    elsewhere = session(home, "/work/app-two").subagent()
    elsewhere.cwd = "/trees/1"
    elsewhere.user("hello")
    assert kinds(found(home, "/work/app")) == ["session", "session", "subagent"]


def test_a_session_that_moved_into_an_exception_does_not_free_its_project(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/secret/public", project="-work-secret")
    assert found(home, "/work/*", "!/work/secret/public").files == []


@pytest.mark.parametrize("glob", ["/work/secret", "-work-secret"])
def test_a_link_to_a_file_of_an_excluded_project_is_not_read(tmp_path: Path, glob: str) -> None:
    home = Home(tmp_path)
    journal = session(home, "/work/secret").journal()
    inside = home.project("-work-app") / "s1"
    inside.mkdir(parents=True)
    (inside / "journal.jsonl").symlink_to(journal.path)
    assert found(home, glob).files == []


def test_an_excluded_project_that_cannot_be_listed_is_not_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    home.project("-work-secret").mkdir(parents=True)
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)  # the tests may run as root, which may list anything
    findings = found(home, "-work-secret")
    assert (findings.errors, findings.skipped) == ({}, {"project": 1})


def test_a_source_that_stays_in_doubt_is_left_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.session(project="-work-secret").journal()
    (home.root / "projects" / "-work-secret" / "s.jsonl").write_text('{"type":"mode","mode":"plan"}\n')
    findings = found(home, "/work/secret/")
    assert (findings.files, findings.skipped["project"]) == ([], 2)


def test_where_the_name_is_certain_a_file_without_a_directory_goes_with_its_neighbours(tmp_path: Path) -> None:
    main = session(home := Home(tmp_path), "/work/app")
    main.journal()
    assert taken(home, "/work/app/secret", kind="journal") == [True, True]
    unread = main.subagent("a0", layout="workflow").path
    unread.unlink(missing_ok=True)
    unread.symlink_to(os.devnull)
    beside = main.subagent("a1", layout="workflow")
    beside.record({"type": "mode", "mode": "plan"})
    beside.cwd = "/work/app/secret"
    beside.user("hello")
    assert taken(home, "/work/app/secret", kind="journal") == [False, False]


def test_an_index_goes_with_the_sessions_of_its_project(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for directory in ("/work/my-app", "/work/my.app"):
        home.index(session(home, directory))
        assert ("session_index" in kinds(found(home, "/work/my.app"))) == (directory == "/work/my-app")


def test_a_glance_leaves_out_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path)
    path = session(home, "/work/secret/below").path
    findings = glance([str(path)], scope(home.root, home=str(home.path), exclude=["/work/secret"]))
    assert (findings.files, findings.gone) == ([], [])


def taken(home: Home, *exclude: str, kind: str = "session", start: int = 0) -> list[bool]:
    """Whether each line of the one source of this kind is read, from line `start` on."""
    what = scope(root_of(home.root), home=str(home.path), exclude=exclude)
    (source,) = [each for each in discover(what).files if each.kind.name == kind]
    read = document.read if source.kind.is_document else tail.read
    items = list(read(source, None, FORM))[start:]
    judge = what.filter_of(source.root).judge(items[0])
    return [judge is None or judge.takes(item) for item in items if isinstance(item, Line)]


def in_turn(home: Home, *directories: str) -> Session:
    """A session in these directories, one after another; an empty one gives a line that names no directory."""
    made = session(home, "/work/app")
    for directory in directories:
        made.record({"type": "last-prompt", "lastPrompt": "x"} | ({"cwd": directory} if directory else {}))
    return made


def test_a_line_goes_by_its_own_directory_or_by_all_before_it_if_it_has_none(tmp_path: Path) -> None:
    in_turn(home := Home(tmp_path), "", "/work/app/secret/x", "", "/work/app", "")
    assert taken(home, "/work/app/secret") == [True, True, False, False, True, False]


@pytest.mark.parametrize("start", range(6))
def test_earlier_lines_still_count_when_reading_resumes_after_them(tmp_path: Path, start: int) -> None:
    in_turn(home := Home(tmp_path), "", "/work/app/secret/x", "", "/work/app", "")
    assert taken(home, "/work/app/secret", start=start) == [True, True, False, False, True, False][start:]


def test_lines_before_the_first_directory_go_by_it_however_late_it_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path)
    made = home.session(project="-work-other")
    for _ in range(3):
        made.record({"type": "mode", "mode": "x" * 200_000})
    made.cwd = "/work/app/secret"
    made.prompt("hello")
    assert taken(home, "/work/app/secret") == [False] * 4


def test_a_summary_counts_for_the_whole_session_wherever_it_is_written(tmp_path: Path) -> None:
    made = in_turn(home := Home(tmp_path), "/work/app/secret", "/work/app")
    made.user("All that was said", isCompactSummary=True)
    made.system("away_summary", "While you were away")
    assert taken(home, "/work/app/secret")[2:] == [True, False, False]


def test_a_directory_of_the_wrong_type_counts_as_none(tmp_path: Path) -> None:
    made = session(home := Home(tmp_path), "/work/app")
    wrong: list[object] = [7, None, ["/work/app/secret"], {}]
    made.records({"type": "mode", "cwd": cwd} for cwd in wrong)
    assert taken(home, "/work/app/secret") == [True] * 5


def test_a_relative_directory_could_be_anywhere(tmp_path: Path) -> None:
    in_turn(home := Home(tmp_path), "secret", "")
    assert taken(home, "/work/elsewhere") == [True, False, False]


def test_a_torn_line_still_counts_for_the_directory_it_names(tmp_path: Path) -> None:
    made = session(home := Home(tmp_path), "/work/app")
    made.raw(b'{"cwd":"/work/app/secret","text":"the rest never ca\n')
    made.raw(b'{"cwd":"/work/app","text":"the rest never ca\n{"text":"nor here\n')
    assert taken(home, "/work/app/secret") == [True, False, True, False]


def test_a_source_may_begin_with_a_torn_line(tmp_path: Path) -> None:
    made = (home := Home(tmp_path)).session(project="-work-app")
    made.raw(b'{"text":"the rest never ca\n')
    made.cwd = "/work/app"
    made.prompt("hello")
    assert taken(home, "/work/app/secret") == [True, True]


def test_history_lines_are_judged_one_by_one_and_left_out_without_a_project(tmp_path: Path) -> None:
    history = (home := Home(tmp_path)).history()
    for more in ({"project": "/work/app"}, {"project": "/work/secret/x"}, {}, {"project": 7}, {"project": "/work/app"}):
        history.record({"display": "x"} | more)
    history.raw(b'{"display":"x","project":"/work/app","pas\n{"display":"x","pro\n')
    assert taken(home, "/work/secret", kind="history") == [True, False, False, False, True, True, False]


def test_index_entries_are_judged_one_by_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.index(*(session(home, f"/work/app{below}", "-work-app") for below in ("", "/secret")))
    assert taken(home, "/work/app/secret", kind="session_index") == [True, False]


def test_an_index_entry_without_a_project_path_goes_by_its_project_name(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.index(session(home, "/work/app"), projectPath=None)
    assert [taken(home, glob, kind="session_index") for glob in ("/work/other", "/work-app")] == [[True], [False]]


def test_statistics_are_left_out_because_they_include_excluded_projects(tmp_path: Path) -> None:
    (home := Home(tmp_path)).stats()
    assert taken(home, "/work/secret", kind="stats") == [False]


def test_without_a_filter_nothing_is_judged(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session(home, "/work/app")
    assert scope(home.root).filter_of(root_of(home.root)).is_open


def test_a_project_key_is_made_as_claude_code_makes_it() -> None:
    assert key_of("/home/me/my.app_2/caf\u00e9 \U0001f600") == "-home-me-my-app-2-caf----"
    assert re.fullmatch(r"[A-Za-z0-9-]{200}", key_of(DEEP))
