-- Events in DuckDB (1.2 or newer): tables, loading, prices, and the views that count right.
--
--     duckdb collected.duckdb -c '.read duckdb.sql' -c '.read prices.sql'
--
-- Loading: one event a line goes into `incoming` as it stands, then the statements of duckdb-load.sql move it into
-- `events`, which may be done again and again with any events, in any order. The delimiter is a control character,
-- because JSON holds none:
--
--     COPY incoming FROM 'events.ndjson' (FORMAT csv, HEADER false, DELIMITER '\x1f', QUOTE '', ESCAPE '', AUTO_DETECT false);
--
-- Halves of surrogate pairs, which are no text, become U+FFFD; \u0000 stays. questions.sql and fleet.sql hold the questions that people
-- ask. Made by `python -m tests.store.shipped_sql`.

CREATE TABLE incoming (line VARCHAR NOT NULL);

-- Two backslashes and whole surrogate pairs are put out of the way, so that what is left over stands alone.
CREATE MACRO mended(line) AS CASE WHEN json_valid(line) THEN line ELSE replace(
    regexp_replace(
        regexp_replace(
            regexp_replace(
                replace(line, '\\', chr(1)),
                '\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})', chr(2) || '\1' || chr(3) || '\2', 'g'
            ),
            '\\u([dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g'
        ),
        chr(2) || '([0-9a-fA-F]{4})' || chr(3), '\\u\1\\u', 'g'
    ),
    chr(1), '\\'
) END;

/* tables */

-- How far a session is from the first of its line. `--fork-session` marks only the answers that it copies, so of other rows
-- with one id, the original is the one of the session that is nearest to it.
CREATE MACRO forks_before(session) AS (SELECT count(*) FROM forks WHERE forks.session_id = session);

-- The calls that a message consists of, where an event lists them.
CREATE VIEW event_calls AS
SELECT
    id, place, call->>'type' AS type, call->>'model' AS model,
    coalesce(CAST(call->>'input_tokens' AS bigint), 0) AS input_tokens,
    coalesce(CAST(call->>'output_tokens' AS bigint), 0) AS output_tokens,
    coalesce(CAST(call->>'cache_read_tokens' AS bigint), 0) AS cache_read_tokens,
    coalesce(CAST(call->>'cache_creation_tokens' AS bigint), 0) AS cache_creation_tokens,
    coalesce(CAST(call->>'cache_creation_5m_tokens' AS bigint), 0) AS cache_creation_5m_tokens,
    coalesce(CAST(call->>'cache_creation_1h_tokens' AS bigint), 0) AS cache_creation_1h_tokens,
    coalesce(CAST(call->>'thinking_tokens' AS bigint), 0) AS thinking_tokens,
    coalesce(CAST(call->>'web_search_requests' AS bigint), 0) AS web_search_requests,
    coalesce(CAST(call->>'web_fetch_requests' AS bigint), 0) AS web_fetch_requests
FROM (
    SELECT id, unnest(calls) AS call, generate_subscripts(calls, 1) AS place
    FROM (SELECT id, from_json(event->'usage'->'iterations', '["JSON"]') AS calls FROM events WHERE has_calls = 1)
);

-- The tool calls and results in an event. `target` is the MCP server, the skill, or the kind of subagent.
CREATE VIEW event_tools AS
SELECT
    id, place, block->>'type' AS type, coalesce(block->>'call_id', id || ':' || place) AS call_id,
    block->>'name' AS name,
    CASE
        WHEN starts_with(block->>'name', 'mcp__') THEN split_part(block->>'name', '__', 2)
        WHEN (block->>'name') = 'Skill' THEN coalesce(block->'input'->>'skill', block->'input'->>'command')
        WHEN (block->>'name') IN ('Agent', 'Task') THEN block->'input'->>'subagent_type'
    END AS target,
    CASE block->>'ok' WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS ok,
    CASE WHEN tool_call_id = (block->>'call_id') THEN CAST(round(CAST(tool_duration AS double)) AS bigint) END
        AS duration_ms
FROM (
    SELECT
        id, unnest(blocks) AS block, generate_subscripts(blocks, 1) AS place, tool_call_id, tool_duration
    FROM (
        SELECT
            id, from_json(event->'blocks', '["JSON"]') AS blocks, event->'tool'->>'call_id' AS tool_call_id,
            event->'tool'->>'duration_ms' AS tool_duration
        FROM events WHERE (event->'blocks') IS NOT NULL
    )
)
WHERE (block->>'type') IN ('tool_call', 'tool_result');

/* views */
/* heartbeats */
