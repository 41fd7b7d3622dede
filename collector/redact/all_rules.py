"""All rules in one table: the formats of providers, and the structures secrets stand in."""

from __future__ import annotations

from collector.redact.formats import PROVIDER_RULES
from collector.redact.rule import Rule
from collector.redact.structures.answers import ANSWER_RULES
from collector.redact.structures.assigned import ASSIGNED_RULES
from collector.redact.structures.calls import CALL_RULES
from collector.redact.structures.capital_labels import CAPITAL_LABEL_RULES
from collector.redact.structures.credentials import CREDENTIAL_RULES
from collector.redact.structures.dialogs import DIALOG_RULES
from collector.redact.structures.inserted import INSERTED_RULES
from collector.redact.structures.kept_cookies import KEPT_COOKIE_RULES
from collector.redact.structures.logins import LOGIN_RULES
from collector.redact.structures.manifests import MANIFEST_RULES
from collector.redact.structures.private_keys import PRIVATE_KEY_RULES
from collector.redact.structures.queries import QUERY_RULES
from collector.redact.structures.recovery_codes import RECOVERY_CODE_RULES
from collector.redact.structures.stores import STORE_RULES
from collector.redact.structures.systems import SYSTEM_RULES
from collector.redact.structures.tables import TABLE_RULES
from collector.redact.structures.told import TOLD_RULES
from collector.redact.structures.told_words import TOLD_WORD_RULES
from collector.redact.structures.tools import TOOL_RULES
from collector.redact.structures.typed import TYPED_RULES
from collector.redact.structures.urls import URL_RULES

STRUCTURAL_RULES: tuple[Rule, ...] = (
    *PRIVATE_KEY_RULES,
    *MANIFEST_RULES,
    *URL_RULES,
    *CREDENTIAL_RULES,
    *LOGIN_RULES,
    *DIALOG_RULES,
    *QUERY_RULES,
    *ASSIGNED_RULES,
    *CAPITAL_LABEL_RULES,
    *TOOL_RULES,
    *CALL_RULES,
    *SYSTEM_RULES,
    *ANSWER_RULES,
    *RECOVERY_CODE_RULES,
    *TYPED_RULES,
    *STORE_RULES,
    *TOLD_RULES,
    *TOLD_WORD_RULES,
    *TABLE_RULES,
    *INSERTED_RULES,
    *KEPT_COOKIE_RULES,
)
RULES: tuple[Rule, ...] = (*PROVIDER_RULES, *STRUCTURAL_RULES)
