"""Every error the agent raises on purpose, each with its exit code.

    CollectorError                  1
      ConfigurationError           78   a person must edit something
        SinkRemoved                78   it no longer names the sink of an agent that is running
      RootNotFound                 66   there is nothing to read: no root exists
        NotARoot                   65   the named directory exists, but no coding agent keeps its files in it
      RootDeleted                   1   the sandbox still shows a deleted root; only a restart sees its replacement
      SourceError                   1   reading a source failed partway through
      SkipSource                    1   a source is not read in this pass, for a reason that is counted
      StateError                   74   the state cannot be read or written
        StateLocked                73   another agent holds it
        StateReplaced              74   another directory now has its name; a restart will use that one
      OutputError                  74   standard output cannot be written
      SinkError                    75
        SinkUnavailable            75   it was still failing when the time to wait ran out
        SinkHalted                 75   it answers, but a person must act: token, URL, certificate
      Stopped                       3   a stop was requested while something was in flight
        Paused                      3   a person or the configuration says that nothing may leave

Codes above 63 follow sysexits.h where one fits. 70, 71 and 77 come from Python's own exceptions (see cli). EXIT_CODES
explains every code to people.

A message says what failed and where, what the agent does next, and what a person can do. It never contains a secret.
"""

from __future__ import annotations

from collections.abc import Mapping

EXIT_CODES: Mapping[int, str] = {
    0: "success; for `scan`: everything was acknowledged",
    1: "for `doctor`: a check failed; for other commands: an error without a code of its own; stderr says which",
    2: "the command line is wrong",
    3: "some lines were quarantined, some files or directories could not be read, or the scan was stopped early",
    65: "a directory named as a root holds no files of a coding agent",
    66: "there is nothing to read: no root exists",
    70: "a fault in collector; the message says where",
    71: "not enough memory, or no room for another process",
    73: "another agent is working on the same state",
    74: "the state, the quarantine, standard output or another file cannot be read or written",
    75: "the sink was unreachable, or accepts nothing until a person acts; all offsets are kept",
    77: "permission denied; the message names the path",
    78: "the configuration is wrong, or a flag would change what an administrator has locked",
    130: "interrupted with Ctrl-C; everything acknowledged is remembered",
}
"""What scripts can rely on: a code never changes its meaning."""


class CollectorError(Exception):
    """The root of the hierarchy; `exit_code` is what the process ends with."""

    exit_code = 1


class ConfigurationError(CollectorError):
    """A setting is missing, unknown or wrong."""

    exit_code = 78


class SinkRemoved(ConfigurationError):
    """The configuration no longer names the sink that this agent sends to."""


class RootNotFound(CollectorError):
    """None of the roots exists."""

    exit_code = 66


class NotARoot(RootNotFound):
    """The directory named as a root exists, but it is not one."""

    exit_code = 65


class RootDeleted(CollectorError):
    """A root was deleted, and this process will never see its replacement."""


class SourceError(CollectorError):
    """A source could not be read to its end. What was read before the failure counts."""


class SkipSource(CollectorError):
    """A file is not read in this pass. The ledger counts it under `reason`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class StateError(CollectorError):
    """The state cannot be read or written."""

    exit_code = 74


class StateLocked(StateError):
    """Another agent is working on the same state."""

    exit_code = 73


class StateReplaced(StateError):
    """The directory of the state has been replaced by another, in which we do not hold the lock."""


class OutputError(CollectorError):
    """Standard output cannot be written."""

    exit_code = 74


class SinkError(CollectorError):
    """The sink did not acknowledge."""

    exit_code = 75


class SinkUnavailable(SinkError):
    """The sink kept failing until the time to wait ran out."""


class SinkHalted(SinkError):
    """The sink answers, but refuses until a person acts."""


class Stopped(CollectorError):
    """A stop was requested while something was in flight. Nothing in flight was committed."""

    exit_code = 3


class Paused(Stopped):
    """Nothing may leave now."""
