"""Secrets in forms and URLs, where signs are escaped with a percent sign, are taken out whole and nothing else is."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from collector.redact import Redactor
from tests.redact.secrets import secret


@pytest.mark.parametrize(
    "form",
    [
        "user=ada&password=@&remember=1",
        "curl -d 'user=ada&password=@' https://app.test/login",
        "next%3D%2Fhome%26password%3D%27@%27%26remember%3D1",
        "state=%7B%22password%22%3A%22@%22%2C%22remember%22%3A1%7D",
    ],
)
def test_a_password_is_taken_out_of_a_form_whole_and_nothing_else(redactor: Redactor, form: str) -> None:
    before, after = form.split("@")
    for seed in range(5):
        password = quote(f"{secret('drawn', seed)[:6]}&{secret('drawn', seed)[6:12]}%{seed}9", safe="")
        redacted = redactor.text(before + password + after)
        assert redacted.startswith(before)
        assert redacted.endswith(f"]{after}")
        assert password[-9:] not in redacted


def test_the_password_of_a_url_within_a_url_is_taken_out(redactor: Redactor) -> None:
    for seed in range(5):
        password = secret("drawn", seed)
        inner = f"postgres://app:{password}@db.test:5432/main"
        for written in (f"https://app.test/?to={quote(inner, safe='')}&x=1", f"/?to={quote(inner)}"):
            redacted = redactor.text(written)
            assert password not in redacted
            assert "app%3A[REDACTED:encoded-url-password:" in redacted
            assert "]%40db.test%3A5432" in redacted


def test_an_address_within_a_url_stays(redactor: Redactor) -> None:
    for inner in ("https://app.test:8080/users/@ada", "https://app.test/a:b/c@d", "postgres://user:password@localhost"):
        written = f"https://app.test/?to={quote(inner, safe='')}"
        assert redactor.text(written) == written
