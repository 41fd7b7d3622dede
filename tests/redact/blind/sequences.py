"""Calls and their results, where only a command or an earlier event shows that something is a secret."""

from __future__ import annotations

from collections.abc import Iterator

from tests.redact.blind import commands
from tests.redact.blind.drawing import (
    ALPHANUMERIC,
    Draw,
    Halved,
    Item,
    any_password,
    base64_key,
    encoded,
    fill,
    hex_key,
    in_turn,
    mixed,
    one_of,
    opaque,
    plain_password,
)
from tests.redact.blind.vocabulary import WORDS

PRINTS_A_KEY = ("token", "rand", "pwgen", "print-access", "initialAdmin")


def sequences(seed: str, half: int) -> Iterator[Item]:
    """Every sequence of a half."""
    rng = Halved(f"{seed} printed {half}", half)
    for command in in_turn(rng, rng.mine(commands.PRINTING), 60):
        yield _printed(rng, command)
    rng = Halved(f"{seed} again {half}", half)
    yield from (_told_before(rng) for _ in range(40))
    rng = Halved(f"{seed} quiet {half}", half)
    yield from (_quiet(rng) for _ in range(30))


def _step(rng: Halved, command: str, result: str) -> dict[str, str]:
    return {"call_id": "toolu_01" + mixed(rng, ALPHANUMERIC, 22), "command": command, "result": result}


def _printed(rng: Halved, command: str) -> Item:
    """A secret that a command prints on its own."""
    command = fill(rng, command)
    is_encoded = command.endswith("|b64")
    command = command.removesuffix("|b64")
    is_key = any(word in command for word in PRINTS_A_KEY)
    value = one_of(hex_key, opaque, base64_key)(rng) if is_key else any_password(rng)
    secret = value
    if "git credential" in command:
        output = f"protocol=https\nhost=github.example.com\nusername=bob\npassword={value}"
    elif "grep -A0" in command:
        output = f"  token: {value}"
    else:
        secret = encoded(value) if is_encoded else value
        output = rng.choice(commands.WARNINGS) + secret
        if rng.random() < 0.3:
            output += "\n"
    steps = [_step(rng, command, output)]
    if rng.random() < 0.4:
        steps.insert(0, _step(rng, *rng.choice(commands.ORDINARY)))
    sequence: Item = {"class": "printed-by-command", "kind": "secret", "sequence": steps, "secrets": [secret]}
    if rng.random() < 0.25 and len(steps) == 1:  # calls first, results later: they are paired by id
        steps.append(_step(rng, *rng.choice(commands.ORDINARY)))
        sequence["interleaved"] = True
    return sequence


def _told_before(rng: Halved) -> Item:
    """A secret that one event gives away, and that appears bare in later ones."""
    draws: list[Draw] = [lambda r: mixed(r, ALPHANUMERIC, r.choice([16, 20, 24, 32])), plain_password, opaque]
    value = one_of(*draws)(rng)
    telling = fill(rng, rng.choice(commands.TELLING))
    steps = [_step(rng, telling, fill(rng, rng.form(commands.TOLD)).replace("\x01", value))]
    steps += [_step(rng, *rng.choice(commands.ORDINARY)) for _ in range(rng.randint(0, 3))]
    for command, output in rng.sample(rng.mine(commands.LATER), rng.randint(1, 2)):
        later = fill(rng, command).replace("\x01", value)
        steps.append(_step(rng, later, fill(rng, output).replace("\x01", value)))
    return {"class": "found-then-bare", "kind": "secret", "sequence": steps, "secrets": [value]}


def _quiet(rng: Halved) -> Item:
    """Commands that look as if they printed a secret but do not, and words that must not be redacted as copies."""
    word = rng.choice(WORDS["adj"] + WORDS["adv"] + WORDS["noun"])
    shown = [
        (fill(rng, command), fill(rng, output.replace("«word.1»", word)))
        for command, output in rng.form(commands.QUIET)
    ]
    return {
        "class": "quiet-sequences",
        "kind": "harmless",
        "sequence": [_step(rng, command, output) for command, output in shown],
        "secrets": [],
        "lines": sum(output.count("\n") + 2 for _, output in shown),
    }
