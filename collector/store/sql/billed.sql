-- One row for each call that a message is billed as: the message itself, and each call of the advisor, which has a
-- model of its own. One API message is written as several rows, and copies of a transcript repeat them. Input and cache
-- figures are the same on all of them; output grows, and the largest is right. So the row with the most output speaks
-- for the message, and the earliest row says when and where it happened. Whether the output count is final depends on
-- all rows: if every one says that it was written before the count was known, the count is unknown.
--
-- Two passes joined, each with one min() or max(): SQLite then takes the other columns from the row that has it. Window
-- functions would take twenty times as long. This is the view `billed`, and totals.py runs it for single messages: it
-- puts the nine figures of usage, and for single messages a condition, in place of comments.
SELECT
    most.message AS message, coalesce(call.key, 0) AS call, lower(hex(earliest.id)) AS event_id, earliest.time AS time,
    coalesce(substr(earliest.time, 1, 13), '') AS hour, earliest.context AS context,
    CASE WHEN most.speed = 'fast' THEN 'fast' ELSE 'standard' END AS speed,
    CASE WHEN most.service_tier = 'batch' THEN 5 ELSE 10 END * CASE WHEN most.inference_geo = 'us' THEN 11 ELSE 10 END
        AS percent,
    CASE WHEN coalesce(call.key, 0) = 0 AND NOT most.finals THEN 1 ELSE 0 END AS unknown_output,
    CASE WHEN coalesce(call.key, 0) = 0 THEN most.reported_cost END AS reported_cost,
    coalesce(CASE WHEN call.key IS NULL THEN most.model ELSE json_extract(call.value, '$.model') END, '') AS model,
    CASE WHEN call.key IS NULL THEN 1 ELSE json_extract(call.value, '$.messages') END AS messages,
    /* usage of the call */
FROM (
    -- of rows with equal output, one with several calls, then one that says how the cache was written; else always the
    -- same
    SELECT
        max(
            printf('%016d', coalesce(output_tokens, -1) * 4 + 4 + (calls IS NOT NULL) * 2
                + (cache_creation_5m_tokens IS NOT NULL)) || hex(id)
        ) AS place,
        message, model, speed, service_tier, inference_geo, reported_cost, calls, /* usage */,
        count(is_final) AS finals
    FROM event_rows
    WHERE counts /* touched */
    GROUP BY message
) AS most
JOIN (
    SELECT min(coalesce(time, '9999') || coalesce(is_copy, 0) || hex(id)) AS place, message, id, time, context
    FROM event_rows
    WHERE counts /* touched */
    GROUP BY message
) AS earliest USING (message)
LEFT JOIN json_each(most.calls) AS call
