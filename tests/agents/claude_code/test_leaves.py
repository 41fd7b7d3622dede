"""Promise 6, leaf by leaf: this lists exactly those parts of records that reach no event."""

from __future__ import annotations

from tests.leaves import leaves, report, samples

# By type of record: copies, binary, signatures, file contents, accounts, and what an event says in another form.
LEFT_OUT = {
    "agent_progress": {"message.content[].text"},
    # Hashes of words, which are replaced by keyed ones.
    "api-request": {"tail[]", "shapeHash", "requestDigest"},
    "api-request-blob": {"hash"},
    "api-request-shape": {"shapeHash"},
    "journal: launched": {"hiddenScriptSha256"},
    "artifact-autoreact-ledger": {"accountUuid"},
    "assistant": {"message.content[].data", "message.content[].signature"},
    "attachment/edited_image_file": {"attachment.content.file.base64"},
    "base64": {"data"},
    "file-history-snapshot": {
        "snapshot.trackedFileBackups./work/app/a.py",
        "snapshot.trackedFileBackups./work/app/b.py.originalContent",
    },
    "history: whole": {"timestamp", "pastedContents.2.contentHash"},  # as `time`; a hash
    "progress/agent_progress": {
        "data.message.message.content[].text",
        "data.message.timestamp",
        "data.message.uuid",
        "data.prompt",
    },
    "session-owner": {"accountUuid", "organizationUuid"},
    "user": {
        "isMeta",  # as `origin`
        "message.content[].content",
        "message.content[].content[].source.data",
        "message.content[].is_error",  # as `ok`
        "message.content[].source.data",
        "toolUseResult",
        "toolUseResult.content",
        "toolUseResult.durationSeconds",  # as `duration_ms`
        "toolUseResult.file.base64",
        "toolUseResult.newTodos[].activeForm",
        "toolUseResult.newTodos[].content",
        "toolUseResult.newTodos[].status",
        "toolUseResult.prompt",
        "toolUseResult.questions[].options[].label",
    },
    "workflow: whole": {"script"},
}


def test_every_leaf_of_every_record_is_in_the_event_except_these() -> None:
    lost, _, _ = report(samples())
    found = {name: set(paths) for name, paths in lost.items() if paths and "(skipped" not in name}
    assert found == LEFT_OUT


def test_all_items_of_a_list_share_one_path() -> None:
    assert list(leaves({"a": [{"b": 1}, {"b": 2}], "c": []})) == [("a[].b", 1), ("a[].b", 2)]
