"""The name and address from git's configuration."""

from __future__ import annotations

from pathlib import Path

from collector.settings import git_identity


def test_name_and_address_are_read_from_the_user_section(tmp_path: Path) -> None:
    assert git_identity(tmp_path) == ("", "")
    (tmp_path / ".gitconfig").write_text(
        '[core]\n\tname = no\n[user]\n\tname = "Wren Tulip"\n\temail = wren@tulip.test ; mine\n[alias]\n\temail = no\n'
    )
    assert git_identity(tmp_path) == ("Wren Tulip", "wren@tulip.test")
    (tmp_path / ".gitconfig").write_bytes(b"[user\n\xff\x00name")
    assert git_identity(tmp_path) == ("", "")
