-- Version 2 of the store: who and where, which version 1 repeated in each row, is stored once, ids are stored as their
-- 16 bytes, bodies are packed, and totals for reports are kept ready. `events`, `messages`, `tool_calls` and `sessions`
-- are views (views.sql); read those. schema.py converts a database of version 1.

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
-- in old versions, for a session in a `session_cost`; `started` (from version 4 on) says when it began to count that.
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
-- out what the touched messages, calls and events added up to before, and puts in what they add up to now.

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

-- The same by day and place, for the most frequent queries. They follow from usage_totals and activity_totals: the
-- triggers add what changed there, where every message and event is already counted once.
CREATE TABLE usage_days (
    day TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
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
    PRIMARY KEY (day, place, model, speed, percent, prompt_over, is_reported)
) WITHOUT ROWID;
CREATE TABLE activity_days (
    day TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    events INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    prompts INTEGER NOT NULL,
    api_errors INTEGER NOT NULL,
    compactions INTEGER NOT NULL,
    lines_added INTEGER NOT NULL,
    lines_removed INTEGER NOT NULL,
    mentions INTEGER NOT NULL,
    PRIMARY KEY (day, place)
) WITHOUT ROWID;
CREATE TRIGGER usage_come AFTER INSERT ON usage_totals BEGIN
    INSERT INTO usage_days (day, place, model, speed, percent, prompt_over, is_reported, messages, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, thinking_tokens, web_search_requests, web_fetch_requests, unknown_output, reported_cost)
    SELECT substr(new.hour, 1, 10), context.place, new.model, new.speed, new.percent, new.prompt_over, new.is_reported,
        new.messages,
        new.input_tokens,
        new.output_tokens,
        new.cache_read_tokens,
        new.cache_creation_tokens,
        new.cache_creation_5m_tokens,
        new.cache_creation_1h_tokens,
        new.thinking_tokens,
        new.web_search_requests,
        new.web_fetch_requests,
        new.unknown_output,
        new.reported_cost
    FROM contexts AS context WHERE context.number = new.context
    ON CONFLICT DO UPDATE SET
        messages = messages + excluded.messages,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
        cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens,
        cache_creation_5m_tokens = cache_creation_5m_tokens + excluded.cache_creation_5m_tokens,
        cache_creation_1h_tokens = cache_creation_1h_tokens + excluded.cache_creation_1h_tokens,
        thinking_tokens = thinking_tokens + excluded.thinking_tokens,
        web_search_requests = web_search_requests + excluded.web_search_requests,
        web_fetch_requests = web_fetch_requests + excluded.web_fetch_requests,
        unknown_output = unknown_output + excluded.unknown_output,
        reported_cost = reported_cost + excluded.reported_cost;
END;
CREATE TRIGGER usage_change AFTER UPDATE ON usage_totals BEGIN
    INSERT INTO usage_days (day, place, model, speed, percent, prompt_over, is_reported, messages, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, thinking_tokens, web_search_requests, web_fetch_requests, unknown_output, reported_cost)
    SELECT substr(new.hour, 1, 10), context.place, new.model, new.speed, new.percent, new.prompt_over, new.is_reported,
        new.messages - old.messages,
        new.input_tokens - old.input_tokens,
        new.output_tokens - old.output_tokens,
        new.cache_read_tokens - old.cache_read_tokens,
        new.cache_creation_tokens - old.cache_creation_tokens,
        new.cache_creation_5m_tokens - old.cache_creation_5m_tokens,
        new.cache_creation_1h_tokens - old.cache_creation_1h_tokens,
        new.thinking_tokens - old.thinking_tokens,
        new.web_search_requests - old.web_search_requests,
        new.web_fetch_requests - old.web_fetch_requests,
        new.unknown_output - old.unknown_output,
        new.reported_cost - old.reported_cost
    FROM contexts AS context WHERE context.number = new.context
    ON CONFLICT DO UPDATE SET
        messages = messages + excluded.messages,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
        cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens,
        cache_creation_5m_tokens = cache_creation_5m_tokens + excluded.cache_creation_5m_tokens,
        cache_creation_1h_tokens = cache_creation_1h_tokens + excluded.cache_creation_1h_tokens,
        thinking_tokens = thinking_tokens + excluded.thinking_tokens,
        web_search_requests = web_search_requests + excluded.web_search_requests,
        web_fetch_requests = web_fetch_requests + excluded.web_fetch_requests,
        unknown_output = unknown_output + excluded.unknown_output,
        reported_cost = reported_cost + excluded.reported_cost;
