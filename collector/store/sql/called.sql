-- One row for each tool call, however many rows and copies repeat it: at its earliest place, with its earliest result.
-- If the result holds no duration, it is computed from the times of call and result, and `duration_from` says so.
-- totals.py runs this for single calls, with a condition in place of the comments.
SELECT
    call.call_id AS call_id, call.context AS context, call.time AS time, coalesce(call.name, result.name) AS name,
    call.target AS target, result.time AS result_time, result.ok AS ok,
    CASE
        WHEN result.duration_ms IS NOT NULL THEN result.duration_ms
        WHEN result.time >= call.time THEN
            CAST(round((julianday(result.time) - julianday(call.time)) * 86400000) AS INTEGER)
    END AS duration_ms,
    CASE
        WHEN result.duration_ms IS NOT NULL THEN 'reported'
        WHEN result.time >= call.time THEN 'computed'
    END AS duration_from
FROM (
    SELECT
        min(coalesce(time, '9999') || coalesce(is_copy, 0) || hex(id) || printf('%04d', place)) AS first,
        call_id, context, time, name, target
    FROM tool_rows JOIN event_rows USING (number)
    WHERE NOT is_result /* touched */
    GROUP BY call_id
) AS call
LEFT JOIN (
    SELECT
        min(coalesce(time, '9999') || coalesce(is_copy, 0) || hex(id) || printf('%04d', place)) AS first,
        call_id, time, name, ok, duration_ms
    FROM tool_rows JOIN event_rows USING (number)
    WHERE is_result /* touched */
    GROUP BY call_id
) AS result USING (call_id)
