"""The price table: free of typing errors, exact, and never guessed."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from collector.errors import ConfigurationError
from collector.store import prices
from collector.store.prices import FIRST, LAST, load
from collector.store.report import summarize
from collector.store.totals import THRESHOLDS
from collector.store.writer import Writer
from tests.store.samples import reply, row_of

TABLE = load()
# Multiples of the input price; the price page gives these factors for all models, and names the exceptions.
WRITE_5M, WRITE_1H = Fraction(5, 4), Fraction(2)
ROUNDED = {"claude-3-haiku"}
USAGE = {
    "input_tokens": 1_000,
    "output_tokens": 2_000,
    "cache_read_tokens": 30_000,
    "cache_creation_tokens": 700,
    "cache_creation_1h_tokens": 300,
    "web_search_requests": 2,
}


def cost(database: Path, model: str, time: str = "2026-11-01T00:00:00.000Z", **usage: Any) -> tuple[int, int]:
    """The cost of one message in micro-dollars, and the number of messages without a price."""
    writer = Writer(database)
    writer.store([row_of(reply("m", 0, model=model, usage=USAGE | usage, time=time))])
    writer.close()
    totals = summarize(database)["totals"]
    return totals["cost_micros"], totals["messages_without_price"]


def test_cache_prices_are_the_published_multiples_of_the_input_price() -> None:
    for price in TABLE.prices:
        if price.model not in ROUNDED:
            assert price.cache_write_5m == WRITE_5M * price.input, price
            assert price.cache_write_1h == WRITE_1H * price.input, price
        assert price.cache_read <= price.input / 8, price
        assert 3 * price.input < price.output <= 5 * price.input, price
        assert price.web_search == 10_000_000


def test_every_day_and_prompt_size_has_exactly_one_price() -> None:
    for key, rows in itertools.groupby(
        sorted(TABLE.prices, key=lambda row: (row.model, row.speed, row.prompt_over, row.starts)),
        key=lambda row: (row.model, row.speed, row.prompt_over),
    ):
        periods = [(row.starts, row.ends) for row in rows]
        assert periods[0][0] == FIRST, key
        assert periods[-1][1] == LAST, key
        assert all(before[1] == after[0] for before, after in itertools.pairwise(periods)), key
    sizes = {(row.model, row.speed, row.starts): 0 for row in TABLE.prices}
    for row in TABLE.prices:
        sizes[row.model, row.speed, row.starts] += 1
    assert set(sizes.values()) == {1 + len(THRESHOLDS)}


def test_a_name_means_one_model() -> None:
    assert len(dict(TABLE.names)) == len(TABLE.names)
    assert {model for _, model in TABLE.names} == {row.model for row in TABLE.prices}


@pytest.mark.parametrize(
    ("model", "usage", "dollars_a_million"),
    [
        # input, output, cache read, write for 5 minutes, for an hour
        ("claude-opus-4-5-20251101", {}, (5, 25, 0.5, 6.25, 10)),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", {}, (5, 25, 0.5, 6.25, 10)),
        ("claude-opus-4-5@20251101", {}, (5, 25, 0.5, 6.25, 10)),
        ("claude-sonnet-4-5[1m]", {}, (3, 15, 0.3, 3.75, 6)),
        ("claude-opus-4-6", {"speed": "fast"}, (30, 150, 3, 37.5, 60)),
        ("claude-haiku-4-5", {"service_tier": "batch"}, (0.5, 2.5, 0.05, 0.625, 1)),
        ("claude-opus-5-5", {"inference_geo": "us"}, (4.4, 22, 0.22, 5.5, 8.8)),
        ("claude-haiku-5-5", {}, (0.1, 0.5, 0.01, 0.125, 0.2)),
        ("claude-haiku-5-5", {"cache_read_tokens": 98_301}, (0.5, 2.5, 0.05, 0.625, 1)),
        ("claude-haiku-5-5", {"cache_read_tokens": 98_300}, (0.1, 0.5, 0.01, 0.125, 0.2)),
    ],
)
def test_a_message_costs_what_the_price_page_says(
    tmp_path: Path, model: str, usage: dict[str, Any], dollars_a_million: tuple[float, ...]
) -> None:
    used = USAGE | usage
    counts = [int(str(used[name])) for name in ("input_tokens", "output_tokens", "cache_read_tokens")]
    counts += [700 - 300, 300]
    exact = sum(count * Fraction(str(price)) for count, price in zip(counts, dollars_a_million, strict=True))
    assert cost(tmp_path / "events.db", model, **usage) == (int(exact + 20_000 + Fraction(1, 2)), 0)


@pytest.mark.parametrize(("day", "price"), [("2026-03-12", 10), ("2026-03-13", 5)])
def test_a_message_is_priced_as_of_its_day(tmp_path: Path, day: str, price: int) -> None:
    """Long prompts on Opus 4.6 cost more through 2026-03-12."""
    usage = {"input_tokens": 250_000, "output_tokens": 0, "cache_read_tokens": 0, "web_search_requests": 0}
    usage |= {"cache_creation_tokens": 0, "cache_creation_1h_tokens": 0}
    found = cost(tmp_path / "events.db", "claude-opus-4-6", f"{day}T12:00:00.000Z", **usage)
    assert found == (250_000 * price, 0)


@pytest.mark.parametrize(
    ("model", "usage"),
    [("claude-opus-9", {}), ("claude-opus-4-5-20991231", {}), ("gpt-9", {}), ("claude-haiku-4-5", {"speed": "fast"})],
)
def test_an_unknown_price_is_not_guessed(tmp_path: Path, model: str, usage: dict[str, Any]) -> None:
    assert cost(tmp_path / "events.db", model, **usage) == (0, 1)


def test_prices_from_a_persons_own_table_are_exact_decimals(tmp_path: Path) -> None:
    """0.1 + 0.2 is 0.3 here: prices with three decimals stay exact, even over a billion tokens."""
    own = tmp_path / "prices.toml"
    row = "input = 0.1\noutput = 0.2\ncache_read = 0.001\ncache_write_5m = 0\ncache_write_1h = 0\n"
    own.write_text(f'[[price]]\nmodel = "tiny"\n{row}')
    usage = {"input_tokens": 10**9, "output_tokens": 10**9, "cache_read_tokens": 1}
    writer = Writer(tmp_path / "events.db", own_prices=own)
    writer.store([row_of(reply("m", 0, model="tiny", usage=usage))])
    exact = writer.connection.execute("SELECT cost_exact FROM messages").fetchone()[0]
    writer.close()
    assert exact == (10**9 * 100 + 10**9 * 200 + 1) * 100


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("price = 7", "it must have a [[price]]"),
        ("[[price]]\ninput = 1", "every [[price]] needs a model"),
        ("[[price]]\nmodel = 'm'\ninput = 0.0001", "m: input must be a price"),
        ("[[price]]\nmodel = 'm'\ninptu = 1", "m: unknown key inptu"),
        ("[[price]]\nmodel = 'm'\n[[price.long]]\nabove = 5", "m: "),
        ("not toml", "is not valid TOML"),
    ],
)
def test_an_unusable_price_table_is_explained(tmp_path: Path, text: str, told: str) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(ConfigurationError) as error:
        load(own)
    assert told in str(error.value)
    with pytest.raises(ConfigurationError, match="cannot read"):
        load(tmp_path / "missing.toml")


def test_fast_prices_are_complete_and_costs_are_rounded_to_micro_dollars() -> None:
    fast = [row for row in TABLE.prices if row.model == "claude-opus-4-6" and row.speed == "fast"]
    assert {row.output for row in fast} == {150_000}
    assert prices.micros(1_499_999) == 15
    assert prices.micros(1_449_999) == 14
