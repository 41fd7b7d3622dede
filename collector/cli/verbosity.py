"""What every command takes besides its own options: `-v` and `-q`, for how much it says on stderr.

In: the flags, before or after the command. Out: the `log.level` that they stand for, which counts like any other flag:
`config show` names it, and what an administrator has locked stays locked.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from collector import log

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log more on stderr (log.level = debug).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing unless something is wrong.")]
VERBOSE, QUIET = "debug", "error"
FLAGS = {"verbose": Verbose, "quiet": Quiet}
TAKES = {Path: "PATH", int: "NUMBER", float: "NUMBER", str: "TEXT"}
_asked: ContextVar[str] = ContextVar("asked", default="")


def asked_level() -> str:
    """The level asked for with a flag; empty if none was."""
    return _asked.get()


def is_quiet() -> bool:
    """Whether only trouble should be reported."""
    return _asked.get() == QUIET


def ask(*, verbose: bool, quiet: bool) -> None:
    """Remembers what the flags say, for as long as this command line runs."""
    asked = {_asked.get(), VERBOSE if verbose else "", QUIET if quiet else ""} - {""}
    if len(asked) > 1:
        raise typer.BadParameter("cannot be used together with --verbose.", param_hint="--quiet")
    for level in asked:
        _asked.set(level)
        log.configure(level)


def forget() -> None:
    """A new command line begins."""
    _asked.set("")


def completed(command: Callable[..., Any], *, has_log: bool) -> Callable[..., Any]:
    """The command with words for what its options take, and with -v and -q if it writes a log."""
    signature = inspect.signature(command)
    kinds = get_type_hints(command, include_extras=True)
    for kind in kinds.values():
        _name_what_it_takes(kind)
    added = FLAGS if has_log and "config" in signature.parameters else {}

    @functools.wraps(command)
    def told(*, verbose: bool = False, quiet: bool = False, **given: Any) -> Any:
        ask(verbose=verbose, quiet=quiet)
        return command(**given)

    own = [each.replace(annotation=kinds[name]) for name, each in signature.parameters.items()]
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for name, kind in added.items()]
    told.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    told.__annotations__ = kinds | added
    return told


def _name_what_it_takes(kind: Any) -> None:
    """Typer would say `<int range>`."""
    for option in getattr(kind, "__metadata__", ()):
        if isinstance(option, OptionInfo) and option.metavar is None:
            types = {kind.__origin__, *get_args(kind.__origin__)}
            option.metavar = next((word for known, word in TAKES.items() if known in types), None)
