-- Moves what is in `incoming` into `events` (duckdb.sql): each id once, as the row with the most output.
BEGIN;
INSERT INTO events
SELECT fresh.*, CASE WHEN (event->'usage'->'iterations') IS NULL THEN 0 ELSE 1 END AS has_calls
FROM (
    SELECT DISTINCT ON (id) *
    FROM (
        SELECT
    event->>'id' AS id,
    event->>'kind' AS kind,
    event->>'record_type' AS record_type,
    event->>'time' AS time,
    substr(event->>'time', 1, 10) AS day,
    event->>'session_id' AS session_id,
    event->>'agent_id' AS agent_id,
    event->>'agent_type' AS agent_type,
    coalesce(
        event->'attributes'->'forked_from'->>'sessionId',
        nullif(event->'attributes'->>'request_session_id', event->>'session_id')
    ) AS copied_from,
    event->>'project' AS project,
    event->>'cwd' AS cwd,
    event->>'git_branch' AS git_branch,
    event->'host'->>'id' AS host_id,
    event->'host'->>'name' AS host_name,
    event->>'user' AS user_name,
    event->'client'->>'version' AS client_version,
    event->>'origin' AS origin,
    event->>'model' AS model,
    event->>'message_id' AS message_id,
    event->>'stop_reason' AS stop_reason,
    event->'quality'->>0 AS quality,
    event->'usage'->>'speed' AS speed,
    event->'usage'->>'service_tier' AS service_tier,
    event->'usage'->>'inference_geo' AS inference_geo,
    CAST(event->'usage'->>'input_tokens' AS bigint) AS input_tokens,
    CAST(event->'usage'->>'output_tokens' AS bigint) AS output_tokens,
    CAST(event->'usage'->>'cache_read_tokens' AS bigint) AS cache_read_tokens,
    CAST(event->'usage'->>'cache_creation_tokens' AS bigint) AS cache_creation_tokens,
    CAST(event->'usage'->>'cache_creation_5m_tokens' AS bigint) AS cache_creation_5m_tokens,
    CAST(event->'usage'->>'cache_creation_1h_tokens' AS bigint) AS cache_creation_1h_tokens,
    CAST(event->'usage'->>'thinking_tokens' AS bigint) AS thinking_tokens,
    CAST(event->'usage'->>'web_search_requests' AS bigint) AS web_search_requests,
    CAST(event->'usage'->>'web_fetch_requests' AS bigint) AS web_fetch_requests,
    CAST(CAST(event->'attributes'->>(CASE event->>'kind' WHEN 'session_cost' THEN 'total_cost_usd' ELSE 'cost_usd' END)
        AS decimal(20, 12)) * 100000000000 AS bigint) AS reported_cost,
    CAST(event->'tool'->>'lines_added' AS bigint) AS lines_added,
    CAST(event->'tool'->>'lines_removed' AS bigint) AS lines_removed,
    CASE
        WHEN event->>'kind' IN ('title', 'summary')
            OR ((event->>'kind') = 'user_prompt' AND (event->>'origin') IN ('human', 'sdk'))
            THEN substr(trim(event->>'text'), 1, 160)
    END AS title,
            event
        FROM (SELECT CAST(mended(line) AS JSON) AS event FROM incoming WHERE trim(line) <> '')
    )
    ORDER BY id, coalesce(output_tokens, -1) DESC, copied_from IS NOT NULL, session_id DESC, CAST(event AS VARCHAR)
) AS fresh
ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, record_type = excluded.record_type, time = excluded.time, day = excluded.day, session_id = excluded.session_id, agent_id = excluded.agent_id, agent_type = excluded.agent_type, copied_from = excluded.copied_from, project = excluded.project, cwd = excluded.cwd, git_branch = excluded.git_branch, host_id = excluded.host_id, host_name = excluded.host_name, user_name = excluded.user_name, client_version = excluded.client_version, origin = excluded.origin, model = excluded.model, message_id = excluded.message_id, stop_reason = excluded.stop_reason, quality = excluded.quality, speed = excluded.speed, service_tier = excluded.service_tier, inference_geo = excluded.inference_geo, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens, cache_creation_tokens = excluded.cache_creation_tokens, cache_creation_5m_tokens = excluded.cache_creation_5m_tokens, cache_creation_1h_tokens = excluded.cache_creation_1h_tokens, thinking_tokens = excluded.thinking_tokens, web_search_requests = excluded.web_search_requests, web_fetch_requests = excluded.web_fetch_requests, reported_cost = excluded.reported_cost, lines_added = excluded.lines_added, lines_removed = excluded.lines_removed, title = excluded.title, event = excluded.event, has_calls = excluded.has_calls
WHERE (coalesce(excluded.output_tokens, -1), excluded.copied_from IS NULL, coalesce(excluded.session_id, ''))
    > (coalesce(events.output_tokens, -1), events.copied_from IS NULL, coalesce(events.session_id, ''));
DELETE FROM incoming;
COMMIT;
