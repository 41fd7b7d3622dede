"""Checks for administrators who roll this out to many people; inside.py calls them, in its order.

Tokens are replaced while agents run, some people have not started Claude Code yet, and anybody may ask for the status.
"""

from __future__ import annotations

import functools
import json
import shutil
import time
from pathlib import Path

from tests.system.guest import (
    BOBS_UNIT,
    SYSTEM_UNIT,
    TOKEN,
    USER_UNIT,
    Unit,
    alice,
    command,
    wait_for,
)

WAITING = Unit("collector-wait@bob.service", "", Path())
SHARED_TOKEN = Path("/etc/collector/sink-token")
ROOT = Path("/home/bob/.claude")
QUIET_SECONDS = 12
# Lines that a start may leave in the journal, for both units: about 10 are systemd's, the rest the agent's.
LINES_OF_A_START = 25


def a_token_is_replaced_while_the_system_unit_runs() -> None:
    """systemd copies a credential only at the start; a reload passes on the new one."""
    process = SYSTEM_UNIT.show("MainPID")
    _sink_wants("the-second")
    TOKEN.write_text("the-second\n")
    SYSTEM_UNIT.control("reload", SYSTEM_UNIT.name)
    alice().writes()
    alice().expects_everything()
    assert SYSTEM_UNIT.show("MainPID") == process
    copy = Path("/run/collector/alice/sink-token")
    assert (copy.owner(), copy.stat().st_mode & 0o777) == ("alice", 0o600)
    SYSTEM_UNIT.control("stop", SYSTEM_UNIT.name)
    assert not copy.exists(), "an old token would take precedence over the credential of the next start"
    SYSTEM_UNIT.control("start", SYSTEM_UNIT.name)
    alice().writes()
    alice().expects_everything()


def one_token_file_serves_both_kinds_of_service_and_is_replaced() -> None:
    """As in a fleet: one file per machine, readable by the group of people whose transcripts are shipped."""
    command("groupadd", "people")
    command("usermod", "--append", "--groups", "people", "alice")
    command("systemctl", "restart", "user@1000.service")  # a session keeps the groups it started with
    wait_for(Path("/run/user/1000/bus").exists, "the session bus of alice")
    configuration = Path("/etc/collector/collector.toml")
    before = configuration.read_text()
    configuration.write_text(before.replace("[sink]", f'[sink]\ntoken_file = "{SHARED_TOKEN}"'))
    _hand_out("shared-one")
    _sink_wants("shared-one")
    SYSTEM_UNIT.control("restart", SYSTEM_UNIT.name)
    command("collector", "service", "install", user="alice")
    processes = {unit: unit.show("MainPID") for unit in (SYSTEM_UNIT, USER_UNIT)}
    alice().writes()
    alice().expects_everything()
    _sink_wants("shared-two")
    _hand_out("shared-two")
    for unit, other in ((SYSTEM_UNIT, USER_UNIT), (USER_UNIT, SYSTEM_UNIT)):
        other.control("kill", "--signal=STOP", other.name)  # one at a time, or else either could deliver for both
        alice().writes()
        alice().expects_everything()
        other.control("kill", "--signal=CONT", other.name)
        assert unit.show("MainPID") == processes[unit]
    command("collector", "service", "uninstall", user="alice")
    configuration.write_text(before)
    SHARED_TOKEN.unlink()
    alice().sink.clear_script()
    SYSTEM_UNIT.control("restart", SYSTEM_UNIT.name)


def the_token_is_optional_and_a_root_may_come_late() -> None:
    TOKEN.unlink()
    WAITING.drop_in("quick", "Environment=EVERY=1")
    command("collector", "service", "install", "--system", "--for", "bob")
    assert BOBS_UNIT.is_active(), "it does not wait: it failed"
    assert WAITING.is_active()
    wait_for(lambda: str(ROOT) in BOBS_UNIT.show("StatusText"), "the status names the root")  # sent just after READY
    process = BOBS_UNIT.show("MainPID")
    time.sleep(QUIET_SECONDS)
    assert BOBS_UNIT.show("MainPID") == process
    lines = (BOBS_UNIT.journal() + WAITING.journal()).splitlines()
    assert len(lines) <= LINES_OF_A_START, "\n".join(lines)


def waiting_for_a_root_is_quiet() -> None:
    before = BOBS_UNIT.journal() + WAITING.journal()
    time.sleep(QUIET_SECONDS)
    assert BOBS_UNIT.journal() + WAITING.journal() == before
    _bob_writes("the first prompt of bob")
    _arrives("the first prompt of bob")
    assert not WAITING.is_active()
    assert BOBS_UNIT.show("NRestarts") == "0", "that was a failure, not a restart on purpose"


def a_root_that_was_deleted_is_found_again() -> None:
    """A sandbox keeps showing a deleted directory as empty, even after another has taken its place."""
    BOBS_UNIT.drop_in("quick", "RestartSec=1")
    command("rm", "-r", str(ROOT), user="bob")
    wait_for(WAITING.is_active, "somebody who waits for the root of bob")
    _bob_writes("the second prompt of bob")
    _arrives("the second prompt of bob")
    BOBS_UNIT.control("stop", BOBS_UNIT.name)
    assert not WAITING.is_active()


def people_hear_of_the_system_service_whoever_asks() -> None:
    told = json.loads(command("collector", "status", "--json", user="alice"))
    assert (told["is_running"], told["services"][0]["unit"]) == (True, SYSTEM_UNIT.name)
    assert SYSTEM_UNIT.name in command("collector", "status", user="alice")
    assert "collector@bob.service" in command("collector", "status", user="bob")
    assert SYSTEM_UNIT.name in command("collector", "status")
    assert "ok    service" in command("collector", "doctor", user="alice")
    lines = command("collector", "doctor", user="bob", fails=True).splitlines()
    assert [line for line in lines if line.startswith("fail  service") and "inactive" in line], lines


def _sink_wants(token: str) -> None:
    from tests.sink import only_with_token

    alice().sink.clear_script(then=only_with_token(token))


def _hand_out(token: str) -> None:
    """Replaces the old file with a new one, as a fleet's tools do."""
    fresh = SHARED_TOKEN.with_name("sink-token.new")
    fresh.write_text(f"{token}\n")
    fresh.chmod(0o640)
    command("chgrp", "people", str(fresh))
    fresh.rename(SHARED_TOKEN)


def _bob_writes(text: str) -> None:
    """Writes a session of bob's, as if he started Claude Code."""
    from tests.build import Home

    home = Home(Path("/var/tmp"), seed=len(text))
    home.session().prompt(text)
    command("cp", "-r", "--no-preserve=ownership", str(home.root), str(ROOT.parent), user="bob")
    shutil.rmtree(home.path)


def _arrives(text: str) -> None:
    sink = alice().sink
    wait_for(functools.partial(lambda: text in {event.get("text") for event in sink.events}), text)
