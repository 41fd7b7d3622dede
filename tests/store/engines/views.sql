-- The rows that carry the usage of a message. Running totals are not messages, nor are answers made up by Claude Code.
CREATE VIEW message_rows AS
SELECT coalesce(message_id, '#' || id) AS message, events.*
FROM events
WHERE coalesce(output_tokens, input_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL
    AND kind NOT IN ('session_cost', 'session', 'session_index', 'stats')
    AND coalesce(model, '') <> '<synthetic>';

-- Of the rows of a message, the one with the most output counts; among equals, one that lists its calls, then one that
-- says how the cache was written. The earliest row says when and where the message happened. Its output is unknown if
-- every row says so. One pass over the rows, because PostgreSQL underestimates what these conditions leave, and would
-- join the results of several passes row by row.
CREATE VIEW whole_messages AS
SELECT
    most.id AS row_id, most.message_id, earliest.id AS event_id, earliest.time, earliest.day, earliest.session_id,
    earliest.agent_id, earliest.agent_type, earliest.project, earliest.host_id, earliest.host_name, earliest.user_name,
    most.model, CASE WHEN most.speed = 'fast' THEN 'fast' ELSE 'standard' END AS speed,
    CASE WHEN most.service_tier = 'batch' THEN 5 ELSE 10 END * CASE WHEN most.inference_geo = 'us' THEN 11 ELSE 10 END
        AS percent,
    most.unknown_output, most.reported_cost, coalesce(most.input_tokens, 0) AS input_tokens,
    coalesce(most.output_tokens, 0) AS output_tokens, coalesce(most.cache_read_tokens, 0) AS cache_read_tokens,
    coalesce(most.cache_creation_tokens, 0) AS cache_creation_tokens,
    coalesce(most.cache_creation_5m_tokens, 0) AS cache_creation_5m_tokens,
    coalesce(most.cache_creation_1h_tokens, 0) AS cache_creation_1h_tokens,
    coalesce(most.thinking_tokens, 0) AS thinking_tokens, coalesce(most.web_search_requests, 0) AS web_search_requests,
    coalesce(most.web_fetch_requests, 0) AS web_fetch_requests
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY message
            ORDER BY coalesce(output_tokens, -1) DESC, has_calls DESC,
                CASE WHEN cache_creation_5m_tokens IS NULL THEN 0 ELSE 1 END DESC, id DESC
        ) AS place,
        first_value(id) OVER (
            PARTITION BY message
            ORDER BY coalesce(time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, id
        ) AS earliest_id,
        min(CASE WHEN quality = 'output_tokens_unknown' THEN 1 ELSE 0 END) OVER (PARTITION BY message) AS unknown_output
    FROM message_rows
) AS most
JOIN events AS earliest ON earliest.id = most.earliest_id
WHERE most.place = 1;

-- Events whose calls of the message's own model add up to its figures, and the first of these calls.
CREATE VIEW sampled AS
SELECT calls.id AS id, min(calls.place) AS first_place
FROM event_calls AS calls JOIN events ON events.id = calls.id
WHERE calls.type = 'message'
GROUP BY calls.id
HAVING count(*) > 1
    AND sum(calls.input_tokens) = max(coalesce(events.input_tokens, 0))
    AND sum(calls.output_tokens) = max(coalesce(events.output_tokens, 0))
    AND sum(calls.cache_read_tokens) = max(coalesce(events.cache_read_tokens, 0))
    AND sum(calls.cache_creation_tokens) = max(coalesce(events.cache_creation_tokens, 0))
    AND sum(calls.cache_creation_1h_tokens) = max(coalesce(events.cache_creation_1h_tokens, 0));

-- What an event that lists calls is billed as: itself, or call by call where these add up, because a long prompt may cost
-- more; and the advisor's calls, which its figures do not include, under their own model. Null stands for the figures of
-- the message.
CREATE VIEW billed_calls AS
SELECT
    id, place, 1 AS is_advice, 1 AS messages, model, input_tokens, output_tokens, cache_read_tokens,
    cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, thinking_tokens, web_search_requests,
    web_fetch_requests
FROM event_calls WHERE type = 'advisor_message'
UNION ALL
SELECT
    calls.id, calls.place, 0, CASE WHEN calls.place = first_place THEN 1 ELSE 0 END, NULL, calls.input_tokens,
    calls.output_tokens, calls.cache_read_tokens, calls.cache_creation_tokens, calls.cache_creation_5m_tokens,
    calls.cache_creation_1h_tokens, CASE WHEN calls.place <> first_place THEN 0 END,
    CASE WHEN calls.place <> first_place THEN 0 END, CASE WHEN calls.place <> first_place THEN 0 END
FROM event_calls AS calls JOIN sampled ON sampled.id = calls.id
WHERE calls.type = 'message'
UNION ALL
SELECT id, 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM events WHERE has_calls = 1 AND id NOT IN (SELECT id FROM sampled);

CREATE VIEW billed AS
SELECT
    whole.message_id, whole.event_id, whole.time, whole.day, whole.session_id, whole.agent_id, whole.agent_type,
    whole.project, whole.host_id, whole.host_name, whole.user_name, whole.speed, whole.percent,
    CASE WHEN call.is_advice = 1 THEN call.model ELSE whole.model END AS model, coalesce(call.messages, 1) AS messages,
    CASE WHEN call.is_advice = 1 OR call.messages = 0 THEN 0 ELSE whole.unknown_output END AS unknown_output,
    CASE WHEN call.is_advice = 1 OR call.messages = 0 THEN NULL ELSE whole.reported_cost END AS reported_cost,
    coalesce(call.input_tokens, whole.input_tokens) AS input_tokens,
    coalesce(call.output_tokens, whole.output_tokens) AS output_tokens,
    coalesce(call.cache_read_tokens, whole.cache_read_tokens) AS cache_read_tokens,
    coalesce(call.cache_creation_tokens, whole.cache_creation_tokens) AS cache_creation_tokens,
    coalesce(call.cache_creation_5m_tokens, whole.cache_creation_5m_tokens) AS cache_creation_5m_tokens,
    coalesce(call.cache_creation_1h_tokens, whole.cache_creation_1h_tokens) AS cache_creation_1h_tokens,
    coalesce(call.thinking_tokens, whole.thinking_tokens) AS thinking_tokens,
    coalesce(call.web_search_requests, whole.web_search_requests) AS web_search_requests,
    coalesce(call.web_fetch_requests, whole.web_fetch_requests) AS web_fetch_requests
