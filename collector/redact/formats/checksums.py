"""The checksums in public token formats: whether a token's is right, and the right one for a sample.

A failing checksum never lets a token with a telling prefix through: the token may be mistyped, made up for a test or of
a newer version of the format, and redacting it costs nothing. One that holds makes a finding certain, and `redact
--explain` says so. Only where the shape says little (wallet keys) does the checksum decide, as a row's `check`.
"""

from __future__ import annotations

import hashlib
import zlib

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"


def in_base(number: int, digits: str, width: int) -> str:
    """A number in the base of these digits, padded with zeros."""
    text = ""
    while number:
        number, digit = divmod(number, len(digits))
        text = digits[digit] + text
    return text.rjust(width, digits[0])


def _crc32(text: str) -> int:
    return zlib.crc32(text.encode("ascii", "replace"))  # what is not ASCII is not a token either


def crc32_base62(body: str) -> str:
    """The six characters at the end of GitHub's and npm's tokens."""
    return in_base(_crc32(body), BASE62, 6)


def github(token: str) -> bool:
    """`ghp_`, `gho_`, `ghu_`, `ghs_`, `ghr_` and `npm_`: four characters, thirty at random, six of checksum."""
    return len(token) == 40 and crc32_base62(token[4:-6]) == token[-6:]


def crc32_base36(signed: str) -> str:
    """The seven characters at the end of GitLab's routable tokens, computed over everything before them."""
    return in_base(_crc32(signed), BASE36, 7)


def gitlab(token: str) -> bool:
    """Routable tokens (`glpat-<payload>.01.<length><checksum>`); older ones have no checksum."""
    return "." in token and crc32_base36(token[:-7]) == token[-7:]


def crc32_grafana(signed: str) -> str:
    """The eight hex characters at the end of `glsa_` tokens: the bytes of the checksum, lowest first."""
    return _crc32(signed).to_bytes(4, "little").hex()


def grafana(token: str) -> bool:
    """`glsa_<32 characters>_<checksum>`."""
    signed, _, checksum = token.rpartition("_")
    return crc32_grafana(signed) == checksum


def _base58_bytes(text: str) -> bytes:
    number = 0
    for character in text:
        number = number * 58 + BASE58.index(character)
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def base58check(text: str) -> bool:
    """Bitcoin's private keys (WIF) and extended private keys: four bytes of a double SHA-256 at the end."""
    if any(character not in BASE58 for character in text):
        return False
    whole = _base58_bytes(text)
    return hashlib.sha256(hashlib.sha256(whole[:-4]).digest()).digest()[:4] == whole[-4:]


def with_base58check(payload: bytes) -> str:
    """A payload as base58 with its checksum."""
    whole = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    return in_base(int.from_bytes(whole, "big"), BASE58, 0)


def _bech32_polymod(values: list[int]) -> int:
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            if top >> bit & 1:
                remainder ^= generator
    return remainder


def _bech32_prefix(prefix: str) -> list[int]:
    return [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]


def bech32(text: str) -> bool:
    """age identities and nostr keys (BIP 173)."""
    prefix, _, data = text.lower().rpartition("1")
    if not prefix or any(character not in BECH32 for character in data):
        return False
    return _bech32_polymod(_bech32_prefix(prefix) + [BECH32.index(c) for c in data]) == 1


def with_bech32(prefix: str, data: str) -> str:
    """Data in bech32's alphabet, with its checksum, in lower case."""
    values = _bech32_prefix(prefix) + [BECH32.index(c) for c in data] + [0] * 6
    remainder = _bech32_polymod(values) ^ 1
    return f"{prefix}1{data}" + "".join(BECH32[remainder >> 5 * (5 - place) & 31] for place in range(6))


def _crc16_xmodem(content: bytes) -> int:
    remainder = 0
    for byte in content:
        remainder ^= byte << 8
        for _ in range(8):
            remainder = (remainder << 1 ^ 0x1021 if remainder & 0x8000 else remainder << 1) & 0xFFFF
    return remainder


def stellar(seed: str) -> bool:
    """Stellar's secret seeds: base32 of a version byte, 32 bytes and a CRC-16, lowest byte first."""
    if len(seed) != 56 or any(character not in BASE32 for character in seed):
        return False
    number = 0
    for character in seed:
        number = number * 32 + BASE32.index(character)
    whole = number.to_bytes(35, "big")
    return _crc16_xmodem(whole[:-2]).to_bytes(2, "little") == whole[-2:]


def with_stellar(key: bytes) -> str:
    """32 bytes as a Stellar seed."""
    signed = bytes([18 << 3]) + key
    whole = signed + _crc16_xmodem(signed).to_bytes(2, "little")
    return in_base(int.from_bytes(whole, "big"), BASE32, 56)
