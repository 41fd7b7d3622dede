"""Measures redaction: `python -m tests.bench.redaction [--megabytes 20]` prints the tables of docs/redaction.md.

Speed is CPU time of this process on generated transcripts, from bytes to redacted bytes; recall and false positives
are counted on the corpus in tests/redact. Everything is drawn from seeds: the same arguments give the same counts.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time
from typing import Any

import orjson

from collector.flow import shorten
from collector.redact import Options, Redactor, TooMany
from collector.redact.formats import PROVIDER_RULES
from collector.redact.rule import sample
from collector.redact.scan.segments import encode, gather
from tests.bench.dense import DenseLibrary, LongRunsLibrary
from tests.bench.records import Writer
from tests.bench.text import Library
from tests.redact.harmless.beside import BESIDE, planted
from tests.redact.harmless.causes import CAUSES
from tests.redact.harmless.filling import filled
from tests.redact.harmless.templates import HARMLESS
from tests.redact.secrets import secret
from tests.redact.structures.contexts import CONTEXTS

KEY = b"a key for measuring only"
SEEDS = range(10)
MEGABYTE = 1_000_000
HEX = "0123456789abcdef"
HOSTILE = {
    "repeated BEGIN": "-----BEGIN RSA PRIVATE " + "KEY-----\n",
    "repeated END": "-----END RSA PRIVATE " + "KEY-----\n",
    "one letter": "a",
    "one digit": "0",
    "hex digits": HEX,
    "equals signs": "=",
    "many quotes": '\\"',
    "backslashes": "\\",
    "brackets": "[{",
    "spaces": " ",
    "newlines": "\n",
    "ends of keys": "a\x91",
    "many a=": "a=",
    "many key=": "key=",
    "many key=<hex>": f"key={HEX * 2}01234567 ",
    "many key <hex>": f"key {HEX * 2}01234567 ",
    "many password=": "password=",
    "password= among words": "many password=",
    "many jwt=": "jwt=",
    "many _pw:": "_pw:",
    "many pw:": " pw:",
    "many auth=": "auth=",
    "many secret:": "secret:",
    "many token:": "token: ",
    "many <secret>": "<secret>",
    "quoted names": '"password": "',
    "quotes that open": 'PASSWORD="',
    "password is": "password is ",
    "all of these": "_pw:auth=secret: token: many password= password is <secret> ",
    "Authorization": "Authorization: Bearer ",
    "Cookie": "Cookie: a=",
    "curl -u": "curl -u a:b ",
    "many URLs": "http://a:",
    "URLs with users": "https://a:b@",
    "begins of tokens": "eyJ",
    "flags": "--password ",
    "mysql -p": "mysql -p",
    "fields with labels": 'getByLabel("Password").fill("',
    "fields with selectors": "fill('#password', '",
    "described fields": '{"element": "Password", "ref": "e", ',
    "password inputs": "<input type=password value=",
    "told logins": "creds: admin / a1 ",
    "told passwords": "password is x1 ",
    "told tokens": "the token is ",
    "vault kv put": "vault kv put x y=",
    "password commands": "--password-command 'echo ",
    "logins to domains": "impacket-smbexec A/b:",
    "headings of CSV": "name,password\n",
    "headings between bars": "| password | token |\n",
    "lists of two columns": "password    x\n",
    "kind: Secret": "kind: Secret\ndata:\n  a: b\n",
    "coloured names": "\x1b[32mtoken\x1b[0m=",
    "names with a gap": "to\u200bken=",
    "names in Korean": "\ube44\ubc00\ubc88\ud638: ",
    "lists that are joined": '["gh", "p_a"].join(',
    "wrapped tokens": "ghp_abcdefghijklmnop\n",
    "encoded names": "cGFzc3dvcmQ6",
    "one password": f"a password: {HEX[:12]} and ",
    "one URL": f"https://a:{HEX[:9]}@b ",
}


def seconds(work: Callable[[], object]) -> float:
    """The CPU seconds that some work takes, the better of two runs."""
    took = []
    for _ in range(2):
        began = process_time()
        work()
        took.append(process_time() - began)
    return min(took)


def transcript(size: int, library: type[Library]) -> tuple[list[bytes], list[str]]:
    """At least `size` bytes of lines as Claude Code writes them, and the secrets planted in them."""
    chance = random.Random(5)
    writer = Writer(chance, library(chance))
    lines: list[bytes] = []
    written = 0
    while written < size:
        session = writer.session(writer.uuid(), "/home/dev/project", MEGABYTE)
        lines += session
        written += sum(map(len, session))
    return lines, writer.secrets


def speed(redactor: Redactor, lines: list[bytes], name: str) -> None:
    """Prints the speed from bytes to redacted bytes."""

    def redact_all() -> None:
        for line in lines:
            event = orjson.loads(line)
            redactor.event(event)
            shorten.fit(event, 4 * MEGABYTE)

    def only_json() -> None:
        for line in lines:
            orjson.dumps(orjson.loads(line))

    size = sum(map(len, lines))
    share = sum(has_candidate(redactor, orjson.loads(line)) for line in lines) / len(lines)
    print(
        f"\n{name}: {len(lines):,} lines, {size / MEGABYTE:.1f} MB, {len(redactor.rules)} rules, "
        f"{redactor.engine_name};\n{100 * share:.0f} % of the lines hold a candidate"
    )
    print("| what | MB/s |\n|---|---|")
    print(f"| parse and serialize, nothing else | {size / seconds(only_json) / MEGABYTE:.1f} |")
    print(f"| parse, redact, cut, serialize | {size / seconds(redact_all) / MEGABYTE:.1f} |")


def has_candidate(redactor: Redactor, event: dict[str, Any]) -> bool:
    """Whether the scanner sees a place in an event that a rule must look at."""
    return bool(redactor._engine.zones(encode(gather(event, redactor._book))[0]))


def long_lines(redactor: Redactor, lines: Iterable[bytes]) -> None:
    """Prints the time for the slowest of several texts of 250 kB, which are joined from the lines."""
    joined = b"\n".join(lines)
    slowest = 0.0
    for start in range(0, min(len(joined), 10 * MEGABYTE), 250_000):
        text = joined[start : start + 250_000].decode("utf-8", "replace")
        slowest = max(slowest, seconds(lambda text=text: redactor.value({"text": text})))  # type: ignore[misc]
    print(f"| slowest line of 250 kB | {slowest * 1000:.1f} ms |")


def hostile(redactor: Redactor) -> None:
    """Prints the speed on hostile input, 256 kB of each kind."""
    print("\n| hostile input, 256 kB | MB/s |\n|---|---|")
    outcomes: list[bool] = []
    redactor.value(HOSTILE["many password="] * 1000)  # prepares whatever is only made when first needed
    for name, unit in HOSTILE.items():
        text = (unit * (262_144 // len(unit) + 1))[:262_144]
        took = seconds(lambda text=text: outcomes.append(withheld(redactor, text)))  # type: ignore[misc]
        shown = name.replace("<", "\\<") + (", withheld" if outcomes[-1] else "")
        print(f"| {shown} | {len(text) / took / MEGABYTE:,.0f} |")


def withheld(redactor: Redactor, text: str) -> bool:
    """Whether a text has more secrets than are replaced one by one, so that its event is withheld."""
    try:
        redactor.value(text)
    except TooMany:
        return True
    return False


def starts() -> None:
    """Prints the time to compile the rules, and to start with a compiled database."""
    with tempfile.TemporaryDirectory() as directory:
        options = Options(key=KEY, cache_dir=Path(directory))
        began = process_time()
        Redactor(Options(key=KEY))
        first = process_time() - began
        Redactor(options)
        print(f"| compile all rules | {first * 1000:.0f} ms |")
        print(f"| start with a cached database | {seconds(lambda: Redactor(options)) * 1000:.0f} ms |")


def recall(redactor: Redactor) -> None:
    """Prints how many of the planted secrets are redacted, by class, at three levels of escaping."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, kinds, template in CONTEXTS:
        for kind in kinds:
            for seed in SEEDS:
                value = secret(kind, seed)
                count(redactor, template.replace("@", value, 1), value, name, found, total)
    for rule in PROVIDER_RULES:
        for example in rule.examples:
            for seed in SEEDS:
                text = sample(example, seed)
                total["provider formats"] += 1
                found["provider formats"] += bool(redactor.value(text)[1])
    print("\n| class | secrets | found |\n|---|---|---|")
    for name in sorted(total):
        print(f"| {name} | {total[name]:,} | {100 * found[name] / total[name]:.1f} % |")


