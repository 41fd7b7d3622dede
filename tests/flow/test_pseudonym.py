"""Pseudonyms stay the same in later versions; otherwise a fleet's totals would fall apart with every upgrade."""

from __future__ import annotations

import pytest

from collector.flow.pseudonym import keeps_its_id, keyed_hash, keyed_id, pseudonym

KEY = b"a key for tests only"


def test_the_same_key_gives_the_same_names_in_every_version() -> None:
    assert pseudonym("project", "-work-app", KEY) == "project-33b620152495"
    assert keyed_id("0123456789abcdef0123456789abcdef", KEY) == "4984baf9ea7033f527f097c03ed943c2"
    assert keyed_hash("0123456789abcdef", KEY) == "62c71336713878edb3335bfd9a7926d4"


def test_equal_names_of_different_things_get_different_pseudonyms() -> None:
    names = [
        pseudonym("project", "main", KEY),
        pseudonym("branch", "main", KEY),
        pseudonym("project", "main", b"other"),
    ]
    ids = [keyed_id("main", KEY), keyed_hash("main", KEY)]
    assert len({name.rpartition("-")[2] for name in (*names, *ids)}) == 5


@pytest.mark.parametrize(("uuid", "is_kept"), [("u" * 128, True), ("u" * 129, False), ("", False), (7, False)])
def test_only_an_id_that_was_made_from_a_uuid_is_kept(uuid: object, *, is_kept: bool) -> None:
    assert keeps_its_id({"uuid": uuid, "text": "hello"}, was_redacted=False) is is_kept
