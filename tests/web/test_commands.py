"""`collector web` and `collector receive --web`, started as a person would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.sink import PATIENCE
from tests.store.samples import NDJSON, event, lines
from tests.web.pages import stored

INTERFACES = Path("/proc/net/if_inet6")
NEEDS_IPV6 = pytest.mark.skipif(not (INTERFACES.exists() and INTERFACES.read_text()), reason="needs IPv6")


ONLY_ROOT = pytest.mark.skipif(
    os.getuid() != 0 or not Path("/usr/bin/python3").exists(), reason="only root can be somebody else for a moment"
)
ASK = "import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], headers={'Cookie': sys.argv[2]}))"


def asked_by(user: int, address: str, cookie: str = "") -> tuple[int, bytes]:
    """How a request ends that another user of this machine sends."""
    command = ["/usr/bin/python3", "-c", ASK, address, cookie]
    done = subprocess.run(command, user=user, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr


@contextmanager
def started(*arguments: str | Path, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Runs a command; gives the process and the address of its pages."""
    command = [sys.executable, "-m", "collector", *map(str, arguments)]
    env = os.environ | variables
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            stream = process.stdout if arguments[0] == "web" else process.stderr
            for line in stream:
                if "http://" in line and "/v1/events" not in line:
                    yield process, line[line.index("http://") :].strip()
                    break
            else:
                raise AssertionError(process.stderr.read())
        finally:
            process.kill()


def test_web_shows_the_store_to_anyone_with_the_full_address(tmp_path: Path) -> None:
    database = stored(tmp_path / "events.db", [event(text="A prompt", origin="human")])
    with started("web", "--no-open", "--database", database) as (process, address):
        with httpx.Client(follow_redirects=True) as browser:
            assert "Overview" in browser.get(address).text
            page = browser.get(address.partition("?")[0] + "sessions?days=all")
            assert "A prompt" in page.text
            assert page.url.query == b"days=all"
        assert httpx.get(address.partition("?")[0]).status_code == 401
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "")
    assert err.endswith("Stopped.\n")
    assert "Traceback" not in err


@ONLY_ROOT
@pytest.mark.parametrize("host", ["127.0.0.1", pytest.param("::1", marks=NEEDS_IPV6)])
def test_a_cookie_is_valid_only_for_the_user_who_signed_in(tmp_path: Path, host: str) -> None:
    database = stored(tmp_path / "events.db", [event(text="A prompt", origin="human")])
    (tmp_path / "token").write_text("team-secret\n")
    where = ("--host", host, "--port", "0", "--database", database, "--token-file", tmp_path / "token")
    with started("receive", "--web", *where) as (_, site):
        with httpx.Client() as browser:
            cookie = browser.get(f"{site}?token=team-secret").headers["set-cookie"].partition(";")[0]
        assert asked_by(0, site, cookie)[0] == 0
        code, said = asked_by(65534, site, cookie)  # `nobody`, whose server on another port got it from the browser
        assert code == 1
        assert b"401" in said


@ONLY_ROOT
def test_a_user_who_reads_the_command_line_of_the_browser_gets_nothing(tmp_path: Path) -> None:
    """Anybody can be faster than a browser that is still starting."""
    database, told = stored(tmp_path / "events.db", [event()]), tmp_path / "told"
    os.mkfifo(told)
    browser = tmp_path / "firefox"
    browser.write_text(f'#!/bin/sh\nfor each; do :; done; echo "$each" >{told}\n')
    browser.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    with started("web", "--database", database, PATH=path, BROWSER="firefox", DISPLAY=":0"):
        address = told.read_text().strip()
        code, said = asked_by(65534, address)
        assert (code, httpx.get(address).status_code) == (1, 303)
        assert b"401" in said


def test_web_without_a_store_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "collector", "web", "--no-open", "--database", str(tmp_path / "none.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no store at" in done.stderr


def test_receive_shows_pages_behind_its_token(tmp_path: Path) -> None:
    """The senders' token also opens the pages, but the cookie it is exchanged for does not allow sending."""
    (tmp_path / "token").write_text("team-secret\n")
    flags = ("--port", "0", "--database", tmp_path / "events.db", "--token-file", tmp_path / "token", "--web")
    with started("receive", *flags) as (_, address), httpx.Client(base_url=address) as client:
        body = lines([event(text="A prompt", origin="human")])
        right = {"Authorization": "Bearer team-secret", "Content-Type": NDJSON}
        assert client.post("/v1/events", content=body, headers=right).json()["accepted"] == 1
        assert client.get("/health").json()["status"] == "ok"
        assert client.get("/sessions").status_code == 401
        assert client.get("/?token=team-secret").status_code == 303
        assert "A prompt" in client.get("/sessions?days=all").text
        cookie = next(iter(client.cookies.values()))
        for headers in ({"Content-Type": NDJSON}, {**right, "Authorization": f"Bearer {cookie}"}):
            assert client.post("/v1/events", content=body, headers=headers).status_code == 401
        assert client.delete("/v1/sessions/session-1").status_code == 401
