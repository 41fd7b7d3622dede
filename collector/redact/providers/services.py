"""Smaller services of every kind whose tokens tell where they come from."""

from __future__ import annotations

import re

from collector.redact.providers.named import by_name
from collector.redact.providers.shapes import (
    A_SHA1,
    A_UUID,
    HEX40,
    NOT_IN_A_NAME,
    NOT_IN_A_SLUG,
    NOT_IN_BASE64,
    UUID,
    has_digit,
    is_mixed,
)
from collector.redact.rule import Rule, Spans


def _prefixed(
    rule_id: str, provider: str, prefix: str, body: str, shortest: int, *examples: str, before: str = NOT_IN_A_NAME
) -> Rule:
    """A telling prefix and a body of one alphabet."""
    cut = tuple(example.split("{")[0] + "{a-z:5}" for example in examples)
    return Rule(
        rule_id,
        provider,
        rf"(?:{prefix})[{body}]{{{shortest},{shortest + 160}}}",
        before=before,
        check=has_digit,
        examples=examples,
        near_misses=cut,
    )


def _by_somebody(text: bytes, match: re.Match[bytes], _start: int, _stop: int) -> Spans:
    """A token nobody would write; no publishable key; without the n of an escaped newline before it."""
    first = match.start()
    if text[first - 1 : first] == b"\\" and text[first : first + 1] in (b"n", b"r", b"t"):
        first += 1
    is_public = text[first : first + 2] in (b"pk", b"pu")
    return [(first, match.end())] if not is_public and is_mixed(match[0].rpartition(b"_")[2].decode("latin-1")) else []


_ALNUM, _URL = "A-Za-z0-9", "A-Za-z0-9_-"

