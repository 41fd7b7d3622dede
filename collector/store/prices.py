"""What models cost: the package's table, and any rows of the user's own, as rows that every database joins alike.

In: prices.toml, and perhaps a user's file of the same form. Out: names of models, and prices in billionths of a dollar
per token, one row for each size of prompt, speed and period. Invariant: arithmetic is exact. Costs are integers in
hundred-thousandths of a micro-dollar (`UNITS_A_DOLLAR`), fine enough for one token at a tenth more. A model, speed or
day without a row has no price, and its cost is unknown rather than guessed.
"""

from __future__ import annotations

import hashlib
import itertools
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from collector.errors import ConfigurationError
from collector.files import read_plain
from collector.store.calls import UNITS_A_DOLLAR
from collector.store.totals import THRESHOLDS

UNITS_A_MICRO = UNITS_A_DOLLAR // 10**6
CENT = 10_000  # micro-dollars
FIRST, LAST = "", "9999"
PARTS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
BILLIONTHS = 1000  # of a dollar per token, for a price of one dollar per million tokens
REGIONS = ("", "us.", "eu.", "apac.", "global.", "jp.", "au.", "ca.", "us-gov.")
ONE_MILLION = "[1m]"  # how Claude Code asks for the long context
KEYS = {"model", "names", "starts", "ends", "long", "fast", *PARTS}


class Price(NamedTuple):
    """One row of the table `prices`."""

    model: str
    starts: str
    ends: str
    speed: str
    prompt_over: int
    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_search: int


class PriceTable(NamedTuple):
    """All prices, the names of each model, and a mark that changes whenever any of these does."""

    prices: tuple[Price, ...]
    names: tuple[tuple[str, str], ...]
    mark: str


def load(own: Path | None = None) -> PriceTable:
    """The table in force; raises ConfigurationError if the user's own cannot be used."""
    shipped = _parsed((resources.files(__package__) / "prices.toml").read_bytes())
    rows = list(shipped["price"])
    search = shipped["web_search"]
    if own is not None:
        mine = _read(own)
        replaced = {row["model"] for row in mine["price"]}
        rows = [row for row in rows if row["model"] not in replaced] + mine["price"]
        search = mine.get("web_search", search)
    prices = tuple(sorted(price for row in rows for price in _prices(row, search)))
    names = tuple(sorted({name: row["model"] for row in rows for name in names_of(row)}.items()))
    mark = hashlib.sha256(repr((prices, names)).encode()).hexdigest()[:16]
    return PriceTable(prices, names, mark)


def names_of(row: dict[str, Any]) -> Iterator[str]:
    """Every spelling of a model: Anthropic's, Bedrock's with its regions, Vertex's; and each with the long context."""
    for name in (row["model"], *row.get("names", ())):
        head, _, date = name.rpartition("-")
        is_dated = len(date) == len("20250101") and date.isdigit()
        versions = ("-v1:0", "-v2:0") if is_dated else ("", "-v1")
        bedrock = [f"{region}anthropic.{name}{version}" for region in REGIONS for version in versions]
        for spelling in (name, *bedrock, *([f"{head}@{date}"] if is_dated else [])):
            yield spelling
            yield spelling + ONE_MILLION


