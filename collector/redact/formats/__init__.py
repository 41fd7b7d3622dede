"""What each provider's secrets look like: the table (providers.py), and the builders and functions its rows use.

Not here: how names and prose are judged (words), and the places in a text that give a secret away (structures).
"""

from __future__ import annotations

from collector.redact.formats.providers import PROVIDERS
from collector.redact.rule import Rule

# When two rules find the same characters, the earlier one names the marker, and fleets count by that name. These
# overlap with a rule that comes after them in the alphabet, so they are put last, in this order.
GIVE_WAY = {
    "liveblocks-key": "stripe-key",
    "unknown-secret-key": "stripe-key",
    "unknown-service-token": "stripe-key",
    "atlassian-token": "bitbucket-access-token",
    "checkout-key": "stripe-key",
    "docker-config-auth": "npmrc-credential",
    "gitbook-token": "unknown-service-token",
    "gocardless-token": "mollie-key",
    "pagarme-key": "unknown-service-token",
    "pyx-key": "unknown-secret-key",
    "revolut-token": "unknown-service-token",
    "samsara-token": "unknown-service-token",
}

_rank = {rule_id: number for number, rule_id in enumerate(GIVE_WAY, 1)}
PROVIDER_RULES: tuple[Rule, ...] = tuple(sorted(PROVIDERS, key=lambda rule: _rank.get(rule.id, 0)))
