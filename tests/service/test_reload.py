"""A new configuration: what the one before has not finished is not forgotten."""

from __future__ import annotations

from contextlib import ExitStack

from tests.build import Home
from tests.service.steps import Clock, Steps


def test_a_new_configuration_keeps_what_waits_for_the_quarantine(home: Home, steps: Steps, clock: Clock) -> None:
    session = home.session()
    session.prompt("one")
    steps.until_idle()
    with session.path.open("ab") as file:
        file.write(b'{"torn": tru\n')
    steps.hint(session.path)
    clock.forward(0.5)
    steps.service.step()
    assert steps.saved()[session.path.name] < session.path.stat().st_size
    with ExitStack() as parts:
        steps.service.reload()
        steps.service._do_reload(steps.state, parts)
        steps.until_idle()
        committer = steps.service.flow.committer
        committer.save()
        assert steps.saved()[session.path.name] == session.path.stat().st_size
        assert [entry["reason"] for entry in committer.quarantine.entries()] == ["torn line"]