def micros(units: int) -> int:
    """A cost in whole micro-dollars, as every report shows it: rounded once, at the end, halves up."""
    return (units + UNITS_A_MICRO // 2) // UNITS_A_MICRO


def dollars(micros: int) -> str:
    """Micro-dollars as dollars: with cents, and below a cent with four decimals."""
    sign, size = ("−" if micros < 0 else ""), abs(micros)
    if 0 < size < CENT:
        return f"{sign}${size / 1e6:.4f}" if size >= 50 else f"{sign}<$0.0001"
    return f"{sign}${size / 1e6:,.2f}"


def amount(row: Mapping[str, Any], name: str = "cost_micros") -> str:
    """A sum over messages in dollars: followed by `+` if some have no price, and `unknown` if none has one."""
    without = row["messages_without_price"]
    if without and without == row["messages"]:
        return "unknown"
    return dollars(row[name]) + ("+" if without else "")


def _prices(row: dict[str, Any], search: Any) -> Iterator[Price]:
    """The rows of one model: for each speed and period, one for each size of prompt."""
    starts, ends = row.get("starts", FIRST), row.get("ends", LAST)
    yield from _periods(row, row, "standard", starts, ends, row.get("long", []), search)
    for fast in row.get("fast", []):
        # There is no long price for fast mode: it costs the same for prompts of any size.
        yield from _periods(row, fast, "fast", fast.get("starts", starts), fast.get("ends", ends), [], search)


def _periods(
    row: dict[str, Any],
    base: dict[str, Any],
    speed: str,
    starts: str,
    ends: str,
    longs: list[dict[str, Any]],
    search: Any,
) -> Iterator[Price]:
    days = {starts, ends, *(day for part in longs for day in (part.get("starts"), part.get("ends")) if day)}
    edges = sorted(day for day in days if starts <= day <= ends)
    for first, last in itertools.pairwise(edges):
        for size in (0, *THRESHOLDS):
            chosen = [
                part
                for part in longs
                if part["above"] <= size and part.get("starts", starts) <= first and last <= part.get("ends", ends)
            ]
            charged = row | base | max(chosen, key=lambda part: part["above"], default={})
            figures = [*(_billionths(charged[part]) for part in PARTS), _billionths(search) * 1_000_000]
            yield Price._make((row["model"], first, last, speed, size, *figures))


def _billionths(dollars: Any) -> int:
    return int(Decimal(dollars) * BILLIONTHS)


def _parsed(text: bytes) -> dict[str, Any]:
    return tomllib.loads(text.decode(), parse_float=Decimal)


def _read(path: Path) -> dict[str, Any]:
    try:
        table = _parsed(read_plain(path))
    except OSError as error:
        raise ConfigurationError(
            f"store.prices: cannot read {path}: {error.strerror}. Make it readable to this user."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"store.prices: {path} is not valid TOML: {error}. Correct it there.") from None
    problems = list(_problems(table))
    if problems:
        raise ConfigurationError(f"store.prices: {path}: {problems[0]}. `collector store prices` shows the format.")
    return table


def _problems(table: dict[str, Any]) -> Iterator[str]:
    rows = table.get("price")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        yield "it must have a [[price]] for each model"
        return
    if not _is_price(table.get("web_search", 0)):
        yield "web_search must be a price in dollars"
    for row in rows:
        yield from _problems_of(row)


def _problems_of(row: dict[str, Any]) -> Iterator[str]:
    model = row.get("model")
    if not isinstance(model, str) or not model:
        yield "every [[price]] needs a model"
        return
    yield from (f"{model}: unknown key {key}" for key in sorted(row.keys() - KEYS))
    yield from (f"{model}: {part} must be a price in dollars" for part in PARTS if not _is_price(row.get(part)))
    names = row.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        yield f"{model}: names must be a list of names"
    for key in ("long", "fast"):
        parts = row.get(key, [])
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            yield f"{model}: {key} must be written [[price.{key}]]"
            continue
        for part in parts:
            yield from _problems_of_part(model, key, part)
    yield from (f"{model}: {key} must be a day, in quotes" for key in ("starts", "ends") if not _is_day(row, key))


def _problems_of_part(model: str, key: str, part: dict[str, Any]) -> Iterator[str]:
    if key == "long" and part.get("above") not in THRESHOLDS:
        yield f"{model}: above must be one of {', '.join(map(str, THRESHOLDS))}"
    given: Iterable[str] = part.keys() - {"above", "starts", "ends"}
    yield from (f"{model}: unknown key {name} in {key}" for name in sorted(set(given) - set(PARTS)))
    yield from (f"{model}: {name} must be a price in dollars" for name in given if not _is_price(part[name]))
    yield from (f"{model}: {day} must be a day, in quotes" for day in ("starts", "ends") if not _is_day(part, day))


def _is_price(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return False
    return 0 <= value <= 10**6 and Decimal(value) * BILLIONTHS % 1 == 0


def _is_day(part: dict[str, Any], key: str) -> bool:
    value = part.get(key, "2026-01-01")
    return isinstance(value, str) and len(value) == len("2026-01-01")
