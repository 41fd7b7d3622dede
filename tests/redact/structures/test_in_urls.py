"""Secrets in forms and URLs, where signs are escaped with a percent sign, are taken out whole and nothing else is."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from collector.redact import Redactor
from tests.redact.secrets import secret
from tests.redactors import every_rule


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


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize(
    "url",
    [
        "https://app.test:8443?page=2&email=ada@x.test",
        "amqp://broker:5672?user=ada@x.test",
        "https://localhost:3000?filter[email]=ada@x.test",
        "https://localhost:3000#/users/@ada",
        "https://localhost:3000#!/users/@ada",
        "https://localhost:3000#email=ada@x.test",
        "http://[::1]/users/@ada",
        "http://[2001:db8::1]:8443?email=ada@x.test",
        "http://[fe80::1%25eth0]:8443#/@ada",
    ],
)
def test_a_port_is_no_password_though_an_at_sign_comes_after_it(engine: str, url: str) -> None:
    assert every_rule(engine).text(url) == url


@pytest.mark.parametrize("engine", ["hyperscan", "python"])
@pytest.mark.parametrize(
    "url",
    [
        "postgres://app:2026#@@db.test/main",
        "postgres://app:2026?@@db.test/main",
        "postgres://app:@?a=b@db.test/main",
        "postgres://app:@#/b@db.test/main",
        "redis://:2026?a=@@cache.test",
        "https://app.test:8443?next=https://ci:@@git.test/x",
        "http://[::1]:8443?dsn=app:@@db.test",
        "http://[::1]:8443/?next=https://ci:@@git.test/x",
    ],
)
def test_a_password_with_the_signs_that_end_a_host_is_taken_out(engine: str, url: str) -> None:
    for seed in range(5):
        password = secret("drawn", seed)
        assert password not in every_rule(engine).text(url.replace("@", password, 1))
