"""Services whose tokens are a telling prefix and a body of one alphabet: a line each."""

from __future__ import annotations

from collector.redact.formats.shapes import A_UUID, NOT_IN_A_NAME, NOT_IN_A_SLUG, NOT_IN_BASE64, UUID, has_digit
from collector.redact.rule import Rule

ALNUM, URL, HEX = "A-Za-z0-9", "A-Za-z0-9_-", "0-9a-f"


def prefixed(
    rule_id: str, provider: str, prefix: str, body: str, shortest: int, *examples: str, before: str = NOT_IN_A_NAME
) -> Rule:
    """A telling prefix and a body of one alphabet, at most 160 characters longer than today."""
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


def with_uuid(rule_id: str, provider: str, prefix: str, example: str) -> Rule:
    """A telling prefix and a uuid."""
    return Rule(
        rule_id,
        provider,
        rf"(?:{prefix}){UUID}",
        before=NOT_IN_A_SLUG,
        examples=(f"{example}{A_UUID}",),
        near_misses=(f"{example}{{0-9a-f:8}}", f"my-{example}{A_UUID}"),
    )


PREFIXED_RULES = (
    prefixed("steel-key", "Steel", "ste-", ALNUM, 48, "ste-{A-Za-z0-9:64}", before=NOT_IN_A_SLUG),
    prefixed("tigris-secret", "Tigris", "tsec_", "A-Za-z0-9_+-", 40, "tsec_{A-Za-z0-9_+-:59}7"),
    prefixed("cronofy-secret", "Cronofy", "CRN_", URL, 32, "CRN_{A-Za-z0-9_-:35}7"),
    prefixed("adafruit-key", "Adafruit", "aio_", ALNUM, 28, "aio_{A-Za-z0-9:28}"),
    prefixed("adobe-client-secret", "Adobe", "p8e-", URL, 32, "p8e-{A-Za-z0-9_-:32}", before=NOT_IN_A_SLUG),
    prefixed("asaas-key", "Asaas", r"\$aact_(?:prod_|hmlg_)?", "A-Za-z0-9=:", 60, "$aact_{A-Za-z0-9:90}"),
    prefixed("canva-secret", "Canva", "cnvca", URL, 40, "cnvca{A-Za-z0-9_-:47}"),
    prefixed("chief-tools-token", "Chief Tools", "ct[opr]_", ALNUM, 30, "ctp_{A-Za-z0-9:36}"),
    prefixed(
        "defined-networking-key", "Defined Networking", "dnkey-", "A-Za-z0-9-", 60, "dnkey-{a-z0-9:26}-{a-z0-9:52}"
    ),
    prefixed("devcycle-key", "DevCycle", "dvc_(?:server|mobile|client)_", URL, 32, "dvc_server_{A-Za-z0-9_:40}"),
    prefixed("endor-labs-key", "Endor Labs", r"endr\+", URL, 16, "endr+{A-Za-z0-9_-:15}7"),
    prefixed("fleetbase-key", "Fleetbase", "flb_(?:live|test)_", ALNUM, 20, "flb_live_{A-Za-z0-9:20}"),
    prefixed("flagsmith-key", "Flagsmith", r"ser\.", ALNUM, 22, "ser.{A-Za-z0-9:22}", before="0-9A-Za-z_.$)"),
    prefixed("gitbook-token", "GitBook", "gb_api_", ALNUM, 32, "gb_api_{A-Za-z0-9:40}"),
    prefixed("dependency-track-key", "Dependency-Track", "odt_", ALNUM, 32, "odt_{A-Za-z0-9:32}"),
    prefixed(
        "devin-key", "Devin", "cog_|apk_(?:user_)?", "A-Za-z0-9+/=_-", 50, "cog_{a-z0-9:52}", "apk_user_{A-Za-z0-9:96}"
    ),
    prefixed(
        "docker-swarm-token",
        "Docker",
        "SWMTKN-1-|SWMKEY-1-",
        "A-Za-z0-9+/-",
        40,
        "SWMTKN-1-{a-z0-9:50}-{a-z0-9:25}",
        "SWMKEY-1-{A-Za-z0-9:43}",
        before=NOT_IN_A_SLUG,
    ),
    prefixed("alchemy-auth-token", "Alchemy", "alcht_", ALNUM, 30, "alcht_{A-Za-z0-9:30}"),
    prefixed("besttime-key", "BestTime", "p(?:ri|ub)_", "0-9a-f", 32, "pri_{0-9a-f:32}"),
    prefixed("flexport-token", "Flexport", "shltm_", URL, 40, "shltm_{A-Za-z0-9_-:40}"),
    prefixed("onepassword-recovery-key", "1Password", "1PRK", "A-Z0-9-", 50, "1PRK" + "-{A-Z0-9:4}" * 13),
    prefixed("pyx-key", "Astral", "sk-pyx-", ALNUM, 40, "sk-pyx-{A-Za-z0-9:65}", before=NOT_IN_A_SLUG),
    prefixed("hop-token", "Hop", "ptk_", ALNUM, 30, "ptk_{A-Za-z0-9:40}"),
    prefixed("infracost-key", "Infracost", "ico-", ALNUM, 32, "ico-{A-Za-z0-9:32}", before=NOT_IN_A_SLUG),
    prefixed("intra-42-secret", "42", "s-s4t2(?:ud|af)-", "0-9a-f", 64, "s-s4t2ud-{0-9a-f:64}", before=NOT_IN_A_SLUG),
    prefixed("ionic-token", "Ionic", "ion_", ALNUM, 42, "ion_{A-Za-z0-9:42}"),
    prefixed("iterative-token", "Iterative Studio", "isat_", ALNUM, 32, "isat_{A-Za-z0-9:40}"),
    prefixed("kolide-key", "Kolide", "k2sk_v[0-9]_", ALNUM, 24, "k2sk_v1_{A-Za-z0-9:24}"),
    prefixed("kong-token", "Kong", "(?:k|s)pat_", ALNUM, 40, "kpat_{A-Za-z0-9:49}", "spat_{A-Za-z0-9:49}"),
    prefixed("lichess-token", "Lichess", "li[po]_", ALNUM, 20, "lip_{A-Za-z0-9:20}"),
    prefixed("logfire-token", "Logfire", "pylf_v[0-9]_(?:[a-z]{2,8}_)?", ALNUM, 32, "pylf_v1_us_{A-Za-z0-9:43}"),
    prefixed("mergify-key", "Mergify", "mka_", URL, 32, "mka_{A-Za-z0-9_-:39}7"),
    prefixed("mintlify-key", "Mintlify", "mint_(?:dsc_)?", ALNUM, 20, "mint_dsc_{A-Za-z0-9:24}"),
    prefixed("pagarme-key", "Pagar.me", "[ae]k_live_", ALNUM, 30, "ak_live_{A-Za-z0-9:30}"),
    prefixed("pganalyze-key", "pganalyze", "pga[a-z]?_", ALNUM, 27, "pgar_{A-Za-z0-9:27}"),
    prefixed("wundergraph-key", "WunderGraph", "cosmo_", "0-9a-f", 32, "cosmo_{0-9a-f:32}"),
    prefixed("photoroom-key", "Photoroom", "(?:sandbox_)?sk_pr_", "A-Za-z0-9_", 32, "sk_pr_default_{0-9a-f:40}"),
    prefixed("teamwork-token", "Teamwork", r"tkn\.v1_", "A-Za-z0-9=", 60, "tkn.v1_{A-Za-z0-9:71}="),
    prefixed(
        "trufflehog-key",
        "TruffleHog",
        "thog-(?:key|agent|group)-",
        "0-9a-f",
        16,
        "thog-key-{0-9a-f:16}",
        before=NOT_IN_A_SLUG,
    ),
    prefixed("twitch-stream-key", "Twitch", "live_[0-9]{6,11}_", ALNUM, 30, "live_{0-9:9}_{A-Za-z0-9:30}"),
    prefixed(
        "voiceflow-key",
        "Voiceflow",
        r"VF\.(?:DM|WS|[A-Z]{2,4})\.[0-9a-f]{24}\.",
        ALNUM,
        16,
        "VF.DM.{0-9a-f:24}.{A-Za-z0-9:16}",
    ),
    prefixed("nightfall-key", "Nightfall", "NF-", ALNUM, 32, "NF-{A-Za-z0-9:32}", before=NOT_IN_A_SLUG),
    prefixed("orbit-token", "Orbit", "obu_", URL, 32, "obu_{A-Za-z0-9:40}"),
    prefixed("pangea-token", "Pangea", "p(?:ts|ms|cl)_", "a-z0-9", 32, "pts_{a-z2-7:32}"),
    prefixed("percy-token", "Percy", "(?:web|app|auto|ss)_", "0-9a-f", 64, "web_{0-9a-f:64}"),
    prefixed("persona-key", "Persona", "persona_(?:production|sandbox)_", URL, 24, "persona_production_{a-z0-9:32}"),
    prefixed("ramp-token", "Ramp", "ramp_(?:sec|tok|id)_", ALNUM, 32, "ramp_sec_{A-Za-z0-9:48}"),
    prefixed("retool-token", "Retool", "retool_", ALNUM, 20, "retool_01{A-Za-z0-9:24}"),
    prefixed("rootly-token", "Rootly", "rootly_", "0-9a-f", 40, "rootly_{0-9a-f:64}"),
    prefixed("samsara-token", "Samsara", "samsara_api_", ALNUM, 24, "samsara_api_{A-Za-z0-9:30}"),
    prefixed("scalingo-token", "Scalingo", "tk-[a-z]{2}-", URL, 40, "tk-us-{A-Za-z0-9_-:47}z", before=NOT_IN_A_SLUG),
    prefixed("settlemint-token", "SettleMint", "sm_[aps]at_", ALNUM, 16, "sm_aat_{A-Za-z0-9:16}"),
    prefixed("temporal-key", "Temporal", "tmprl_", "A-Za-z0-9_", 40, "tmprl_{A-Za-z0-9:32}_{A-Za-z0-9:32}"),
    prefixed("thunderstore-token", "Thunderstore", "tss_", ALNUM, 24, "tss_{A-Za-z0-9:32}"),
    prefixed("ubidots-token", "Ubidots", "BBFF-", ALNUM, 24, "BBFF-{A-Za-z0-9:30}"),
    prefixed("volcengine-key-id", "Volcengine", "AKLT", ALNUM, 32, "AKLT{A-Za-z0-9:44}", before=NOT_IN_BASE64),
    prefixed("cartesia-key", "Cartesia", "sk_car_", ALNUM, 20, "sk_car_{A-Za-z0-9:22}"),
    prefixed("coze-token", "Coze", "pat_", ALNUM, 60, "pat_{A-Za-z0-9:64}"),
    with_uuid("riot-key", "Riot Games", "RGAPI-", "RGAPI-"),
    with_uuid("coveo-key", "Coveo", "xx", "xx"),
    with_uuid("modelscope-token", "ModelScope", "ms-", "ms-"),
    prefixed("covalent-key", "Covalent", "cqt_|ckey_", ALNUM, 24, "cqt_rQ{A-Za-z0-9:26}", "ckey_{0-9a-f:27}"),
    prefixed("coderabbit-key", "CodeRabbit", "cr-", HEX, 58, "cr-{0-9a-f:58}", before=NOT_IN_A_SLUG),
    prefixed(
        "mergify-application-key",
        "Mergify",
        "mergify_application_key_",
        ALNUM,
        30,
        "mergify_application_key_{A-Za-z0-9:60}",
    ),
    prefixed(
        "scale-key",
        "Scale, Lob and others",
        "(?:live|test)_(?:auth_)?",
        HEX,
        32,
        "live_{0-9a-f:32}",
        "test_{0-9a-f:35}",
    ),
    prefixed("pinterest-token", "Pinterest", "pin[ar]_", URL, 32, "pina_{A-Za-z0-9:60}"),
    prefixed("promptlayer-key", "PromptLayer", "pl_", HEX, 32, "pl_{0-9a-f:32}"),
    prefixed("aikido-token", "Aikido", "AIK_(?:CI|SECRET|CLIENT)_", ALNUM, 32, "AIK_CI_{A-Za-z0-9:64}"),
    prefixed("bitrise-token", "Bitrise", "bit[pw]at_", URL, 40, "bitpat_{A-Za-z0-9_-:85}7"),
    prefixed("databento-key", "Databento", "db-", ALNUM, 29, "db-{A-Za-z0-9:29}", before=NOT_IN_A_SLUG),
    prefixed("hcaptcha-secret", "hCaptcha", "ES_", HEX, 32, "ES_{0-9a-f:32}"),
    prefixed("logicmonitor-token", "LogicMonitor", "lmb_", "A-Za-z0-9+/=", 40, "lmb_{A-Za-z0-9:60}"),
    prefixed("lightspeed-token", "Lightspeed", "lsxs_[a-z]{2}_", ALNUM, 24, "lsxs_pt_{A-Za-z0-9:32}"),
    prefixed("naver-cloud-key", "Naver Cloud", "ncp_(?:iam_)?", ALNUM, 32, "ncp_iam_{A-Za-z0-9:40}"),
    prefixed("planning-center-token", "Planning Center", "pco_(?:app|pat|tok)_", HEX, 40, "pco_app_{0-9a-f:64}"),
    prefixed("raycast-token", "Raycast", "rca_", ALNUM, 32, "rca_{0-9a-f:64}"),
    prefixed("sindri-key", "Sindri", "sindri_", ALNUM, 24, "sindri_{A-Za-z0-9:32}"),
    prefixed("val-town-token", "Val Town", "vtwn_", ALNUM, 24, "vtwn_{A-Za-z0-9:27}"),
    prefixed("zenhub-key", "Zenhub", "zh_", HEX, 40, "zh_{0-9a-f:64}"),
    prefixed("yandex-captcha-key", "Yandex Cloud", "ysc[12]_", ALNUM, 40, "ysc2_{A-Za-z0-9:48}"),
    prefixed("tripo-key", "Tripo", "tsk_", URL, 43, "tsk_{A-Za-z0-9_-:42}7"),
    prefixed("meshy-key", "Meshy", "msy_", ALNUM, 36, "msy_{A-Za-z0-9:40}"),
    prefixed("braintrust-token", "Braintrust", "bt-st-", ALNUM, 40, "bt-st-{A-Za-z0-9:48}", before=NOT_IN_A_SLUG),
    prefixed("humanloop-key", "Humanloop", "hl_sk_", HEX, 40, "hl_sk_{0-9a-f:48}"),
    prefixed("appwrite-key", "Appwrite", "(?:standard|dynamic)_", HEX, 128, "standard_{0-9a-f:256}"),
    prefixed("revolut-token", "Revolut", "(?:oa|sand)_(?:prod|sand)_", URL, 40, "oa_prod_{A-Za-z0-9_-:42}7"),
    prefixed("codesandbox-token", "CodeSandbox", "csb_v[0-9]_", URL, 40, "csb_v1_{A-Za-z0-9_-:42}7"),
    prefixed("twitch-chat-token", "Twitch", "oauth:", "a-z0-9", 30, "oauth:{a-z0-9:30}"),
    prefixed(
        "chutes-key",
        "Chutes",
        r"cpk_[0-9a-f]{32}\.(?:[0-9a-f]{32}\.)?",
        ALNUM,
        32,
        "cpk_{0-9a-f:32}.{0-9a-f:32}.{A-Za-z0-9:32}",
    ),
    prefixed("checkout-key", "Checkout.com", "sk_sbox_", "a-z0-9*#$=", 26, "sk_sbox_{a-z0-9:28}"),
    prefixed(
        "minisign-key", "minisign", "RWRTY0Iy", "A-Za-z0-9+/=", 120, "RWRTY0Iy{A-Za-z0-9+/:200}", before=NOT_IN_BASE64
    ),
    prefixed(
        "iron-session-seal",
        "iron-session",
        r"Fe26\.2\*",
        "A-Za-z0-9*_-",
        120,
        "Fe26.2*1*{0-9a-f:64}*{A-Za-z0-9_-:22}*{A-Za-z0-9_-:80}7",
    ),
    prefixed(
        "secret-token-uri",
        "RFC 8959",
        "secret-token:",
        URL,
        20,
        "secret-token:acme_production_rma_{A-Za-z0-9:40}",
        before=NOT_IN_A_SLUG,
    ),
)
