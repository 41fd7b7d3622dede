"""Identity, secret stores, security tools and private networks."""

from __future__ import annotations

from random import Random

from collector.redact.formats.by_name import by_name
from collector.redact.formats.checksums import BECH32, with_bech32
from collector.redact.formats.shapes import A_SHA256, A_UUID, AN_MD5, HEX32, HEX64, UUID, has_digit, is_mixed
from collector.redact.rule import Rule


def _age(chance: Random) -> str:
    return with_bech32("age-secret-key-", "".join(chance.choices(BECH32, k=52))).upper()


IDENTITY = (
    Rule(
        "okta-token",
        "Okta",
        r"00[A-Za-z0-9_-]{40}",
        keywords=("okta", "ssws"),
        before="0-9A-Za-z_-",
        after="0-9A-Za-z_-",
        check=is_mixed,
        examples=("Authorization: SSWS 00{A-Za-z0-9_-:39}z", "OKTA_API_TOKEN=00{A-Za-z0-9_-:39}z"),
        near_misses=("00{A-Za-z0-9_-:39}z", "okta 00{0-9:12}"),
    ),
    by_name("auth0-secret", "Auth0", "auth0", "[A-Za-z0-9_-]{64}", "{A-Za-z0-9_-:63}z", name="CLIENT_SECRET"),
    Rule(
        "stytch-secret",
        "Stytch",
        r"secret-(?:live|test)-[A-Za-z0-9_=-]{36,48}",
        examples=("secret-live-{A-Za-z0-9_-:35}=", "secret-test-{A-Za-z0-9_-:35}="),
        near_misses=("secret-live-{a-z:8}", "public-token-live-{A-Za-z0-9:36}"),
    ),
    Rule(
        "ory-token",
        "Ory",
        r"ory_(?:at|pat|rt|ac|st|wak|apikey|oat)_[A-Za-z0-9_.-]{31,140}[A-Za-z0-9_-]",
        examples=("ory_at_{A-Za-z0-9_-:43}.{A-Za-z0-9_-:42}z", "ory_pat_{A-Za-z0-9:32}"),
        near_misses=("ory_at_{a-z:8}", "history_at_{A-Za-z0-9:43}"),
    ),
    Rule(
        "jumpcloud-key",
        "JumpCloud",
        r"jca_[A-Za-z0-9]{36,48}",
        examples=("jca_{A-Za-z0-9:36}",),
        near_misses=("jca_{A-Za-z0-9:8}",),
    ),
    Rule(
        "unkey-root-key",
        "Unkey",
        r"unkey_[A-Za-z0-9]{20,48}",
        examples=("unkey_{A-Za-z0-9:24}",),
        near_misses=("unkey_{a-z:8}", "funkey_{A-Za-z0-9:24}"),
    ),
    Rule(
        "zuplo-key",
        "Zuplo",
        r"zpka_[0-9a-f]{32}_[0-9a-f]{8}",
        examples=("zpka_{0-9a-f:32}_{0-9a-f:8}",),
        near_misses=("zpka_{0-9a-f:8}",),
    ),
    by_name("keycloak-secret", "Keycloak", "keycloak|kc_", "[A-Za-z0-9]{32}", "{A-Za-z0-9:32}", name="CLIENT_SECRET"),
)

