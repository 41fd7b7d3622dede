"""The rules for secrets handed to a store of secrets: as NAME=value, as NAME value, on stdin, after a flag.

`fly secrets set A=X B=Y`, `convex env set NAME X`, `echo X | vercel env add`, `--from-literal=k=X`. In a store of
secrets every value is one, whatever its name; among mere settings (`env set`, `config:set`) the name must tell.
References (`$TOKEN`, `@file`) stay.
"""

from __future__ import annotations

import re
from itertools import pairwise

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans
from collector.redact.words.names import Promise, promise
from collector.redact.words.values import Notation, is_secret

WIDEST_COMMAND = 600
_SECRETS = (
    r"secrets? ?:? ?(?:set|put|create|add|update|import|new|bulk|edit)|secret-?(?:set|put|create|add)"
    r"|--from-literal[ =]|--secret[ =]|--set-secrets?[ =]|--build-secret[ =]"
)
_SETTINGS = (
    r"config ?:? ?set|set-?env|env ?:? ?(?:set|add|create|put|push)|vars? ?:? ?(?:set|add|put)"
    r"|variables? ?:? ?(?:--set|set|add|create)"
    r"|appsettings set|--set-env-vars?[ =]|--update-env-vars?[ =]|--env-vars?[ =]|--environment[ =]|config:edit"
)
_STORING = (
    r"(?:secrets? (?:set|put|create|add|update|versions add|new)|secret:create|env add|env:add|env set|--password-stdin"
    r"|--with-token|secret-tool store|pass insert|gopass insert|keyring set|credhub set|sops (?:-e|--encrypt|encrypt)"
    r"|ansible-vault encrypt|security add-|vault (?:kv put|write)|op item create|chpasswd|passwd|kubeseal"
    r"|gpg (?:-c|--symmetric)|age -|systemd-creds encrypt|sudo -S|cryptsetup|--stdin|clip)"
)
_VALUE = r"""[^\s"'`<>\\|;&\x90\x91]"""
_QUOTE = r"\\{0,3}[\"']"
_PRINTED = rf"(?:echo|printf)\s(?:-n\s|[\"']?%s(?:\\{{1,4}}n)?[\"']?\s)?{_QUOTE}?"
_TAKING = (
    r"(?:credhub set|security add-(?:generic|internet)-password|chamber write|secret:create"
    r"|secrets? (?:create|set|add|put)|secretsmanager (?:create|put|update)-secret(?:-value)?|op item (?:create|edit)"
    r"|env:create|keepassxc-cli|bw create)"
)
_end = regex(rb"[\n\r\x90\x91|;&<>#]|\\+n")
_pair = regex(rb"""(?:(?<=[\s=,"'])|^)([A-Za-z_][A-Za-z0-9_.-]{0,80})=(\\{0,3}["'])?([^\s"'\\,]{3,300})""")
_flag = regex(rb"\s--?[A-Za-z][A-Za-z-]{0,30}$")
_argument = regex(rb"""(\\{0,3}["'])?([^\s"'\\]{1,300})(\\{0,3}["'])?""")
_constant = regex(rb"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Z][A-Z0-9]{2,}")
_odd = regex(r"(?=.*\d)(?=.*[^\W\d_])")


def _held(text: bytes, first: int, last: int, name: str, is_store: bool) -> Spans:
    """A value handed over under a name."""
    value = text[first:last].decode("latin-1")
    promised = promise(name)
    if value.startswith(("@", "file://")):
        return []
    if is_store and promised <= Promise.OWNED and len(value) >= 6 and _odd.search(value):
        promised = Promise.PASSWORD
    is_one = promised is not Promise.NOTHING and is_secret(value, promised, Notation.ENVIRONMENT)
    return [(first, last)] if is_one else []


def _handed(text: bytes, match: re.Match[bytes], _start: int, stop: int) -> Spans:
    """Every NAME=value up to the end of the command; if there is none, the value after the first name."""
    low, high = match.end(), min(stop, match.end() + WIDEST_COMMAND)
    end = _end.search(text, low, high)
    high = end.start() if end else high
    is_store = match["store"] is not None
    spans: Spans = []
    for pair in _pair.finditer(text, low, high):
        spans += _held(text, *pair.span(3), pair[1].decode("latin-1"), is_store)
    if not spans:
        spans = _behind_its_name(text, low, high, is_store)
    return [*spans, (high, high)] if spans else []


