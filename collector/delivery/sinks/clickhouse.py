"""The clickhouse sink: rows of (id, event) over HTTP; the table computes all other columns (config/clickhouse.sql).

In: events. Out: an INSERT in JSONEachRow, and from its answer a verdict. An event is stored whole as a column of text,
so nothing is lost, and a column that is added later is computed for old rows too. Statuses mean little: older servers
answer 500 for a row that can never be stored, so the error's code decides. Two things make a repeat harmless: the
insert's deduplication token, and ReplacingMergeTree.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b

import orjson
from pydantic import Field

from collector.delivery.event_fields import body_of
from collector.delivery.sink import (
    Accepted,
    Answer,
    Halt,
    Refused,
    Request,
    Retry,
    SinkLimits,
    SinkType,
    TooLarge,
    Verdict,
)
from collector.delivery.statuses import HALT_ADVICE, is_success, not_from, retry_after, verdict_of
from collector.errors import ConfigurationError
from collector.flow.outcome import Sealed
from collector.settings.options import SinkSettings
from collector.settings.section import Section

NAME = r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"
_CODE = re.compile(rb"^\s*Code: (\d+)[.,]")
_TEXT = re.compile(r"(?:DB::Exception: |e\.what\(\) = )(.*)", re.DOTALL)
CHECK_TABLE = "Create it with config/clickhouse.sql, or check sink.clickhouse.database and sink.clickhouse.table."
CHECK_USER = "Check sink.auth, sink.auth_user and sink.token_file, and that this user may INSERT into the table."
CHECK_VERSION = (
    "This server does not know a setting used for the insert. Before 22.2, set sink.clickhouse.deduplicates = false."
)
# Codes from src/Common/ErrorCodes.cpp. If a code is not listed here, the status decides.
HALTS = {
    **dict.fromkeys((60, 81, 16, 47, 10, 218), CHECK_TABLE),  # unknown table, database, column, identifier
    48: CHECK_TABLE,  # a view, say
    **dict.fromkeys((192, 193, 194, 195, 291, 497, 516, 164), CHECK_USER),  # unknown user, password, access, read-only
    115: CHECK_VERSION,
    **dict.fromkeys((62, 73), "This server does not accept the insert; ClickHouse 18.16 or newer is needed."),
}
REFUSALS = frozenset(
    {6, 25, 26, 27, 33, 38, 41, 53, 69, 70, 72, 117, 130, 131, 190, 321, 349, 376, 407, 441, 469, 636, 675, 676}
)
RETRIES = frozenset({159, 201, 202, 203, 209, 210, 225, 236, 241, 242, 243, 252, 285, 286, 319, 364, 394, 425, 999})


class ClickHouseOptions(Section):
    """Where rows go, and how they are inserted."""

    database: str = Field(default="default", pattern=NAME, description="the database that holds the table")
    table: str = Field(default="event_rows", pattern=NAME, description="the table that config/clickhouse.sql creates")
    asynchronous: bool = Field(
        default=False, description="let the server collect inserts from many agents; it answers once they are written"
    )
    wait: float = Field(
        default=20.0, gt=0, description="seconds the server may take for that; sink.timeout must be longer"
    )
    deduplicates: bool = Field(default=True, description="send insert_deduplication_token (ClickHouse 22.2 or newer)")


class ClickHouseSink:
    """One INSERT per batch."""

    limits = SinkLimits()

    def __init__(self, options: ClickHouseOptions | None = None, clock: Callable[[], float] = time.time) -> None:
        self._options = options or ClickHouseOptions()
        self._clock = clock

    def render(self, events: Sequence[Sealed], key: str) -> Request:
        """One row per line. The token is made from the content: one token for two contents would lose the second."""
        del key
        options = self._options
        body = b"".join(orjson.dumps({"id": event.id, "event": body_of(event).decode()}) + b"\n" for event in events)
        query = {"query": f"INSERT INTO {options.database}.{options.table} (id, event) FORMAT JSONEachRow"}
        if options.deduplicates:
            query["insert_deduplication_token"] = blake2b(body, digest_size=16).hexdigest()
        if options.asynchronous:
            # Without waiting, a 200 would only mean that the rows are in the server's memory.
            query |= {"async_insert": "1", "wait_for_async_insert": "1"}
            query["wait_for_async_insert_timeout"] = f"{options.wait:g}"
            if options.deduplicates:
                query["async_insert_deduplicate"] = "1"
        return Request(body, {"Content-Type": "application/x-ndjson"}, query=query)

    def classify(self, answer: Answer) -> Verdict:
        """Judges by the error's code, which even a 200 may carry, or else by the status."""
        code, reason = _error(answer)
        if code is None:
            if not is_success(answer):
                return verdict_of(answer, self._clock())
            # An INSERT's answer is empty; anything else comes from something in between.
            is_its_own = not answer.body.strip()
            return Accepted() if is_its_own else not_from("ClickHouse", answer)
        if code in RETRIES and answer.status != 403:
            return Retry(reason, retry_after(answer.headers, self._clock()))
        if code in HALTS:
            return Halt(reason, HALTS[code])
        if code in REFUSALS:
            return Refused(reason)
        if answer.status == 413:
            return TooLarge(reason)
        if answer.status in HALT_ADVICE:
            return Halt(reason, HALT_ADVICE[answer.status])
        if 400 <= answer.status < 500 and answer.status not in (408, 429):
            return Refused(reason)
        # An unknown code: retry, and search for a poison event if the sink is otherwise healthy.
        return Retry(reason, retry_after(answer.headers, self._clock()), may_be_poison=True)


def _error(answer: Answer) -> tuple[int | None, str]:
    """The error's code and text, without the row that it quotes."""
    found = _CODE.match(answer.body)
    told = answer.headers.get("x-clickhouse-exception-code", "")
    if found is None and not told.isdecimal():
        return None, ""
    code = int(found[1]) if found else int(told[:9])
    text = _TEXT.search(answer.body.decode(errors="replace"))
    # Parsing errors go on to quote the row; the problem is described before that.
    said = (
        re.split(r"(?i): \(at row|\(at row|row \d+:|,? before: |: while|, e\.what", text[1])[0].strip() if text else ""
    )
    return code, f"ClickHouse code {code}" + (f": {said}" if said else "")


def lookup(options: ClickHouseOptions, event: Sealed, _: float) -> Request:
    """Asks for a row. The id is written in two halves, because errors quote the statement."""
    half = len(event.id) // 2
    where = f"id = concat('{event.id[:half]}', '{event.id[half:]}')"
    body = f"SELECT id FROM {options.database}.{options.table} WHERE {where} LIMIT 1 FORMAT TabSeparated"  # noqa: S608
    return Request(body.encode(), {"Content-Type": "text/plain"})


def check(options: ClickHouseOptions, settings: SinkSettings) -> None:
    """A client that gives up before its server does sends rows again that are still being written."""
    if options.asynchronous and settings.timeout <= options.wait:
        raise ConfigurationError(
            f"sink.timeout is {settings.timeout:g} s, but the server may take {options.wait:g} s to answer "
            "(sink.clickhouse.wait). Make sink.timeout the longer one."
        )


SINK = SinkType(
    name="clickhouse",
    summary="rows for ClickHouse, over HTTP",
    options=ClickHouseOptions,
    make=ClickHouseSink,
    within=lambda options: f"{options.database}.{options.table}",
    check=check,
    lookup=lookup,
)
