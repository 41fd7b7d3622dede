"""Notices during the long run when nothing may be sent, and when that is over.

In: the settings and the flow in force, and whether newer settings could not be applied. Out: whether to stand still
now. Each change is logged once. When a standstill is over, anything that a person asked to leave out is left out before
anything is sent.
"""

from __future__ import annotations

from collector.errors import StateError
from collector.keeping.pause import is_asked_to_leave_out, standstill
from collector.leaving_out import leave_out_unsent
from collector.log import get_logger
from collector.pipeline import Flow
from collector.settings import Settings

log = get_logger()
LOOK_AGAIN_SECONDS = 2.0
OUTDATED = "the configuration that cannot be applied may say what must not be sent"


class Standstills:
    """The current reason for standing still, if any."""

    def __init__(self) -> None:
        self.reason = ""

    def has_changed(self, settings: Settings, flow: Flow, now: float, *, is_outdated: bool = False) -> bool:
        """Looks again. Returns whether the reason differs from the last one, or is gone."""
        found = standstill(settings, now) or (OUTDATED if is_outdated else None)
        before, self.reason = self.reason, str(found) if found else _left_out(flow)
        if self.reason == before:
            return False
        if self.reason:
            log.info("nothing is sent", reason=self.reason)
        else:
            log.info("sending again", was=before)
        return True


def _left_out(flow: Flow) -> str:
    """Leaves out unsent data if a person asked for that. If that fails, returns why nothing may be sent yet."""
    try:
        if is_asked_to_leave_out(flow.state.path):
            leave_out_unsent(flow.scope, flow.held, flow.committer)
    except StateError as error:  # a failing disk must not end the run: the next look tries again
        return str(error)
    return ""
