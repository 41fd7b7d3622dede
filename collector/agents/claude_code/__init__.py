"""Normalize: one parsed line in, exactly one event or one skip out. Pure and total: no JSON object makes it raise.

Start at `event` in dispatch.py. To teach it a new record type, write a handler beside the ones it resembles
(message, attachment, request, bookkeeping, sources) and enter it in the table there.
"""

from __future__ import annotations

from collector.agents.claude_code.context import Context
from collector.agents.claude_code.dispatch import event

__all__ = ["Context", "event"]
