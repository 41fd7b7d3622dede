"""No means no while the service runs, too: after a hint, after a restart, after a person has changed their mind."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from collector.agents.claude_code.projects import encoded
from collector.keeping.pause import pause
from tests.build import Home, Session
from tests.service.steps import Clock, Steps
from tests.sink import Answer, Sink

SECRET = "/work/app/secret"


@pytest.fixture
def steps(home: Home, sink: Sink, clock: Clock) -> Steps:
    """A service that excludes a directory below a project, and one whose project name could also mean another."""
    return Steps(home, sink, clock, given={"projects": {"exclude": [SECRET, "/work/my.app"]}})


def wandering(home: Home) -> Session:
    """A session that visited the excluded directory and came back."""
    session = home.session(project="-work-app")
    session.prompt("in the open")
    session.cwd = SECRET
    session.prompt("canary: said there")
    session.cwd = "/work/app"
    session.reply("back again")
    return session


def last_prompt(session: Session) -> None:
    """Writes the record that Claude Code adds when a session ends; it names no directory."""
    session.record({"type": "last-prompt", "lastPrompt": "canary: said there", "sessionId": session.session_id})


def texts(sink: Sink) -> list[str]:
    return [event["text"] for event in sink.events if "text" in event]


def test_a_new_exclusion_drops_held_files_even_during_a_pause(home: Home, clock: Clock) -> None:
    session = home.session(project="-work-secret")
    session.cwd = "/work/secret"
    session.prompt("canary")
    with Sink(then=Answer(503)) as sink, Steps(home, sink, clock) as steps, ExitStack() as parts:
        steps.until_idle()
        state = steps.service.settings.state_path
        held = state.with_name("state.held")
        session.path.unlink()
        assert (held / "1.jsonl").exists()
        pause(state, clock.wall(), None)
        steps.given["projects"] = {"exclude": ["/work/secret"]}
        steps.service.reload()
        steps.service._do_reload(parts)
        assert not held.exists()


def test_the_directories_of_a_session_are_remembered_in_later_passes(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    with steps:
        session = wandering(home)
        steps.until_idle()
        last_prompt(session)
        steps.hint(session.path)
        clock.forward(1)
        steps.until_idle()
        session.reply("and on")
        steps.hint(session.path)
        clock.forward(1)
        steps.until_idle()
        assert steps.saved()[session.path.name] == session.size
    assert texts(sink) == ["in the open", "back again", "and on"]


def test_the_prompt_history_follows_the_sessions_directory_at_that_time(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    def typed(text: str, directory: str) -> None:
        session.cwd = directory
        session.prompt(text)
        history = home.history(text, project="/work/app", session_id=session.session_id)
        steps.hint(session.path)
        steps.hint(history.path)
        clock.forward(1)
        steps.until_idle()

    with steps:
        session = home.session(project="-work-app")
        typed("in the open", "/work/app")
        typed("still", "/work/app")
        typed("canary: said there", SECRET)
        typed("back again", "/work/app")
    assert texts(sink) == ["in the open", "in the open", "still", "still", "back again"]


def test_the_directories_of_a_session_are_remembered_after_a_restart(home: Home, sink: Sink, clock: Clock) -> None:
    given = {"projects": {"exclude": [SECRET]}}
    session = wandering(home)
    with Steps(home, sink, clock, given=given) as before:
        before.until_idle()
    last_prompt(session)
    session.reply("and on")
    with Steps(home, sink, clock, given=given) as after:
        after.until_idle()
    assert texts(sink) == ["in the open", "back again", "and on"]


def test_a_session_without_a_directory_yet_waits_for_one(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    other = home.session(project="-work-my-app")
    other.cwd = "/work/my-app"
    other.prompt("in the open")
    with steps:
        steps.until_idle()
        for directory in ("/work/my.app", "/work/my-app"):
            session = home.session(project="-work-my-app")
            session.record({"type": "queue-operation", "operation": "enqueue", "content": f"enqueued in {directory}"})
            steps.hint(session.path)
            clock.forward(1)
            steps.until_idle()
            session.cwd = directory
            session.prompt(f"prompted in {directory}")
            steps.hint(session.path)
            clock.forward(1)
            steps.until_idle()
    assert texts(sink) == ["in the open", "enqueued in /work/my-app", "prompted in /work/my-app"]


def test_a_journal_follows_the_filter_decision_for_its_session(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    sessions = [home.session(project="-work-my-app") for _ in range(2)]
    for session, directory in zip(sessions, ("/work/my.app", "/work/my-app"), strict=True):
        session.cwd = directory
        session.prompt(f"in {directory}")
    with steps:
        steps.until_idle()
        for session in sessions:
            journal = session.journal()
            journal.record({"type": "result", "key": "x", "agentId": "a1", "result": f"found in {session.cwd}"})
            steps.hint(journal.path)
            clock.forward(1)
            steps.until_idle()
    assert [text for text in texts(sink) if "my" in text] == ["in /work/my-app", "found in /work/my-app"]


def test_a_session_moved_out_of_an_excluded_project_sends_none_of_its_old_lines(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    session = home.session(project="-work-my-app")
    session.cwd = "/work/my.app"
    session.prompt("canary: in the other app")
    last_prompt(session)
    with steps:
        steps.until_idle()
        session.move(home.project("-work-open"))
        session.cwd = "/work/open"
        last_prompt(session)
        session.prompt("in the open")
        steps.hint(session.path)
        clock.forward(1)
        steps.until_idle()
        session.rewrite()
        last_prompt(session)
        clock.forward(1000)
        steps.until_idle()
    assert texts(sink) == ["in the open"]


def test_nothing_of_an_excluded_project_is_held_while_the_sink_is_down(
    home: Home, sink: Sink, steps: Steps, clock: Clock
) -> None:
    sink.then = Answer(503)
    for directory in ("/work/my.app", "/work/my-app"):
        session = home.session(project="-work-my-app")
        session.cwd = directory
        session.prompt(f"in {directory}")
    with steps:
        steps.until_idle()
        late = home.session(project="-work-my-app")
        late.cwd = "/work/my.app"
        late.prompt("in /work/my.app, later")
        steps.hint(late.path)
        steps.service.passes._hold_what_is_new()
        held = steps.service.flow.held.held
        assert [file.original.path for file in held.files] == [str(session.path)]


def taken_over(steps: Steps, **changed: object) -> None:
    """Reloads with these settings, as SIGHUP does."""
    steps.given |= changed
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(parts)
        steps.until_idle()


def test_a_changed_filter_applies_at_once_and_to_held_files(home: Home, sink: Sink, steps: Steps, clock: Clock) -> None:
    session = home.session(project="-work-open")
    session.cwd = "/work/open"
    session.prompt("before anybody said no")
    with steps:
        steps.until_idle()
        sink.then = Answer(503)
        session.prompt("canary: unsent when a person said no")
        session.journal()
        steps.hint(session.path)
        clock.forward(1)
        steps.until_idle()
        assert steps.service.flow.held.held.files
        session.delete()
        sink.then = Answer()
        taken_over(steps, projects={"exclude": ["/work/open"]})
        assert steps.service.describe()["lag"] == 0
    assert texts(sink) == ["before anybody said no"]


def test_an_excluded_link_is_followed_to_its_current_target(home: Home, sink: Sink, clock: Clock) -> None:
    link, places = home.path / "current", [home.path / name for name in ("spring", "autumn")]
    sessions = [home.session(project=encoded(str(place))) for place in places]
    for place, session in zip(places, sessions, strict=True):
        place.mkdir()
        session.cwd = str(place)
    link.symlink_to(places[0])
    with Steps(home, sink, clock, given={"projects": {"exclude": [str(link)]}}) as steps:
        sessions[0].prompt("canary")
        steps.until_idle()
        link.unlink()
        link.symlink_to(places[1])
        for session in sessions:
            session.prompt("canary")
            steps.hint(session.path)
        clock.forward(1)
        steps.until_idle()
        clock.forward(1000)
        steps.until_idle()
    assert sink.seen == []
