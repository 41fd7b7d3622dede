"""Payment, commerce, banking and coins."""

from __future__ import annotations

from random import Random

from collector.redact.formats import checksums
from collector.redact.formats.by_name import by_name
from collector.redact.formats.shapes import (
    A_SHA256,
    A_UUID,
    HEX64,
    NOT_IN_A_NAME,
    NOT_IN_BASE64,
    UUID,
    has_digit,
    is_mixed,
)
from collector.redact.rule import Rule


def _wif(chance: Random) -> str:
    return checksums.with_base58check(b"\x80" + chance.randbytes(32) + b"\x01")


def _xprv(chance: Random) -> str:
    return checksums.with_base58check(bytes.fromhex("0488ade4") + chance.randbytes(74))


def _stellar(chance: Random) -> str:
    return checksums.with_stellar(chance.randbytes(32))


def _nostr(chance: Random) -> str:
    return checksums.with_bech32("nsec", "".join(chance.choices(checksums.BECH32, k=52)))


PAYMENT = (
    Rule(
        "stripe-key",
        "Stripe, Paystack, Clerk, WorkOS",
        r"(?:sk|rk)_(?:live|test|prod|sbox|org|example)_[A-Za-z0-9_]{10,300}",
        before=NOT_IN_A_NAME,
        check=has_digit,
        examples=(
            "sk_live_{A-Za-z0-9:24}",
            "sk_test_{A-Za-z0-9:99}",
            "rk_live_{A-Za-z0-9:99}",
            "sk_live_{0-9a-f:40}",
        ),
        near_misses=(
            "sk_live_{A-Za-z0-9:6}",
            "pk_live_{A-Za-z0-9:24}",
            "risk_live_{A-Za-z0-9:24}",
            "sk_test_account_handler",
        ),
    ),
    Rule(
        "webhook-signing-secret",
        "Stripe, Svix, OpenAI, Clerk",
        r"whsec_[A-Za-z0-9+/]{16,120}={0,2}",
        check=has_digit,
        examples=("whsec_{A-Za-z0-9:32}", "whsec_{A-Za-z0-9+/:43}="),
        near_misses=("whsec_{A-Za-z0-9:8}",),
    ),
    Rule(
        "stripe-client-secret",
        "Stripe",
        r"(?:pi|seti|cs|src)_[A-Za-z0-9_]{14,120}_secret_[A-Za-z0-9]{16,100}",
        before=NOT_IN_A_NAME,
        examples=("pi_{A-Za-z0-9:24}_secret_{A-Za-z0-9:25}", "seti_{A-Za-z0-9:24}_secret_{A-Za-z0-9:25}"),
        near_misses=("pi_{A-Za-z0-9:24}", "api_{A-Za-z0-9:24}_secret_{A-Za-z0-9:25}"),
    ),
    Rule(
        "square-token",
        "Square",
        r"sq0(?:atp|csp|ip|rfs)-[A-Za-z0-9_-]{22,60}",
        examples=("sq0atp-{A-Za-z0-9_-:22}", "sq0csp-{A-Za-z0-9_-:43}"),
        near_misses=("sq0atp-{A-Za-z0-9:8}", "sq0idp-{A-Za-z0-9:22}"),
    ),
    Rule(
        "square-access-token",
        "Square",
        r"EAAA[A-Za-z0-9+/=_-]{60}",
        before="0-9A-Za-z+/_-",
        after="0-9A-Za-z+/=_-",
        check=is_mixed,
        examples=("EAAAE{A-Za-z0-9_-:59}", "EAAAl{A-Za-z0-9_-:59}"),
        near_misses=("EAAAE{A-Za-z0-9:20}", "EAAAE{A-Za-z0-9:90}"),
    ),
    Rule(
        "braintree-token",
        "PayPal Braintree",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-z]{32}",
        examples=("access_token$production${0-9a-z:16}${0-9a-f:32}", "access_token$sandbox${0-9a-z:16}${0-9a-f:32}"),
        near_misses=("access_token$production${0-9a-z:6}", "access_token$foo${0-9a-z:16}${0-9a-f:32}"),
    ),
    by_name("paypal-secret", "PayPal", "paypal", "E[A-Za-z0-9_-]{60,90}", "E{A-Za-z0-9_-:78}z", name="CLIENT_SECRET"),
    Rule(
        "adyen-key",
        "Adyen",
        r"AQE[A-Za-z0-9+/]{20,200}={0,2}-[A-Za-z0-9+/]{20,120}={0,2}-[A-Za-z0-9!#$%&()*+,./:;<=>?@\[\]^_{|}~-]{16}",
        before=NOT_IN_BASE64,
        after="",
        examples=("AQE{A-Za-z0-9:50}+{A-Za-z0-9:40}-{A-Za-z0-9+/:43}=-{A-Za-z0-9^:16}",),
        near_misses=("AQE{A-Za-z0-9:50}", "AQE{A-Za-z0-9:50}-{A-Za-z0-9:8}"),
    ),
    Rule(
        "razorpay-key",
        "Razorpay",
        r"rzp_(?:live|test)_[A-Za-z0-9]{14,24}",
        examples=("rzp_live_{A-Za-z0-9:14}", "rzp_test_{A-Za-z0-9:14}"),
        near_misses=("rzp_live_{A-Za-z0-9:6}",),
    ),
    Rule(
        "plaid-token",
        "Plaid",
        rf"(?:access|public|processor|link)-(?:sandbox|development|production)-{UUID}",
        examples=(f"access-production-{A_UUID}", f"link-sandbox-{A_UUID}"),
        near_misses=("access-production-{0-9a-f:8}", f"access-staging-{A_UUID}"),
    ),
    by_name("plaid-secret", "Plaid", "plaid", "[0-9a-f]{30}", "{0-9a-f:30}", name="SECRET"),
    by_name(
        "coinbase-secret", "Coinbase", "coinbase|cb_", "[A-Za-z0-9+/]{16,88}={0,2}", "{A-Za-z0-9:32}", name="API_SECRET"
    ),
    Rule(
        "flutterwave-key",
        "Flutterwave",
        r"FLW(?:SEC|PUB)K(?:_TEST|_LIVE|_PROD)?-[0-9A-Za-z]{12,64}(?:-X)?",
        examples=("FLWSECK-{0-9a-f:32}-X", "FLWSECK_TEST-{0-9a-f:32}-X", "FLWSECK_TEST-{0-9a-f:12}"),
        near_misses=("FLWSECK-{0-9a-f:4}", "AFLWSECK-{0-9a-f:32}-X"),
    ),
    Rule(
        "shopify-token",
        "Shopify",
        r"shp(?:at|ss|ca|pa|ua|tka|rt|it)_[0-9a-zA-Z]{24,64}",
        examples=("shpat_{0-9a-f:32}", "shpss_{0-9a-f:32}", "shpca_{0-9a-f:32}", "shppa_{0-9a-f:32}"),
        near_misses=("shpat_{0-9a-f:8}", "ashpat_{0-9a-f:32}"),
    ),
    Rule(
        "mollie-key",
        "Mollie",
        r"(?:live|test)_[A-Za-z0-9]{30,40}",
        before=NOT_IN_A_NAME,
        check=is_mixed,
        examples=("live_{A-Za-z0-9:30}", "test_{A-Za-z0-9:30}"),
        near_misses=("test_{a-z:8}_{a-z:12}", "sk_test_{A-Za-z0-9:30}", "live_{A-Za-z0-9:12}"),
    ),
    Rule(
        "gocardless-token",
        "GoCardless",
        r"(?:live|sandbox)_[A-Za-z0-9_-]{40}",
        keywords=("gocardless", "gc_"),
        before=NOT_IN_A_NAME,
        examples=("GOCARDLESS_ACCESS_TOKEN=live_{A-Za-z0-9_-:39}z",),
        near_misses=("sandbox_{A-Za-z0-9_-:39}z", "gocardless sandbox_{a-z:9}"),
    ),
    Rule(
        "paddle-key",
        "Paddle",
        r"pdl_(?:(?:live|sdbx)_apikey|ntfset)_[a-z0-9]{26}_[A-Za-z0-9+/=]{20,60}(?:_[A-Za-z0-9]{3})?",
        examples=(
            "pdl_live_apikey_{a-z0-9:26}_{A-Za-z0-9:22}_{A-Za-z0-9:3}",
            "pdl_ntfset_{a-z0-9:26}_{A-Za-z0-9+/:32}",
        ),
        near_misses=("pdl_live_apikey_{a-z0-9:8}",),
    ),
    Rule(
        "mercado-pago-token",
        "Mercado Pago",
        r"(?:APP_USR|TEST)-[0-9]{10,20}-[0-9]{6}-[0-9a-f]{32}-[0-9]{6,12}",
        examples=("APP_USR-{0-9:16}-{0-9:6}-{0-9a-f:32}-{0-9:9}", "TEST-{0-9:16}-{0-9:6}-{0-9a-f:32}-{0-9:9}"),
        near_misses=("TEST-{0-9:6}-{0-9:6}", "APP_USR-{0-9:16}"),
    ),
    Rule(
        "omise-key",
        "Omise",
        r"skey_(?:test_)?[a-z0-9]{19,24}",
        examples=("skey_test_{a-z0-9:19}", "skey_{a-z0-9:19}"),
        near_misses=("skey_test_{a-z0-9:4}", "taskey_{a-z0-9:19}"),
    ),
    Rule(
        "xendit-key",
        "Xendit",
        r"xnd_(?:production|development)_[A-Za-z0-9+/=]{30,90}",
        examples=("xnd_production_{A-Za-z0-9:60}",),
        near_misses=("xnd_production_{A-Za-z0-9:6}", "xnd_public_{A-Za-z0-9:60}"),
    ),
    Rule(
        "midtrans-key",
        "Midtrans",
        r"(?:SB-)?Mid-server-[A-Za-z0-9_-]{20,40}",
        examples=("Mid-server-{A-Za-z0-9_-:23}z", "SB-Mid-server-{A-Za-z0-9_-:23}z"),
        near_misses=("Mid-server-{a-z:5}", "Mid-client-{A-Za-z0-9:24}"),
    ),
    Rule(
        "polar-token",
        "Polar",
        r"polar_(?:oat|pat|at_[uo]|rt_[uo]|cst|whs|wst|cs)_[A-Za-z0-9]{32,80}",
        examples=("polar_oat_{A-Za-z0-9:43}", "polar_at_u_{A-Za-z0-9:43}"),
        near_misses=("polar_oat_{A-Za-z0-9:6}",),
    ),
    Rule(
        "lob-key",
        "Lob",
        r"(?:live|test)_[0-9a-f]{35}",
        before=NOT_IN_A_NAME,
        examples=("live_{0-9a-f:35}", "test_{0-9a-f:35}"),
        near_misses=("test_{0-9a-f:12}", "latest_{0-9a-f:35}"),
    ),
    Rule(
        "shippo-token",
        "Shippo",
        r"shippo_(?:live|test)_[0-9a-f]{32,64}",
        examples=("shippo_live_{0-9a-f:40}",),
        near_misses=("shippo_live_{0-9a-f:8}",),
    ),
    Rule(
        "easypost-key",
        "EasyPost",
        r"EZ[AT]K[A-Za-z0-9]{54,64}",
        before=NOT_IN_BASE64,
        examples=("EZAK{A-Za-z0-9:54}", "EZTK{A-Za-z0-9:54}"),
        near_misses=("EZAK{A-Za-z0-9:12}",),
    ),
    Rule(
        "duffel-token",
        "Duffel",
        r"duffel_(?:live|test)_[A-Za-z0-9_=-]{40,64}",
        examples=("duffel_live_{A-Za-z0-9_-:42}z",),
        near_misses=("duffel_live_{a-z:8}",),
    ),
    by_name("binance-secret", "Binance", "binance", "[A-Za-z0-9]{64}", "{A-Za-z0-9:64}", name="API_SECRET"),
    by_name(
        "ethereum-private-key",
        "Ethereum",
        "private|deployer|wallet|mnemonic|eth_",
        f"0x{HEX64}",
        f"0x{A_SHA256}",
        telling="key|pk|account",
        name="KEY",
    ),
)

