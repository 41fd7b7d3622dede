"""What one API message is billed as: usually one call of one model, sometimes several.

In: the usage of a row, with its iterations. Out: the calls as JSON, or None if the row's own figures are the only call.
A message has several calls for two reasons: the advisor, whose calls have a model of their own and are not included in
the message's figures; and sampling in several calls, because a model may charge more for a long prompt, and each call's
prompt counts, not their sum. Invariant: the calls of the message's own model add up to its figures.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import orjson

COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
USAGE = (
    *COUNTED,
    *("cache_creation_5m_tokens", "cache_creation_1h_tokens", "thinking_tokens"),
    *("web_search_requests", "web_fetch_requests"),
)
ADVISOR, SAMPLED = "advisor_message", "message"
MAX_ITERATIONS = 1000
UNITS_A_DOLLAR = 10**11  # see prices.py
LARGEST_COUNT = 10**10  # no real one comes near it, and SQLite can add up 900 million of them
MAX_LABEL_CHARACTERS = 512

Figures = tuple[int | None, ...]


def billed_calls(model: str | None, own: Figures, iterations: Any) -> str | None:
    """The calls as a JSON array of {messages, model, figures}; None if the figures are all there is."""
    if type(iterations) is not list:
        return None
    found = [item for item in iterations[:MAX_ITERATIONS] if type(item) is dict]
    advisor = [item for item in found if item.get("type") == ADVISOR]
    sampled = [_figures(item) for item in found if item.get("type") == SAMPLED]
    calls = [_call(1, model, own)]
    if len(sampled) > 1 and _add_up(sampled, own):
        calls = _split(model, own, sampled)
    elif not advisor:
        return None
    calls += [_call(1, label(item.get("model")), _figures(item)) for item in advisor]
    return orjson.dumps(calls).decode()


def reported_cost(dollars: Any) -> int | None:
    """A cost that Claude Code itself wrote, exactly: old versions for each row, newer ones for a session."""
    if type(dollars) not in (int, float) or not 0 <= dollars < 10**6:
        return None
    return int((Decimal(repr(dollars)) * UNITS_A_DOLLAR).to_integral_value())


def _call(messages: int, model: str | None, figures: Figures) -> dict[str, Any]:
    named = {name: value for name, value in zip(USAGE, figures, strict=True) if value}
    return {"messages": messages, "model": model, **named}


def _split(model: str | None, own: Figures, sampled: list[Figures]) -> list[dict[str, Any]]:
    """One call for each sampling; figures that the samplings do not state stay with the first."""
    calls = [_call(int(not number), model, figures) for number, figures in enumerate(sampled)]
    for place, name in enumerate(USAGE):
        rest = (own[place] or 0) - sum(figures[place] or 0 for figures in sampled)
        if rest > 0:
            calls[0][name] = calls[0].get(name, 0) + rest
    return calls


def _add_up(sampled: list[Figures], own: Figures) -> bool:
    """Whether the samplings can be priced one by one: everything that the price depends on adds up over them."""
    return all(
        sum(figures[place] or 0 for figures in sampled) == (own[place] or 0)
        for place, name in enumerate(USAGE)
        if name in COUNTED or name == "cache_creation_1h_tokens"
    )


def _figures(item: dict[str, Any]) -> Figures:
    return tuple([count(item.get(name)) for name in USAGE])


def label(value: Any) -> str | None:
    """A text for a column, cut to a length; None for anything else."""
    return value[:MAX_LABEL_CHARACTERS] if type(value) is str else None


def count(value: Any, most: int = LARGEST_COUNT) -> int | None:
    """A count for a column; None for anything that is not one."""
    return value if type(value) is int and 0 <= value < most else None
