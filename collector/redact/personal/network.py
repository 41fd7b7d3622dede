"""Addresses of machines on the network: IP addresses that lead to somebody, and those of network cards."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from itertools import pairwise

from collector.redact.lazy import regex
from collector.redact.rule import Rule, Spans

# Everybody's: name servers that documents and configurations mention.
_PUBLIC = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "149.112.112.112", "1.2.3.4", "4.4.4.4"})
_VERSION_BEFORE = regex(rb"(?:version|ver|release|build|v|==|~=|>=|<=|\^|~|[A-Za-z]/|@)[\s\"':=]{0,4}\Z", re.IGNORECASE)
_ADDRESS_BEFORE = regex(
    rb"(?:ip|addr|address|host|client|from|remote|server|peer|://|ssh|ping|inet)\b[^\n]{0,24}\Z", re.IGNORECASE
)
SMALL = 40  # four numbers that are all below this may be a version


def ipv4_only(text: bytes, match: re.Match[bytes], start: int, _stop: int) -> Spans:
    """A public address that is not a version."""
    try:
        address = ipaddress.IPv4Address(match[0].decode("ascii"))
    except ValueError:
        return []
    before = text[max(start, match.start() - 32) : match.start()]
    if not address.is_global or address.is_multicast or str(address) in _PUBLIC or _VERSION_BEFORE.search(before):
        return []
    is_small = all(int(part) < SMALL for part in match[0].split(b"."))
    return [] if is_small and not _ADDRESS_BEFORE.search(before) else [match.span()]


def is_ipv6(secret: str) -> bool:
    """Whether this is a public address written in at least three groups."""
    try:
        address = ipaddress.IPv6Address(secret)
    except ValueError:
        return False
    is_public = address.is_global and secret[0] in "23" and not secret.lower().startswith("2001:db8:")
    return is_public and len([group for group in secret.split(":") if group]) > 2


IP_RULES = (
    Rule(
        provider="personal",
        id="ip-address",
        pattern=r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}",
        locate=ipv4_only,
        around=(32, 0),
        before="0-9A-Za-z_.+-",
        after="0-9A-Za-z_.-",
        about="a public IP address",
        examples=("client 8{1-7:1}.17{0-9:1}.4{0-9:1}.20{0-9:1}", "ssh 93.18{0-9:1}.2{0-4:1}.7{0-9:1}:"),
        near_misses=("127.0.0.1", "192.168.1.{1-9:2}", "Chrome/120.0.99.71", "version 93.184.21.3", "10.0.0.1"),
    ),
    Rule(
        provider="personal",
        id="ip-address-v6",
        pattern=r"[23][0-9a-fA-F]{3}(?::{1,2}[0-9a-fA-F]{1,4}){2,7}",
        check=is_ipv6,
        before="0-9A-Za-z_.:-",
        after="0-9A-Za-z_:",
        about="a public IP address",
        examples=(
            "2a02:8{0-9:2}1:{1-9a-f:4}::{1-9a-f:3}",
            "2600:1f{1-9:2}:4{0-9a-f:3}:8{0-9a-f:3}:{1-9a-f:4}:{1-9a-f:4}:{1-9a-f:4}:{1-9a-f:4}",
        ),
        near_misses=("2001:db8::7:1", "2024:01:02", "fe80::{1-9a-f:4}:1"),
    ),
)


def is_card(secret: str) -> bool:
    """Whether this is the address of a single card: not a group's, an example in sequence, or part of a fingerprint."""
    octets = [int(octet, 16) for octet in re.split("[:-]", secret)]
    is_group, is_example = octets[0] & 1, octets[:3] == [0x00, 0x00, 0x5E]
    is_in_a_row = len({(after - before) % 256 for before, after in pairwise(octets)}) == 1
    return not (is_group or is_example or is_in_a_row) and max(Counter(octets).values()) < 4


MAC_RULES = (
    Rule(
        provider="personal",
        id="mac-address",
        pattern=r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}",
        check=is_card,
        before="0-9A-Za-z_:.-",
        after="0-9A-Za-z_:-",
        about="the address of a network card",
        examples=("ether 3c:22:fb:{1-9a-f:2}:0{1-9:1}:{1-9a-f:2}", "A4-83-E7-{1-9A-F:2}-1{0-9:1}-{1-9A-F:2}"),
        near_misses=("00:11:22:33:44:55", "ff:ff:ff:ff:ff:ff", "aa:bb:cc:dd:ee:ff", "12:30:45"),
    ),
)
