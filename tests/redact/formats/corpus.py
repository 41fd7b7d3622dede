"""The corpus for the provider rules: their own samples in every place where tokens appear, and texts without secrets.

Everything is drawn from templates and a seed, so the source contains no token and none was ever issued.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from collector.redact.formats import PROVIDER_RULES
from collector.redact.rule import Rule, sample

SEEDS = (1, 2)


class Planted(NamedTuple):
    """One example of a rule, with the part of it that is the secret."""

    rule: Rule
    text: str
    secret: str


def planted(rule: Rule) -> Iterator[Planted]:
    """Every example of a rule. Its context comes before the secret; only a DSN continues after it."""
    for template in rule.examples:
        for seed in SEEDS:
            text = sample(template, seed)
            match = re.search(rule.pattern, text.lower() if rule.folds else text)
            assert match, f"{rule.id} does not match its own example {text}"
            start, end = match.span("secret" if "secret" in match.re.groupindex else 0)
            yield Planted(rule, text, text[start:end])


def near_misses(rule: Rule) -> Iterator[str]:
    """Texts that nearly look like a rule's secret."""
    for template in rule.near_misses:
        for seed in SEEDS:
            yield sample(template, seed)


def all_planted() -> list[Planted]:
    """Every example of every rule."""
    return [one for rule in PROVIDER_RULES for one in planted(rule)]


# Where tokens appear. A literal backslash-n directly before one is the hard case: its n is not part of a word.
FRAMES: dict[str, Callable[[str], str]] = {
    "bare": lambda text: text,
    "quoted": lambda text: f'"{text}"',
    "single quoted": lambda text: f"'{text}'",
    "back-ticked": lambda text: f"use `{text}` here",
    "assigned": lambda text: f"value={text}\nnext=1",
    "after a colon": lambda text: f"value: {text}\nnext: 1",
    "after a colon without a space": lambda text: f"value:{text},next:1",
    "bearer": lambda text: f"Authorization: Bearer {text}\r\nAccept: */*",
    "on its own line": lambda text: f"printed:\n{text}\nand more",
    "at the end of a sentence": lambda text: f"I used {text}. It worked.",
    "in parentheses": lambda text: f"f({text}, 1)",
    "in a list": lambda text: f"[{text}, 2]",
    "in a tag": lambda text: f"<value>{text}</value>",
    "in a table": lambda text: f"|{text}|",
    "in JSON": lambda text: json.dumps({"output": f"one\n{text}\ntwo", "n": 1}),
    "in JSON in JSON": lambda text: json.dumps({"output": json.dumps({"lines": f"one\n{text}\ttwo"})}),
    "after a tab": lambda text: json.dumps(f"name\t{text}\tlast"),
    "as JSON's value": lambda text: json.dumps({"token": text}),
    "as JSON's value, escaped": lambda text: json.dumps(json.dumps({"token": text})),
    "after a unicode escape": lambda text: f"\\u003d{text}\\u0026x=1",
    "in an URL": lambda text: f"https://api.acme.test/v1?value={text}&page=2",
    "percent-encoded": lambda text: f"value%3D{text}%26page%3D2",
    "coloured": lambda text: f"\x1b[32m{text}\x1b[0m",
    "in a long text": lambda text: f"{'lorem ipsum ' * 90}{text} {'dolor sit ' * 90}",
    "at the start of a long text": lambda text: f"{text} {'dolor sit ' * 200}",
    "at the end of a long text": lambda text: f"{'lorem ipsum ' * 200}{text}",
}

UUID = "{0-9a-f:8}-{0-9a-f:4}-4{0-9a-f:3}-a{0-9a-f:3}-{0-9a-f:12}"

