"""Takes secrets out of events before anything else sees them. docs/redaction.md describes it.

The way of an event: seal -> redactor -> segments (all its strings as one text) -> engines (where may a rule match) ->
matching (where does one) -> copies (every place of a found value) -> marker. The sub-rooms, and what each may import
(tests/redact/test_sub_rooms.py has it in detail):

    seal, withhold, redactor, copies, ...     one event
      own_rules     rules from the configuration, tried before use     -> scan
      disguises     texts in colours, in pieces, encoded, taken apart      -> words
      session       what one event tells about later ones              -> words
      all_rules     all other rules, together                          -> structures, formats
        structures  places that give a secret away                     -> formats, words
        formats     what each provider's secrets look like             -> words
      personal      personal data, where somebody asks for it          -> nothing
      scan          where a rule may match, and where it does          -> words
        words       judging names and values                           -> nothing

rule (what a rule is) and marker (what stands where a secret stood) are open to all but words.
"""

from collector.redact.findings import Finding
from collector.redact.redactor import Options, Redactor, TooMany
from collector.redact.scan.matching import TimeOut
from collector.redact.seal import seal, to_quarantine
from collector.redact.structures.identity import names_of

__all__ = ["Finding", "Options", "Redactor", "TimeOut", "TooMany", "names_of", "seal", "to_quarantine"]
