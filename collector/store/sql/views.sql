-- What the store knows, ready to be asked. Made again whenever the database is opened by a newer collector.

-- One row a message: the truth about tokens (promise 4). One API message is written as several rows, and copies of a
-- transcript repeat them. Input and cache figures are equal on all of them, output grows and the largest is the truth;
-- so the row with the most output speaks for the message, and the earliest row says when and where it happened.
-- A row without a message id stands for itself. Kinds that hold running totals are no messages.
CREATE VIEW messages AS
SELECT
    message_id, first_id AS event_id, first_time AS time, first_day AS day, first_session AS session_id,
    first_agent AS agent_id, first_project AS project, host_name, user, coalesce(model, any_model) AS model, quality,
    coalesce(input_tokens, 0) AS input_tokens,
    coalesce(output_tokens, 0) AS output_tokens,
    coalesce(cache_read_tokens, 0) AS cache_read_tokens,
    coalesce(cache_creation_tokens, 0) AS cache_creation_tokens,
    coalesce(cache_creation_5m_tokens, 0) AS cache_creation_5m_tokens,
    coalesce(cache_creation_1h_tokens, 0) AS cache_creation_1h_tokens,
    coalesce(thinking_tokens, 0) AS thinking_tokens,
    coalesce(web_search_requests, 0) AS web_search_requests,
    coalesce(web_fetch_requests, 0) AS web_fetch_requests
FROM (
    SELECT *,
        row_number() OVER most_output AS place,
        max(model) OVER (PARTITION BY coalesce(message_id, id)) AS any_model,
        first_value(id) OVER earliest AS first_id,
        first_value(time) OVER earliest AS first_time,
        first_value(day) OVER earliest AS first_day,
        first_value(session_id) OVER earliest AS first_session,
        first_value(agent_id) OVER earliest AS first_agent,
        first_value(project) OVER earliest AS first_project
    FROM events
    WHERE coalesce(output_tokens, input_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL
        AND kind NOT IN ('session_cost', 'session', 'session_index', 'stats')
        AND coalesce(model, '') <> '<synthetic>'
    WINDOW
        most_output AS (PARTITION BY coalesce(message_id, id) ORDER BY output_tokens DESC, time, id),
        earliest AS (
            PARTITION BY coalesce(message_id, id) ORDER BY time IS NULL, time, copied_from IS NOT NULL, number
        )
)
WHERE place = 1;

-- One row a tool call, however many rows and copies repeat it.
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

-- One row a session that left a transcript. The prompt history and the session index only mention sessions.
CREATE VIEW sessions AS
SELECT
    session_id, min(time) AS time, max(time) AS last_time, project, host_name, user, count(*) AS events,
    count(*) FILTER (WHERE kind = 'user_prompt' AND origin = 'human') AS prompts
FROM events
WHERE session_id IS NOT NULL AND kind NOT IN ('prompt_history', 'session_index')
GROUP BY session_id;
