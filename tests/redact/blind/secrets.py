"""Single texts with secrets, each with the values that must be gone; forms are used in turn, values drawn at random."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.redact.blind.disguises import DISGUISES
from tests.redact.blind.drawing import (
    ALPHANUMERIC,
    BASE64,
    BASE64_URL,
    DIGITS,
    UPPER,
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
    pick,
    plain_password,
    planted,
)
from tests.redact.blind.shaped import (
    AMONG_HARMLESS,
    BUCKET_KEYS,
    HASH_FORMS,
    LOGIN_CODES,
    OTHER_LANGUAGES,
    PUSH_KEYS,
    TOKEN_FORMS,
)
from tests.redact.blind.tokens import HASHES, LATE_TOKENS, any_token
from tests.redact.blind.told import ASSIGNED, SPOKEN_OF
from tests.redact.blind.vocabulary import WORDS

VALUES: dict[str, Draw] = {
    "env-file": one_of(plain_password, hex_key, opaque),
    "curl-user": plain_password,
    "headers": opaque,
    "basic-auth": lambda rng: encoded(f"{rng.choice(WORDS['user'])}:{any_password(rng)}"),
    "connection-strings": plain_password,
    "json": one_of(plain_password, opaque, base64_key),
    "yaml": one_of(plain_password, hex_key, opaque),
    "shell-exports": plain_password,
    "code-literals": one_of(plain_password, plain_password, opaque),
    "provider-tokens": any_token,
    "browser-fill": any_password,
    "html-password": plain_password,
    "prompts-prose": any_password,
}
VALUE_OF_ANY_KIND = one_of(plain_password, opaque)

KEYS_OF_A_SECRET = ["password", "username", "token", "db-url", "config", "k", "value", "tls.key", ".dockerconfigjson"]
KEYS_OF_A_SECRET += ["admin", "license", "seed", "one", "two"]
PRIVATE_KEYS = ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"]


def texts_with_secrets(seed: str, half: int) -> Iterator[Item]:
    """Every single text of a half that contains a secret."""

    def start(kind: str) -> Halved:
        return Halved(f"{seed} {kind} {half}", half)

    for kind, forms in sorted(ASSIGNED.items()):
        yield from _told(start(kind), kind, forms, at_least=24, marks=1)
    for kind, forms in sorted(SPOKEN_OF.items()):
        yield from _told(start(kind), kind, forms, at_least=25, marks=2)
    for kind, draw in sorted(LATE_TOKENS.items()):
        rng = start(kind)
        for form in in_turn(rng, rng.mine(TOKEN_FORMS), 24):
            yield planted(rng, kind, form, [draw(rng)])
    for kind, draw_hash in sorted(HASHES.items()):
        rng = start(kind)
        for form in in_turn(rng, rng.mine(HASH_FORMS), 24):
            head, tail = draw_hash(rng)
            text = fill(rng, form).replace("\x03", head + tail)
            yield {"class": f"fmt-{kind}", "kind": "secret", "text": text, "secrets": [tail]}
    rng = start("codes")
    yield from _pairs(rng)
    yield from (_private_key(rng, number) for number in range(24))
    rng = start("yaml")
    yield from (_kubernetes_secret(rng) for _ in range(25))
    for kind, disguised in sorted(DISGUISES.items()):
        rng = start(kind)
        for _ in range(30):
            text, secrets = disguised(rng)
            yield {"class": kind, "kind": "secret", "text": text, "secrets": secrets}
    rng = start("scripts")
    for form in in_turn(rng, rng.mine(OTHER_LANGUAGES), 50):
        yield planted(rng, "other-scripts", form, [plain_password(rng)])
    yield from _among_harmless(start("among"))


def _told(rng: Halved, kind: str, forms: list[str], *, at_least: int, marks: int) -> Iterator[Item]:
    """Secrets given away by a name, a command or a sentence."""
    draw = VALUES.get(kind, VALUE_OF_ANY_KIND)
    mine = rng.mine(forms)
    for form in in_turn(rng, mine, max(at_least, len(mine) * 2)):
        yield planted(rng, kind, form, [draw(rng) for _ in range(marks)])


def _pairs(rng: Halved) -> Iterator[Item]:
    """Secrets next to the public value that belongs to them."""
    for form in in_turn(rng, rng.mine(LOGIN_CODES), 24):
        values = [mixed(rng, BASE64_URL, 46) + "Ab", mixed(rng, BASE64_URL, 41) + "kQ"]
        item = planted(rng, "fmt-claude-login-code", form, values)
        item["secrets"] = item["secrets"][:1]  # the state is useless without the code
        yield item
    for form in in_turn(rng, rng.mine(BUCKET_KEYS), 24):
        value, public = mixed(rng, BASE64, 40), "GOOG1E" + mixed(rng, UPPER + DIGITS, 55)
        yield planted(rng, "fmt-gcs-hmac", form, [value], public)
    for form in in_turn(rng, rng.mine(PUSH_KEYS), 24):
        value, public = mixed(rng, BASE64_URL, 41) + "c8", "B" + mixed(rng, BASE64_URL, 84) + "dA"
        yield planted(rng, "fmt-vapid", form, [value], public)


def _private_key(rng: Halved, number: int) -> Item:
    """A private key: plain, with line numbers as Read shows it, escaped, in a diff, indented, or in JSON."""
    body = [pick(rng, BASE64, 64) for _ in range(rng.randint(4, 12))]
    kind = rng.choice(PRIVATE_KEYS)
    lines = [f"-----BEGIN {kind}-----", *body, f"-----END {kind}-----"]
    whole = "\n".join(lines)
    shapes = [
        whole,
        "\n".join(f"{at:6d}\t{line}" for at, line in enumerate(lines, 1)),
        "\\n".join(lines),
        "\n".join(f"+{line}" for line in lines),
        "\n".join(f"    {line}" for line in lines),
        json.dumps({"private_key": whole}),
    ]
    return {"class": "private-keys", "kind": "secret", "text": shapes[number % 3 * 2 + rng.half], "secrets": body}


def _kubernetes_secret(rng: Halved) -> Item:
    """A Kubernetes Secret in the orders and formats in which it is printed, its values in base64 or plain."""
    field = rng.choice(["data", "stringData", "data"])
    names = rng.sample(KEYS_OF_A_SECRET, rng.randint(1, 3))
    pairs = {}
    for name in names:
        value = any_password(rng) + pick(rng, ALPHANUMERIC, rng.choice([0, 6]))
        pairs[name] = encoded(value) if field == "data" else value
    name = fill(rng, "«svc»-«noun»")
    lines = [f"{key}: {value}\n" for key, value in pairs.items()]
    parts = {"apiVersion": "v1", field: pairs, "kind": "Secret"}
    at_end = f"kind: Secret\nmetadata:\n  name: {name}\ntype: Opaque"
    in_list = (
        f'  kind: Secret\n  metadata:\n    creationTimestamp: "2026-01-02T03:04:05Z"\n    name: {name}\n'
        "    namespace: default\nkind: List"
    )
    forms = [
        f"apiVersion: v1\n{field}:\n{''.join(f'  {line}' for line in lines)}{at_end}",
        json.dumps({**parts, "metadata": {"name": name}}, indent=4),
        f"kind: Secret\napiVersion: v1\nmetadata:\n  name: {name}\n{field}:\n"
        + "\n".join(f'  {key}: "{value}"' for key, value in pairs.items()),
        json.dumps(parts),
        f"items:\n- apiVersion: v1\n  {field}:\n{''.join(f'    {line}' for line in lines)}{in_list}",
    ]
    text = forms[rng.form(range(5))]
    return {"class": "k8s-secret-yaml", "kind": "secret", "text": text, "secrets": list(pairs.values())}


def _among_harmless(rng: Halved) -> Iterator[Item]:
    """A secret among harmless text; `keep` has the parts of that text that must stay."""
    for form, keep in in_turn(rng, rng.mine(AMONG_HARMLESS), 40):
        value = VALUE_OF_ANY_KIND(rng)
        whole = fill(rng, "\x04".join([form, *keep])).replace("\x01", value)
        text, *kept = whole.split("\x04")
        yield {"class": "among-harmless", "kind": "secret", "text": text, "secrets": [value], "keep": kept}
