-- Version 3 of the store: which session was at work on which day, and the totals of tool calls and models by day, are
-- kept ready too.

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

-- Tokens by day and model, for all places: what the overview asks first, from a tenth of the rows. They follow from
-- usage_days.
CREATE TABLE model_days (
    day TEXT NOT NULL,
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
    PRIMARY KEY (day, model, speed, percent, prompt_over, is_reported)
) WITHOUT ROWID;
CREATE TRIGGER model_come AFTER INSERT ON usage_days BEGIN
    INSERT INTO model_days (
        day, model, speed, percent, prompt_over, is_reported, messages, input_tokens, output_tokens,
        cache_read_tokens, cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens,
        thinking_tokens, web_search_requests, web_fetch_requests, unknown_output, reported_cost
    ) VALUES (
        new.day, new.model, new.speed, new.percent, new.prompt_over, new.is_reported, new.messages, new.input_tokens,
        new.output_tokens, new.cache_read_tokens, new.cache_creation_tokens, new.cache_creation_5m_tokens,
        new.cache_creation_1h_tokens, new.thinking_tokens, new.web_search_requests, new.web_fetch_requests,
        new.unknown_output, new.reported_cost
    ) ON CONFLICT DO UPDATE SET
        messages = messages + excluded.messages, input_tokens = input_tokens + excluded.input_tokens,
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
CREATE TRIGGER model_change AFTER UPDATE ON usage_days BEGIN
    INSERT INTO model_days (
        day, model, speed, percent, prompt_over, is_reported, messages, input_tokens, output_tokens,
        cache_read_tokens, cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens,
        thinking_tokens, web_search_requests, web_fetch_requests, unknown_output, reported_cost
    ) VALUES (
        new.day, new.model, new.speed, new.percent, new.prompt_over, new.is_reported, new.messages - old.messages,
        new.input_tokens - old.input_tokens, new.output_tokens - old.output_tokens,
        new.cache_read_tokens - old.cache_read_tokens, new.cache_creation_tokens - old.cache_creation_tokens,
        new.cache_creation_5m_tokens - old.cache_creation_5m_tokens,
        new.cache_creation_1h_tokens - old.cache_creation_1h_tokens, new.thinking_tokens - old.thinking_tokens,
        new.web_search_requests - old.web_search_requests, new.web_fetch_requests - old.web_fetch_requests,
        new.unknown_output - old.unknown_output, new.reported_cost - old.reported_cost
    ) ON CONFLICT DO UPDATE SET
        messages = messages + excluded.messages, input_tokens = input_tokens + excluded.input_tokens,
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
CREATE TRIGGER model_go AFTER DELETE ON usage_days BEGIN
    DELETE FROM model_days
    WHERE day = old.day AND model = old.model AND speed = old.speed AND percent = old.percent
        AND prompt_over = old.prompt_over AND is_reported = old.is_reported
        AND messages = 0 AND input_tokens = 0 AND output_tokens = 0 AND cache_read_tokens = 0
        AND cache_creation_tokens = 0 AND cache_creation_5m_tokens = 0 AND cache_creation_1h_tokens = 0
        AND thinking_tokens = 0 AND web_search_requests = 0 AND web_fetch_requests = 0 AND unknown_output = 0
        AND reported_cost = 0;
END;
