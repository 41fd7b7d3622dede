"""What one event reveals about a later one of its session survives a restart in between, and applies to previews."""

from __future__ import annotations

import json

from tests.agent import Agent
from tests.build import Home
from tests.inside import Inside
from tests.redact.secrets import secret
from tests.sink import Sink


def test_secrets_found_before_the_committed_offset_are_redacted_after_it(home: Home, sink: Sink, agent: Agent) -> None:
    found, printed, typed = secret("drawn", 5), "falcon-otter-12", secret("drawn", 6)
    session = home.session()
    dump = session.tool_call("Bash", {"command": "cat .env"})
    session.tool_result(dump, f"DB_HOST=db\nDB_PASSWORD={found}")
    call = session.tool_call("Bash", {"command": "kubectl get secret db -o jsonpath='{.data.x}' | base64 -d"})
    agent.scan().assert_balanced()
    session.tool_result(call, printed)
    session.tool_call("mcp__browser__browser_type", {"element": "Password textbox", "ref": "e25", "text": typed})
    other = session.tool_call("Bash", {"command": "ps aux"})
    session.tool_result(other, f"root 4211 0.0 ./probe {found} --fast")
    preview = agent.run("preview", "--raw", *agent.places())  # another process, which has seen nothing before
    assert preview.code == 0, preview.stderr
    shown = preview.stdout
    assert (found in shown, printed in shown, typed in shown, "./probe" in shown) == (False, False, False, True)
    agent.scan().assert_balanced()
    sent = json.dumps(sink.events)
    assert len(sink.events) == 7
    assert (found in sent, printed in sent, typed in sent, "./probe" in sent) == (False, False, False, True)


def test_a_secret_from_an_excluded_directory_is_redacted_elsewhere(home: Home, sink: Sink) -> None:
    told = secret("drawn", 9)
    session = home.session(project="-work-app")
    for session.cwd in ("/work/app/secret", "/work/app"):
        session.prompt(f"DB_PASSWORD={told}" if session.cwd.endswith("secret") else f"./probe {told} --fast")
        session.prompt("the same in both")
    agent = Inside(home, sink, {"COLLECTOR_PROJECTS__EXCLUDE": "/work/app/secret"})
    assert agent.scan().ledger["skipped"] == {"project": 2}
    texts = [event["text"] for event in sink.events]
    assert (texts[0].startswith("./probe [REDACTED:"), texts[1:]) == (True, ["the same in both"])


def test_text_that_stays_here_still_shows_the_redactor_what_is_secret(home: Home, sink: Sink) -> None:
    told, given, printed = secret("drawn", 7), secret("drawn", 8), "falcon-otter-13"
    session = home.session()
    session.prompt(f"DB_PASSWORD={told}")
    call = session.tool_call("Bash", {"command": "kubectl get secret db -o jsonpath='{.data.x}' | base64 -d"})
    session.tool_result(call, printed)
    call = session.tool_call("Bash", {"command": f"PGPASSWORD={given} psql"})
    session.tool_result(call, f"root 4211 0.0 ./probe {told} {given} --fast")
    off = {"COLLECTOR_CAPTURE__PROMPTS": "false", "COLLECTOR_CAPTURE__TOOL_INPUT": "false"}
    assert Inside(home, sink).scan(**off).ledger["delivered"] == 5
    sent = json.dumps(sink.events)
    assert ("DB_PASSWORD" in sent, "kubectl" in sent, "./probe" in sent) == (False, False, True)
    assert [word for word in (told, given, printed) if word in sent] == []