SERVICE_RULES = (
    Rule(
        "unknown-service-token",
        "somebody",
        # Nobody's in this table, but made as many make theirs: a name, what it opens, and what nobody writes.
        r"[a-z]{2,12}[_-](?:live|prod|test|sandbox|pat|sk|key|secret|token|api)_[A-Za-z0-9]{24,160}",
        trigger=r"[_-](?:live|prod|test|sandbox|pat|sk|key|secret|token|api)_[A-Za-z0-9]{24}",
        reach_back=45,
        before=NOT_IN_A_SLUG,
        after=NOT_IN_A_NAME,
        locate=_by_somebody,
        around=1,
        examples=("acme_live_{A-Za-z0-9:32}", "acme_pat_{A-Za-z0-9:40}"),
        near_misses=(
            "acme_live_{a-z:32}",
            "pk_live_{A-Za-z0-9:32}",
            "acme_live_{A-Za-z0-9:12}",
            "my_acme_live_{A-Za-z0-9:32}",
        ),
    ),
    Rule(
        "unknown-secret-key",
        "somebody",
        r"sk[_-][a-z0-9]{2,8}[_-][A-Za-z0-9_-]{32,200}",
        before=NOT_IN_A_SLUG,
        check=is_mixed,
        examples=("sk-ws-01-{A-Za-z0-9_-:80}", "sk_acme_{A-Za-z0-9:40}", "sk-cp-{A-Za-z0-9_-:119}z"),
        near_misses=("sk-fading-circle-of-many-dots-and-colours", "sk-cp-{A-Za-z0-9:12}", "desk-cp-{A-Za-z0-9:40}"),
    ),
    Rule(
        "base64-jwt",
        "JSON Web Token",
        # base64 of `eyJ`, as in the data of Kubernetes
        r"ZXlK[A-Za-z0-9+/]{80,4000}={0,2}",
        before=NOT_IN_BASE64,
        after="",
        check=is_mixed,
        examples=("ZXlKaGJHY2lPaUpJVXpJMU5pSj{A-Za-z0-9:200}==",),
        near_misses=("ZXlK{A-Za-z0-9:20}", "AZXlK{A-Za-z0-9:120}"),
    ),
    Rule(
        "stackhawk-key",
        "StackHawk",
        r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}",
        examples=("hawk.{A-Za-z0-9:20}.{A-Za-z0-9_-:20}",),
        near_misses=("hawk.{a-z:8}", "tomahawk.{A-Za-z0-9:20}.{A-Za-z0-9:20}"),
    ),
    Rule(
        "pixie-key",
        "Pixie",
        rf"px-(?:api|dep)-{UUID}",
        before=NOT_IN_A_SLUG,
        examples=(f"px-api-{A_UUID}", f"px-dep-{A_UUID}"),
        near_misses=("px-api-{0-9a-f:8}", f"{A_UUID}"),
    ),
    Rule(
        "tines-webhook",
        "Tines",
        r"\.tines\.com/webhook/(?P<secret>[A-Za-z0-9]{16,64}/[A-Za-z0-9]{16,64})",
        before="",
        examples=("https://acme.tines.com/webhook/{0-9a-f:32}/{0-9a-f:32}",),
        near_misses=("https://acme.tines.com/webhook/{0-9a-f:32}",),
    ),
    Rule(
        "thingsboard-token",
        "ThingsBoard",
        r"thingsboard[a-z.-]{0,40}(?::[0-9]{2,5})?/api/v1/(?P<secret>[A-Za-z0-9]{20})",
        before="",
        check=has_digit,
        examples=("http://thingsboard.cloud/api/v1/{A-Za-z0-9:20}/telemetry",),
        near_misses=("http://thingsboard.cloud/api/v1/provision",),
    ),
    Rule(
        "healthchecks-ping",
        "Healthchecks.io",
        rf"hc-ping\.com/(?P<secret>{UUID}|[A-Za-z0-9_-]{{22}})",
        before="",
        examples=(f"https://hc-ping.com/{A_UUID}", "curl https://hc-ping.com/{A-Za-z0-9:22}"),
        near_misses=("https://hc-ping.com/docs",),
    ),
    Rule(
        "brave-search-key",
        "Brave",
        r"BSA[A-Za-z0-9_-]{28}",
        before=NOT_IN_BASE64,
        after=NOT_IN_BASE64 + "=_-",
        check=is_mixed,
        examples=("BSA{A-Za-z0-9_-:27}z",),
        near_misses=("BSA{A-Z:28}", "NBSA{A-Za-z0-9:28}"),
    ),
    Rule(
        "luma-key",
        "Luma",
        rf"luma-{UUID}-{UUID}",
        examples=(f"luma-{A_UUID}-{A_UUID}",),
        near_misses=(f"luma-{A_UUID}",),
    ),
    Rule(
        "woocommerce-key",
        "WooCommerce",
        r"c[ks]_[0-9a-f]{40}",
        before=NOT_IN_A_NAME,
        examples=("ck_{0-9a-f:40}", "cs_{0-9a-f:40}"),
        near_misses=("cs_{0-9a-f:8}", "my_ck_{0-9a-f:40}"),
    ),
    Rule(
        "ebay-certificate-id",
        "eBay",
        r"(?:PRD|SBX)-[0-9a-f]{12}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}",
        before=NOT_IN_A_SLUG,
        examples=("PRD-{0-9a-f:12}-{0-9a-f:4}-{0-9a-f:4}-{0-9a-f:4}-{0-9a-f:4}",),
        near_misses=("PRD-{0-9a-f:12}",),
    ),
    _prefixed("steel-key", "Steel", "ste-", _ALNUM, 48, "ste-{A-Za-z0-9:64}", before=NOT_IN_A_SLUG),
    _prefixed("tigris-secret", "Tigris", "tsec_", "A-Za-z0-9_+-", 40, "tsec_{A-Za-z0-9_+-:59}7"),
    _prefixed("cronofy-secret", "Cronofy", "CRN_", _URL, 32, "CRN_{A-Za-z0-9_-:35}7"),
    _prefixed("adafruit-key", "Adafruit", "aio_", _ALNUM, 28, "aio_{A-Za-z0-9:28}"),
    _prefixed("adobe-client-secret", "Adobe", "p8e-", _URL, 32, "p8e-{A-Za-z0-9_-:32}", before=NOT_IN_A_SLUG),
    _prefixed("asaas-key", "Asaas", r"\$aact_(?:prod_|hmlg_)?", "A-Za-z0-9=:", 60, "$aact_{A-Za-z0-9:90}"),
    _prefixed("canva-secret", "Canva", "cnvca", _URL, 40, "cnvca{A-Za-z0-9_-:47}"),
    _prefixed("chief-tools-token", "Chief Tools", "ct[opr]_", _ALNUM, 30, "ctp_{A-Za-z0-9:36}"),
    _prefixed(
        "defined-networking-key", "Defined Networking", "dnkey-", "A-Za-z0-9-", 60, "dnkey-{a-z0-9:26}-{a-z0-9:52}"
    ),
    _prefixed("devcycle-key", "DevCycle", "dvc_(?:server|mobile|client)_", _URL, 32, "dvc_server_{A-Za-z0-9_:40}"),
    _prefixed("endor-labs-key", "Endor Labs", r"endr\+", _URL, 16, "endr+{A-Za-z0-9_-:15}7"),
    _prefixed("fleetbase-key", "Fleetbase", "flb_(?:live|test)_", _ALNUM, 20, "flb_live_{A-Za-z0-9:20}"),
    _prefixed("flagsmith-key", "Flagsmith", r"ser\.", _ALNUM, 22, "ser.{A-Za-z0-9:22}", before="0-9A-Za-z_.$)"),
    _prefixed("gitbook-token", "GitBook", "gb_api_", _ALNUM, 32, "gb_api_{A-Za-z0-9:40}"),
    _prefixed("dependency-track-key", "Dependency-Track", "odt_", _ALNUM, 32, "odt_{A-Za-z0-9:32}"),
    _prefixed(
        "devin-key", "Devin", "cog_|apk_(?:user_)?", "A-Za-z0-9+/=_-", 50, "cog_{a-z0-9:52}", "apk_user_{A-Za-z0-9:96}"
    ),
    _prefixed(
        "docker-swarm-token",
        "Docker",
        "SWMTKN-1-|SWMKEY-1-",
        "A-Za-z0-9+/-",
        40,
        "SWMTKN-1-{a-z0-9:50}-{a-z0-9:25}",
        "SWMKEY-1-{A-Za-z0-9:43}",
        before=NOT_IN_A_SLUG,
    ),
    _prefixed("alchemy-auth-token", "Alchemy", "alcht_", _ALNUM, 30, "alcht_{A-Za-z0-9:30}"),
    _prefixed("besttime-key", "BestTime", "p(?:ri|ub)_", "0-9a-f", 32, "pri_{0-9a-f:32}"),
    _prefixed("flexport-token", "Flexport", "shltm_", _URL, 40, "shltm_{A-Za-z0-9_-:40}"),
    _prefixed("onepassword-recovery-key", "1Password", "1PRK", "A-Z0-9-", 50, "1PRK" + "-{A-Z0-9:4}" * 13),
    _prefixed("pyx-key", "Astral", "sk-pyx-", _ALNUM, 40, "sk-pyx-{A-Za-z0-9:65}", before=NOT_IN_A_SLUG),
    _prefixed("hop-token", "Hop", "ptk_", _ALNUM, 30, "ptk_{A-Za-z0-9:40}"),
    _prefixed("infracost-key", "Infracost", "ico-", _ALNUM, 32, "ico-{A-Za-z0-9:32}", before=NOT_IN_A_SLUG),
    _prefixed("intra-42-secret", "42", "s-s4t2(?:ud|af)-", "0-9a-f", 64, "s-s4t2ud-{0-9a-f:64}", before=NOT_IN_A_SLUG),
    _prefixed("ionic-token", "Ionic", "ion_", _ALNUM, 42, "ion_{A-Za-z0-9:42}"),
    _prefixed("iterative-token", "Iterative Studio", "isat_", _ALNUM, 32, "isat_{A-Za-z0-9:40}"),
    _prefixed("kolide-key", "Kolide", "k2sk_v[0-9]_", _ALNUM, 24, "k2sk_v1_{A-Za-z0-9:24}"),
    _prefixed("kong-token", "Kong", "(?:k|s)pat_", _ALNUM, 40, "kpat_{A-Za-z0-9:49}", "spat_{A-Za-z0-9:49}"),
    _prefixed("lichess-token", "Lichess", "li[po]_", _ALNUM, 20, "lip_{A-Za-z0-9:20}"),
    _prefixed("logfire-token", "Logfire", "pylf_v[0-9]_(?:[a-z]{2,8}_)?", _ALNUM, 32, "pylf_v1_us_{A-Za-z0-9:43}"),
    _prefixed("mergify-key", "Mergify", "mka_", _URL, 32, "mka_{A-Za-z0-9_-:39}7"),
    _prefixed("mintlify-key", "Mintlify", "mint_(?:dsc_)?", _ALNUM, 20, "mint_dsc_{A-Za-z0-9:24}"),
    _prefixed("pagarme-key", "Pagar.me", "[ae]k_live_", _ALNUM, 30, "ak_live_{A-Za-z0-9:30}"),
    _prefixed("pganalyze-key", "pganalyze", "pga[a-z]?_", _ALNUM, 27, "pgar_{A-Za-z0-9:27}"),
    _prefixed("wundergraph-key", "WunderGraph", "cosmo_", "0-9a-f", 32, "cosmo_{0-9a-f:32}"),
    _prefixed("photoroom-key", "Photoroom", "(?:sandbox_)?sk_pr_", "A-Za-z0-9_", 32, "sk_pr_default_{0-9a-f:40}"),
    _prefixed("teamwork-token", "Teamwork", r"tkn\.v1_", "A-Za-z0-9=", 60, "tkn.v1_{A-Za-z0-9:71}="),
    _prefixed(
        "trufflehog-key",
        "TruffleHog",
        "thog-(?:key|agent|group)-",
        "0-9a-f",
        16,
        "thog-key-{0-9a-f:16}",
        before=NOT_IN_A_SLUG,
    ),
    _prefixed("twitch-stream-key", "Twitch", "live_[0-9]{6,11}_", _ALNUM, 30, "live_{0-9:9}_{A-Za-z0-9:30}"),
    _prefixed(
        "voiceflow-key",
        "Voiceflow",
        r"VF\.(?:DM|WS|[A-Z]{2,4})\.[0-9a-f]{24}\.",
        _ALNUM,
        16,
        "VF.DM.{0-9a-f:24}.{A-Za-z0-9:16}",
    ),
    Rule(
        "pubnub-key",
        "PubNub",
        r"(?:pub|sub|sec)-c-[0-9A-Za-z-]{30,60}",
        before=NOT_IN_A_SLUG,
        check=has_digit,
        examples=("sec-c-{A-Za-z0-9:48}", f"sub-c-{A_UUID}"),
        near_misses=("sub-c-{a-z:6}",),
    ),
    Rule(
        "nats-seed",
        "NATS",
        r"S[UAONCX][A-Z2-7]{56}",
        trigger="S[UAONCX][A-Z2-7]{8}",  # the scanner finds it faster than the whole
        before=NOT_IN_BASE64,
        after=NOT_IN_BASE64,
        check=has_digit,
        examples=("SU{A-Z2-7:56}", "SA{A-Z2-7:56}"),
        near_misses=("SU{A-Z2-7:40}", "SU{A-Z2-7:90}"),
    ),
    _prefixed("nightfall-key", "Nightfall", "NF-", _ALNUM, 32, "NF-{A-Za-z0-9:32}", before=NOT_IN_A_SLUG),
    _prefixed("orbit-token", "Orbit", "obu_", _URL, 32, "obu_{A-Za-z0-9:40}"),
    _prefixed("pangea-token", "Pangea", "p(?:ts|ms|cl)_", "a-z0-9", 32, "pts_{a-z2-7:32}"),
    _prefixed("percy-token", "Percy", "(?:web|app|auto|ss)_", "0-9a-f", 64, "web_{0-9a-f:64}"),
    _prefixed("persona-key", "Persona", "persona_(?:production|sandbox)_", _URL, 24, "persona_production_{a-z0-9:32}"),
    _prefixed("ramp-token", "Ramp", "ramp_(?:sec|tok|id)_", _ALNUM, 32, "ramp_sec_{A-Za-z0-9:48}"),
    _prefixed("retool-token", "Retool", "retool_", _ALNUM, 20, "retool_01{A-Za-z0-9:24}"),
    _prefixed("rootly-token", "Rootly", "rootly_", "0-9a-f", 40, "rootly_{0-9a-f:64}"),
    _prefixed("samsara-token", "Samsara", "samsara_api_", _ALNUM, 24, "samsara_api_{A-Za-z0-9:30}"),
    _prefixed("scalingo-token", "Scalingo", "tk-[a-z]{2}-", _URL, 40, "tk-us-{A-Za-z0-9_-:47}z", before=NOT_IN_A_SLUG),
    _prefixed("settlemint-token", "SettleMint", "sm_[aps]at_", _ALNUM, 16, "sm_aat_{A-Za-z0-9:16}"),
    _prefixed("temporal-key", "Temporal", "tmprl_", "A-Za-z0-9_", 40, "tmprl_{A-Za-z0-9:32}_{A-Za-z0-9:32}"),
    _prefixed("thunderstore-token", "Thunderstore", "tss_", _ALNUM, 24, "tss_{A-Za-z0-9:32}"),
    _prefixed("ubidots-token", "Ubidots", "BBFF-", _ALNUM, 24, "BBFF-{A-Za-z0-9:30}"),
    _prefixed("volcengine-key-id", "Volcengine", "AKLT", _ALNUM, 32, "AKLT{A-Za-z0-9:44}", before=NOT_IN_BASE64),
    _prefixed("cartesia-key", "Cartesia", "sk_car_", _ALNUM, 20, "sk_car_{A-Za-z0-9:22}"),
    _prefixed("coze-token", "Coze", "pat_", _ALNUM, 60, "pat_{A-Za-z0-9:64}"),
    Rule(
        "dify-key",
        "Dify",
        r"(?:app|dataset)-[A-Za-z0-9]{24}",
        before=NOT_IN_A_SLUG,
        after=NOT_IN_A_SLUG,
        check=is_mixed,
        examples=("app-{A-Za-z0-9:24}", "dataset-{A-Za-z0-9:24}"),
        near_misses=("app-{a-z0-9:24}", "my-app-{A-Za-z0-9:24}", "app-{A-Za-z0-9:12}"),
    ),
    Rule(
        "authress-key",
        "Authress",
        r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
        examples=("sc_{a-z0-9:10}.{a-z0-9:5}.acc_{a-z0-9:12}.{A-Za-z0-9_-:40}",),
        near_misses=("sc_{a-z0-9:10}.{a-z0-9:5}",),
    ),
    Rule(
        "block-protocol-key",
        "Block Protocol",
        rf"b10ck5\.[0-9a-f]{{32}}\.{UUID}",
        examples=(f"b10ck5.{{0-9a-f:32}}.{A_UUID}",),
        near_misses=("b10ck5.{0-9a-f:32}",),
    ),
    Rule(
        "deepl-key",
        "DeepL",
        rf"{UUID}:fx",
        examples=(f"{A_UUID}:fx",),
        near_misses=(A_UUID, f"{A_UUID}:fix"),
    ),
    Rule(
        "maxmind-key",
        "MaxMind",
        r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",
        examples=("{A-Za-z0-9:6}_{A-Za-z0-9:29}_mmk",),
        near_misses=("{A-Za-z0-9:6}_{A-Za-z0-9:9}_mmk",),
    ),
    Rule(
        "meta-quest-token",
        "Meta Quest",
        r"OC\|[0-9]{12,20}\|[A-Za-z0-9]{20,64}",
        examples=("OC|{1-9:16}|{0-9a-f:32}",),
        near_misses=("OC|{1-9:16}|{a-z:4}",),
    ),
    Rule(
        "onfido-token",
        "Onfido",
        r"api_(?:live|sandbox)(?:_[a-z]{2})?\.[A-Za-z0-9_-]{11}\.[A-Za-z0-9_-]{32}",
        examples=("api_live.{A-Za-z0-9_-:11}.{A-Za-z0-9_-:31}z", "api_sandbox_us.{A-Za-z0-9_-:11}.{A-Za-z0-9_-:31}z"),
        near_misses=("api_live.{A-Za-z0-9:4}",),
    ),
    Rule(
        "tatum-key",
        "Tatum",
        r"t-[0-9a-f]{24}-[0-9a-f]{24,32}",
        before=NOT_IN_A_SLUG,
        examples=("t-{0-9a-f:24}-{0-9a-f:24}",),
        near_misses=("t-{0-9a-f:24}", "vt-{0-9a-f:24}-{0-9a-f:24}"),
    ),
    Rule(
        "tinybird-token",
        "Tinybird",
        r"p\.eyJ1[A-Za-z0-9_-]{20,300}\.[A-Za-z0-9_-]{20,120}",
        before="0-9A-Za-z_.",
        examples=("p.eyJ1{A-Za-z0-9_-:90}.{A-Za-z0-9_-:42}z",),
        near_misses=("p.eyJ1{A-Za-z0-9:8}",),
    ),
    Rule(
        "wakatime-key",
        "WakaTime",
        rf"waka_(?:sec_|tok_)?{UUID}",
        examples=(f"waka_{A_UUID}",),
        near_misses=("waka_{0-9a-f:8}",),
    ),
    by_name("meraki-key", "Cisco Meraki", "meraki", HEX40, A_SHA1),
    by_name("baseten-key", "Baseten", "baseten", r"[A-Za-z0-9]{8}\.[A-Za-z0-9]{32}", "{A-Za-z0-9:8}.{A-Za-z0-9:32}"),
    by_name("checkr-key", "Checkr", "checkr", HEX40, A_SHA1),
    by_name("yelp-key", "Yelp", "yelp", "[A-Za-z0-9_-]{128}", "{A-Za-z0-9_-:127}z"),
)
