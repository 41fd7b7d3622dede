"""Tries patterns in both engines on texts made to hurt them; also a program, to do so in a process of its own.

In: patterns of bounded width. Out: for each, why it cannot be used, or nothing. Neither `re` nor a compilation can be
interrupted, and a pattern that explodes would keep the agent from ever starting. So this file is started by its path,
reads the patterns as JSON from stdin, writes one verdict per line to stdout, and the kernel ends it when a pattern has
used up its time or memory. It needs only the standard library, and hyperscan if that is installed. Where no process can
be started, a pattern with too many ways to match is refused untried.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from re import _constants, _parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any, NamedTuple

BUDGET_SECONDS = 0.05  # for 64 kB: 1.3 MB/s, needed only where a candidate was seen
LENGTHS = (*range(8, 34, 2), 40, 48, 64, 96, 128, 256, 512, 1024, 4096, 16_384, 65_536)
MATCH_SECONDS = 2e-6  # on top for every match: if one is refused, the search continues inside it
CPU_SECONDS = 3.0  # for all trials of one pattern; an honest one needs a tenth of that
MEGABYTES = 1024  # of address space; trials use 30
SECONDS = 30  # for all patterns, on a very busy machine, plus one for each
RANKS = 3  # letters tried of each class
MOST_BRANCHES = 24
MOST_ATTACKS = 600
MOST_WAYS = 10_000  # to attempt a match at one place, allowed to a pattern that cannot be tried
ORDINARY = b"All 12 tests of src/main.py have passed, so the change that you asked for is ready."
ADVICE = "Avoid repetitions in and beside each other that take the same characters, and begin with fixed ones."
UNTRIED = f"has more than {MOST_WAYS} ways to match at one place, and no process can be started to try it."
_categories = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


class Trial(NamedTuple):
    """What is tried: the pattern, what the scanner looks for, and a keyword that must come before it."""

    pattern: str
    scanned: str
    keyword: str = ""


class Letters(NamedTuple):
    """One of these characters."""

    chars: frozenset[str]


class Sequence(NamedTuple):
    """Parts, one after another."""

    parts: tuple[Part, ...]


class Choice(NamedTuple):
    """One of these branches."""

    branches: tuple[Part, ...]


class Repeat(NamedTuple):
    """The body, from `low` to `high` times."""

    low: int
    high: int
    body: Part


Part = Letters | Sequence | Choice | Repeat


def verdicts(trials: list[Trial]) -> list[str]:
    """Why each pattern cannot be used, empty if it can; the list ends with the first reason."""
    found = _told_elsewhere(trials)
    if found is not None:
        return found
    found = []
    for trial in trials:
        explodes = ways(_parsed(trial.pattern)) > MOST_WAYS
        found.append(f"{UNTRIED} {ADVICE}" if explodes else tried(trial))
        if found[-1]:
            break
    return found


def _told_elsewhere(trials: list[Trial]) -> list[str] | None:
    """The verdicts of another process; None if none can be started, or if it broke."""
    if getattr(sys, "frozen", False) or not sys.executable:  # a self-contained package has no interpreter to start
        return None
    command = [sys.executable, "-P", __file__]
    seconds = SECONDS + len(trials)
    try:
        done = subprocess.run(
            command, input=json.dumps(trials).encode(), capture_output=True, timeout=seconds, check=False
        )
        output, code = done.stdout, done.returncode
        reason = f"takes more than {CPU_SECONDS:.0f} seconds or {MEGABYTES} MB to be tried. {ADVICE}"
    except subprocess.TimeoutExpired as error:
        output, code = error.stdout or b"", -signal.SIGKILL
        reason = f"could not be tried within {seconds} seconds. Start again when the machine is less busy."
    except OSError:
        return None
    if code > 0:
        return None
    found = [str(json.loads(line)) for line in output.splitlines()]
    return [*found, reason] if code < 0 else found


def tried(trial: Trial) -> str:
    """Why a pattern cannot be used; empty if it can."""
    return slowness(trial.pattern) or misread(trial) or takes_all(trial)


def misread(trial: Trial) -> str:
    """Why the scanner cannot look for a pattern: it must see every sample that `re` sees."""
    try:
        import hyperscan
    except ImportError:  # no wheel for this platform
        return ""
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        expression = trial.scanned.encode("latin-1")
        database.compile(expressions=[expression], ids=[0], elements=1, flags=[hyperscan.HS_FLAG_DOTALL])
        scratch = hyperscan.Scratch(database)
    except hyperscan.error as error:
        return f"is refused by the scanner: {error}. Write it in a simpler form."
    for sample in _samples(_parsed(trial.pattern)):
        seen: list[int] = []
        text = trial.keyword.encode("latin-1") + sample
        database.scan(text, match_event_handler=lambda number, *_, seen=seen: seen.append(number), scratch=scratch)
        if not seen and re.search(trial.pattern.encode("latin-1"), sample, re.DOTALL):
            return "means something else to the scanner than to Python, as {,5} does. Write {0,5}."
    return ""


def takes_all(trial: Trial) -> str:
    """Why a rule would leave nothing to read; empty if it would not."""
    matches = re.finditer(trial.pattern.encode("latin-1"), ORDINARY, re.DOTALL)
    if trial.keyword or sum(len(match[0]) for match in matches) * 2 < len(ORDINARY):
        return ""
    return (
        "matches most of any text, and nothing would be left to read. Begin it with fixed characters, or add keywords."
    )


def _samples(part: Part) -> Iterator[bytes]:
    """Texts that a pattern matches: with few and with many repetitions, and each branch once."""
    rank = _ranking(part)
    for branch, least, number in product(range(max(1, min(_most_branches(part), MOST_BRANCHES))), (0, 2), (0, 1)):
        yield _sample(part, rank, number, branch, least).encode("latin-1")


def slowness(pattern: str) -> str:
    """Tries the pattern on longer and longer texts, and stops at the first that takes too long."""
    parsed = _parsed(pattern)
    search = re.compile(f"(?:{pattern})".encode("latin-1"), re.DOTALL).search
    rank = _ranking(parsed)
    ends = dict.fromkeys(
        [min(map(chr, range(128)), key=lambda char: sum(char in each for each in _sets(parsed))), "\0", ""]
    )
    tried = [("", unit) for unit in _units(parsed, rank)]
    attacks = list(dict.fromkeys(_attacks(parsed, "", rank)))[:MOST_ATTACKS]
    widest = int(_parser.parse(pattern).getwidth()[1])
    for length in LENGTHS:
        for start, pump in [*tried, *(attacks if length < 4 * widest else [])]:
            for end in ends:
                text = start + (pump * (length // len(pump) + 1))[:length] + end
                if _is_slow(search, text):
                    hurt = f"{length} characters of {pump[:12]!r}" + (f" after {start[:24]!r}" if start else "")
                    return f"takes more than {BUDGET_SECONDS * 1000:.0f} ms for 64 kB of {hurt}. {ADVICE}"
    return ""


def _is_slow(search: Any, text: str) -> bool:
    """Whether a text, or 64 kB of it if it is suspicious, takes more than the budget. A result just above it is
    measured again, as other work may have interfered."""
    data = text.encode("latin-1")
    took = _seconds(search, data)
    copies = LENGTHS[-1] // len(data)
    if copies > 1 and took * copies > BUDGET_SECONDS / 2 and took <= BUDGET_SECONDS:
        data *= copies
        took = _seconds(search, data)
    for _ in range(2):
        if BUDGET_SECONDS < took < 4 * BUDGET_SECONDS:
            took = min(took, _seconds(search, data))
    return took > BUDGET_SECONDS


def _seconds(search: Any, data: bytes) -> float:
    """What a search takes if every match is refused, for want of a keyword, less the time each match is allowed."""
    before = process_time()
    at = count = 0
    while match := search(data, at):
        at = match.start() + 1
        count += 1
    return process_time() - before - count * MATCH_SECONDS


def _parsed(pattern: str) -> Part:
    parsed = _parser.parse(pattern, re.DOTALL)
    return _sequence(parsed, bool(parsed.state.flags & re.IGNORECASE))


def _sequence(parsed: Any, folds: bool) -> Part:
    return Sequence(tuple(_part(operation, argument, folds) for operation, argument in parsed))


def _part(operation: Any, argument: Any, folds: bool) -> Part:
    if operation is _constants.SUBPATTERN:
        _, added, removed, inner = argument
        return _sequence(inner, (folds or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE)
    if operation is _constants.BRANCH:
        return Choice(tuple(_sequence(branch, folds) for branch in argument[1]))
    if operation in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
        low, high, inner = argument
        return Repeat(int(low), int(high), _sequence(inner, folds))
    kinds = argument if operation is _constants.IN else [(operation, argument)]
    chars = frozenset(char for char in map(chr, range(128)) if _is_one_of(char, kinds))
    return Letters(chars | {char.swapcase() for char in chars} if folds else chars)


def _is_one_of(char: str, kinds: Any) -> bool:
    """Whether a character is in a class, as `re` has parsed it."""
    is_negated = False
    is_in = False
    for kind, value in kinds:
        if kind is _constants.NEGATE:
            is_negated = True
        elif kind is _constants.LITERAL:
            is_in |= ord(char) == value
        elif kind is _constants.NOT_LITERAL:
            is_in |= ord(char) != value
        elif kind is _constants.RANGE:
            is_in |= value[0] <= ord(char) <= value[1]
        elif kind is _constants.CATEGORY:
            *_, name = str(value).split("_")
            is_in |= bool(re.match(_categories.get(name, "."), char, re.ASCII)) != ("_NOT_" in str(value))
        else:  # any character
            is_in = True
    return is_in != is_negated


def _sets(part: Part) -> list[frozenset[str]]:
    """Every class of a pattern, at any depth; a single character counts as one."""
    if isinstance(part, Letters):
        return [part.chars]
    return [chars for inner in _inner(part) for chars in _sets(inner)]


def _inner(part: Part) -> tuple[Part, ...]:
    if isinstance(part, Repeat):
        return (part.body,)
    return part.parts if isinstance(part, Sequence) else part.branches if isinstance(part, Choice) else ()


Ranking = dict[frozenset[str], str]


def _ranking(part: Part) -> Ranking:
    """A few letters of every class that differ in which other classes they are in; those in most come first, because a
    pattern hesitates where two classes share letters."""
    known = dict.fromkeys(sets := _sets(part))
    seen: dict[tuple[bool, ...], str] = {}
    for char in sorted(map(chr, range(128)), key=lambda char: (not char.isalnum(), not char.isprintable(), char)):
        seen.setdefault(tuple(char in chars for chars in known), char)
    shared = sorted(seen.values(), key=lambda char: -sum(char in chars for chars in sets))
    return {chars: "".join([char for char in shared if char in chars][:RANKS]) for chars in known}


def _units(part: Part, rank: Ranking) -> list[str]:
    """What is repeated with nothing before it: each letter of the pattern, all of them, and its fixed characters."""
    letters = "".join(dict.fromkeys("".join(rank[chars] for chars in _sets(part))))[:24]
    letters = "".join(dict.fromkeys(letters + "a \n"))
    literal = "".join(next(iter(chars)) for chars in _sets(part) if len(chars) == 1)[:64] or "a"
    return list(dict.fromkeys([*letters, letters, literal, literal + letters[0]]))


def _sample(part: Part, rank: Ranking, number: int = 0, branch: int = 0, least: int = 0) -> str:
    """A text that a part matches: with its letters of rank `number`, branch `branch`, and repetitions `least` times."""
    if isinstance(part, Letters):
        letters = rank[part.chars] or "?"
        return letters[min(number, len(letters) - 1)]
    if isinstance(part, Repeat):
        times = max(part.low, min(part.high, least))
        return _sample(part.body, rank, number, branch, least) * times if times else ""
    if isinstance(part, Choice):
        return _sample(part.branches[branch % len(part.branches)], rank, number, branch, least)
    return "".join(_sample(inner, rank, number, branch, least) for inner in part.parts)


def _attacks(part: Part, before: str, rank: Ranking) -> Iterator[tuple[str, str]]:
    """For every place where a pattern can hesitate: a sample of what comes before it, and what to repeat there."""
    if isinstance(part, Choice) or (isinstance(part, Repeat) and part.high > 1):
        yield from ((before, pump) for pump in _pumps(part.body if isinstance(part, Repeat) else part, rank))
    if isinstance(part, Sequence):
        here = before
        variable = [isinstance(inner, Choice | Repeat) for inner in part.parts]
        for index, inner in enumerate(part.parts):
            if variable[index] and not (index and variable[index - 1]):  # the first of several in a row
                end = next((at for at in range(index, len(variable)) if not variable[at]), len(variable))
                if end - index > 1:
                    run = Sequence(part.parts[index:end])
                    yield from ((here, pump) for pump in _pumps(run, rank))
            yield from _attacks(inner, here, rank)
            here += _sample(inner, rank)
    else:
        for inner in _inner(part):
            yield from _attacks(inner, before, rank)


def _pumps(body: Part, rank: Ranking) -> list[str]:
    """Samples of what is repeated: with each of its letters, each of its branches, and all of these mixed."""
    samples = [_sample(body, rank, number, 0, least) for least in (1, 0, 2) for number in range(RANKS)]
    samples += [_sample(body, rank, 0, branch, 1) for branch in range(min(_most_branches(body), MOST_BRANCHES))]
    letters = dict.fromkeys("".join(rank[chars] for chars in _sets(body)))
    mixed = "".join(dict.fromkeys(samples))[:256]
    return [pump for pump in dict.fromkeys([*samples, *list(letters)[:8], mixed]) if pump]


def _most_branches(part: Part) -> int:
    own = len(part.branches) if isinstance(part, Choice) else 0
    return max([own, *map(_most_branches, _inner(part))])


def ways(part: Part) -> int:
    """An upper bound on the ways to attempt a match at one place; MOST_WAYS + 1 stands for anything above it."""
    if isinstance(part, Letters):
        return 1
    if isinstance(part, Repeat):
        inner, total, power = ways(part.body), 0, 1
        for times in range(part.high + 1):
            total += power if times >= part.low else 0
            power *= inner
            if max(total, power) > MOST_WAYS:
                return MOST_WAYS + 1
        return total
    total = 1 if isinstance(part, Sequence) else 0
    for each in _inner(part):
        total = total * ways(each) if isinstance(part, Sequence) else total + ways(each)
        if total > MOST_WAYS:
            return MOST_WAYS + 1
    return total


def main() -> None:
    """The program."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with contextlib.suppress(OSError, ValueError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    for trial in json.load(sys.stdin):
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        reason = tried(Trial(*trial))
        os.write(1, json.dumps(reason).encode() + b"\n")
        if reason:
            break


if __name__ == "__main__":
    main()
