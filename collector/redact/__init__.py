"""Takes secrets out of events before anything else sees them; docs/redaction.md describes how.

An event goes through seal -> redactor -> segments (all its strings as one text) -> engines (where may a rule match) ->
matching (where does one) -> copies (everywhere else a found value stands) -> marker. The sub-rooms, and what each may
import (tests/redact/test_sub_rooms.py has the details):

    seal, withhold, redactor, copies, ...     one event
      own_rules     rules from the configuration, tried before use     -> scan
      disguises     coloured, split, wrapped and encoded texts         -> words
      session       what one event reveals about later ones            -> words
      all_rules     all other rules, together                          -> structures, formats
        structures  places that give a secret away                     -> formats, words
        formats     what each provider's secrets look like             -> words
      personal      personal data, for those who ask for it            -> nothing
      scan          where a rule may match, and where it does          -> words
        words       judging names and values                           -> nothing

Everything may import lazy (regular expressions), and everything but words also rule (what a rule is) and marker (what
replaces a secret).
"""

from collector.redact.findings import Finding
from collector.redact.redactor import Options, Redactor, TooMany
from collector.redact.scan.matching import TimeOut
from collector.redact.seal import seal, to_quarantine
from collector.redact.structures.identity import names_of

__all__ = ["Finding", "Options", "Redactor", "TimeOut", "TooMany", "names_of", "seal", "to_quarantine"]
