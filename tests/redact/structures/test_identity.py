"""Names of people, accounts and hosts are redacted only on request, with markers that stay the same."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from collector.redact import Options, Redactor, names_of
from collector.redact.rule import sample
from collector.redact.structures.identity import IDENTITY_RULES
from tests.redactors import CACHE, KEY

NAMES = names_of("wren-laptop", "Wren O'Tulip", "wren@tulip.example.com")
STAYS = [
    "/home/runner/work/app and /Users/Shared/x",
    "git@github.com:acme/app.git",
    "Co-Authored-By: Somebody <noreply@acme.io>",
    "mail ada@example.com or ada@shop.test",
    "systemctl status app@1.service",
    "npm install left-pad@1.3.0 @types/node@20.1.2",
    "import x from './icon@2x.png'",
    "warren-laptop is another one",
]


@functools.cache
def knowing(engine: str) -> Redactor:
    return Redactor(Options(key=KEY, engine=engine, identity=True, names=NAMES, cache_dir=CACHE / "collector"))


def test_names_of_accounts_hosts_and_people_and_mail_addresses_are_redacted() -> None:
    text = (
        "wren-laptop ~ % cd /home/otterson/app && git log -1\nAuthor: Wren O'Tulip <wren@tulip.example.com>\n"
        "C:\\Users\\otterson\\app\n~/.claude/projects/-home-otterson-app\nwrote to falcon@harbor.io; WREN.O'TULIP"
    )
    for engine in ("auto", "python"):
        once = knowing(engine).text(text)
        assert not re.search("(?i)otterson|wren|tulip|falcon@", once), once
        assert len(set(re.findall(r"\[REDACTED:account-name:\w+\]", once))) == 1
        assert knowing(engine).text(once) == once
    assert knowing("auto").value(text) == knowing("python").value(text)


def test_event_fields_that_name_an_account_or_a_host_are_redacted() -> None:
    host = {"id": "a" * 32, "name": "x1"}
    made: dict[str, Any] = {"id": "0" * 32, "user": "ada", "host": host, "cwd": "/home/ada/app", "text": "hi"}
    knowing("python").event(made)
    assert made["user"] == made["cwd"].split("/")[2]
    assert "x1" not in json.dumps(made)
    assert (host["id"], made["text"]) == ("a" * 32, "hi")


def test_names_that_identify_nobody_stay() -> None:
    assert [text for text in STAYS if knowing("python").text(text) != text] == []


def test_each_rule_finds_its_examples_and_leaves_its_near_misses() -> None:
    redactor = knowing("auto")
    for rule in IDENTITY_RULES:
        for seed in range(3):
            assert [one for one in rule.examples if redactor.text(sample(one, seed)) == sample(one, seed)] == []
            assert [one for one in rule.near_misses if redactor.text(sample(one, seed)) != sample(one, seed)] == []


def test_names_are_not_redacted_unless_requested(redactor: Redactor) -> None:
    text = "/home/otterson/app <falcon@harbor.io>"
    assert redactor.text(text) == text
    made = {"id": "0" * 32, "user": "ada", "text": text}
    redactor.event(made)
    assert (made["user"], made["text"]) == ("ada", text)


def test_a_configured_name_is_redacted_without_the_other_rules() -> None:
    """So a user's own terms take no more than a line of configuration."""
    redactor = Redactor(Options(key=KEY, engine="python", names=(("personal", "Project Falcon"),), cache_dir=CACHE))
    assert "alcon" not in redactor.text("project-falcon starts on /home/otterson")
    assert "otterson" in redactor.text("project-falcon starts on /home/otterson")
