-- Events in PostgreSQL (12 or newer): tables, loading, prices, and the views that count right.
--
--     createdb collected && psql -v ON_ERROR_STOP=1 -d collected -f postgresql.sql -f prices.sql
--
-- Loading: one event a line goes into `incoming` as it stands, then load_events() moves it into `events`, which may be
-- done again and again with any events, in any order. The delimiter and the quote are control characters, because JSON
-- holds none, and PostgreSQL's own text format would take backslashes apart:
--
--     psql -d collected -c "\copy incoming (line) from 'events.ndjson' with (format csv, delimiter E'\x1f', quote E'\x1e')"
--     psql -d collected -c "select load_events()"
--
-- What PostgreSQL cannot store in jsonb, \u0000 and halves of surrogate pairs, becomes U+FFFD; nothing else changes.
-- questions.sql and fleet.sql hold the questions that people ask. Made by `python -m tests.store.shipped_sql`.

CREATE TABLE incoming (line text NOT NULL);

CREATE FUNCTION mended(line text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    -- Two backslashes and whole surrogate pairs are put out of the way, so that what is left over stands alone.
    SELECT CASE WHEN line !~ '\\u(0000|[dD][89a-fA-F])' THEN line ELSE replace(
        regexp_replace(
            regexp_replace(
                regexp_replace(
                    replace(line, '\\', chr(1)),
                    '\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})', chr(2) || '\1' || chr(3) || '\2', 'g'
                ),
                '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g'
            ),
            chr(2) || '([0-9a-fA-F]{4})' || chr(3), '\\u\1\\u', 'g'
        ),
        chr(1), '\\'
    ) END
$$;

/* tables */

-- How far a session is from the first of its line. `--fork-session` marks only the answers that it copies, so of other rows
-- with one id, the original is the one of the session that is nearest to it.
CREATE FUNCTION forks_before(session text) RETURNS bigint LANGUAGE sql STABLE AS
    'SELECT count(*) FROM forks WHERE session_id = session';

CREATE FUNCTION load_events() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE loaded bigint;
BEGIN
    INSERT INTO forks SELECT DISTINCT session_id, copied_from
    FROM (
        SELECT event->>'session_id' AS session_id, /* copied_from */ AS copied_from
        FROM (SELECT mended(line)::jsonb AS event FROM incoming WHERE line ~ 'forked_from|request_session_id') AS found
    ) AS named
    WHERE copied_from <> session_id
    ON CONFLICT DO NOTHING;
    WITH found AS (SELECT mended(line)::jsonb AS event FROM incoming WHERE trim(line) <> ''),
    fresh AS (
        SELECT
/* columns */,
            event
        FROM found
    )
    INSERT INTO events SELECT fresh.*, CASE WHEN event->'usage'->'iterations' IS NULL THEN 0 ELSE 1 END
    FROM (
        SELECT DISTINCT ON (id) * FROM fresh
        ORDER BY id, coalesce(output_tokens, -1) DESC, copied_from IS NOT NULL, forks_before(session_id),
            session_id DESC, event::text
    ) AS fresh
    ON CONFLICT (id) DO UPDATE SET (/* names */, event, has_calls) = (/* excluded */, excluded.event, excluded.has_calls)
    WHERE (
        coalesce(excluded.output_tokens, -1), excluded.copied_from IS NULL, -forks_before(excluded.session_id),
        coalesce(excluded.session_id, '')
    ) > (
        coalesce(events.output_tokens, -1), events.copied_from IS NULL, -forks_before(events.session_id),
        coalesce(events.session_id, '')
    );
    GET DIAGNOSTICS loaded = ROW_COUNT;
    DELETE FROM incoming;
    RETURN loaded;
END
$$;

-- The calls that a message consists of, where an event lists them.
CREATE VIEW event_calls AS
SELECT
    events.id, calls.place, calls.call->>'type' AS type, calls.call->>'model' AS model,
    coalesce((calls.call->>'input_tokens')::bigint, 0) AS input_tokens,
    coalesce((calls.call->>'output_tokens')::bigint, 0) AS output_tokens,
    coalesce((calls.call->>'cache_read_tokens')::bigint, 0) AS cache_read_tokens,
    coalesce((calls.call->>'cache_creation_tokens')::bigint, 0) AS cache_creation_tokens,
    coalesce((calls.call->>'cache_creation_5m_tokens')::bigint, 0) AS cache_creation_5m_tokens,
    coalesce((calls.call->>'cache_creation_1h_tokens')::bigint, 0) AS cache_creation_1h_tokens,
    coalesce((calls.call->>'thinking_tokens')::bigint, 0) AS thinking_tokens,
    coalesce((calls.call->>'web_search_requests')::bigint, 0) AS web_search_requests,
    coalesce((calls.call->>'web_fetch_requests')::bigint, 0) AS web_fetch_requests
FROM events
CROSS JOIN LATERAL jsonb_array_elements(event->'usage'->'iterations') WITH ORDINALITY AS calls (call, place)
WHERE has_calls = 1;

-- The tool calls and results in an event. `target` is the MCP server, the skill, or the kind of subagent.
CREATE VIEW event_tools AS
SELECT
    events.id, blocks.place, blocks.block->>'type' AS type,
    coalesce(blocks.block->>'call_id', events.id || ':' || blocks.place) AS call_id, blocks.block->>'name' AS name,
    CASE
        WHEN blocks.block->>'name' LIKE 'mcp\_\_%' THEN split_part(blocks.block->>'name', '__', 2)
        WHEN blocks.block->>'name' = 'Skill'
            THEN coalesce(blocks.block->'input'->>'skill', blocks.block->'input'->>'command')
        WHEN blocks.block->>'name' IN ('Agent', 'Task') THEN blocks.block->'input'->>'subagent_type'
    END AS target,
    CASE blocks.block->>'ok' WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS ok,
    CASE WHEN event->'tool'->>'call_id' = blocks.block->>'call_id'
        THEN round((event->'tool'->>'duration_ms')::numeric)::bigint END AS duration_ms
FROM events
CROSS JOIN LATERAL jsonb_array_elements(event->'blocks') WITH ORDINALITY AS blocks (block, place)
WHERE event->'blocks' IS NOT NULL AND blocks.block->>'type' IN ('tool_call', 'tool_result');

/* views */
/* heartbeats */
