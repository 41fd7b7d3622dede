"""Samples that no template can describe, because they end in a checksum or are encoded."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from random import Random

from collector.redact.formats.checksums import (
    BASE62,
    BECH32,
    crc32_base36,
    crc32_base62,
    crc32_grafana,
    with_base58check,
    with_bech32,
    with_stellar,
)


def github(chance: Random) -> str:
    body = "".join(chance.choices(BASE62, k=30))
    return f"gh{chance.choice('pousr')}_{body}{crc32_base62(body)}"


def gitlab_routable(chance: Random) -> str:
    payload = "".join(chance.choices(BASE62, k=44))
    return f"glpat-{payload}.01.18" + crc32_base36(f"glpat-{payload}.01.18")


def npm(chance: Random) -> str:
    body = "".join(chance.choices(BASE62, k=30))
    return f"npm_{body}{crc32_base62(body)}"


def grafana(chance: Random) -> str:
    signed = "glsa_" + "".join(chance.choices(BASE62, k=32))
    return f"{signed}_{crc32_grafana(signed)}"


def age(chance: Random) -> str:
    return with_bech32("age-secret-key-", "".join(chance.choices(BECH32, k=52))).upper()


def nostr(chance: Random) -> str:
    return with_bech32("nsec", "".join(chance.choices(BECH32, k=52)))


def wif(chance: Random) -> str:
    """A Bitcoin private key, in the format that wallets import."""
    return with_base58check(b"\x80" + chance.randbytes(32) + b"\x01")


def xprv(chance: Random) -> str:
    """An extended private key of Bitcoin."""
    return with_base58check(bytes.fromhex("0488ade4") + chance.randbytes(74))


def stellar(chance: Random) -> str:
    return with_stellar(chance.randbytes(32))


def docker_auth(chance: Random) -> str:
    """What Docker's configuration stores for a registry."""
    password = "".join(chance.choices(BASE62, k=24))
    return '"auth": "' + b64encode(f"acme:{password}".encode()).decode()


def behind(words: str, made: Callable[[Random], str]) -> Callable[[Random], str]:
    """Such a sample after words that say what it is."""
    return lambda chance: words + made(chance)
