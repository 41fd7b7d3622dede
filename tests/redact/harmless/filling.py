"""Fills templates: `§word`, `§n` or `§sha` stand for values drawn from a seed, so that no two lines are alike."""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable

from tests.bench.text import NAMES

WORDS = NAMES.split()
LABELS = [word for word in WORDS if word not in {"key", "token", "session", "cookie", "password", "secret"}]
PEOPLE = "ada brook casey devi emil farah goran hana ines jonas kofi lena mateo nadia omar petra root deploy".split()  # noqa: SIM905
HOSTS = "web-1 db.internal cache.staging.test 10.0.3.17 build-agent-4 localhost registry.acme.test edge7".split()  # noqa: SIM905
SUFFIXES = ".py .ts .tsx .go .rs .java .rb .sql .yaml .sh .c .md".split()  # noqa: SIM905
TOOLS = "redis postgres mysql rabbit mongo grafana keycloak minio vault kafka smtp ldap nats mail search".split()  # noqa: SIM905


def _hex(chance: random.Random, size: int) -> str:
    return f"{chance.getrandbits(4 * size):0{size}x}"


def _path(chance: random.Random) -> str:
    parts = [chance.choice(LABELS) for _ in range(chance.randrange(1, 4))]
    return "/".join(parts) + chance.choice("/_-") + chance.choice(LABELS) + chance.choice(SUFFIXES)


def _camel(chance: random.Random) -> str:
    return chance.choice(LABELS) + "".join(chance.choice(LABELS).title() for _ in range(chance.randrange(1, 3)))


SLOTS: dict[str, Callable[[random.Random], str]] = {
    "word": lambda chance: chance.choice(LABELS),
    "Word": lambda chance: chance.choice(LABELS).title(),
    "WORD": lambda chance: chance.choice(LABELS).upper(),
    "snake": lambda chance: "_".join(chance.choice(LABELS) for _ in range(chance.randrange(2, 4))),
    "kebab": lambda chance: "-".join(chance.choice(LABELS) for _ in range(chance.randrange(2, 4))),
    "camel": _camel,
    "Camel": lambda chance: (name := _camel(chance))[0].upper() + name[1:],
    "tool": lambda chance: chance.choice(TOOLS),
    "TOOL": lambda chance: chance.choice(TOOLS).upper(),
    "path": _path,
    "n": lambda chance: str(chance.randrange(1, 10 ** chance.randrange(1, 5))),
    "d": lambda chance: str(chance.randrange(1, 10)),
    "two": lambda chance: f"{chance.randrange(60):02}",
    "sha": lambda chance: _hex(chance, 40),
    "digest": lambda chance: _hex(chance, 64),
    "md": lambda chance: _hex(chance, 32),
    "short": lambda chance: _hex(chance, chance.choice([7, 8, 10, 12])),
    "uuid": lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    "user": lambda chance: chance.choice(PEOPLE),
    "host": lambda chance: chance.choice(HOSTS),
    "port": lambda chance: str(chance.choice([80, 443, 3000, 5432, 6379, 8080, 9200, 27017])),
    "version": lambda chance: f"{chance.randrange(12)}.{chance.randrange(30)}.{chance.randrange(20)}",
    "day": lambda chance: f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
    "time": lambda chance: f"{chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02}",
    "ms": lambda chance: f"{chance.random() * 9:.2f}",
    "PRINT": lambda chance: _hex(chance, 40).upper(),
    "letters": lambda chance: "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=32)),
    "letter": lambda chance: chance.choice("abcdefghijklmnopqrstuvwxyz"),
}

_slot = re.compile("§(" + "|".join(sorted(SLOTS, key=len, reverse=True)) + ")")


def filled(template: str, seed: int) -> str:
    """A template with every slot filled, always the same for the same seed."""
    chance = random.Random(f"{seed} {template}")
    return _slot.sub(lambda found: SLOTS[found[1]](chance), template).replace("¶", "\n")