HARMLESS_TEMPLATES = (
    "commit {0-9a-f:40}",
    "index {0-9a-f:7}..{0-9a-f:7} 100644",
    "github.com/acme/app@{0-9a-f:40}",
    "https://github.com/acme/app/commit/{0-9a-f:40}",
    "uses: actions/checkout@{0-9a-f:40} # v4",
    f"session {UUID} of project {UUID}",
    f'"parentUuid":"{UUID}","uuid":"{UUID}","sessionId":"{UUID}"',
    f"urn:uuid:{UUID}",
    '"id":"msg_01{A-Za-z0-9:22}"',
    '"tool_use_id":"toolu_01{A-Za-z0-9:22}"',
    '"requestId":"req_011C{A-Za-z0-9:20}"',
    "srvtoolu_01{A-Za-z0-9:22} call_{A-Za-z0-9:24} chatcmpl-{A-Za-z0-9:29} resp_{0-9a-f:48}",
    '"agentId":"a{0-9a-f:16}"',
    '"integrity": "sha512-{A-Za-z0-9+/:86}=="',
    "sha256-{A-Za-z0-9+/:43}=",
    "h1:{A-Za-z0-9+/:43}=",
    '"checksum": "10c0/{0-9a-f:128}"',
    "{0-9a-f:32}  archive.tar.gz",
    "{0-9a-f:64}  archive.tar.gz",
    "sha256:{0-9a-f:64}",
    "image@sha256:{0-9a-f:64}",
    "md5 (file) = {0-9a-f:32}",
    'W/"{0-9a-f:32}"',
    "etag: {0-9a-f:32}-12",
    "data:image/png;base64,iVBORw0KGgo{A-Za-z0-9+/:4000}==",
    "data:font/woff2;base64,d09GMg{A-Za-z0-9+/:4000}=",
    '"signature":"E{A-Za-z0-9+/:600}="',
    "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA{A-Za-z0-9+/:300}AAAAAAAAAAAAAAAAAAAAAAAA",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{A-Za-z0-9+/:43} me@host",
    "main.{0-9a-f:20}.js chunk-{A-Z0-9:8}.js vendors~{0-9a-f:8}.css",
    "arn:aws:iam::{0-9:12}:role/deploy AIDA{A-Z2-7:17} AROA{A-Z2-7:17}",
    "i-{0-9a-f:17} vpc-{0-9a-f:17} subnet-{0-9a-f:17} ami-{0-9a-f:17} sg-{0-9a-f:17}",
    "projects/acme/locations/us/keyRings/{a-z:12}/cryptoKeys/{a-z:12}",
    "trace-id: 00-{0-9a-f:32}-{0-9a-f:16}-01",
    "X-Request-Id: {0-9a-f:32}",
    "pod/api-{a-z0-9:10}-{a-z0-9:5} 1/1 Running",
    "docker run {0-9a-f:64}",
    "PublicKey = {A-Za-z0-9+/:43}=",
    "-----BEGIN CERTIFICATE-----\nMIID{A-Za-z0-9+/:60}\n{A-Za-z0-9+/:40}==\n-----END CERTIFICATE-----",
    "pk_live_{A-Za-z0-9:24} is public, price_{A-Za-z0-9:24} too, cus_{A-Za-z0-9:14} as well",
    "T{A-Z0-9:8} C{A-Z0-9:10} U{A-Z0-9:10}",
    "0x{0-9a-f:40}",
    "bc1q{02-9ac-hj-np-z:38}",
    "npub1{02-9ac-hj-np-z:58}",
    "age1{02-9ac-hj-np-z:58}",
    "zone {0-9a-f:32} account {0-9a-f:32}",
    "/var/lib/docker/overlay2/{0-9a-f:64}/merged",
    "~/.claude/projects/-home-me-app/" + UUID + ".jsonl",
    "{0-9:10}:{0-9:35}",
    "s.{a-z:24}(e) r.{a-z:24} b.{a-z:24}",
)

HARMLESS_TEXTS = (
    "function t(e,n){return e.exports=n.pi_default_secret_handler,Object.defineProperty(n,'__esModule',{value:!0})}",
    "!function(e,t){'object'==typeof exports&&'undefined'!=typeof module?module.exports=t():e.sk=t()}(this);",
    "var a=o.getOwnPropertyDescriptorsOfAll,i=s.unstable_scheduleCallbackNow,c=r.createElementWithValidation;",
    "const re_export_everything_from_module = sk_test_account_handler(live_reload_server_enabled, test_database_name);",
    "class AbstractSingletonProxyFactoryBean implements ApplicationContextAwareProcessorRegistration {}",
    "hf_transfer, fw_update, key_derivation_function_name, secret_manager_client_configuration_provider",
    "api-documentation-generator-template-for-services sdk-release-notes mob-programming-session-notes",
    "task-scheduler-configuration disk-project-quota-manager risk-assessment-proj-overview-document-final",
    "glpat- is GitLab's prefix, ghp_ is GitHub's, sk-ant- is Anthropic's; AKIA starts an AWS id",
    "export GITHUB_TOKEN=${GITHUB_TOKEN:-} SLACK_TOKEN=$SLACK_TOKEN DATADOG_API_KEY=<your-api-key>",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx sk-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX AKIAXXXXXXXXXXXXXXXX",
    "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx xoxb-your-token-here",
    "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx npm_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "datadog-agent version 7.52.0, sentry-cli 2.31, twilio 8.1, heroku/22, vercel 33.5.1, fly 0.2",
    ".btn-primary-outline-large-rounded-shadow-hover{color:#fff} .sk-folding-cube .pa-4 .md-primary-button-wrapper{}",
    "THISISAVERYLONGCONSTANTNAMEWITHOUTANYSEPARATORSATALLINTHEWHOLEOFITTHATSHOULDSTAYREADABLEFOREVERYBODYHERE",
    "The quick brown fox jumps over the lazy dog. Password resets are described in SECURITY.md.",
    "1.2.840.113549.1.1.11 10.0.0.1:8080 2026-11-18T12:00:00.000Z 1700000000000",
    "'secret-manager' 'secret-live-reload' 'api_org_members_list_endpoint_name' 'dp.pt' 'pat-na1-' 'sq0idp-public'",
)


def harmless() -> list[str]:
    """Texts that no provider rule may touch."""
    chance = random.Random(7)
    blob = base64.b64encode(chance.randbytes(120_000)).decode()
    wrapped = "\n".join(blob[at : at + 76] for at in range(0, 60_000, 76))
    drawn = [sample(template, seed) for template in HARMLESS_TEMPLATES for seed in range(8)]
    uuids = "\n".join(sample(UUID, seed) for seed in range(400))
    return [*drawn, *HARMLESS_TEXTS, uuids, f"data:image/png;base64,{blob}", wrapped]
