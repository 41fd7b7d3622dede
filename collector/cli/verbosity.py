"""How much a command says on stderr: `-v` and `-q`, which every command takes that reads the configuration.

In: the flags, before or after the command. Out: the `log.level` that they stand for, which counts like any other flag:
`config show` names it, and what an administrator has locked stays locked.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from inspect import Parameter
from typing import Annotated, Any, get_type_hints

import typer

from collector import log

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more on stderr: log.level = debug.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")]
FLAGS = ("verbose", "quiet")
_asked: ContextVar[str] = ContextVar("asked", default="")


def asked_level() -> str:
    """The level that was asked for with a flag; empty if none was."""
    return _asked.get()


def is_quiet() -> bool:
    """Whether a person wants to hear of nothing but trouble."""
    return _asked.get() == "error"


def ask(*, verbose: bool, quiet: bool) -> None:
    """Remembers what the flags say, for as long as this command line runs."""
    if verbose and quiet:
        raise typer.BadParameter("--verbose and --quiet exclude each other.", param_hint="--quiet")
    if verbose or quiet:
        _asked.set("debug" if verbose else "error")
        log.configure(_asked.get())


def forget() -> None:
    """A new command line begins."""
    _asked.set("")


def with_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with -v and -q, if it reads the configuration: then they are one more layer of it."""
    signature = inspect.signature(command)
    if "config" not in signature.parameters:
        return command

    @functools.wraps(command)
    def told(*, verbose: bool, quiet: bool, **given: Any) -> Any:
        ask(verbose=verbose, quiet=quiet)
        return command(**given)

    kinds = get_type_hints(command, include_extras=True) | {"verbose": Verbose, "quiet": Quiet}
    own = [each.replace(annotation=kinds[name]) for name, each in signature.parameters.items()]
    added = [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kinds[name]) for name in FLAGS]
    told.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    told.__annotations__ = kinds
    return told
