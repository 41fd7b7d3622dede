"""Whose work it was: provider, pull request, repository, and the account, but only if somebody opted in."""

from __future__ import annotations

from typing import Any

import pytest

from collector.agents.claude_code import places
from tests.agents.claude_code.reader import context, normalized, written
from tests.agents.claude_code.sample_attachments import attachment
from tests.agents.claude_code.samples import ALL_RECORDS, INDEX_ENTRIES

ADDRESS = "ada@example.com"
ACCOUNTS = {
    "session_owner": ALL_RECORDS["session_owner"],
    "ledger": ALL_RECORDS["artifact_autoreact_ledger"],
    "organization": attachment("credential_org", {"organizationUuid": "3f0c0f64-93a5-4f0b-9d5e-5d0f1c3f7a11"}),
    "email": attachment("session_context", {"context": {"userEmail": f"The user's address is {ADDRESS}. Use it."}}),
}


@pytest.mark.parametrize(
    ("message_id", "model", "provider"),
    [
        ("msg_01XJbUUaAZQJ98KvdRok42oJ", "claude-opus-4-5-20251101", "anthropic"),
        ("msg_bdrk_01XJbUUaAZQJ98KvdRok42oJ", "claude-opus-4-5-20251101", "bedrock"),
        ("msg_vrtx_01XJbUUaAZQJ98KvdRok42oJ", "claude-opus-4-5@20251101", "vertex"),
        ("7f3a", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock"),
        ("7f3a", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock"),
        ("7f3a", "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/x", "bedrock"),
        ("7f3a", "claude-sonnet-4-5@20250929", "vertex"),
        ("7f3a", "claude-sonnet-4-5-20250929", None),
        ("7f3a", "<synthetic>", None),
        ("msg_2c1cde8cab5d4da4ae4ea595", "gpt-oss", None),
    ],
)
def test_the_provider_is_recognised_by_message_ids_and_model_names(
    message_id: str, model: str, provider: str | None
) -> None:
    record = ALL_RECORDS["assistant_text"]
    made = normalized(record | {"message": record["message"] | {"id": message_id, "model": model}})
    assert made.get("provider") == provider


def test_a_pull_request_is_named_where_a_record_names_it() -> None:
    expected = {"number": 7, "url": "https://git.example.com/app/pull/7", "repository": "app"}
    index = normalized(INDEX_ENTRIES["index_entry"], context(places.SESSION_INDEX, session_id=""))
    for made in (normalized(ALL_RECORDS["pr_link"]), index):
        assert (made["pull_request"], made["repository"]) == (expected, "app")
        assert not [key for key in made.get("attributes", {}) if key.startswith("pr_")]


@pytest.mark.parametrize("name", ACCOUNTS)
def test_an_account_is_left_out_unless_somebody_opted_in(name: str) -> None:
    made = normalized(ACCOUNTS[name])
    assert "account" not in made
    assert made["omitted"]["account"] > 0
    assert not any(part in written(made) for part in identifiers(ACCOUNTS[name]))


@pytest.mark.parametrize("name", ACCOUNTS)
def test_an_account_is_named_if_somebody_opted_in(name: str) -> None:
    made = normalized(ACCOUNTS[name], context(names_accounts=True))
    assert set(made["account"].values()) == identifiers(ACCOUNTS[name])


def identifiers(record: dict[str, Any]) -> set[str]:
    """The identifiers of the account in a record."""
    holder = {**record, **record.get("attachment", {})}
    return (
        {ADDRESS}
        if "context" in holder
        else {holder[key] for key in ("accountUuid", "organizationUuid") if key in holder}
    )
