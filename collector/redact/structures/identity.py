"""The rules for whom a text is about: off unless `redaction.identity` is on, as little of what they find is a secret.

They find account names in paths, e-mail addresses except in reserved domains, and any names given to them: of this
host, of whoever commits here, or terms of the user's own. Markers work as for secrets: equal names get equal ones.
"""

from __future__ import annotations

import re

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.names import word_set

ACCOUNT, EMAIL, HOST, PERSON = "account-name", "email-address", "host-name", "person-name"
SHORTEST = 3
# Fields of an event that hold such a name, whatever it looks like, and the rule they count for.
FIELDS = {("user",): ACCOUNT, ("host", "name"): HOST}

# Accounts that stand for nobody: from systems, images and documentation.
_NOBODY = word_set(
    """
    root runner runneradmin shared public default all user users username admin administrator ubuntu debian centos
    fedora ec2-user azureuser opc vagrant node vscode codespace gitpod circleci travis jenkins app www-data nobody guest
    me you your name yourname foo bar alice bob dev developer linuxbrew git postgres mysql coder sandbox container
    deploy jovyan
    """
)
_NO_PERSON = word_set(
    """
    noreply no-reply donotreply do-not-reply notifications git user username me you your-email youremail your.email
    email name someone somebody root postgres admin support info hello security abuse hostmaster postmaster webmaster
    """
)
_reserved = regex(
    r"(?i)(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost|local|internal|lan|home\.arpa)$"
)
_file = regex(
    r"(?i)\.(?:png|jpe?g|gif|svg|webp|ico|css|s[ac]ss|[cm]?[jt]sx?|json|md|html?|py|rb|go|rs|ya?ml|toml|lock|service|timer"
    r"|socket|target|mount|slice|scope|sh|so|dll|woff2?|ttf|map|gz|zip|tar|whl|jar|txt)$"
)
_gap = regex(r"[\s._-]+")


def _account(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    first, last = match.span("secret")
    name = text[first:last].decode("latin-1").rstrip(".")
    return [] if name.lower() in _NOBODY or not name else [(first, first + len(name))]


def _address(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """Somebody's address: not in a reserved domain, not a file, not a git login and not a no-reply address."""
    first, last = match.span()
    address = text[first:last].decode("latin-1").rstrip(".-")
    local, _, domain = address.partition("@")
    last = first + len(address)
    end = domain.rpartition(".")[2]
    if not end.isalpha() or len(end) < 2 or _reserved.search(domain) or _file.search(domain):
        return []
    is_login = text[last : last + 1] == b":" and local.lower() == "git"
    return [] if is_login or local.lower() in _NO_PERSON or local.startswith(".") else [(first, last)]


IDENTITY_RULES = (
    Rule(
        "identity",
        ACCOUNT,
        r"(?:/home/|/Users/|[A-Za-z]:(?:\\{1,4}|/)[Uu]sers(?:\\{1,4}|/)|%2F(?:home|Users)%2F)"
        r"(?P<secret>[A-Za-z0-9._-]{1,64})",
        locate=_account,
        around=0,
        before="",
        after="",
        about="the name of an account in a path",
        examples=("/home/{a-z:6}/app", "/Users/{a-z:6}.x/app", "C:\\Users\\{a-z:6}\\app"),
        near_misses=("/home/runner/work", "/Users/Shared/x", "/home/"),
    ),
    Rule(
        "identity",
        ACCOUNT,
        r"-(?:home|Users)-(?P<secret>[A-Za-z0-9_]{1,64})",
        locate=_account,
        around=0,
        before="0-9A-Za-z_-",
        after="",
        about="the name of an account in the key of a project",
        examples=("-home-{a-z:6}-app", "~/.claude/projects/-Users-{a-z:6}-app/x.jsonl"),
        near_misses=("-home-runner-work", "go-home-now"),
    ),
    Rule(
        "identity",
        EMAIL,
        r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9.-]{2,120}",
        trigger=r"@[A-Za-z0-9-]{1,63}\.[A-Za-z0-9]",
        reach_back=140,
        locate=_address,
        around=(0, 2),
        before="0-9A-Za-z._%+-",
        after="",
        about="an e-mail address",
        examples=("{a-z:6}@{a-z:6}.io", "Author: X <{a-z:6}.{a-z:5}@mail.{a-z:6}.com>"),
        near_misses=(
            "ada@example.com",
            "x@mail.acme.test",
            "noreply@acme.io",
            "git@git.io:acme/app.git",
            "icon@2x.png",
        ),
    ),
)
# Ids that may be disabled as well.
IDENTITY_IDS = frozenset(rule.id for rule in IDENTITY_RULES) | {HOST, PERSON}


def names_of(host: str, person: str, address: str) -> tuple[tuple[str, str], ...]:
    """The names of a machine and of whoever commits on it, each with the id it counts for."""
    return tuple((rule_id, name) for rule_id, name in ((HOST, host), (PERSON, person), (EMAIL, address)) if name)


def rules_of_names(names: tuple[tuple[str, str], ...]) -> tuple[Rule, ...]:
    """A rule for each name given, as (the id it counts for, the name). Its words may be joined in any way and be in
    either case."""
    rules = []
    for rule_id, name in names:
        words = [re.escape(word) for word in _gap.split(name.strip()) if word]
        if len(name.strip()) >= SHORTEST and name.isprintable() and name.lower() not in _NOBODY and words:
            # To rules, what is not Latin-1 is `?`.
            joined = "[ ._-]?".join(words).encode("latin-1", "replace").decode("latin-1").replace("?", r"\?")
            rules.append(_rule_of_name(rule_id, joined.replace(r"]\?", "]?")))
    return tuple(rules)


def _rule_of_name(rule_id: str, pattern: str) -> Rule:
    return Rule(
        "identity",
        rule_id,
        f"(?i:{pattern})",
        locate=_as_it_stands,
        around=0,
        before="0-9A-Za-z_",
        after="0-9A-Za-z_",
        about="a name that is always taken out",
    )


def _as_it_stands(_text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    return [match.span()]


def stands_for_nobody(name: str) -> bool:
    """Whether an account belongs to systems, images or documentation."""
    return name.lower() in _NOBODY
