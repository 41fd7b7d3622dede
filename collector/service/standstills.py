"""Notices in the long run when nothing may leave, and when that is over.

In: the settings and the flow in force. Out: whether to stand still now. Each change is logged once. When it is over,
what a person has asked to leave out is left out before anything else happens.
"""

from __future__ import annotations

from collector.errors import StateError
from collector.keeping.pause import is_asked_to_leave_out, standstill
from collector.log import get_logger
from collector.pipeline import Flow, leave_out_unsent
from collector.settings import Settings

log = get_logger()
LOOK_AGAIN_SECONDS = 2.0


class Standstills:
    """What was last found."""

    def __init__(self) -> None:
        self.reason = ""

    def has_changed(self, settings: Settings, flow: Flow, now: float) -> bool:
        """Looks again; whether it is another reason than the last time, or none any more."""
        found = standstill(settings, now)
        before, self.reason = self.reason, str(found) if found else _left_out(flow)
        if self.reason == before:
            return False
        log.info("nothing is sent" if self.reason else "sending again", reason=self.reason or "no longer paused")
        return True


def _left_out(flow: Flow) -> str:
    """Leaves out what a person has asked to; returns why nothing may be sent before that has worked."""
    if is_asked_to_leave_out(flow.state.path):
        try:
            leave_out_unsent(flow)
        except StateError as error:  # no failure of the disk ends the run: it is tried again at the next look
            return str(error)
    return ""
