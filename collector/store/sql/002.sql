-- Version 2 of the store: what version 1 said in each row about who and where is said once, ids are stored as the 16
-- bytes they are, bodies are packed, and what reports ask for is kept ready. `events`, `messages`, `tool_calls` and
-- `sessions` are views (views.sql); read those. upgrade.py moves what version 1 held.

-- Who and where: host, user, project, session, agent. Hundreds of events share one.
CREATE TABLE contexts (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    session_id TEXT,
    agent_id TEXT,
    agent_type TEXT,
    copied_from TEXT,
    project TEXT,
    cwd TEXT,
    git_branch TEXT,
    host_id TEXT,
    host_name TEXT,
    user TEXT,
    root TEXT,
    client_version TEXT,
    entrypoint TEXT,
    labels TEXT
);
CREATE INDEX contexts_of_session ON contexts (session_id);

-- One narrow row an event, with what reports ask for. `message` names the API message (`#` and the event's id where it
-- has no message id); `counts` marks the rows that carry its usage; `is_final` those written with the final count;
-- `calls` is there where one message is billed as several calls;
-- `reported_cost` is Claude Code's own figure: of a message in old versions, of a session in a `session_cost`.
CREATE TABLE event_rows (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    context INTEGER NOT NULL REFERENCES contexts (number),
    received INTEGER NOT NULL,
    kind TEXT NOT NULL,
    record_type TEXT,
    time TEXT,
    origin TEXT,
    model TEXT,
    message TEXT,
    request_id TEXT,
    stop_reason TEXT,
    quality TEXT,
    speed TEXT,
    service_tier TEXT,
    inference_geo TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_creation_tokens INTEGER,
    cache_creation_5m_tokens INTEGER,
    cache_creation_1h_tokens INTEGER,
    thinking_tokens INTEGER,
    web_search_requests INTEGER,
    web_fetch_requests INTEGER,
    counts INTEGER,
    is_final INTEGER,
    is_copy INTEGER,
    calls TEXT,
    reported_cost INTEGER,
    lines_added INTEGER,
    lines_removed INTEGER,
    title TEXT,
    redactions TEXT,
    bytes INTEGER NOT NULL
);
CREATE INDEX event_rows_of_message ON event_rows (message) WHERE counts;
CREATE INDEX event_rows_of_context ON event_rows (context);
CREATE INDEX event_rows_with_title ON event_rows (context) WHERE title IS NOT NULL;
CREATE INDEX event_rows_with_redactions ON event_rows (context) WHERE redactions IS NOT NULL;

-- The event as it was sent, in JSON: text, or packed (see packing.py) with the named dictionary.
CREATE TABLE packed_bodies (
    number INTEGER PRIMARY KEY REFERENCES event_rows (number),
    body BLOB NOT NULL
);
CREATE TABLE dictionaries (
    number INTEGER PRIMARY KEY,
    content BLOB NOT NULL
);

-- The calls and results in an event. One call stands in several events: its row, copies of it, its result.
CREATE TABLE tool_rows (
    number INTEGER NOT NULL REFERENCES event_rows (number),
    place INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    is_result INTEGER NOT NULL,
    name TEXT,
    target TEXT,
    ok INTEGER,
    duration_ms INTEGER,
    PRIMARY KEY (number, place)
) WITHOUT ROWID;
CREATE INDEX tool_rows_of_call ON tool_rows (call_id);

-- Which session was forked from which. Said by the copied records alone, which otherwise give way to the originals.
CREATE TABLE forks (
    session_id TEXT NOT NULL,
    parent_session_id TEXT NOT NULL,
    PRIMARY KEY (session_id, parent_session_id)
) WITHOUT ROWID;

-- What follows is made from the tables above, and is kept in step in the transaction that changes them: totals.py takes
-- out what the touched messages, calls and events amounted to before, and puts in what they amount to now.

-- Tokens by hour (UTC), context and model, and by what decides the price besides the model. Every message is in it
-- once, with its row of most output, at its earliest time and place (promise 4).
CREATE TABLE usage_totals (
    hour TEXT NOT NULL,
    context INTEGER NOT NULL REFERENCES contexts (number),
    model TEXT NOT NULL,
    speed TEXT NOT NULL,
    percent INTEGER NOT NULL,
    prompt_over INTEGER NOT NULL,
    is_reported INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_creation_tokens INTEGER NOT NULL,
    cache_creation_5m_tokens INTEGER NOT NULL,
    cache_creation_1h_tokens INTEGER NOT NULL,
    thinking_tokens INTEGER NOT NULL,
    web_search_requests INTEGER NOT NULL,
    web_fetch_requests INTEGER NOT NULL,
    unknown_output INTEGER NOT NULL,
    reported_cost INTEGER NOT NULL,
    PRIMARY KEY (hour, context, model, speed, percent, prompt_over, is_reported)
) WITHOUT ROWID;
CREATE INDEX usage_totals_of_context ON usage_totals (context);
CREATE INDEX usage_totals_used_up ON usage_totals (messages) WHERE messages = 0;

-- What happened by hour (UTC) and context.
CREATE TABLE activity_totals (
    context INTEGER NOT NULL REFERENCES contexts (number),
    hour TEXT NOT NULL,
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    prompts INTEGER NOT NULL,
    api_errors INTEGER NOT NULL,
    compactions INTEGER NOT NULL,
    lines_added INTEGER NOT NULL,
    lines_removed INTEGER NOT NULL,
    mentions INTEGER NOT NULL,
    first_time TEXT,
    last_time TEXT,
    PRIMARY KEY (context, hour)
) WITHOUT ROWID;

CREATE TABLE kind_totals (
    day TEXT NOT NULL,
    kind TEXT NOT NULL,
    events INTEGER NOT NULL,
    PRIMARY KEY (day, kind)
) WITHOUT ROWID;

-- One row for each tool call, with what its result says. `duration_from` says whether the record held the duration or
-- it was computed from the times of call and result.
CREATE TABLE call_totals (
    call_id TEXT PRIMARY KEY,
    context INTEGER NOT NULL REFERENCES contexts (number),
    time TEXT,
    name TEXT,
    target TEXT,
    result_time TEXT,
    ok INTEGER,
    duration_ms INTEGER,
    duration_from TEXT
) WITHOUT ROWID;

CREATE INDEX call_totals_of_context ON call_totals (context);

-- Prices in billionths of a dollar a token (prices.py), made anew whenever the table in the package or the one of the
-- configuration changes. `prices` holds a row for each size of prompt, so that it is joined by equality alone.
CREATE TABLE price_names (
    name TEXT PRIMARY KEY,
    model TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE prices (
    model TEXT NOT NULL,
    starts TEXT NOT NULL,
    ends TEXT NOT NULL,
    speed TEXT NOT NULL,
    prompt_over INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    web_search INTEGER NOT NULL,
    PRIMARY KEY (model, speed, prompt_over, starts)
) WITHOUT ROWID;
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- What was removed on purpose, and nothing of what it said.
CREATE TABLE removals (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    reason TEXT NOT NULL,
    selection TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
