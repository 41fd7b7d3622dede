"""Carries out a plan: the only module of this room that changes anything.

In: a Plan. Out: one line per step, saying what was done. Invariants: carrying out a plan twice changes nothing the
second time; a file that a person has edited is overwritten only with `force`, and is then kept beside the new one.
Crash window: between two steps. Every step asks for a state rather than an action, so running the same command again
finishes the job.
"""

from __future__ import annotations

import contextlib
import difflib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from collector.install import templates
from collector.install.plans import AwaitGone, Plan, Remove, Run, Step, Write, differs
from collector.install.service_manager import ask
from collector.install.templates import ServiceError

LOOK_SECONDS = 0.2


def carry_out(
    plan: Plan,
    *,
    force: bool = False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[str]:
    """Takes each step and says what it did. Checks every file before the first step, so a refusal changes nothing."""
    for step in plan.steps:
        if not force:
            _refuse_edited(step)
    for step in plan.steps:
        match step:
            case Write():
                yield _write(step)
            case Remove():
                yield _remove(step)
            case Run():
                yield _run(step)
            case AwaitGone():
                yield _wait_until_gone(step, clock, sleep)


def _refuse_edited(step: Step) -> None:
    if isinstance(step, Run | AwaitGone) or not step.path.exists():
        return
    found = step.path.read_text(encoding="utf-8", errors="replace")
    wanted = step.content if isinstance(step, Write) else ""
    if found == wanted or templates.is_unedited(found):
        return
    difference = difflib.unified_diff(found.splitlines(), wanted.splitlines(), "current", "new", "", "", 1, "")
    shown = "" if isinstance(step, Remove) else "\n" + "\n".join(difference)
    raise ServiceError(
        f"{step.path} was edited, or was not written by this command, so nothing was changed. Move your lines to a "
        f"drop-in, or use --force, which keeps your file as {step.path.name}.bak.{shown}"
    )


def _write(step: Write) -> str:
    if not differs(step.path, step.content):
        return f"unchanged  {step.path}"
    kept = _keep_edited(step.path)
    try:
        step.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = step.path.with_name(step.path.name + ".new")
        fresh.write_text(step.content, encoding="utf-8")
        fresh.chmod(0o644)
        # Crash window: before this line the service manager still sees the old file (or none, if an edited one was just
        # renamed: the person's version is in .bak), after it the new one. It never sees half a unit. There is no fsync:
        # a file that a power cut loses or empties has no valid digest, and the next `install` reports it.
        fresh.replace(step.path)
    except OSError as error:
        raise ServiceError(
            f"Cannot write {step.path}: {error.strerror}. Earlier steps were not undone. Fix the cause and run the "
            "command again."
        ) from None
    return f"wrote      {step.path}{kept}"


def _remove(step: Remove) -> str:
    if not step.path.exists():
        return f"not there  {step.path}"
    kept = _keep_edited(step.path)
    try:
        # Crash window: a plan stops and disables a service before it removes its file, so a file that a crash leaves
        # behind starts nothing, and the next `uninstall` removes it. The other way round, a service would go on running
        # without the file by which the service manager knows it.
        step.path.unlink(missing_ok=True)
        if step.path.parent.suffix == ".d":  # a directory of drop-ins, which may also hold a person's own
            with contextlib.suppress(OSError):
                step.path.parent.rmdir()
    except OSError as error:
        raise ServiceError(f"Cannot remove {step.path}: {error.strerror}. Remove it by hand.") from None
    return f"removed    {step.path}{kept}"


def _keep_edited(path: Path) -> str:
    """Moves an edited file out of the way, so that it is not lost."""
    if not path.exists() or templates.is_unedited(path.read_text(encoding="utf-8", errors="replace")):
        return ""
    kept = path.with_name(path.name + ".bak")
    try:
        # Crash window: between this and the write that follows there is no file of that name. A rename cannot lose the
        # person's lines; a copy that is cut short could.
        path.replace(kept)
    except OSError as error:
        raise ServiceError(
            f"Cannot rename {path} to {kept.name}: {error.strerror}. The remaining steps were not done. Fix the cause "
            "and run the command again."
        ) from None
    return f" (your version is kept as {kept.name})"


def _run(step: Run) -> str:
    shown = " ".join(step.command)
    code, output = ask(step.command)
    if code and not step.may_fail:
        raise ServiceError(
            f"`{shown}` failed ({code}): {output.strip().rstrip('.') or 'no output'}. {_advice(step, output)}"
        )
    return f"ran        {shown}" + ("" if code == 0 else "  (was not needed)")


def _wait_until_gone(step: AwaitGone, clock: Callable[[], float], sleep: Callable[[float], None]) -> str:
    deadline = clock() + step.seconds
    while ask(step.command)[0] == 0:
        if clock() >= deadline:
            raise ServiceError(
                f"The running agent did not stop within {step.seconds:g} seconds, so the new one was not started. "
                "Run the command again once `collector service status` says nothing is running."
            )
        sleep(LOOK_SECONDS)
    return "stopped    the agent that was running"


def _advice(step: Run, output: str) -> str:
    is_user = "--user" in step.command
    if is_user and ("connect to bus" in output or "XDG_RUNTIME_DIR" in output):
        return (
            "There is no user session here (su and sudo do not start one). Log in as that user, or enable lingering "
            "with `loginctl enable-linger` and set XDG_RUNTIME_DIR=/run/user/<uid>; then run the command again."
        )
    if step.command[0] == "launchctl":
        return "Log in at the screen, so that there is a graphical session, then run the command again."
    if {"start", "restart"} & set(step.command):
        hint = (
            " If it shows status 217 or 226, users may not create namespaces here: add --no-namespaces."
            if is_user
            else ""
        )
        return f"`collector service logs` shows why.{hint} Run the command again once the cause is fixed."
    return "Run the command again once the cause is fixed: steps already done are not repeated."