def count(redactor: Redactor, text: str, value: str, name: str, found: Counter[str], total: Counter[str]) -> None:
    """Counts one text at three levels of escaping."""
    for _ in range(3):
        total[name] += 1
        found[name] += value not in redactor.text(text)
        text = json.dumps({"output": text})


def false_positives(redactor: Redactor, lines: list[bytes], planted: list[str]) -> None:
    """Prints how many harmless texts are changed, by class, and how many lines of generated transcripts."""
    touched: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, template in HARMLESS:
        for seed in SEEDS if "{" in template else [0]:
            total[name] += 1
            touched[name] += bool(redactor.value(sample(template, seed))[1])
    print("\n| class | texts | touched |\n|---|---|---|")
    for name in sorted(total):
        print(f"| {name} | {total[name]:,} | {touched[name]} |")
    wrong = sum(bool(wrong_findings(redactor, orjson.loads(line), planted)) for line in lines)
    print(f"| lines of generated transcripts, nothing planted | {len(lines):,} | {wrong} |")


def causes(redactor: Redactor) -> None:
    """Prints the counts for what was mistaken for a secret in real transcripts, and for secrets in the same places."""
    print("\n| looks like a secret because of | harmless lines | touched | secrets beside them | found |")
    print("|---|---|---|---|---|")
    for cause, templates in CAUSES.items():
        lines = [filled(template, seed) for template in templates.strip().splitlines() for seed in SEEDS]
        touched = sum(redactor.text(line) != line for line in lines)
        beside = [planted(row, seed) for row in BESIDE[cause].strip().splitlines() for seed in SEEDS]
        found = sum(value not in redactor.text(text) for text, value in beside)
        print(f"| {cause} | {len(lines):,} | {touched} | {len(beside)} | {found} |")


def wrong_findings(redactor: Redactor, event: dict[str, Any], planted: list[str]) -> list[str]:
    """The findings in an event that nobody planted."""
    values = [finding.value for finding in redactor.value(event)[1]]
    return [value for value in values if not any(one in value or value in one for one in planted)]


def main() -> None:
    """Prints all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=20)
    parser.add_argument("--engine", default="auto")
    arguments = parser.parse_args()
    redactor = Redactor(Options(key=KEY, engine=arguments.engine))
    causes(redactor)
    lines, secrets = transcript(arguments.megabytes * MEGABYTE, DenseLibrary)
    false_positives(redactor, lines, secrets)
    recall(redactor)
    speed(redactor, lines, "as dense as real transcripts")
    speed(redactor, transcript(arguments.megabytes * MEGABYTE, LongRunsLibrary)[0], "in longer runs")
    speed(redactor, transcript(arguments.megabytes * MEGABYTE, Library)[0], "hardly any candidates")
    long_lines(redactor, lines)
    starts()
    hostile(redactor)


if __name__ == "__main__":
    main()
