"""Secrets that are coloured, cut, wrapped or encoded: each function returns a text and the parts that must be gone."""

from __future__ import annotations

import json

from tests.redact.blind.drawing import Halved, any_password, chosen, encoded, plain_password
from tests.redact.blind.tokens import TOKENS
from tests.redact.blind.vocabulary import WORDS

RED, BOLD, END, CLEAR = "\x1b[01;31m", "\x1b[1m", "\x1b[0m", "\x1b[K"
# The same as grep writes them, followed by the code that clears the rest of the line.
START, STOP = RED + CLEAR, END + CLEAR
INVISIBLE = ["\u200b", "\u200c", "\u200d", "\ufeff", "\u2060", "\u00ad"]
ENCODED = [
    "\x01",
    "echo \x01 | base64 -d > .env",
    "ENV_FILE_B64=\x01",
    '{"content": "\x01", "encoding": "base64"}',
    "config: \x01",
    "base64 -w0 .env\n\x01",
    "data:text/plain;base64,\x01",
    "  .env: \x01",
    "decoded from \x01",
]

Disguised = tuple[str, list[str]]


def coloured(rng: Halved) -> Disguised:
    value, upper = plain_password(rng), rng.choice(WORDS["NAME"])
    name = rng.choice(["password", "api_key", "secret", "token"])
    forms = [
        f"\x1b[35m{CLEAR}.env{STOP}\x1b[36m{CLEAR}:{STOP}{START}{upper}{STOP}={value}",
        f"{START}{name}{STOP}: {value}",
        f"{RED}{name}{END}={value}",
        f"\x1b[32m{upper}\x1b[39m=\x1b[33m{value}\x1b[39m",
        f"\x1b[90m{name}:\x1b[39m \x1b[32m'{value}'\x1b[39m",
        f"DB_{START}PASS{STOP}WORD={value}",
        f"db_{START}pass{STOP}: {value}",
        f"{BOLD}Password:{END} {value}",
        f'\x1b[34;1m"{name}"{END}\x1b[1;39m: {END}\x1b[0;32m"{value}"{END}',
        f'export {RED}{upper}{END}="{value}"',
        f"{name}=\x1b[4m{value}\x1b[24m",
        f"\x1b[38;5;208m{upper}{END}: \x1b[38;2;10;200;30m{value}{END}",
        f"Authorization: {START}Bearer{STOP} {value}",
        f"{upper}={value[:5]}{START}{value[5:8]}{STOP}{value[8:]}",
        f'\x1b[1;32m+{name} = "{value}"\x1b[m',
    ]
    return rng.form(forms), [value]


def with_invisible_signs(rng: Halved) -> Disguised:
    sign, value = rng.choice(INVISIBLE), plain_password(rng)
    name = rng.choice(["password", "api_key", "client_secret", "token"])
    at = rng.randint(2, len(name) - 1)
    cut = name[:at] + sign + name[at:]
    forms = [
        f"{cut}={value}",
        f"{name}{sign}: {value}",
        f"{name}: {sign}{value}",
        f"{sign}{name}={sign}{value}{sign}",
        f'"{cut}": "{value}"',
        f'{name} ={sign} "{value}"',
        f"my {name} is {sign}{value}",
        f"export {cut.upper()}={value}",
    ]
    return rng.form(forms), [value]


def beginning_with_a_sign(rng: Halved) -> Disguised:
    head = rng.choice("$%$%&^")
    value = head + chosen(rng).replace("$", "").replace("'", "") + rng.choice(["", "x9", "$1"])
    name, upper = rng.choice(["password", "secret", "db_password", "smtp_pass"]), rng.choice(WORDS["NAME"])
    forms = [
        f"{name}: {value}",
        f"{name}: '{value}'",
        f"{upper}='{value}'",
        f"{upper}={value}",
        f'"{name}": "{value}"',
        f"Password: {value}",
        f"password is {value}",
        f"{name} = '{value}'",
        f"mysql -u root -p'{value}' app",
        f"sshpass -p '{value}' ssh root@10.0.0.7",
        f"login: admin / {value}",
        f"<password>{value}</password>",
    ]
    return rng.form(forms), [value]


def wrapped(rng: Halved) -> Disguised:
    value = TOKENS[rng.choice(["openai", "anthropic", "github-fine", "pypi", "jwt", "vault"])](rng)
    width, first = rng.choice([40, 50, 60, 76]), rng.randint(20, 50)
    lead = rng.choice(["", "export KEY=", "token: ", "Authorization: Bearer ", '  "key": "'])
    pieces = [value[:first], *[value[at : at + width] for at in range(first, len(value), width)]]
    joint = rng.form(["\n", "\n  ", "\\\n", "\n> ", "\r\n", "\n    ", "\n│ "])
    return lead + joint.join(pieces), [piece for piece in pieces if len(piece) >= 12]


def in_two_literals(rng: Halved) -> Disguised:
    services = ["github", "stripe", "slack", "gitlab", "npm", "hf", "groq", "sendgrid", "do"]
    value = TOKENS[rng.choice(services)](rng)
    at = rng.choice([4, 4, 6, 8, len(value) // 2])
    head, tail = value[:at], value[at:]
    quote = rng.choice("'\"")
    one, two = quote + head + quote, quote + tail + quote
    forms = [
        f"{one} + {two}",
        f"token = {one} + {two}",
        f"const key = {one}+{two};",
        f"${{a}} = {one} . {two};",
        f"KEY = ({one}\n       {two})",
        f"[{one}, {two}].join({quote}{quote})",
        f"{one} .. {two}",
        f"String t = {one}\n    + {two};",
        f"{one} & {two}",
        f"PREFIX={one}; TOKEN=$PREFIX{two}",
        f'"{head}" "{tail}"',
        f'"".join(["{head}", "{tail}"])',
    ]
    return rng.form(forms), [tail]


def encoded_as_a_whole(rng: Halved) -> Disguised:
    form = rng.randint(0, 3)
    if form == 0:
        names = rng.sample(WORDS["NAME"], rng.randint(2, 6))
        inner = "\n".join(f"{name}={plain_password(rng)}" for name in names)
    elif form == 1:
        inner = TOKENS[rng.choice(["github", "stripe", "anthropic", "gitlab", "slack", "npm"])](rng)
    elif form == 2:
        user = rng.choice(WORDS["user"])
        inner = json.dumps({"user": user, "password": any_password(rng), "host": "db.internal.example"})
    else:
        inner = f"password: {any_password(rng)}\nhost: 10.1.2.3\n"
    value = encoded(inner)
    return rng.form(ENCODED).replace("\x01", value), [value]


DISGUISES = {
    "ansi": coloured,
    "sign-first": beginning_with_a_sign,
    "split-literal": in_two_literals,
    "whole-base64": encoded_as_a_whole,
    "wrapped": wrapped,
    "zero-width": with_invisible_signs,
}
