-- The tables of the store. Who and where is stored once for many events, ids are stored as their 16 bytes, bodies are
-- packed, and totals for reports are kept ready. `events`, `messages`, `tool_calls` and `sessions` are views (views.sql);
-- read those.

-- Where work is done, as reports group it: a few rows for each project, machine, user and kind of agent.
CREATE TABLE places (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    project TEXT,
    host_id TEXT,
    host_name TEXT,
    user TEXT,
    agent TEXT NOT NULL,
    labels TEXT
);

-- Who and where: host, user, project, session, agent. Hundreds of events share one row.
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
    labels TEXT,
    agent TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number)
);
CREATE INDEX contexts_of_session ON contexts (session_id);

-- One narrow row per event, with what reports ask for. `message` names the API message (`#` and the event's id if it
-- has no message id); `counts` marks the rows that carry its usage, `is_final` those written with the final count;
-- `calls` is set if one message is billed as several calls; `reported_cost` is Claude Code's own figure: for a message
-- in old versions, for a session in a `session_cost`; `started` says when it began to count that.
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
    started INTEGER,
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

-- The calls and results in an event. One call is in several events: its own, copies of that, and its result's.
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

-- Which session was forked from which. Only the copied records say so, and they give way to the originals otherwise.
CREATE TABLE forks (
    session_id TEXT NOT NULL,
    parent_session_id TEXT NOT NULL,
    PRIMARY KEY (session_id, parent_session_id)
) WITHOUT ROWID;

-- The tables below are made from those above, and kept in step in the transaction that changes them: totals.py takes
-- out what the touched messages, calls and events added up to before, and puts in what they add up to now. The sums
-- stand there too, once for all tables that have them: SUMMED for figures, ADDED_UP for activity.

-- Tokens by hour (UTC), context and model, and by whatever else decides the price. Every message is counted once, with
-- its row of most output, at its earliest time and place (promise 4).
CREATE TABLE usage_totals (
    hour TEXT NOT NULL,
    context INTEGER NOT NULL REFERENCES contexts (number),
    model TEXT NOT NULL,
    speed TEXT NOT NULL,
    percent INTEGER NOT NULL,
    prompt_over INTEGER NOT NULL,
    is_reported INTEGER NOT NULL,
    /* figures */
    PRIMARY KEY (hour, context, model, speed, percent, prompt_over, is_reported)
) WITHOUT ROWID;
CREATE INDEX usage_totals_of_context ON usage_totals (context);
CREATE INDEX usage_totals_used_up ON usage_totals (messages) WHERE messages = 0;

-- What happened by hour (UTC) and context.
CREATE TABLE activity_totals (
    context INTEGER NOT NULL REFERENCES contexts (number),
    hour TEXT NOT NULL,
    /* activity */
    first_time TEXT,
    last_time TEXT,
    PRIMARY KEY (context, hour)
) WITHOUT ROWID;

-- The same by day and place, for the most frequent queries. Triggers (totals.py) add what changed in usage_totals and
-- activity_totals, where every message and event is already counted once.
CREATE TABLE usage_days (
    day TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    model TEXT NOT NULL,
    speed TEXT NOT NULL,
    percent INTEGER NOT NULL,
    prompt_over INTEGER NOT NULL,
    is_reported INTEGER NOT NULL,
    /* figures */
    PRIMARY KEY (day, place, model, speed, percent, prompt_over, is_reported)
) WITHOUT ROWID;
CREATE TABLE activity_days (
    day TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    /* activity */
    PRIMARY KEY (day, place)
) WITHOUT ROWID;

-- Tokens by day and model, for all places: what the overview asks first, from a tenth of the rows. Triggers add
-- what changed in usage_days.
CREATE TABLE model_days (
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    speed TEXT NOT NULL,
    percent INTEGER NOT NULL,
    prompt_over INTEGER NOT NULL,
    is_reported INTEGER NOT NULL,
    /* figures */
    PRIMARY KEY (day, model, speed, percent, prompt_over, is_reported)
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

CREATE INDEX call_totals_of_context ON call_totals (context, ok);

-- Sessions by place and day, so that they can be counted: how many rows of activity_totals say that a session did
-- something, and how many rows of usage_totals it has. The triggers keep both in step as those rows come and go.
CREATE TABLE session_days (
    session_id TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    day TEXT NOT NULL,
    active INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (session_id, place, day)
) WITHOUT ROWID;
CREATE TRIGGER session_active AFTER INSERT ON activity_totals WHEN new.events > new.mentions BEGIN
    INSERT INTO session_days (session_id, place, day, active, used)
    SELECT context.session_id, context.place, substr(new.hour, 1, 10), 1, 0
    FROM contexts AS context WHERE context.number = new.context AND context.session_id IS NOT NULL
    ON CONFLICT DO UPDATE SET active = active + 1;
END;
CREATE TRIGGER session_becomes_active AFTER UPDATE ON activity_totals
WHEN new.events > new.mentions AND NOT old.events > old.mentions BEGIN
    INSERT INTO session_days (session_id, place, day, active, used)
    SELECT context.session_id, context.place, substr(new.hour, 1, 10), 1, 0
    FROM contexts AS context WHERE context.number = new.context AND context.session_id IS NOT NULL
    ON CONFLICT DO UPDATE SET active = active + 1;
END;
CREATE TRIGGER session_goes AFTER DELETE ON activity_totals WHEN old.events > old.mentions BEGIN
    UPDATE session_days SET active = active - 1
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10);
    DELETE FROM session_days
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10) AND active = 0 AND used = 0;
END;
CREATE TRIGGER session_used AFTER INSERT ON usage_totals BEGIN
    INSERT INTO session_days (session_id, place, day, active, used)
    SELECT context.session_id, context.place, substr(new.hour, 1, 10), 0, 1
    FROM contexts AS context WHERE context.number = new.context AND context.session_id IS NOT NULL
    ON CONFLICT DO UPDATE SET used = used + 1;
END;
CREATE TRIGGER session_used_no_more AFTER DELETE ON usage_totals BEGIN
    UPDATE session_days SET used = used - 1
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10);
    DELETE FROM session_days
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10) AND active = 0 AND used = 0;
END;

-- Tool calls by day and place; every call is counted once, as it is in call_totals. `durations` are those of the calls
-- in milliseconds, sorted and separated by commas, so that the median of any period is exact.
CREATE TABLE call_days (
    day TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    calls INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    timed INTEGER NOT NULL,
    computed INTEGER NOT NULL,
    durations TEXT NOT NULL,
    PRIMARY KEY (day, place, name, target)
) WITHOUT ROWID;
CREATE INDEX call_days_used_up ON call_days (calls) WHERE calls = 0;
-- How often each tool was called, for the overview.
CREATE INDEX call_days_by_name ON call_days (name, day, calls);

-- Prices in billionths of a dollar per token (prices.py), replaced whenever the package's table or the configured one
-- changes. `prices` has a row for each size of prompt, so that the size is joined by equality.
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
