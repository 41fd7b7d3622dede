"""The options that every command that writes a log takes besides its own: `-v` and `-q`, for how much goes to stderr.

In: the flags, before or after the command. Out: the `log.level` that they stand for, which counts like any other flag:
`config show` names it, and an administrator's lock still holds. What all commands' own options have in common is added
here too: placeholders, and that a path is not empty.
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
from typer.models import OptionInfo, ParameterInfo

from collector import log
from collector.errors import ConfigurationError

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log more on stderr (log.level = debug).")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing unless something is wrong.")]
VERBOSE, QUIET = "debug", "error"
FLAGS = {"verbose": Verbose, "quiet": Quiet}
TAKES = {Path: "PATH", int: "NUMBER", float: "NUMBER", str: "TEXT"}
_asked: ContextVar[str] = ContextVar("asked", default="")


def asked_level() -> str:
    """The level requested with a flag; empty if there was none."""
    return _asked.get()


def is_quiet() -> bool:
    """Whether to report only problems."""
    return _asked.get() == QUIET


def ask(*, verbose: bool, quiet: bool) -> None:
    """Remembers the flags while this command line runs."""
    asked = {_asked.get(), VERBOSE if verbose else "", QUIET if quiet else ""} - {""}
    if len(asked) > 1:
        raise typer.BadParameter("cannot be used together with --verbose.", param_hint="--quiet")
    for level in asked:
        _asked.set(level)
        log.configure(level)


def forget() -> None:
    """Forgets the flags, because a new command line begins."""
    _asked.set("")


def completed(command: Callable[..., Any], *, has_log: bool) -> Callable[..., Any]:
    """The command, with placeholders for the values of its options, and with -v and -q if it writes a log."""
    signature = inspect.signature(command)
    kinds = get_type_hints(command, include_extras=True)
    for name, kind in kinds.items():
        _complete(name, kind)
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


def _complete(name: str, kind: Any) -> None:
    """Sets the placeholder for an option's value, where typer would show a type of Python's, and how a path is read."""
    for info in getattr(kind, "__metadata__", ()):
        if not isinstance(info, ParameterInfo):
            continue
        types = {kind.__origin__, *(inner for one in get_args(kind.__origin__) for inner in (one, *get_args(one)))}
        is_option = isinstance(info, OptionInfo)
        if is_option and info.metavar is None:
            info.metavar = next((word for known, word in TAKES.items() if known in types), None)
        if Path in types:
            shown = f"--{name.replace('_', '-')}" if is_option else str(info.metavar)
            info.parser = functools.partial(_path, name=shown)


def _path(given: str, name: str) -> Path:
    """A path from the command line. `Path("")` would be the current directory."""
    if not given:
        raise ConfigurationError(
            f"{name} is empty: perhaps a variable of your shell is not set. Name a path, or leave it out."
        )
    return Path(given)
