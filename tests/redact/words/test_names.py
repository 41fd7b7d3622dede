"""Names that say something about their value, and names that cannot."""

from __future__ import annotations

from collector.redact.words.names import _FILE_ENDINGS, Promise, is_file_name, promise

TELLING = ("password", "secret", "token", "apiKey", "access_key", "cookie", "authorization", "basic_auth", "key")


def test_a_file_name_promises_no_secret_whatever_comes_before_its_ending() -> None:
    names = [f"{name}.{ending}" for name in TELLING for ending in _FILE_ENDINGS]
    assert [name for name in names if promise(name) is not Promise.NOTHING] == []
    assert all(map(is_file_name, names))
    assert not any(map(is_file_name, (*TELLING, "src/secret.key", "app.password")))