def _behind_its_name(text: bytes, low: int, high: int, is_store: bool) -> Spans:
    words = [word for word in _argument.finditer(text, low, high) if not word[2].startswith(b"-")][:4]
    for name, value in pairwise(words):
        if _constant.fullmatch(name[2]) and not _flag.search(text[low : name.start()]):
            return _held(text, *value.span(2), name[2].decode("latin-1"), is_store)
    return []


def _chosen_odd(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    first, last = match.span("secret")
    value = text[first:last].decode("latin-1")
    is_one = bool(_odd.search(value)) and is_secret(value, Promise.PASSWORD, Notation.ENVIRONMENT)
    return [(first, last)] if is_one else []


STORE_RULES = (
    Rule(
        "structure",
        "stored-pairs",
        rf"(?:(?P<store>{_SECRETS})|{_SETTINGS})",
        locate=_handed,
        around=(0, WIDEST_COMMAND + 20),
        after="",
        about="a value handed to a store of secrets or settings",
        examples=(
            "fly secrets set DB={A-Za-z0-9:14}7 REDIS={A-Za-z0-9:14}7",
            "kubectl create secret generic x --from-literal=k={A-Za-z0-9:14}7",
            "doppler secrets set API_TOKEN {A-Za-z0-9:14}7",
            "convex env set ACME_KEY {A-Za-z0-9:15}7",
        ),
        near_misses=(
            "fly secrets set DB=$DB REDIS=$REDIS",
            "gh secret set DEPLOY --app actions",
            "convex env set ACME_KEY $ACME_KEY",
            "netlify env:set PRIMARY_REGION eu-central-1",
            "heroku config:set NODE_ENV=production PORT=8080",
            "kubectl create secret generic x --from-literal=k=$K",
        ),
    ),
    Rule(
        "structure",
        "piped-into-store",
        rf"{_PRINTED}(?P<secret>{_VALUE}{{4,200}}){_QUOTE}?\s?\|\s?[^\n\x91\x90|]{{0,60}}?{_STORING}",
        trigger=rf"{_PRINTED}{_VALUE}{{4,200}}{_QUOTE}?\s?\|\s?[^\n\x91\x90|]{{0,60}}{_STORING}",
        locate=_chosen_odd,
        around=0,
        after="",
        about="a value piped into a command that stores a secret",
        examples=(
            "echo -n '{A-Za-z0-9:14}7' | vercel env add APP_KEY",
            "printf '{A-Za-z0-9:14}7' | sops --encrypt /dev/stdin",
        ),
        near_misses=("echo $TOKEN | vercel env add APP_KEY", "echo done | tee log", "echo {A-Za-z0-9:14} | wc -c"),
    ),
    Rule(
        "structure",
        "given-to-store",
        rf"{_STORING}[^\n<|;&\x90\x91]{{0,120}}<<<\s?{_QUOTE}?(?P<secret>{_VALUE}{{4,200}})",
        trigger=rf"{_STORING}[^\n<|;&\x90\x91]{{0,120}}<<<",
        locate=_chosen_odd,
        around=0,
        after="",
        about="the input of a command that stores a secret",
        examples=(
            "secret-tool store --label x service y <<< '{A-Za-z0-9:14}7'",
            "pass insert -e x <<< {A-Za-z0-9:14}7",
        ),
        near_misses=("pass insert -e x <<< $X", "keyring set a b <<< value"),
    ),
    Rule(
        "structure",
        "store-argument",
        rf"{_TAKING}[^\n|;&\x90\x91]{{0,160}}?\s(?:--?(?:w|p|v|value|password|secret-string|data|body|secret)[ =]"
        r"|[a-z_-]{0,40}(?:password|token|secret|key|pw)[ ])"
        rf"{_QUOTE}?(?P<secret>{_VALUE}{{4,200}})",
        trigger=_TAKING,
        locate=_chosen_odd,
        around=0,
        after="",
        about="the argument of a command that stores a secret",
        examples=(
            "credhub set -n /x -t password -w '{A-Za-z0-9:14}7'",
            "eas secret:create --name X --value {A-Za-z0-9:14}7",
            "chamber write svc db_pw {A-Za-z0-9:14}7",
        ),
        near_misses=("eas secret:create --name X --value $X", "chamber write svc db_password $X"),
    ),
)
