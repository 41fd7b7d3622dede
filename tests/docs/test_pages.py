"""README and docs/, tried as a reader would: every command runs and prints what is shown, and no link is broken.

Each page is one story: its commands run in order, in one scratch home with the sessions of the demo. The addresses it
shows are replaced by that of a scripted sink that accepts everything.
"""

from __future__ import annotations

import random
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from collector.agents.registry import AGENTS
from collector.cli import app
from tests.agent import Agent
from tests.build import Home
from tests.docs.blocks import PAGES, REPOSITORY, Shown, headings_of, links_in, missing_from, shown_in
from tests.docs.picture import PICTURE, session
from tests.inside import Inside
from tests.sink import Sink

TREE = get_command(app)
WITH_COMMANDS = [page for page in PAGES if any(not each.why_not for each in shown_in(page))]
PAPERS = ("CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md")
ADDRESSES = ("https://telemetry.example/v1/events", "http://127.0.0.1:8585/v1/events")
ENDLESS = re.compile(r"collector (receive|run|web)\b|--watch|--follow| -f\b|service (un)?install")
WELL = {0, 1}  # 1: `doctor` finds no service where the tests run, and neither does `service status`


class Shell:
    """Runs the commands of a page: `collector` in this process, anything before or after a `|` in sh."""

    def __init__(self, agent: Agent, sink: Sink) -> None:
        self.agent, self.sink = agent, sink

    def run(self, shown: Shown) -> tuple[int, str]:
        """The exit code of the command, and what the whole line printed."""
        line = shown.command
        assert not ENDLESS.search(line), f"{shown.page}:{shown.line} runs until it is stopped: mark it as not run"
        for address in ADDRESSES:
            line = line.replace(address, self.sink.url)
        before, words, after = self._parts(line)
        given = self._sh(before, b"") if before else b""
        if "<" in words:
            given = (self.agent.home.path / words[words.index("<") + 1]).read_bytes()
            words = words[: words.index("<")]
        result = self.agent.run(*words[1:], given=given)
        printed = self._sh(after, result.stdout.encode()).decode() if after else result.stdout + result.stderr
        return result.code, printed

    def _parts(self, line: str) -> tuple[str, list[str], str]:
        pieces = [piece.strip() for piece in re.split(r"\s\|\s", line)]
        place = next(number for number, piece in enumerate(pieces) if piece.startswith("collector"))
        words = shlex.split(pieces[place])
        words = [re.sub("^~", str(self.agent.home.path), word) for word in words]
        return " | ".join(pieces[:place]), words, " | ".join(pieces[place + 1 :])

    def _sh(self, script: str, given: bytes) -> bytes:
        return subprocess.run(["sh", "-c", script], input=given, capture_output=True, check=True).stdout


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    home = Home(tmp_path)
    form = next(iter(AGENTS.values()))
    key = "AKIA" + "".join(random.Random(1).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))
    for name, content in form.example(key, random.Random(1), datetime.now(UTC)).items():
        path = home.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (home.path / "notes.txt").write_text("export DB_PASSWORD=winter2026maple\n")
    (home.path / "values.jsonl").write_text('{"password": "winter2026maple"}\n')
    (home.path / "collector.toml").write_text('[labels]\nteam = "platform"\n')
    monkeypatch.chdir(home.path)
    with Sink() as sink:
        agent = Inside(home, None, {"COLUMNS": "160", "COLLECTOR_BATCH__LINGER": "60"})
        monkeypatch.setattr(sys, "argv", ["collector"])
        yield Shell(agent, sink)


@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_every_command_on_a_page_runs_and_prints_what_is_shown(page: str, shell: Shell) -> None:
    trouble = []
    for shown in shown_in(page):
        if shown.why_not or not re.search(r"(^|[|] )collector ", shown.command):
            continue
        code, printed = shell.run(shown)
        if code not in WELL or "Traceback" in printed:
            trouble.append(f"{page}:{shown.line} {shown.command}: exit code {code}\n{printed}")
        home = str(shell.agent.home.path)
        if missing := missing_from(shown.output, printed.replace(home, "~")):
            trouble.append(f"{page}:{shown.line} {shown.command}: does not print {missing}\n{printed}")
    assert trouble == []


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """The commands that pages show in code blocks or mention in the text, each as words after `collector`."""
    for page in (*PAGES, *PAPERS):
        text = (REPOSITORY / page).read_text()
        named = re.findall(r"`(?:sudo )?(collector [a-z][^`\n]*)`", text)
        named += re.findall(r"^    (?:\$ )?(?:sudo )?(collector [a-z].*)$", text, re.MULTILINE)
        for line in named:
            yield page, re.split(r"\s\||\s#|\s<|[;(…&]", line)[0].replace("'", " ").split()[1:]