END;
CREATE TRIGGER usage_go AFTER DELETE ON usage_totals BEGIN
    INSERT INTO usage_days (day, place, model, speed, percent, prompt_over, is_reported, messages, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, thinking_tokens, web_search_requests, web_fetch_requests, unknown_output, reported_cost)
    SELECT substr(old.hour, 1, 10), context.place, old.model, old.speed, old.percent, old.prompt_over, old.is_reported,
        -old.messages,
        -old.input_tokens,
        -old.output_tokens,
        -old.cache_read_tokens,
        -old.cache_creation_tokens,
        -old.cache_creation_5m_tokens,
        -old.cache_creation_1h_tokens,
        -old.thinking_tokens,
        -old.web_search_requests,
        -old.web_fetch_requests,
        -old.unknown_output,
        -old.reported_cost
    FROM contexts AS context WHERE context.number = old.context
    ON CONFLICT DO UPDATE SET
        messages = messages + excluded.messages,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
        cache_creation_tokens = cache_creation_tokens + excluded.cache_creation_tokens,
        cache_creation_5m_tokens = cache_creation_5m_tokens + excluded.cache_creation_5m_tokens,
        cache_creation_1h_tokens = cache_creation_1h_tokens + excluded.cache_creation_1h_tokens,
        thinking_tokens = thinking_tokens + excluded.thinking_tokens,
        web_search_requests = web_search_requests + excluded.web_search_requests,
        web_fetch_requests = web_fetch_requests + excluded.web_fetch_requests,
        unknown_output = unknown_output + excluded.unknown_output,
        reported_cost = reported_cost + excluded.reported_cost;
    DELETE FROM usage_days
    WHERE day = substr(old.hour, 1, 10)
        AND place = (SELECT place FROM contexts WHERE number = old.context)
        AND model = old.model
        AND speed = old.speed
        AND percent = old.percent
        AND prompt_over = old.prompt_over
        AND is_reported = old.is_reported
        AND messages = 0
        AND input_tokens = 0
        AND output_tokens = 0
        AND cache_read_tokens = 0
        AND cache_creation_tokens = 0
        AND cache_creation_5m_tokens = 0
        AND cache_creation_1h_tokens = 0
        AND thinking_tokens = 0
        AND web_search_requests = 0
        AND web_fetch_requests = 0
        AND unknown_output = 0
        AND reported_cost = 0;
END;
CREATE TRIGGER activity_come AFTER INSERT ON activity_totals BEGIN
    INSERT INTO activity_days (day, place, events, bytes, prompts, api_errors, compactions, lines_added, lines_removed, mentions)
    SELECT substr(new.hour, 1, 10), context.place,
        new.events,
        new.bytes,
        new.prompts,
        new.api_errors,
        new.compactions,
        new.lines_added,
        new.lines_removed,
        new.mentions
    FROM contexts AS context WHERE context.number = new.context
    ON CONFLICT DO UPDATE SET
        events = events + excluded.events,
        bytes = bytes + excluded.bytes,
        prompts = prompts + excluded.prompts,
        api_errors = api_errors + excluded.api_errors,
        compactions = compactions + excluded.compactions,
        lines_added = lines_added + excluded.lines_added,
        lines_removed = lines_removed + excluded.lines_removed,
        mentions = mentions + excluded.mentions;
END;
CREATE TRIGGER activity_change AFTER UPDATE ON activity_totals BEGIN
    INSERT INTO activity_days (day, place, events, bytes, prompts, api_errors, compactions, lines_added, lines_removed, mentions)
    SELECT substr(new.hour, 1, 10), context.place,
        new.events - old.events,
        new.bytes - old.bytes,
        new.prompts - old.prompts,
        new.api_errors - old.api_errors,
        new.compactions - old.compactions,
        new.lines_added - old.lines_added,
        new.lines_removed - old.lines_removed,
        new.mentions - old.mentions
    FROM contexts AS context WHERE context.number = new.context
    ON CONFLICT DO UPDATE SET
        events = events + excluded.events,
        bytes = bytes + excluded.bytes,
        prompts = prompts + excluded.prompts,
        api_errors = api_errors + excluded.api_errors,
        compactions = compactions + excluded.compactions,
        lines_added = lines_added + excluded.lines_added,
        lines_removed = lines_removed + excluded.lines_removed,
        mentions = mentions + excluded.mentions;
END;
CREATE TRIGGER activity_go AFTER DELETE ON activity_totals BEGIN
    INSERT INTO activity_days (day, place, events, bytes, prompts, api_errors, compactions, lines_added, lines_removed, mentions)
    SELECT substr(old.hour, 1, 10), context.place,
        -old.events,
        -old.bytes,
        -old.prompts,
        -old.api_errors,
        -old.compactions,
        -old.lines_added,
        -old.lines_removed,
        -old.mentions
    FROM contexts AS context WHERE context.number = old.context
    ON CONFLICT DO UPDATE SET
        events = events + excluded.events,
        bytes = bytes + excluded.bytes,
        prompts = prompts + excluded.prompts,
        api_errors = api_errors + excluded.api_errors,
        compactions = compactions + excluded.compactions,
        lines_added = lines_added + excluded.lines_added,
        lines_removed = lines_removed + excluded.lines_removed,
        mentions = mentions + excluded.mentions;
    DELETE FROM activity_days
    WHERE day = substr(old.hour, 1, 10)
        AND place = (SELECT place FROM contexts WHERE number = old.context)
        AND events = 0
        AND bytes = 0
        AND prompts = 0
        AND api_errors = 0
        AND compactions = 0
        AND lines_added = 0
        AND lines_removed = 0
        AND mentions = 0;
END;

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
