"""`collector demo`: creates a small, realistic root, ships it to an embedded store, and shows the report.

Invariant: everything happens in a scratch folder, which is removed at the end unless --keep is given. The planted key
is random.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import string
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from collector import log, settings
from collector.cli.report import report
from collector.cli.scan import print_ledger
from collector.delivery.sinks.registry import SINKS
from collector.flow.ledger import Ledger


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Keep the scratch folder and print its path.")] = False,
) -> None:
    """Show the whole thing at work on made-up transcripts.

    In a scratch folder, ships a small, realistic root with a planted key to an embedded store, twice, then shows the
    report. Nothing of yours is read, and nothing is left behind.

    Example: collector demo
    """
    from collector.agents.registry import AGENTS
    from collector.assembly import assembled
    from collector.pipeline import run_pass

    log.configure("warning")
    with _scratch(keep) as folder:
        root, secret = folder / "root", "AKIA" + "".join(random.choices(string.ascii_uppercase + "234567", k=16))
        form = next(iter(AGENTS.values()))
        for name, content in form.example(secret, random.Random(), datetime.now(UTC)).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        chosen = settings.load(
            None,
            {
                "roots": [str(root)],
                "sink": {"type": "store"},
                "state": {"path": str(folder / "state.json")},
                "store": {"database": str(folder / "events.db")},
            },
            sinks=SINKS,
        )
        typer.echo(f"A small root of {form.title} with a planted key ({secret[:4]}...):")
        for title in ("\nFirst pass", "\nSecond pass: nothing is sent twice"):
            typer.echo(title)
            ledger = Ledger()
            with assembled(chosen, "demo") as flow:
                run_pass(flow, ledger)
            print_ledger(ledger)
        leaked = secret.encode() in b"".join(path.read_bytes() for path in folder.glob("events.db*"))
        typer.echo(f"\nIs the planted key in the store? {'YES, it leaked' if leaked else 'No, it was redacted'}.\n")
        report(database=folder / "events.db")
        if leaked:
            raise typer.Exit(1)


@contextlib.contextmanager
def _scratch(keep: bool) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="collector-demo-"))
    try:
        yield folder
    finally:
        if keep:
            typer.echo(f"\nKept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
