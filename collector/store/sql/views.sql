-- What the store knows, ready to be asked. Created anew by every migration.

-- The rows that carry the usage of a message. Kinds that hold running totals are not messages, and neither is what
-- Claude Code makes up itself.
CREATE VIEW message_rows AS
SELECT coalesce(message_id, id) AS message, *
FROM events
WHERE coalesce(output_tokens, input_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL
    AND kind NOT IN ('session_cost', 'session', 'session_index', 'stats')
    AND coalesce(model, '') <> '<synthetic>';

-- One row for each message: the truth about tokens (promise 4). One API message is written as several rows, and copies
-- of a transcript repeat them. Input and cache figures are the same on all of them; output grows, and the largest is
-- right. So the row with the most output speaks for the message, and the earliest row says when and where it happened.
-- A row without a message id is a message of its own.
--
-- Two passes joined, each with one min() or max(): SQLite then takes the other columns from the row that has it. The
-- same with window functions takes twenty times as long.
CREATE VIEW messages AS
SELECT
    most.message_id AS message_id, earliest.id AS event_id, earliest.time AS time, earliest.day AS day,
    earliest.session_id AS session_id, earliest.agent_id AS agent_id, earliest.project AS project,
    earliest.host_name AS host_name, earliest.user AS user, most.model AS model,
    most.quality AS quality,
    coalesce(most.input_tokens, 0) AS input_tokens,
    coalesce(most.output_tokens, 0) AS output_tokens,
    coalesce(most.cache_read_tokens, 0) AS cache_read_tokens,
    coalesce(most.cache_creation_tokens, 0) AS cache_creation_tokens,
    coalesce(most.cache_creation_5m_tokens, 0) AS cache_creation_5m_tokens,
    coalesce(most.cache_creation_1h_tokens, 0) AS cache_creation_1h_tokens,
    coalesce(most.thinking_tokens, 0) AS thinking_tokens,
    coalesce(most.web_search_requests, 0) AS web_search_requests,
    coalesce(most.web_fetch_requests, 0) AS web_fetch_requests
FROM (
    -- of rows with equal output, the one that says how the cache was written says the most
    SELECT
        max(coalesce(output_tokens, -1) * 2 + (cache_creation_5m_tokens IS NOT NULL)), message_rows.*
    FROM message_rows
    GROUP BY message
) AS most
JOIN (
    SELECT
        min(coalesce(time, '9999') || (copied_from IS NOT NULL) || id), message_rows.*
    FROM message_rows
    GROUP BY message
) AS earliest USING (message);

-- One row for each tool call, however many rows and copies repeat it.
CREATE VIEW tool_calls AS
SELECT call_id, name, min(time) AS time, day, session_id, project
FROM (
    SELECT
        coalesce(json_extract(tool.value, '$.call_id'), events.id || ':' || tool.key) AS call_id,
        json_extract(tool.value, '$.name') AS name,
        coalesce(time, '9999') AS time, day, session_id, project
    FROM events, json_each(events.tools) AS tool
)
GROUP BY call_id;

-- One row for each session that left a transcript. The prompt history and the session index only mention sessions.
CREATE VIEW sessions AS
SELECT
    session_id, min(time) AS time, max(time) AS last_time, min(project) AS project, min(host_name) AS host_name,
    min(user) AS user, count(*) AS events,
    count(*) FILTER (WHERE kind = 'user_prompt' AND origin = 'human') AS prompts
FROM events
WHERE session_id IS NOT NULL AND kind NOT IN ('prompt_history', 'session_index')
GROUP BY session_id;