VAULTS = (
    Rule(
        "vault-token",
        "HashiCorp Vault",
        r"(?:hv[sbr]\.[A-Za-z0-9_-]{20,400}|b\.AAAAAQ[A-Za-z0-9_-]{90,400})",
        check=has_digit,
        examples=(
            "hvs.{A-Za-z0-9_-:23}z",
            "hvs.CAESI{A-Za-z0-9_-:90}",
            "hvb.{A-Za-z0-9_-:160}",
            "b.AAAAAQ{A-Za-z0-9_-:140}",
        ),
        near_misses=("hvs.{A-Za-z0-9:8}", "ahvs.{A-Za-z0-9:24}"),
    ),
    Rule(
        "vault-legacy-token",
        "HashiCorp Vault",
        r"[sbr]\.[A-Za-z0-9]{24}(?:\.[A-Za-z0-9]{5})?",
        keywords=("vault",),
        before="0-9A-Za-z_.$)\\]",
        after="0-9A-Za-z_(",
        check=is_mixed,
        examples=("X-Vault-Token: s.{A-Za-z0-9:24}", "VAULT_TOKEN=s.{A-Za-z0-9:24}"),
        near_misses=("s.{A-Za-z0-9:24}", "vault s.{a-z:24}", "vaults.{A-Za-z0-9:24}"),
    ),
    Rule(
        "vault-unseal-key",
        "HashiCorp Vault",
        r"(?i:unseal key(?: [0-9]{1,2})?|recovery key(?: [0-9]{1,2})?):? {1,4}(?P<secret>[A-Za-z0-9+/]{40,66}={0,2})",
        check=is_mixed,
        after="0-9A-Za-z+/=",
        examples=("Unseal Key 1: {A-Za-z0-9+/:44}", "Recovery Key 3: {A-Za-z0-9+/:44}"),
        near_misses=("Unseal Key 1: {A-Za-z0-9:12}",),
    ),
    Rule(
        "doppler-token",
        "Doppler",
        r"dp\.(?:pt|ct|st|sa|scim|audit)(?:\.[A-Za-z0-9_-]{2,40})?\.[A-Za-z0-9]{24,64}",
        examples=("dp.pt.{A-Za-z0-9:43}", "dp.st.prd.{A-Za-z0-9:43}", "dp.sa.{A-Za-z0-9:43}"),
        near_misses=("dp.pt.{A-Za-z0-9:8}", "adp.pt.{A-Za-z0-9:43}"),
    ),
    Rule(
        "infisical-token",
        "Infisical",
        r"st\.[0-9a-f]{8}[0-9a-f-]{16,28}\.[0-9a-f]{32,64}\.[0-9a-f]{32}",
        examples=("st.{0-9a-f:24}.{0-9a-f:32}.{0-9a-f:32}", f"st.{A_UUID}.{{0-9a-f:32}}.{{0-9a-f:32}}"),
        near_misses=("st.{0-9a-f:24}.{0-9a-f:8}", "test.{0-9a-f:24}.{0-9a-f:32}.{0-9a-f:32}"),
    ),
    Rule(
        "onepassword-service-token",
        "1Password",
        r"ops_eyJ[A-Za-z0-9+/_-]{150,1500}={0,2}",
        examples=("ops_eyJ{A-Za-z0-9_-:700}",),
        near_misses=("ops_eyJ{A-Za-z0-9:12}", "aops_eyJ{A-Za-z0-9:700}"),
    ),
    Rule(
        "onepassword-secret-key",
        "1Password",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
        examples=(
            "A3-{A-Z0-9:6}-{A-Z0-9:6}-{A-Z0-9:5}-{A-Z0-9:5}-{A-Z0-9:5}-{A-Z0-9:5}",
            "A3-{A-Z0-9:6}-{A-Z0-9:11}-{A-Z0-9:5}-{A-Z0-9:5}-{A-Z0-9:5}",
        ),
        near_misses=("A3-{A-Z0-9:6}-{A-Z0-9:6}", "ZA3-{A-Z0-9:6}-{A-Z0-9:11}-{A-Z0-9:5}-{A-Z0-9:5}-{A-Z0-9:5}"),
    ),
    Rule(
        "bitwarden-access-token",
        "Bitwarden",
        rf"0\.{UUID}\.[A-Za-z0-9]{{30}}:[A-Za-z0-9+/]{{22}}==",
        examples=(f"0.{A_UUID}.{{A-Za-z0-9:30}}:{{A-Za-z0-9+/:22}}==",),
        near_misses=(f"0.{A_UUID}.{{A-Za-z0-9:8}}", f"10.{A_UUID}.{{A-Za-z0-9:30}}:{{A-Za-z0-9+/:22}}=="),
    ),
    Rule(
        "age-secret-key",
        "age",
        r"AGE-(?:SECRET-KEY|SECRET-KEY-PQ|PLUGIN-[A-Z0-9+._-]{1,30})-1[0-9A-Z]{40,160}",
        examples=(_age, "AGE-PLUGIN-YUBIKEY-1{02-9AC-HJ-NP-Z:58}"),
        near_misses=(
            "AGE-SECRET-KEY-1{02-9AC-HJ-NP-Z:8}",
            "age1{02-9ac-hj-np-z:58}",
            "PAGE-SECRET-KEY-1{02-9AC-HJ-NP-Z:58}",
        ),
    ),
    by_name("virustotal-key", "VirusTotal", "virustotal|vt_|x-apikey", HEX64, A_SHA256),
    by_name("shodan-key", "Shodan", "shodan", "[A-Za-z0-9]{32}", "{A-Za-z0-9:32}"),
    by_name("abuseipdb-key", "AbuseIPDB", "abuseipdb|abuse_ipdb", "[0-9a-f]{80}", "{0-9a-f:80}"),
    by_name("have-i-been-pwned-key", "Have I Been Pwned", "hibp|haveibeenpwned", HEX32, AN_MD5),
    Rule(
        "socket-token",
        "Socket",
        r"sktsec_[A-Za-z0-9_-]{30,100}",
        examples=("sktsec_{A-Za-z0-9_-:43}z",),
        near_misses=("sktsec_{a-z:8}",),
    ),
)

IDENTITY_RULES = IDENTITY + VAULTS
