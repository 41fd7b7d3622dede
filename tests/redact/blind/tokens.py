"""Values in the shapes that services publish, made from a seed so that the source contains no key."""

from __future__ import annotations

import base64
import json
import random

from tests.redact.blind.drawing import ALPHANUMERIC, BASE64, BASE64_URL, DIGITS, HEX, LOWER, UPPER, Draw, mixed, pick

CRYPT = "./" + DIGITS + UPPER + LOWER
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"


def slack_webhook(rng: random.Random) -> str:
    """A webhook URL, which as a whole is the secret."""
    team, bot = pick(rng, UPPER + DIGITS, 10), pick(rng, UPPER + DIGITS, 10)
    return f"https://hooks.slack.com/services/T{team}/B{bot}/{mixed(rng, ALPHANUMERIC, 24)}"


def web_token(rng: random.Random) -> str:
    """A JSON web token, signed with HMAC."""
    head = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    claims = json.dumps({"sub": str(rng.randint(1, 9999)), "iat": rng.randint(10**9, 2 * 10**9)})
    body = base64.urlsafe_b64encode(claims.encode()).decode().rstrip("=")
    return f"{head}.{body}.{mixed(rng, BASE64_URL, 43).strip('-_')}k"


TOKENS: dict[str, Draw] = {
    "github": lambda rng: rng.choice(["ghp_", "gho_", "ghs_"]) + mixed(rng, ALPHANUMERIC, 36),
    "github-fine": lambda rng: f"github_pat_{mixed(rng, ALPHANUMERIC, 22)}_{mixed(rng, ALPHANUMERIC, 59)}",
    "gitlab": lambda rng: "glpat-" + mixed(rng, BASE64_URL, 19) + "x",
    "slack": lambda rng: f"xoxb-{pick(rng, DIGITS, 12)}-{pick(rng, DIGITS, 13)}-{mixed(rng, ALPHANUMERIC, 24)}",
    "slack-hook": slack_webhook,
    "stripe": lambda rng: "sk_live_" + mixed(rng, ALPHANUMERIC, 24),
    "openai": lambda rng: f"sk-proj-{mixed(rng, ALPHANUMERIC, 74)}T3BlbkFJ{mixed(rng, ALPHANUMERIC, 74)}",
    "anthropic": lambda rng: "sk-ant-api03-" + mixed(rng, BASE64_URL, 93) + "AA",
    "aws-secret": lambda rng: mixed(rng, BASE64, 40),
    "google": lambda rng: "AIza" + mixed(rng, ALPHANUMERIC, 35),
    "npm": lambda rng: "npm_" + mixed(rng, ALPHANUMERIC, 36),
    "pypi": lambda rng: "pypi-AgEIcHlwaS5vcmc" + mixed(rng, BASE64_URL, 130),
    "sendgrid": lambda rng: f"SG.{mixed(rng, ALPHANUMERIC, 22)}.{mixed(rng, ALPHANUMERIC, 43)}",
    "hf": lambda rng: "hf_" + mixed(rng, LOWER + UPPER, 34),
    "docker": lambda rng: "dckr_pat_" + mixed(rng, ALPHANUMERIC, 27),
    "do": lambda rng: "dop_v1_" + pick(rng, HEX, 64),
    "telegram": lambda rng: f"{pick(rng, '123456789', 1)}{pick(rng, DIGITS, 9)}:AA{mixed(rng, ALPHANUMERIC, 33)}",
    "shopify": lambda rng: "shpat_" + pick(rng, HEX, 32),
    "vault": lambda rng: "hvs." + mixed(rng, ALPHANUMERIC, 96),
    "linear": lambda rng: "lin_api_" + mixed(rng, ALPHANUMERIC, 40),
    "notion": lambda rng: "ntn_" + pick(rng, DIGITS, 11) + mixed(rng, ALPHANUMERIC, 35),
    "supabase": lambda rng: "sbp_" + pick(rng, HEX, 40),
    "databricks": lambda rng: "dapi" + pick(rng, HEX, 32),
    "grafana": lambda rng: f"glsa_{mixed(rng, ALPHANUMERIC, 32)}_{pick(rng, HEX, 8)}",
    "groq": lambda rng: "gsk_" + mixed(rng, ALPHANUMERIC, 52),
    "jwt": web_token,
    "age": lambda rng: "AGE-SECRET-KEY-1" + pick(rng, BECH32, 58),
}

LATE_TOKENS: dict[str, Draw] = {
    "fmt-paypal": lambda rng: "A21AA" + mixed(rng, BASE64_URL, 91) + "Q",
    "fmt-runpod": lambda rng: "rpa_" + mixed(rng, UPPER + DIGITS, 40) + mixed(rng, ALPHANUMERIC, 6),
    "fmt-amp": lambda rng: f"sgamp_user_01{mixed(rng, CROCKFORD, 24)}_{pick(rng, HEX, 64)}",
    "fmt-alibaba-sts": lambda rng: "STS.N" + mixed(rng, ALPHANUMERIC, rng.choice([24, 25, 26])),
}


def any_token(rng: random.Random) -> str:
    """A token that needs no name beside it."""
    return TOKENS[rng.choice(sorted(set(TOKENS) - {"aws-secret", "slack-hook"}))](rng)


def yescrypt(rng: random.Random) -> tuple[str, str]:
    """The hash of a password: its head and its secret part, like the functions below."""
    return f"$y$j9T${pick(rng, CRYPT, 22)}$", pick(rng, CRYPT, 43)


def argon2id(rng: random.Random) -> tuple[str, str]:
    memory, times, lanes = rng.choice([19456, 65536, 102400]), rng.randint(2, 4), rng.choice([1, 4, 8])
    return f"$argon2id$v=19$m={memory},t={times},p={lanes}${pick(rng, BASE64, 22)}$", pick(rng, BASE64, 43)


def bcrypt_or_sha(rng: random.Random) -> tuple[str, str]:
    bcrypt = f"$2b$1{rng.randint(0, 2)}${pick(rng, CRYPT, 22)}", pick(rng, CRYPT, 31)
    sha512 = f"$6${pick(rng, CRYPT, 16)}$", pick(rng, CRYPT, 86)
    sha256 = f"$5$rounds=5000${pick(rng, CRYPT, 16)}$", pick(rng, CRYPT, 43)
    return rng.choice([bcrypt, sha512, sha256])


HASHES = {"argon2id": argon2id, "bcrypt-sha512crypt": bcrypt_or_sha, "yescrypt": yescrypt}
