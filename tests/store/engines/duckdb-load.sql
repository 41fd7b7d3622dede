-- Moves what is in `incoming` into `events` (duckdb.sql): each id once, as the row with the most output.
BEGIN;
INSERT INTO forks SELECT DISTINCT session_id, copied_from
FROM (
    SELECT event->>'session_id' AS session_id, /* copied_from */ AS copied_from
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
/* columns */,
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
