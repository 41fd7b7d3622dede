"""Personal data: an optional family of rules (`redaction.personal`), off unless asked for.

Precise before complete: a number is taken out where its checksum, the length numbers have in its country or a word
beside it says what it is. Names, addresses and dates of birth have no shape, so no rule here finds them;
docs/redaction.md says so.
"""

from __future__ import annotations

from collector.redact.personal.contacts import ACCOUNT_RULES, EMAIL_RULES, PHONE_RULES
from collector.redact.personal.money import CARD_RULES, IBAN_RULES
from collector.redact.personal.national import NATIONAL_RULES
from collector.redact.personal.network import IP_RULES, MAC_RULES
from collector.redact.rule import Rule

PERSONAL_RULES: dict[str, tuple[Rule, ...]] = {
    "email": EMAIL_RULES,
    "phone": PHONE_RULES,
    "card": CARD_RULES,
    "iban": IBAN_RULES,
    "national_id": NATIONAL_RULES,
    "ip": IP_RULES,
    "mac": MAC_RULES,
    "account": ACCOUNT_RULES,
}

__all__ = ["PERSONAL_RULES"]
