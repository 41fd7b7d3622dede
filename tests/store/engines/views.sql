-- The rows that carry the usage of a message. Running totals are not messages, nor are answers made up by Claude Code.
CREATE VIEW message_rows AS
SELECT coalesce(message_id, '#' || id) AS message, events.*
FROM events
WHERE coalesce(output_tokens, input_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL
    AND kind NOT IN ('session_cost', 'session', 'session_index', 'stats')
    AND coalesce(model, '') <> '<synthetic>';

-- Of the rows of a message, the one with the most output counts; among equals, one that lists its calls, then one that
-- says how the cache was written. The earliest row says when and where the message happened. Its output is unknown if
-- every row says so.
CREATE VIEW whole_messages AS
SELECT
    most.message, most.id AS row_id, most.model, most.speed, most.service_tier, most.inference_geo, most.reported_cost,
    most.input_tokens, most.output_tokens, most.cache_read_tokens, most.cache_creation_tokens,
    most.cache_creation_5m_tokens, most.cache_creation_1h_tokens, most.thinking_tokens, most.web_search_requests,
    most.web_fetch_requests, earliest.message_id, earliest.id AS event_id, earliest.time, earliest.day,
    earliest.session_id, earliest.agent_id, earliest.agent_type, earliest.project, earliest.host_id,
    earliest.host_name, earliest.user_name, finals.unknown_output
FROM (
    SELECT *, row_number() OVER (
        PARTITION BY message
        ORDER BY coalesce(output_tokens, -1) DESC, has_calls DESC,
            CASE WHEN cache_creation_5m_tokens IS NULL THEN 0 ELSE 1 END DESC, id DESC
    ) AS place
    FROM message_rows
) AS most
JOIN (
    SELECT *, row_number() OVER (
        PARTITION BY message
        ORDER BY coalesce(time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, id
    ) AS place
    FROM message_rows
) AS earliest ON earliest.message = most.message AND earliest.place = 1
JOIN (
    SELECT
        message,
        min(CASE WHEN quality = 'output_tokens_unknown' THEN 1 ELSE 0 END) AS unknown_output
    FROM message_rows GROUP BY message
) AS finals ON finals.message = most.message
WHERE most.place = 1;

-- What a message is billed as: usually itself. A message that consists of several calls is billed call by call, because a
-- long prompt may cost more, provided the calls add up to its figures. The advisor's calls, which its figures do not
-- include, are billed under their own model.
CREATE VIEW sampled_calls AS
SELECT calls.*
FROM event_calls AS calls
JOIN (
    SELECT calls.id
    FROM event_calls AS calls JOIN events ON events.id = calls.id
    WHERE calls.type = 'message'
    GROUP BY calls.id
    HAVING count(*) > 1
        AND sum(calls.input_tokens) = max(coalesce(events.input_tokens, 0))
        AND sum(calls.output_tokens) = max(coalesce(events.output_tokens, 0))
        AND sum(calls.cache_read_tokens) = max(coalesce(events.cache_read_tokens, 0))
        AND sum(calls.cache_creation_tokens) = max(coalesce(events.cache_creation_tokens, 0))
        AND sum(calls.cache_creation_1h_tokens) = max(coalesce(events.cache_creation_1h_tokens, 0))
) AS adding_up ON adding_up.id = calls.id
WHERE calls.type = 'message';

CREATE VIEW billed AS
SELECT
    whole.message, whole.row_id, 0 AS place, whole.model, 1 AS messages, unknown_output, reported_cost,
    coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
    coalesce(cache_read_tokens, 0) AS cache_read_tokens, coalesce(cache_creation_tokens, 0) AS cache_creation_tokens,
    coalesce(cache_creation_5m_tokens, 0) AS cache_creation_5m_tokens,
    coalesce(cache_creation_1h_tokens, 0) AS cache_creation_1h_tokens,
    coalesce(thinking_tokens, 0) AS thinking_tokens, coalesce(web_search_requests, 0) AS web_search_requests,
    coalesce(web_fetch_requests, 0) AS web_fetch_requests
FROM whole_messages AS whole
WHERE row_id NOT IN (SELECT id FROM sampled_calls)
UNION ALL
SELECT
    whole.message, whole.row_id, call.place, whole.model, CASE WHEN call.is_first THEN 1 ELSE 0 END,
    CASE WHEN call.is_first THEN whole.unknown_output ELSE 0 END,
    CASE WHEN call.is_first THEN whole.reported_cost END,
    call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_creation_tokens,
    call.cache_creation_5m_tokens, call.cache_creation_1h_tokens,
    CASE WHEN call.is_first THEN coalesce(whole.thinking_tokens, 0) ELSE 0 END,
    CASE WHEN call.is_first THEN coalesce(whole.web_search_requests, 0) ELSE 0 END,
    CASE WHEN call.is_first THEN coalesce(whole.web_fetch_requests, 0) ELSE 0 END
FROM whole_messages AS whole
JOIN (
    SELECT sampled_calls.*, row_number() OVER (PARTITION BY id ORDER BY place) = 1 AS is_first FROM sampled_calls
) AS call ON call.id = whole.row_id
UNION ALL
SELECT
    whole.message, whole.row_id, call.place, call.model, 1, 0, NULL,
    call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_creation_tokens,
    call.cache_creation_5m_tokens, call.cache_creation_1h_tokens, call.thinking_tokens, call.web_search_requests,
    call.web_fetch_requests
FROM whole_messages AS whole
JOIN event_calls AS call ON call.id = whole.row_id
WHERE call.type = 'advisor_message';

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
FROM (
    SELECT
        billed.*, whole.message_id, whole.event_id, whole.time, whole.day, whole.session_id, whole.agent_id,
        whole.agent_type, whole.project, whole.host_id, whole.host_name, whole.user_name,
        CASE WHEN whole.speed = 'fast' THEN 'fast' ELSE 'standard' END AS speed,
        CASE WHEN whole.service_tier = 'batch' THEN 5 ELSE 10 END
            * CASE WHEN whole.inference_geo = 'us' THEN 11 ELSE 10 END AS percent,
        /* prompt_over */ AS prompt_over
    FROM (
        SELECT row_id, message_id, event_id, time, day, session_id, agent_id, agent_type, project, host_id, host_name,
            user_name, speed, service_tier, inference_geo
        FROM whole_messages
    ) AS whole JOIN billed ON billed.row_id = whole.row_id
) AS usage
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