def test_every_command_and_option_that_a_page_names_exists() -> None:
    unknown = []
    lines = list(command_lines())
    assert len(lines) > 100
    for page, words in lines:
        command: Any = TREE
        rest = list(words)
        while rest and hasattr(command, "commands"):
            name = rest.pop(0).rstrip(",.:")
            if name.startswith("-"):
                continue
            if name not in command.commands:
                unknown.append(f"{page}: collector {' '.join(words)}")
                break
            command = command.commands[name]
        known = {name for each in command.params for name in each.opts} | {"-h", "--help", "-v", "-q"}
        given = {word.partition("=")[0].strip("[],.") for word in rest if word.lstrip("[").startswith("--")}
        unknown += [f"{page}: collector {' '.join(words)}: {name}" for name in given - known]
    assert unknown == []


def test_every_command_in_a_block_starts_with_a_dollar_sign() -> None:
    plain = [
        f"{page}: {line.strip()}"
        for page in PAGES
        if page != "docs/commands.md"  # generated from the help, where its examples are checked
        for line in re.findall(r"^(?:    )?(?:sudo )?collector [a-z].*$", _blocks(page), re.MULTILINE)
    ]
    assert plain == [], "write it as `$ collector ...`"


def _blocks(page: str) -> str:
    text = (REPOSITORY / page).read_text()
    return "\n".join([*re.findall(r"```\n(.*?)```", text, re.DOTALL), *re.findall(r"^    .*$", text, re.MULTILINE)])


def test_every_link_leads_somewhere() -> None:
    broken = []
    for page in (*PAGES, *PAPERS):
        for target, heading in links_in(page):
            if not (REPOSITORY / target).exists():
                broken.append(f"{page}: {target}")
            elif heading and heading not in headings_of(target):
                broken.append(f"{page}: {target}#{heading}")
    assert broken == []


def test_no_text_on_a_page_is_taken_for_a_tag() -> None:
    tags = []
    for page in (*PAGES, *PAPERS):
        text = re.sub(r"```.*?```|^    .*$", "", (REPOSITORY / page).read_text(), flags=re.DOTALL | re.MULTILINE)
        tags += [f"{page}: {tag}" for tag in re.findall(r"(?<!\\)</?[a-z][^>]*>", re.sub(r"`[^`]*`", "", text))]
    assert tags == [], "write it as code"


def test_the_readme_links_to_every_page() -> None:
    listed = {target for target, _ in links_in("README.md")}
    assert {page for page in PAGES if page != "README.md"} - listed == set()


def test_the_page_of_commands_is_current() -> None:
    made = subprocess.run(
        [sys.executable, str(REPOSITORY / "packaging" / "reference.py"), "page"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(REPOSITORY), "HOME": "/nonexistent"},
    ).stdout
    assert (REPOSITORY / "docs" / "commands.md").read_text() == made, (
        "run: python packaging/reference.py page > docs/commands.md"
    )


def test_the_page_of_commands_names_arguments_as_the_help_does(shell: Shell) -> None:
    page = (REPOSITORY / "docs" / "commands.md").read_text()
    shown = re.findall(r"^    collector ([a-z ]+) (\[OPTIONS\] .+)$", page, re.MULTILINE)
    assert len(shown) > 10
    for words, usage in shown:
        line = shell.agent.run("help", *words.split()).stdout.splitlines()[0]
        # Typer may put braces around {PATH}, and before 0.29 it leaves out the dots of PATH...
        assert re.sub(r"[{}]|\.{3}$", "", line) == f"Usage: collector {words} {usage}".removesuffix("...")


def test_the_picture_of_a_terminal_is_current() -> None:
    drawn = re.findall(r"<text.*</text>", PICTURE.read_text())
    shown = [" ".join(unescape(re.sub("<.*?>", "", line)).split()) for line in drawn]
    printed = "\n".join(" ".join(line.split()) for line in session())
    assert missing_from(shown, printed) == [], "run: python -m tests.docs.picture"


def test_every_picture_is_on_a_page() -> None:
    shown = {target for page in PAGES for target, _ in links_in(page)}
    pictures = {f"docs/pictures/{path.name}" for path in (REPOSITORY / "docs" / "pictures").iterdir()}
    assert pictures - shown == set()


def configurations() -> Iterator[tuple[str, str]]:
    """The configuration files that pages show, whole."""
    for page in PAGES:
        text = (REPOSITORY / page).read_text()
        indented = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
        for block in [*map(textwrap.dedent, indented), *re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]:
            if re.search(r"^\[+[a-z]+[\]._]", block, re.MULTILINE):
                yield page, block


def test_every_configuration_on_a_page_is_valid(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each choice of rules would be compiled, which takes seconds; rules are tried before that.
    monkeypatch.setattr("collector.redact.redactor.make_engine", lambda *_: None)
    found = list(configurations())
    assert len(found) > 12
    for page, block in found:
        for name in re.findall(r'"/etc/collector/([\w.-]+)"', block):
            (shell.agent.home.path / name).write_text("0123456789abcdef0123456789abcdef")
        text = block.replace("/etc/collector/", "~/").replace("~/.config/collector/token", "~/sink-token")
        (shell.agent.home.path / "shown.toml").write_text(text)
        answer = shell.agent.run("config", "check", "--config", "shown.toml")
        assert answer.code == 0, f"{page}: {answer.stderr}\n{block}"
