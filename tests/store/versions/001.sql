-- Version 1 of the store. A later version is a further numbered file beside this one; none is ever edited.
--
-- `events` holds one narrow row an event, with what reports ask for; `bodies` holds the event as it was sent. They are
-- apart so that a report over 400 MB of events reads 30 MB. Join them on `number`.

CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    time TEXT,
    day TEXT,
    received_at TEXT NOT NULL,
    session_id TEXT,
    agent_id TEXT,
    copied_from TEXT,
    project TEXT,
    host_id TEXT,
    host_name TEXT,
    user TEXT,
    root TEXT,
    origin TEXT,
    model TEXT,
    message_id TEXT,
    request_id TEXT,
    stop_reason TEXT,
    quality TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_creation_tokens INTEGER,
    cache_creation_5m_tokens INTEGER,
    cache_creation_1h_tokens INTEGER,
    thinking_tokens INTEGER,
    web_search_requests INTEGER,
    web_fetch_requests INTEGER,
    tools TEXT,
    bytes INTEGER NOT NULL
);

CREATE TABLE bodies (
    number INTEGER PRIMARY KEY REFERENCES events (number),
    body TEXT NOT NULL
);