COINS = (
    Rule(
        "bitcoin-private-key",
        "Bitcoin",
        r"[5KL][1-9A-HJ-NP-Za-km-z]{50,51}",
        keywords=("wif", "priv", "bitcoin", "btc", "wallet"),
        reach=60,
        before=NOT_IN_BASE64,
        after="0-9A-Za-z+/=",
        check=checksums.base58check,
        examples=(lambda chance: f"importprivkey {_wif(chance)}", lambda chance: f"BTC_KEY={_wif(chance)}"),
        near_misses=("wif K{1-9A-HJ-NP-Za-km-z:51}", "btc L{1-9A-HJ-NP-Za-km-z:20}", _wif),
    ),
    Rule(
        "bitcoin-extended-private-key",
        "Bitcoin",
        r"[xyzt]prv[0-9A-Za-z]{100,112}",
        examples=(_xprv,),
        near_misses=("xprv{1-9A-HJ-NP-Za-km-z:20}", "xpub{1-9A-HJ-NP-Za-km-z:107}"),
    ),
    Rule(
        "stellar-secret-seed",
        "Stellar",
        r"S[A-Z2-7]{55}",
        keywords=("stellar", "soroban", "xlm", "secret", "seed"),
        reach=60,
        before=NOT_IN_BASE64,
        after="0-9A-Za-z+/=",
        check=checksums.stellar,
        examples=(lambda chance: f"STELLAR_SECRET={_stellar(chance)}", lambda chance: f"seed: {_stellar(chance)}"),
        near_misses=("seed S{A-Z2-7:55}", "stellar G{A-Z2-7:55}", _stellar),
    ),
    Rule(
        "nostr-private-key",
        "Nostr",
        r"nsec1[0-9a-z]{58}",
        examples=(_nostr,),
        near_misses=("nsec1{02-9ac-hj-np-z:12}", "npub1{02-9ac-hj-np-z:58}"),
    ),
)

PAYMENT_RULES = PAYMENT + COINS
