-- Moves what is in `incoming` into `events` (duckdb.sql): each id once, as the row with the most output.
BEGIN;
INSERT INTO forks SELECT DISTINCT session_id, copied_from
FROM (
    SELECT event->>'session_id' AS session_id, coalesce( event->'attributes'->'forked_from'->>'sessionId', nullif(event->'attributes'->>'request_session_id', event->>'session_id') ) AS copied_from
    FROM (
        SELECT CAST(mended(line) AS JSON) AS event FROM incoming
        WHERE line LIKE '%forked_from%' OR line LIKE '%request_session_id%'
    )
)
WHERE copied_from <> session_id
ON CONFLICT DO NOTHING;
INSERT OR REPLACE INTO events
SELECT fresh.*, CASE WHEN (fresh.event->'usage'->'iterations') IS NULL THEN 0 ELSE 1 END AS has_calls
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
    CAST(dollars(event->'attributes'->>(CASE event->>'kind' WHEN 'session_cost' THEN 'total_cost_usd' ELSE 'cost_usd' END))
        * 100000000000 AS bigint) AS reported_cost,
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
    ORDER BY id, coalesce(output_tokens, -1) DESC, copied_from IS NOT NULL, agent_id IS NOT NULL, forks_before(session_id),
        session_id DESC, CAST(event AS VARCHAR)
) AS fresh
LEFT JOIN events AS known ON known.id = fresh.id
WHERE known.id IS NULL OR (
    coalesce(fresh.output_tokens, -1), fresh.copied_from IS NULL, fresh.agent_id IS NULL,
    -forks_before(fresh.session_id), coalesce(fresh.session_id, '')
) > (
    coalesce(known.output_tokens, -1), known.copied_from IS NULL, known.agent_id IS NULL,
    -forks_before(known.session_id), coalesce(known.session_id, '')
);
DELETE FROM incoming;
COMMIT;
