-- Tokens by day and model, from any store that keeps the events: the rule "per message, the row with the most output".
--
-- Written in plain SQL (window functions only) against a table `events` with one row an event and the columns named
-- below; it runs as it stands in SQLite on the embedded store, and in PostgreSQL, ClickHouse, DuckDB and BigQuery on a
-- table or view that brings these columns. First remove repeats of `id`, keeping the row with the most output: delivery
-- is at least once.
SELECT
    substr(first_time, 1, 10) AS day,
    model,
    count(*) AS messages,
    sum(coalesce(input_tokens, 0)) AS input_tokens,
    sum(coalesce(output_tokens, 0)) AS output_tokens,
    sum(coalesce(cache_read_tokens, 0)) AS cache_read_tokens,
    sum(coalesce(cache_creation_tokens, 0)) AS cache_creation_tokens
FROM (
    SELECT
        model, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens,
        -- the truth about a message is its row with the most output
        row_number() OVER (
            PARTITION BY coalesce(message_id, id) ORDER BY coalesce(output_tokens, -1) DESC, time, id
        ) AS place,
        -- it happened when its first row was written, in the session it was not copied into
        min(time) OVER (PARTITION BY coalesce(message_id, id)) AS first_time
    FROM events
    WHERE coalesce(output_tokens, input_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL
        AND kind NOT IN ('session_cost', 'session', 'session_index', 'stats')  -- running totals, never to be added
        AND coalesce(model, '') <> '<synthetic>'  -- made up by Claude Code, without usage
) AS message_rows
WHERE place = 1
GROUP BY 1, 2
ORDER BY 1, 2;
