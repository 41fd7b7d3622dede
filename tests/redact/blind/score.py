"""Scores the redactor on the blind corpus: `python -m tests.redact.blind.score [--half dev|held] [--tools]`.

Sequences go through the command to a scripted sink. --tools gives the same text to gitleaks, betterleaks and
kingfisher, as far as they are on PATH. Only counts by class are printed, never texts.
"""

from __future__ import annotations

import argparse

from tests.redact.blind.build import HALVES, items
from tests.redact.blind.counting import Counted, Key, count, total
from tests.redact.blind.scanners import SCANNERS, count_scanner
from tests.redact.blind.sending import count_sequences
from tests.redactors import every_rule

Results = dict[str, dict[Key, Counted]]


def main() -> None:
    """Prints the tables of one half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--half", choices=HALVES, default="held")
    parser.add_argument("--tools", action="store_true", help="other scanners as well")
    asked = parser.parse_args()
    corpus = items(asked.half)
    results: Results = {"collector": {**count(corpus, every_rule()), **count_sequences(corpus)}}
    for name in SCANNERS if asked.tools else ():
        counted = count_scanner(name, corpus)
        if counted is None:
            print(f"{name} is not on PATH: left out")
        else:
            results[name] = counted
    print_tables(asked.half, results)


def print_tables(half: str, results: Results) -> None:
    """Prints secrets and harmless lines by class, then the figures for the whole half."""
    keys = sorted(results["collector"])
    print(f"half {half}\n\n| kind of secret | {' | '.join(results)} |\n|---{'|---' * len(results)}|")
    for key in keys:
        if key[0] == "secret":
            print(
                f"| {key[1]} | {' | '.join(_share(rows[key].found, rows[key].secrets) for rows in results.values())} |"
            )
    totals = {name: total(rows) for name, rows in results.items()}
    print(f"| all | {' | '.join(_share(whole.found, whole.secrets) for whole in totals.values())} |")
    print(f"| mean of the kinds | {' | '.join(_mean(rows) for rows in results.values())} |")
    print(f"| finds that touch a secret | {' | '.join(_share(w.true, w.finds) for w in totals.values())} |")
    print(f"\n| harmless lines touched | {' | '.join(results)} |\n|---{'|---' * len(results)}|")
    for key in keys:
        if key[0] == "harmless" and any(rows[key].touched for rows in results.values()):
            print(f"| {key[1]} | {' | '.join(f'{rows[key].touched}/{rows[key].lines}' for rows in results.values())} |")
    print(f"| all | {' | '.join(f'{whole.touched}/{whole.lines}' for whole in totals.values())} |")
    ours = totals["collector"]
    print(f"\nof strings beside a secret that must stay, collector kept {ours.kept}/{ours.keep}")


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:.1f} %" if whole else "-"


def _mean(rows: dict[Key, Counted]) -> str:
    shares = [row.found / row.secrets for row in rows.values() if row.secrets]
    return f"{100 * sum(shares) / len(shares):.1f} %"


if __name__ == "__main__":
    main()
