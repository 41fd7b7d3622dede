-- One row for each call that a message is billed as: the message itself, and each call of the advisor, which has a
-- model of its own. One API message is written as several rows, and copies of a transcript repeat them. Input and cache
-- figures are the same on all of them; output grows, and the largest is right. So the row with the most output speaks
-- for the message, and the earliest row says when and where it happened. Whether the output count is final depends on
-- all rows: if every one says that it was written before the count was known, the count is unknown.
--
-- Two passes joined, each with one min() or max(): SQLite then takes the other columns from the row that has it. Window
-- functions would take twenty times as long. This is the view `billed`, and totals.py runs it for single messages, with
-- a condition in place of the comment after `counts`.
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
    coalesce(CASE WHEN call.key IS NULL THEN most.input_tokens ELSE json_extract(call.value, '$.input_tokens') END, 0)
        AS input_tokens,
    coalesce(CASE WHEN call.key IS NULL THEN most.output_tokens ELSE json_extract(call.value, '$.output_tokens') END, 0)
        AS output_tokens,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.cache_read_tokens ELSE json_extract(call.value, '$.cache_read_tokens') END, 0
    ) AS cache_read_tokens,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.cache_creation_tokens
            ELSE json_extract(call.value, '$.cache_creation_tokens') END, 0
    ) AS cache_creation_tokens,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.cache_creation_5m_tokens
            ELSE json_extract(call.value, '$.cache_creation_5m_tokens') END, 0
    ) AS cache_creation_5m_tokens,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.cache_creation_1h_tokens
            ELSE json_extract(call.value, '$.cache_creation_1h_tokens') END, 0
    ) AS cache_creation_1h_tokens,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.thinking_tokens ELSE json_extract(call.value, '$.thinking_tokens') END, 0
    ) AS thinking_tokens,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.web_search_requests
            ELSE json_extract(call.value, '$.web_search_requests') END, 0
    ) AS web_search_requests,
    coalesce(
        CASE WHEN call.key IS NULL THEN most.web_fetch_requests
            ELSE json_extract(call.value, '$.web_fetch_requests') END, 0
    ) AS web_fetch_requests
FROM (
    -- of rows with equal output, one with several calls, then one that says how the cache was written; else always the
    -- same
    SELECT
        max(
            printf('%016d', coalesce(output_tokens, -1) * 4 + 4 + (calls IS NOT NULL) * 2
                + (cache_creation_5m_tokens IS NOT NULL)) || hex(id)
        ) AS place,
        message, model, speed, service_tier, inference_geo, reported_cost, calls, input_tokens, output_tokens,
        cache_read_tokens, cache_creation_tokens, cache_creation_5m_tokens, cache_creation_1h_tokens, thinking_tokens,
        web_search_requests, web_fetch_requests, count(is_final) AS finals
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