FROM whole_messages AS whole LEFT JOIN billed_calls AS call ON call.id = whole.row_id;

-- One row for each message and each call of the advisor, with its price. `cost_exact` is in hundred-thousandths of a
-- micro-dollar: add it up, then divide. It is null if the model has no price.
CREATE VIEW messages AS
SELECT
    usage.message_id, usage.event_id, usage.time, usage.day, usage.session_id, usage.agent_id, usage.agent_type,
    usage.project, usage.host_id, usage.host_name, usage.user_name, usage.model, usage.speed,
    CASE WHEN usage.unknown_output = 1 THEN 'output_tokens_unknown' END AS quality,
    usage.messages, usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_creation_tokens,
    usage.cache_creation_5m_tokens, usage.cache_creation_1h_tokens, usage.thinking_tokens, usage.web_search_requests,
    usage.web_fetch_requests,
    CASE WHEN usage.reported_cost IS NOT NULL THEN usage.reported_cost ELSE /* cost */ END AS cost_exact,
    CASE
        WHEN usage.reported_cost IS NOT NULL THEN 'reported'
        WHEN price.model IS NOT NULL THEN 'computed'
        ELSE 'unknown'
    END AS cost_from
FROM (SELECT *, /* prompt_over */ AS prompt_over FROM billed) AS usage
LEFT JOIN price_names AS known ON known.name = usage.model
LEFT JOIN prices AS price
    ON price.model = known.model AND price.speed = usage.speed AND price.prompt_over = usage.prompt_over
    AND price.starts <= coalesce(usage.day, '') AND coalesce(usage.day, '') < price.ends;

-- One row for each tool call, at its earliest place, with its earliest result. If the result has no duration, it is
-- computed from the times of call and result, and `duration_from` says so.
CREATE VIEW tool_calls AS
SELECT
    call.call_id, coalesce(call.name, result.name) AS name, call.target, call.time, call.day, call.session_id,
    call.agent_id, call.agent_type, call.project, call.host_id, call.host_name, call.user_name,
    result.time AS result_time, result.ok,
    CASE
        WHEN result.duration_ms IS NOT NULL THEN result.duration_ms
        WHEN result.time >= call.time THEN /* milliseconds */
    END AS duration_ms,
    CASE
        WHEN result.duration_ms IS NOT NULL THEN 'reported'
        WHEN result.time >= call.time THEN 'computed'
    END AS duration_from
FROM (
    SELECT
        tool.call_id, tool.name, tool.target, events.time, events.day, events.session_id, events.agent_id,
        events.agent_type, events.project, events.host_id, events.host_name, events.user_name,
        row_number() OVER (
            PARTITION BY tool.call_id
            ORDER BY coalesce(events.time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, events.id, tool.place
        ) AS first
    FROM event_tools AS tool JOIN events ON events.id = tool.id
    WHERE tool.type = 'tool_call'
) AS call
LEFT JOIN (
    SELECT
        tool.call_id, tool.name, tool.ok, tool.duration_ms, events.time,
        row_number() OVER (
            PARTITION BY tool.call_id
            ORDER BY coalesce(events.time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, events.id, tool.place
        ) AS first
    FROM event_tools AS tool JOIN events ON events.id = tool.id
    WHERE tool.type = 'tool_result'
) AS result ON result.call_id = call.call_id AND result.first = 1
WHERE call.first = 1;

-- One row for each session that left a transcript. Bookkeeping, which names no version, does not say when a session began: a
-- fork's has the times of what it copied.
CREATE VIEW sessions AS
SELECT
    session_id, coalesce(min(CASE WHEN client_version IS NOT NULL THEN time END), min(time)) AS time,
    max(time) AS last_time, min(project) AS project, min(host_id) AS host_id,
    min(host_name) AS host_name, min(user_name) AS user_name, count(*) AS events,
    sum(CASE WHEN kind = 'user_prompt' AND origin = 'human' THEN 1 ELSE 0 END) AS prompts,
    coalesce(sum(lines_added), 0) AS lines_added, coalesce(sum(lines_removed), 0) AS lines_removed
FROM events
WHERE session_id IS NOT NULL AND kind NOT IN ('prompt_history', 'session_index', 'heartbeat', 'canary')
GROUP BY session_id;

-- Bookkeeping that Claude Code writes again whenever a session is opened or quit: the newest of its kind in its session.
CREATE VIEW bookkeeping AS
SELECT id, kind, record_type, time, session_id, agent_id, project, host_name, user_name, title, times_written
FROM (
    SELECT
        events.*,
        count(*) OVER (PARTITION BY session_id, agent_id, kind, record_type) AS times_written,
        row_number() OVER (
            PARTITION BY session_id, agent_id, kind, record_type ORDER BY coalesce(time, '') DESC, id DESC
        ) AS newest
    FROM events
    WHERE kind IN ('title', 'mode', 'last_prompt', 'session', 'session_cost', 'link')
) AS written
WHERE newest = 1;
