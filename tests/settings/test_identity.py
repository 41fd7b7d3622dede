"""Whose events these are: one id per machine for all its users, and the account, whatever the environment says."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import pytest

from collector.settings import account, machine_id

ID = "0123456789abcdef0123456789abcdef"


def test_all_users_share_one_machine_id_that_does_not_reveal_the_original(tmp_path: Path) -> None:
    path = tmp_path / "machine-id"
    path.write_text(f"{ID}\n")
    made = machine_id([path])
    assert made == machine_id([tmp_path / "none", path])
    assert made is not None
    assert len(made) == 32
    assert made != ID
    path.write_text(ID.replace("0", "1"))
    assert machine_id([path]) != made


@pytest.mark.parametrize("text", ["", "uninitialized\n", "0" * 32, "ad\u00e9", ID[:-1]])
def test_an_invalid_machine_id_is_ignored(tmp_path: Path, text: str) -> None:
    path, other = tmp_path / "machine-id", tmp_path / "other"
    path.write_text(text, encoding="latin-1")
    assert machine_id([path]) is None
    other.write_text(ID)
    assert machine_id([path, other]) == machine_id([other])


def test_on_macos_the_machine_id_comes_from_the_platform(tmp_path: Path) -> None:
    uuid = "01234567-89AB-CDEF-0123-456789ABCDEF"
    printed = f'    "IOPlatformSerialNumber" = "X"\n    "IOPlatformUUID" = "{uuid}"\n'
    (tmp_path / "machine-id").write_text(ID)
    command = [sys.executable, "-Sc", f"print({printed!r})"]
    assert machine_id([], command) == machine_id([tmp_path / "machine-id"])
    assert machine_id([], [str(tmp_path / "no such program")]) is None


def test_the_account_comes_from_the_system_not_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "somebody-else")
    monkeypatch.setenv("USER", "somebody-else")
    assert account() == pwd.getpwuid(os.getuid()).pw_name
