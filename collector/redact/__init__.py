"""Takes secrets out of events before anything else sees them; DESIGN section 8.

    segments (all strings as one text) -> engines (where may a rule match) -> matching (where does it) -> copies
    (every place of a found value) -> marker; seal is the gate the pipeline uses, withhold what is left when it fails.

table.py holds the rules: providers (formats), private_keys, headers, assigned (values beside a telling name).
"""

from collector.redact.findings import Finding
from collector.redact.redactor import Options, Redactor, TooMany
from collector.redact.scan.matching import TimeOut
from collector.redact.seal import seal, to_quarantine

__all__ = ["Finding", "Options", "Redactor", "TimeOut", "TooMany", "seal", "to_quarantine"]
