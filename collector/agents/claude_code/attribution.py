"""Whose work it was: the account, the repository and pull request, and the model's provider, as far as records say.

Accounts are personal, so they are sent only if somebody opted in (`capture.account`); otherwise they are left out and
counted. Nothing is looked up: we ask neither the project's directory nor git.
"""

from __future__ import annotations

import re
from typing import Any

from collector.agents.claude_code.context import Context
from collector.agents.claude_code.free_values import omit

Record = dict[str, Any]

ACCOUNT = {
    "accountUuid": "id",
    "vetoedAgainstAccountUuid": "id",
    "organizationUuid": "organization_id",
    "organizationName": "organization",
    "emailAddress": "email",
    "userEmail": "email",
}
PULL_REQUEST = {"prNumber": "number", "prUrl": "url", "prRepository": "repository"}
NAMED = ACCOUNT.keys() | PULL_REQUEST.keys() | {"context", "worktreeSession"}
EMAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,190}[A-Za-z0-9]")

# The prefixes of message ids, by provider.
MESSAGE_IDS = (("msg_01", "anthropic"), ("msg_bdrk_", "bedrock"), ("msg_vrtx_", "vertex"))
# `us.anthropic.claude-...-v1:0`, an inference profile, `claude-...@20250514`.
MODELS = (
    (re.compile(r"(?:[a-z]{2,6}(?:-[a-z]{2,5})?\.)?anthropic\.|arn:aws[a-z-]*:bedrock:"), "bedrock"),
    (re.compile(r"[a-z0-9.-]+@(?:\d{8}|default)\b"), "vertex"),
)


def put_provider(event: Record) -> None:
    """Names the provider whose API answered, if the message id or the model name tells."""
    message_id = event.get("message_id", "")
    for start, provider in MESSAGE_IDS:
        if message_id.startswith(start):
            event["provider"] = provider
            return
    for shape, provider in MODELS:
        if shape.match(event["model"]):
            event["provider"] = provider
            return


def attribute(event: Record, rest: Record, context: Context) -> None:
    """Moves what a record says about its account and repository into the event's fields."""
    if NAMED.isdisjoint(rest):
        return
    for holder in (rest, nested(rest, "context"), nested(rest, "worktreeSession")):
        if holder:
            put_account(event, holder, context)
            put_pull_request(event, holder)


def nested(rest: Record, key: str) -> Record:
    """An object inside the record that may name an account or a pull request, as a copy that can be emptied."""
    value = rest.get(key)
    if type(value) is not dict:
        return {}
    rest[key] = copy = dict(value)
    return copy


def put_account(event: Record, holder: Record, context: Context) -> None:
    """Moves the account into the event if somebody opted in; otherwise removes it."""
    for key in ACCOUNT.keys() & holder.keys():
        value = holder[key]
        if type(value) is not str:
            continue
        del holder[key]
        if not context.frame.names_accounts:
            omit(event, "account", value)
            continue
        name = ACCOUNT[key]
        # Some records put the address into a sentence addressed to the model.
        found = EMAIL.search(value) if name == "email" else None
        event.setdefault("account", {})[name] = found[0] if found else value


def put_pull_request(event: Record, holder: Record) -> None:
    """Moves the pull request that a record names into the event."""
    found: Record = {}
    for key, name in PULL_REQUEST.items():
        value = holder.get(key)
        if (type(value) is int and value >= 0) if name == "number" else (type(value) is str and value):
            found[name] = holder.pop(key)
    if found:
        event["pull_request"] = found
        if "repository" in found:
            event["repository"] = found["repository"]
