-- Moves what is in `incoming` into `events` (duckdb.sql): each id once, as the row with the most output.
BEGIN;
INSERT INTO events
SELECT fresh.*, CASE WHEN (event->'usage'->'iterations') IS NULL THEN 0 ELSE 1 END AS has_calls
FROM (
    SELECT DISTINCT ON (id) *
    FROM (
        SELECT
/* columns */,
            event
        FROM (SELECT CAST(mended(line) AS JSON) AS event FROM incoming WHERE trim(line) <> '')
    )
    ORDER BY id, coalesce(output_tokens, -1) DESC, copied_from IS NOT NULL, session_id DESC, CAST(event AS VARCHAR)
) AS fresh
ON CONFLICT (id) DO UPDATE SET /* updates */, event = excluded.event, has_calls = excluded.has_calls
WHERE (coalesce(excluded.output_tokens, -1), excluded.copied_from IS NULL, coalesce(excluded.session_id, ''))
    > (coalesce(events.output_tokens, -1), events.copied_from IS NULL, coalesce(events.session_id, ''));
DELETE FROM incoming;
COMMIT;
