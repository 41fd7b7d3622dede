"""Everything that can go wrong on purpose, each with its exit code.

    CollectorError                  1
      ConfigurationError           78   a person must edit something
      RootNotFound                  1   there is nothing to read
      RootDeleted                   1   a sandbox shows a root that is gone; a new start sees what took its place
      SourceError                   1   reading a source failed part of the way
      SkipSource                    1   a source is not read in this pass, for a reason that is counted
      StateError                    1   the state cannot be read or written
        StateLocked                 1   another agent holds it
      SinkError                    75
        SinkUnavailable            75   it was still failing when the time to wait was over
        SinkHalted                 75   it answers, but a person must act: token, URL, certificate
      Stopped                       3   a stop was requested while something was in flight

A message says what failed and where, what the agent does next, and what a person can do. It never holds a secret.
"""

from __future__ import annotations


class CollectorError(Exception):
    """The root of the hierarchy; `exit_code` is what the process ends with."""

    exit_code = 1


class ConfigurationError(CollectorError):
    """A setting is missing, unknown or wrong."""

    exit_code = 78


class RootNotFound(CollectorError):
    """None of the roots exists."""


class RootDeleted(CollectorError):
    """A root was deleted, and this process will never see what takes its place."""


class SourceError(CollectorError):
    """A source could not be read to its end. What was read before that counts."""


class SkipSource(CollectorError):
    """A file is not read in this pass. `reason` is what the ledger counts it under."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class StateError(CollectorError):
    """The state cannot be read or written."""


class StateLocked(StateError):
    """Another agent is working on the same state."""


class SinkError(CollectorError):
    """The sink did not acknowledge."""

    exit_code = 75


class SinkUnavailable(SinkError):
    """The sink kept failing until the time to wait was over."""


class SinkHalted(SinkError):
    """The sink answers, but refuses until a person acts."""


class Stopped(CollectorError):
    """A stop was requested while something was in flight. None of that was committed."""

    exit_code = 3
