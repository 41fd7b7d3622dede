"""What each provider's secrets look like: the table (providers.py), and the builders and functions its rows refer to.

Not here: how names and prose are judged (words), and the places in a text that give a secret away (structures).
"""

from __future__ import annotations

from collector.redact.formats.providers import PROVIDERS
from collector.redact.rule import Rule

# When two rules find the same characters, the earlier one gives the marker its name, and fleets count by that name.
# These overlap with rules that the alphabet would put behind them, so they come last, in this order.
GIVE_WAY = (
    "liveblocks-key",
    "unknown-secret-key",
    "unknown-service-token",
    "atlassian-token",
    "checkout-key",
    "docker-config-auth",
    "gitbook-token",
    "gocardless-token",
    "pagarme-key",
    "pyx-key",
    "revolut-token",
    "samsara-token",
)

PROVIDER_RULES: tuple[Rule, ...] = tuple(
    sorted(PROVIDERS, key=lambda rule: GIVE_WAY.index(rule.id) + 1 if rule.id in GIVE_WAY else 0)
)
