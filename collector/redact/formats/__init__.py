"""How the secrets of each provider look: one table of our own, written from what the providers publish.

A rule with a telling prefix takes the widest body that the prefix leaves plausible, so that a longer or newer token is
taken out whole. A format that is only hex digits or a uuid needs the provider's name beside it (`named`). A checksum,
where the format has one, makes a finding certain but never lets a prefixed token through; see `checksums`.
"""

from __future__ import annotations

from collector.redact.formats.ai import AI_RULES
from collector.redact.formats.apps import APPS_RULES
from collector.redact.formats.chat import CHAT_RULES
from collector.redact.formats.cloud import CLOUD_RULES
from collector.redact.formats.code import CODE_RULES
from collector.redact.formats.data import DATA_RULES
from collector.redact.formats.hosting import HOSTING_RULES
from collector.redact.formats.identity import IDENTITY_RULES
from collector.redact.formats.mail import MAIL_RULES
from collector.redact.formats.monitoring import MONITORING_RULES
from collector.redact.formats.packages import PACKAGE_RULES
from collector.redact.formats.payment import PAYMENT_RULES
from collector.redact.formats.prefixed import PREFIXED_RULES
from collector.redact.formats.selfhosted import SELF_HOSTED_RULES
from collector.redact.formats.services import SERVICE_RULES
from collector.redact.rule import Rule

PROVIDER_RULES: tuple[Rule, ...] = (
    *CLOUD_RULES,
    *HOSTING_RULES,
    *CODE_RULES,
    *PACKAGE_RULES,
    *AI_RULES,
    *CHAT_RULES,
    *PAYMENT_RULES,
    *MAIL_RULES,
    *MONITORING_RULES,
    *DATA_RULES,
    *IDENTITY_RULES,
    *APPS_RULES,
    *SELF_HOSTED_RULES,
    *SERVICE_RULES,
    *PREFIXED_RULES,
)
