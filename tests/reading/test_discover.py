"""The walk: which files are sources, what they are called, and which are left alone and why."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from collector.agents.claude_code import places
from collector.flow.source import Entry, Position, Source, Stamp
from collector.keeping.entries import Entries
from collector.reading.discover import Findings, discover
from tests.build import Home
from tests.scopes import root_of, scope


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "home" / ".claude"
    (path / "projects" / "-work").mkdir(parents=True)
    return path


def write(path: Path, mtime: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n")
    os.utime(path, (mtime, mtime))
    return path


def walk(*roots: Path, exclude: Sequence[str] = (), home: str = "") -> Findings:
    return discover(scope(*roots, home=home or str(roots[0].parent), exclude=exclude))


def keys(found: Findings) -> list[str]:
    return sorted(source.key for source in found.files)


def test_every_kind_of_source_is_found_with_its_project_session_and_agent(root: Path) -> None:
    for name in (
        "history.jsonl",
        "stats-cache.json",
        "projects/-work/sessions-index.json",
        "projects/-work/s1.jsonl",
        "projects/-work/agent-0a1b2c3.jsonl",
        "projects/-work/s1/agent-x.jsonl",
        "projects/-work/s1/subagents/agent-aside_question-9.jsonl",
        "projects/-work/s1/subagents/workflows/run-1/agent-y.jsonl",
        "projects/-work/s1/subagents/workflows/run-1/journal.jsonl",
        "projects/-work/s1/workflows/wf_1a2b3c.json",
        "projects/-work/s1/workflows/scripts/audit-wf_1a2b3c.js",
    ):
        write(root / name)
    found = walk(root)
    projects = "~/.claude/projects/-work"
    assert sorted((each.priority, each.key, each.kind, each.session_id, each.agent_id) for each in found.files) == [
        (0, f"{projects}/s1.jsonl", places.SESSION, "s1", ""),
        (0, f"{projects}/sessions-index.json", places.SESSION_INDEX, "", ""),
        (1, f"{projects}/agent-0a1b2c3.jsonl", places.SUBAGENT, "", "0a1b2c3"),
        (1, f"{projects}/s1/agent-x.jsonl", places.SUBAGENT, "s1", "x"),
        (1, f"{projects}/s1/subagents/agent-aside_question-9.jsonl", places.SUBAGENT, "s1", "aside_question-9"),
        (1, f"{projects}/s1/subagents/workflows/run-1/agent-y.jsonl", places.SUBAGENT, "s1", "y"),
        (1, f"{projects}/s1/subagents/workflows/run-1/journal.jsonl", places.JOURNAL, "s1", ""),
        (1, f"{projects}/s1/workflows/wf_1a2b3c.json", places.WORKFLOW, "s1", ""),
        (2, "~/.claude/history.jsonl", places.HISTORY, "", ""),
        (3, "~/.claude/stats-cache.json", places.STATS, "", ""),
    ]
    assert {each.project for each in found.files if each.priority < 2} == {"-work"}
    assert {each.project for each in found.files if each.priority >= 2} == {""}


def test_a_source_carries_the_path_that_opens_it_and_its_stamp(root: Path) -> None:
    path = write(root / "projects" / "-work" / "s.jsonl", mtime=7)
    (source,) = walk(root).files
    assert source == Source(
        root_of(root, ".claude"),
        str(path),
        "~/.claude/projects/-work/s.jsonl",
        places.SESSION,
        "-work",
        "s",
        "",
        Stamp(3, 7_000_000_000, path.stat().st_ino),
    )


def test_sources_come_by_priority_and_newest_first_within_each(root: Path) -> None:
    for name, mtime in (("a.jsonl", 1), ("b.jsonl", 3), ("agent-c.jsonl", 9), ("agent-d.jsonl", 10), ("e.jsonl", 2)):
        write(root / "projects" / "-work" / name, mtime)
    write(root / "history.jsonl", 11)
    assert [os.path.basename(source.path) for source in walk(root).files] == [
        *("b.jsonl", "e.jsonl", "a.jsonl", "agent-d.jsonl", "agent-c.jsonl", "history.jsonl")
    ]


def test_everything_that_claude_code_writes_is_found_without_the_parent_sessions(tmp_path: Path) -> None:
    home = Home(tmp_path)
    session = home.session()
    for layout in ("flat", "session", "subagents", "workflow"):
        session.subagent(layout=layout).prompt("Look around")
    session.journal()
    assert {source.kind for source in walk(home.root).files} == {places.SUBAGENT, places.JOURNAL}
    assert len(walk(home.root).files) == 5


def test_files_that_are_not_sources_are_counted_but_not_read(root: Path) -> None:
    for name in (
        "settings.json",
        "file-history/s1/agent-a.jsonl",
        "projects/stray.jsonl",
        "projects/-work/notes.txt",
        "projects/-work/s1/other.jsonl",
        "projects/-work/s1/sessions-index.json",
        "projects/-work/s1/tool-results/agent-a.jsonl",
        "projects/-work/s1/subagents/agent-a.meta.json",
    ):
        write(root / name)
    found = walk(root)
    assert found.files == []
    assert found.never_read == {
        "settings.json": 1,
        "file-history/": 1,
        "tool-results/": 1,
        "*.txt": 1,
        "*.jsonl": 2,
        "*.json": 1,
    }


def test_empty_files_and_unwanted_projects_are_skipped_with_a_reason(root: Path) -> None:
    write(root / "projects" / "-work" / "s.jsonl").write_bytes(b"")
    write(root / "projects" / "-private" / "s.jsonl")
    write(root / "projects" / "-private" / "s" / "agent-a.jsonl")
    write(root / "history.jsonl")
    found = walk(root, exclude=["-private"])
    assert keys(found) == ["~/.claude/history.jsonl"]
    assert found.skipped == {"empty": 1, "project": 2}


def test_fifos_sockets_and_devices_are_skipped(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = root / "projects" / "-work"
    os.mkfifo(project / "a.jsonl")
    os.mkfifo(root / "history.jsonl")
    (project / "null.jsonl").symlink_to("/dev/null")
    monkeypatch.chdir(project)  # a socket's path has at most 107 bytes
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("b.jsonl")
        found = walk(root)
    assert found.files == []
    assert found.skipped == {"not_a_file": 3, "outside_root": 1}


def test_a_directory_with_the_name_of_a_transcript_is_walked(root: Path) -> None:
    write(root / "projects" / "-work" / "odd.jsonl" / "agent-a.jsonl")
    assert [(each.session_id, each.agent_id) for each in walk(root).files] == [("odd.jsonl", "a")]


def test_links_are_followed_only_within_the_root(root: Path, tmp_path: Path) -> None:
    project = root / "projects" / "-work"
    outside = write(tmp_path / "outside" / "s.jsonl").parent
    write(root / "store" / "-linked" / "t.jsonl")
    write(project / "s.jsonl")
    (root / "projects" / "-linked").symlink_to(root / "store" / "-linked")
    (project / "copy.jsonl").symlink_to(project / "s.jsonl")
    (project / "gone.jsonl").symlink_to(project / "nowhere.jsonl")
    (project / "out.jsonl").symlink_to(outside / "s.jsonl")
    (root / "projects" / "-out").symlink_to(outside)
    found = walk(root)
    assert keys(found) == [
        "~/.claude/projects/-linked/t.jsonl",
        "~/.claude/projects/-work/copy.jsonl",
        "~/.claude/projects/-work/s.jsonl",
    ]
    assert found.skipped == {"outside_root": 2, "vanished": 1}


def test_circular_links_do_not_trap_the_walk(root: Path) -> None:
    project = root / "projects" / "-work"
    write(project / "s.jsonl")
    (project / "up").symlink_to(root / "projects")
    (project / "self").symlink_to(project / "self")
    (project / "loop").mkdir()
    (project / "loop" / "back").symlink_to(project)
    assert keys(walk(root)) == ["~/.claude/projects/-work/s.jsonl"]


def test_a_directory_and_a_link_to_it_give_the_same_keys_in_every_pass(root: Path) -> None:
    for number in range(20):
        (root / "projects" / f"-link-{number}").symlink_to(root / "projects" / "-work")
    write(root / "projects" / "-work" / "s.jsonl")
    assert keys(walk(root)) == ["~/.claude/projects/-work/s.jsonl"]


def test_a_hard_link_is_a_source_like_any_other(root: Path) -> None:
    path = write(root / "projects" / "-work" / "s.jsonl")
    os.link(path, path.with_name("t.jsonl"))
    assert len(walk(root).files) == 2


def test_two_roots_that_are_one_directory_are_read_once(root: Path) -> None:
    write(root / "history.jsonl")
    link = root.with_name("link")
    link.symlink_to(root)
    assert keys(walk(root, link, root)) == ["~/.claude/history.jsonl"]


def test_a_root_may_be_a_link(root: Path) -> None:
    write(root / "history.jsonl")
    link = root.with_name("link")
    link.symlink_to(root)
    assert [(each.key, each.path) for each in walk(link).files] == [("~/link/history.jsonl", f"{link}/history.jsonl")]


def test_several_roots_keep_their_labels(root: Path, tmp_path: Path) -> None:
    write(root / "history.jsonl")
    other = write(tmp_path / "work" / "history.jsonl").parent
    assert sorted((each.root.label, each.key) for each in walk(root, other).files) == [
        (".claude", "~/.claude/history.jsonl"),
        ("work", f"{other}/history.jsonl"),
    ]


def test_a_root_that_does_not_exist_is_named(root: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "file")
    found = walk(root, tmp_path / "nowhere", file)
    assert [missing.label for missing in found.missing_roots] == ["nowhere", "file"]


def test_a_root_without_projects_is_not_an_error(tmp_path: Path) -> None:
    found = walk(tmp_path)
    assert (found.files, found.errors, found.missing_roots) == ([], {}, [])


def test_a_directory_that_cannot_be_listed_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root / "projects" / "-work" / "s.jsonl")
    write(root / "projects" / "-locked" / "s.jsonl")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("-locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)  # the tests may run as root, which may list anything
    found = walk(root)
    assert keys(found) == ["~/.claude/projects/-work/s.jsonl"]
    assert found.errors == {"~/.claude/projects/-locked": "Permission denied"}


def test_names_that_are_not_utf8_survive(root: Path) -> None:
    name = os.fsdecode(b"s\xff\xfe.jsonl")
    write(root / "projects" / "-work" / name)
    (source,) = walk(root).files
    assert source.key == "~/.claude/projects/-work/s\\xff\\xfe.jsonl"
    assert os.stat(source.path).st_size == 3
    source.key.encode()


def test_no_name_can_forge_a_line_or_another_key(root: Path) -> None:
    names = ["a\x80.jsonl", os.fsdecode(b"a\x80.jsonl"), "a\xad.jsonl", os.fsdecode(b"a\xad.jsonl")]
    names += ["a\nb.jsonl", "a\\nb.jsonl", "a\x1b[31m.jsonl", os.fsdecode(b"\xff.jsonl"), "\\xff.jsonl", "\u202e.jsonl"]
    for name in names:
        write(root / "projects" / "-work" / name)
    found = keys(walk(root))
    assert len(set(found)) == len(names)
    assert all(key.isprintable() for key in found)


@pytest.mark.parametrize("home", ["", "/", "/hom", "/home/me"])
def test_only_the_home_itself_is_shortened(home: str, tmp_path: Path) -> None:
    write(tmp_path / "home-me" / "history.jsonl")
    found = discover(scope(tmp_path / "home-me", home=home or str(tmp_path / "home")))
    assert keys(found) == [f"{tmp_path}/home-me/history.jsonl"]


def test_sources_at_rest_are_counted_and_all_others_are_named(root: Path) -> None:
    directory = root / "projects" / "-work"
    for name in ("at-rest", "grown", "half-read", "left-alone", "missed", "new"):
        write(directory / f"{name}.jsonl")
    write(directory / "agent-a1.jsonl")
    known, sources = Entries(), {source.key.rpartition("/")[2]: source for source in walk(root).files}
    for name, source in sources.items():
        known[source.key] = Entry(Position(source.stamp.size, "h", "t", source.stamp, "a"))
        if name.startswith("half-read"):
            known[source.key] = Entry(Position(source.stamp.size - 1, "h", "t", source.stamp, "a"))
        elif name.startswith("left-alone"):
            known[source.key] = Entry(Position(source.stamp.size, "h", "t", source.stamp), skip="warmup")
        elif name.startswith("missed"):
            known[source.key] = Entry(Position(source.stamp.size, "h", "t", source.stamp), missing_since=5)
    known["gone"] = Entry(Position(5, "h", "t", Stamp(5, 5, 5)))
    del known[sources["new.jsonl"].key]
    write(directory / "grown.jsonl", mtime=1)
    found = discover(scope(root, home=str(root.parent)), known=known)
    names = {"grown", "half-read", "left-alone", "missed", "new"}
    assert {source.path for source in found.files} == {str(directory / f"{name}.jsonl") for name in names}
    assert found.at_rest == {0: 1, 1: 1}
    assert found.unmet == {"gone", *(source.key for source in found.files)} - {sources["new.jsonl"].key}


def test_a_source_in_doubt_is_named_even_at_rest(root: Path) -> None:
    """Only the directories it names tell its project, so every process has to look again."""
    path = write(root / "projects" / "-work-secret-app" / "s.jsonl")
    path.write_text('{"cwd": "/work/secret-app"}\n')
    known = Entries()
    for source in walk(root).files:
        known[source.key] = Entry(Position(source.stamp.size, "h", "t", source.stamp))
    found = discover(scope(root, home=str(root.parent), exclude=["/work/secret"]), known=known)
    assert ([source.path for source in found.files], found.at_rest) == ([str(path)], {})
