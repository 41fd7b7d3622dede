"""Random values as generators make them, a hundred of each alphabet: hardly any may be missed.

Once in a while, a value of 40 characters begins with a slash, reads like a path, or has a dot where code would have
one. A test with a single example would not notice.
"""

from __future__ import annotations

import random
import string

from collector.redact import Redactor
from tests.redact.secrets import ALNUM, pick

HEX = "0123456789abcdef"
KEYBOARD = ALNUM + "!@#%^*-_=+?."
TOKENS = {
    "hex 32": (HEX, 32),
    "hex 40": (HEX, 40),
    "letters and digits, 20": (ALNUM, 20),
    "letters and digits, 40": (ALNUM, 40),
    "base64, 40": (ALNUM + "+/", 40),
    "base64url, 43": (ALNUM + "-_", 43),
    "small letters and digits, 24": (string.ascii_lowercase + string.digits, 24),
    "capitals and digits, 24": (string.ascii_uppercase + string.digits, 24),
    "letters, 32": (string.ascii_letters, 32),
}
PASSWORDS = {
    "letters and digits, 12": (ALNUM, 12),
    "letters and digits, 16": (ALNUM, 16),
    "keyboard, 16": (KEYBOARD, 16),
    "keyboard, 24": (KEYBOARD, 24),
}
BESIDE_TOKENS = [
    "MY_TOKEN=@\n",
    'export API_KEY="@"',
    '{"access_token": "@"}',
    "X-Api-Key: @",
    "Authorization: Bearer @",
    "client = Client(api_key='@')",
    "tool --api-key=@ run",
    "https://host/x?access_token=@&b=1",
]
BESIDE_PASSWORDS = [
    '{"password":"@"}',
    "DB_PASSWORD='@'",
    "db:\n  password: @\n",
    'const secret = "@";',
    "tool --password '@' run",
    "password = @\n",
]


def test_a_drawn_token_is_found(redactor: Redactor) -> None:
    assert missed_more_than(1, redactor, TOKENS, BESIDE_TOKENS) == {}


def test_a_drawn_password_is_found(redactor: Redactor) -> None:
    assert missed_more_than(3, redactor, PASSWORDS, BESIDE_PASSWORDS) == {}


def test_a_token_that_begins_with_a_slash_is_not_mistaken_for_a_path(redactor: Redactor) -> None:
    tokens = {"a slash, letters and digits": (ALNUM + "/", 39)}
    assert missed_more_than(5, redactor, tokens, [text.replace("@", "/@") for text in BESIDE_TOKENS]) == {}


def missed_more_than(
    most: int, redactor: Redactor, kinds: dict[str, tuple[str, int]], contexts: list[str]
) -> dict[tuple[str, str], int]:
    """How many of a hundred values are missed, for the cases with more than `most`."""
    counts = {
        (name, context): missed(redactor, letters, size, context)
        for name, (letters, size) in kinds.items()
        for context in contexts
    }
    return {where: count for where, count in counts.items() if count > most}


def missed(redactor: Redactor, letters: str, size: int, context: str) -> int:
    """How many of a hundred values are still there, whole or by at least eight characters."""
    chance = random.Random(f"{letters}{size}{context}")
    count = 0
    for _ in range(100):
        value = pick(chance, letters, size)
        redacted = redactor.text(context.replace("@", value))
        count += any(value[at : at + 8] in redacted for at in range(size - 7))
    return count
