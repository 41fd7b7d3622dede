"""A home as a person leaves it after some weeks of work, for the screenshots and the browser tests.

    home = Home(directory); fill(home, until)

Seeded: the same arguments give the same files. The planted secret is generated, so it cannot be live.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.build import Home, Session
from tests.transcript import Transcript, call_of, usage

OPUS, SONNET, HAIKU = "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"
PROJECTS = ("-home-ada-work-shop", "-home-ada-work-billing-api", "-home-ada-notes", "-home-ada-work-infra")
TITLES = (
    "Fix the login redirect",
    "Add pagination to the orders list",
    "Why is the nightly import slow?",
    "Move invoices to the new tax rules",
    "Upgrade to Python 3.13",
    "Write the release notes",
    "Find the memory leak in the worker",
    "Sort out flaky checkout tests",
    "Terraform: one module a region",
    "Explain the retry logic",
    "Draft the talk on idempotency",
    "Cache the price lookup",
)
TOOLS = (
    ("Bash", {"command": "pytest -q tests/orders", "description": "Run the tests"}),
    ("Read", {"file_path": "/home/ada/work/shop/orders/views.py"}),
    (
        "Edit",
        {"file_path": "/home/ada/work/shop/orders/views.py", "old_string": "page = 1", "new_string": "page = 2"},
    ),
    ("Grep", {"pattern": "def paginate", "path": "orders"}),
    ("mcp__github__list_issues", {"repository": "ada/shop", "state": "open"}),
    ("mcp__postgres__query", {"sql": "SELECT count(*) FROM orders WHERE created_at > now() - interval '1 day'"}),
    ("Skill", {"skill": "release-notes"}),
    ("WebSearch", {"query": "postgres keyset pagination"}),
)


def secret(pen: Any) -> str:
    """A key that cannot be live: the usual prefix and random letters."""
    return "AKIA" + "".join(pen.random.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))


def fill(home: Home, until: datetime, days: int = 45) -> list[Session]:
    """Writes a few sessions a day, fewer at weekends, and returns them."""
    chance = home.pen.random
    made: list[Session] = []
    for number in range(days):
        day = (until - timedelta(days=days - 1 - number)).replace(hour=7, minute=0, second=0, microsecond=0)
        busy = chance.choice((2, 3, 3, 4)) if day.weekday() < 5 else chance.choice((0, 0, 1))
        for _ in range(busy):
            home.pen.now = day + timedelta(minutes=chance.randint(20, 660))
            made.append(_session(home, chance.choice(PROJECTS[:2] + PROJECTS), len(made)))
    made.append(_showpiece(home, until))
    return made


def _session(home: Home, project: str, number: int) -> Session:
    chance, pen = home.pen.random, home.pen
    session = home.session(project=project)
    session.record({"type": "ai-title", "aiTitle": TITLES[number % len(TITLES)], "sessionId": session.session_id})
    model = chance.choice((OPUS, OPUS, SONNET, SONNET, SONNET, HAIKU))
    for _ in range(chance.randint(1, 4)):
        session.prompt(chance.choice(("Have a look, please.", "Now the tests.", "Go on.", "Can this be simpler?")))
        for _ in range(chance.randint(1, 7)):
            _step(session, model)
        session.reply("Done. The tests pass.", model=model, usage=_usage(chance, 300))
        pen.now += timedelta(minutes=chance.randint(1, 25))
    if chance.random() < 0.25:
        agent = session.subagent(meta={"agentType": "Explore", "description": "Find where it is used"})
        agent.user("Find where it is used")
        for _ in range(chance.randint(2, 6)):
            _step(agent, HAIKU)
        agent.reply("In four places.", model=HAIKU, usage=_usage(chance, 120))
    if chance.random() < 0.12:
        pull = 400 + number
        link = {"prNumber": pull, "prUrl": f"https://github.com/ada/shop/pull/{pull}", "prRepository": "ada/shop"}
        session.common("pr-link", **link)
    return session


def _step(transcript: Transcript, model: str) -> None:
    """Writes a tool call, and its result after a while."""
    pen, chance = transcript.pen, transcript.pen.random
    name, given = chance.choice(TOOLS[:4] + TOOLS)
    call = transcript.tool_call(name, dict(given), model=model, usage=_usage(chance, 180))
    pen.now += timedelta(milliseconds=int(chance.lognormvariate(7.2, 1.3)))
    is_error = chance.random() < (0.14 if name == "Bash" else 0.03)
    said = "Exit code 1\n2 failed, 31 passed" if is_error else "31 passed in 4.20s"
    result = None
    if name == "Edit" and not is_error:
        lines = ["-page = 1", "+page = int(given)", *(["+# checked above"] * chance.randint(0, 40))]
        size = len(lines) - 1
        patch = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": size, "lines": lines}
        result = {"filePath": given["file_path"], "structuredPatch": [patch]}
        said = "The file has been updated."
    transcript.tool_result(call, said, is_error=is_error, result=result)


def _usage(chance: Any, output: int) -> dict[str, Any]:
    return usage(
        int(output * chance.uniform(0.4, 4)),
        chance.randint(3, 40),
        int(chance.lognormvariate(10.6, 0.7)),
        int(chance.lognormvariate(7.6, 0.9)),
    )


def _showpiece(home: Home, until: datetime) -> Session:
    """Writes one session with a bit of everything."""
    pen, chance = home.pen, home.pen.random
    pen.now = until.replace(hour=9, minute=5)
    session = home.session(project=PROJECTS[0])
    session.record(
        {"type": "custom-title", "customTitle": "Keyset pagination for orders", "sessionId": session.session_id}
    )
    session.prompt("The orders list takes 4 s with a million orders. Page by key instead of by offset, please.")
    session.thinking("OFFSET reads and throws away all rows before the page. A key on (created_at, id) avoids that.")
    session.reply("I'll look at how the list is made, and measure it first.", usage=_usage(chance, 200))
    looked = session.tool_call("Task", {"subagent_type": "Explore", "description": "Find all users of paginate()"})
    agent_id = "a" + pen.hex(16)
    meta = {"agentType": "Explore", "description": "Find all users of paginate()", "toolUseId": call_of(looked)}
    agent = session.subagent(agent_id, meta=meta | {"spawnDepth": 1})
    agent.user("Find all users of paginate()")
    for _ in range(3):
        _step(agent, HAIKU)
    inner = session.subagent(
        "a" + pen.hex(16),
        meta={"agentType": "Grep", "description": "Look in the admin", "parentAgentId": agent_id, "spawnDepth": 2},
    )
    inner.user("Look in the admin")
    _step(inner, HAIKU)
    agent.reply("orders/views.py, orders/api.py and admin/orders.py.", model=HAIKU, usage=_usage(chance, 90))
    pen.now += timedelta(seconds=41)
    result = {"status": "completed", "agentId": agent_id, "content": [{"type": "text", "text": "In three places."}]}
    session.tool_result(looked, "In three places: views, api, admin.", result=result)
    call = session.tool_call("Bash", {"command": "cat .env && psql -c 'EXPLAIN ANALYZE SELECT ...'"})
    pen.now += timedelta(seconds=3)
    planted = f"AWS_ACCESS_KEY_ID={secret(pen)}\nSeq Scan on orders (actual time=0.02..3892.11 rows=1000000)"
    session.tool_result(call, planted)
    for _ in range(4):
        _step(session, OPUS)
    session.system(
        "compact_boundary", "Conversation compacted", compactMetadata={"trigger": "auto", "preTokens": 158000}
    )
    session.prompt("Good. Does it also hold when two orders have the same time?")
    _step(session, OPUS)
    session.reply(
        "Yes: the key is (created_at, id), and the id breaks ties. 4.1 s became 11 ms, and a test covers equal times.",
        usage=_usage(chance, 300),
    )
    link = {"prNumber": 512, "prUrl": "https://github.com/ada/shop/pull/512", "prRepository": "ada/shop"}
    session.common("pr-link", **link)
    return session
