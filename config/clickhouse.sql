-- Events in ClickHouse (25.8 or newer; older ones take the table, but not all of the views): the table that the clickhouse
-- sink fills, what models cost, and the views that count right.
--
--     clickhouse-client --multiquery < clickhouse.sql
--     clickhouse-client --multiquery < prices.sql
--     [sink] type = "clickhouse"   url = "https://HOST:8443"
--
-- A row is an event as it was sent; ClickHouse computes the other columns from it. A column that you add with
-- ALTER TABLE ... ADD COLUMN ... DEFAULT JSONExtract(event, ...) is there for old rows as well.
--
-- An event that arrives again, in whatever batch, is one row: of the rows of an id the one with the most output stays. The
-- views read FINAL, so this is true before the parts have merged. Do not sum in a materialized view on event_rows: it sees
-- each repeat. To insert by hand, INSERT INTO event_rows (id, event).
--
-- questions.sql and fleet.sql hold the questions that people ask. Made by `python -m tests.store.shipped_sql`.

CREATE TABLE event_rows (
    id String,
    event String CODEC(ZSTD(3)),
    kind LowCardinality(String) DEFAULT JSONExtractString(event, 'kind'),
    record_type LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'record_type', 'Nullable(String)'),
    time Nullable(String) DEFAULT JSONExtract(event, 'time', 'Nullable(String)'),
    day LowCardinality(Nullable(String)) DEFAULT substr(JSONExtract(event, 'time', 'Nullable(String)'), 1, 10),
    session_id Nullable(String) DEFAULT JSONExtract(event, 'session_id', 'Nullable(String)'),
    agent_id Nullable(String) DEFAULT JSONExtract(event, 'agent_id', 'Nullable(String)'),
    agent_type LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'agent_type', 'Nullable(String)'),
    copied_from Nullable(String) DEFAULT coalesce( JSONExtract(event, 'attributes', 'forked_from', 'sessionId', 'Nullable(String)'), nullif(JSONExtract(event, 'attributes', 'request_session_id', 'Nullable(String)'), JSONExtract(event, 'session_id', 'Nullable(String)')) ),
    project LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'project', 'Nullable(String)'),
    cwd Nullable(String) DEFAULT JSONExtract(event, 'cwd', 'Nullable(String)'),
    git_branch LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'git_branch', 'Nullable(String)'),
    host_id LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'host', 'id', 'Nullable(String)'),
    host_name LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'host', 'name', 'Nullable(String)'),
    user_name LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'user', 'Nullable(String)'),
    client_version LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'client', 'version', 'Nullable(String)'),
    origin LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'origin', 'Nullable(String)'),
    model LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'model', 'Nullable(String)'),
    message_id Nullable(String) DEFAULT JSONExtract(event, 'message_id', 'Nullable(String)'),
    stop_reason LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'stop_reason', 'Nullable(String)'),
    quality LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'quality', 1, 'Nullable(String)'),
    speed LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'usage', 'speed', 'Nullable(String)'),
    service_tier LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'usage', 'service_tier', 'Nullable(String)'),
    inference_geo LowCardinality(Nullable(String)) DEFAULT JSONExtract(event, 'usage', 'inference_geo', 'Nullable(String)'),
    input_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'input_tokens', 'Nullable(Int64)'),
    output_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'output_tokens', 'Nullable(Int64)'),
    cache_read_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'cache_read_tokens', 'Nullable(Int64)'),
    cache_creation_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'cache_creation_tokens', 'Nullable(Int64)'),
    cache_creation_5m_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'cache_creation_5m_tokens', 'Nullable(Int64)'),
    cache_creation_1h_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'cache_creation_1h_tokens', 'Nullable(Int64)'),
    thinking_tokens Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'thinking_tokens', 'Nullable(Int64)'),
    web_search_requests Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'web_search_requests', 'Nullable(Int64)'),
    web_fetch_requests Nullable(Int64) DEFAULT JSONExtract(event, 'usage', 'web_fetch_requests', 'Nullable(Int64)'),
    reported_cost Nullable(Int64) DEFAULT CAST(round(toDecimal128OrNull(JSONExtractRaw(event, 'attributes', if(kind = 'session_cost', 'total_cost_usd', 'cost_usd')), 12) * 100000000000) AS Nullable(Int64)),
    lines_added Nullable(Int64) DEFAULT JSONExtract(event, 'tool', 'lines_added', 'Nullable(Int64)'),
    lines_removed Nullable(Int64) DEFAULT JSONExtract(event, 'tool', 'lines_removed', 'Nullable(Int64)'),
    title Nullable(String) DEFAULT CASE WHEN JSONExtract(event, 'kind', 'Nullable(String)') IN ('title', 'summary') OR ((JSONExtract(event, 'kind', 'Nullable(String)')) = 'user_prompt' AND (JSONExtract(event, 'origin', 'Nullable(String)')) IN ('human', 'sdk')) THEN substringUTF8(trim(JSONExtract(event, 'text', 'Nullable(String)')), 1, 160) END,
    has_calls UInt8 DEFAULT JSONHas(event, 'usage', 'iterations'),
    happened DateTime64(3, 'UTC') DEFAULT parseDateTime64BestEffortOrZero(coalesce(time, ''), 3, 'UTC') CODEC(Delta, ZSTD),
    version UInt64 DEFAULT bitShiftLeft(2 * toUInt64(coalesce(output_tokens, -1) + 1) + if(copied_from IS NULL, 1, 0), 32)
        + reinterpretAsUInt32(reverse(unhex(substring(coalesce(session_id, ''), 1, 8)))),
    INDEX by_time happened TYPE minmax GRANULARITY 4,
    INDEX by_session session_id TYPE bloom_filter GRANULARITY 4
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id
-- Yours to choose: PARTITION BY a part of the id keeps repeats together, PARTITION BY a time does not quite: copies of an
-- event may differ in it. What is old goes with: TTL toDateTime(happened) + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 1000;

-- The events, each once.
CREATE VIEW events AS SELECT * FROM event_rows FINAL;

-- What models cost: prices.sql fills these, and may be run again whenever it has changed.
CREATE TABLE prices (model String, starts String, ends String, speed String, prompt_over Int64, input Int64, output Int64, cache_read Int64, cache_write_5m Int64, cache_write_1h Int64, web_search Int64) ENGINE = MergeTree ORDER BY model;
CREATE TABLE price_names (name String, model String) ENGINE = MergeTree ORDER BY name;

-- The calls that a message consists of, where an event lists them.
CREATE VIEW event_calls AS
SELECT
    id, place, JSONExtract(call, 'type', 'Nullable(String)') AS type,
    JSONExtract(call, 'model', 'Nullable(String)') AS model,
    JSONExtractInt(call, 'input_tokens') AS input_tokens,
    JSONExtractInt(call, 'output_tokens') AS output_tokens,
    JSONExtractInt(call, 'cache_read_tokens') AS cache_read_tokens,
    JSONExtractInt(call, 'cache_creation_tokens') AS cache_creation_tokens,
    JSONExtractInt(call, 'cache_creation_5m_tokens') AS cache_creation_5m_tokens,
    JSONExtractInt(call, 'cache_creation_1h_tokens') AS cache_creation_1h_tokens,
    JSONExtractInt(call, 'thinking_tokens') AS thinking_tokens,
    JSONExtractInt(call, 'web_search_requests') AS web_search_requests,
    JSONExtractInt(call, 'web_fetch_requests') AS web_fetch_requests
FROM (
    SELECT id, calls, place, calls[place] AS call
    FROM (SELECT id, JSONExtractArrayRaw(event, 'usage', 'iterations') AS calls FROM events WHERE has_calls = 1)
    ARRAY JOIN arrayEnumerate(calls) AS place
);

-- The tool calls and results in an event. `target` is the MCP server, the skill, or the kind of subagent.
CREATE VIEW event_tools AS
SELECT
    id, place, type, coalesce(block_call_id, id || ':' || toString(place)) AS call_id, block_name AS name,
    CASE
        WHEN startsWith(coalesce(block_name, ''), 'mcp__') THEN splitByString('__', assumeNotNull(block_name))[2]
        WHEN block_name = 'Skill' THEN coalesce(
            JSONExtract(block, 'input', 'skill', 'Nullable(String)'),
            JSONExtract(block, 'input', 'command', 'Nullable(String)')
        )
        WHEN block_name IN ('Agent', 'Task') THEN JSONExtract(block, 'input', 'subagent_type', 'Nullable(String)')
    END AS target,
    CASE JSONExtractRaw(block, 'ok') WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS ok,
    CASE WHEN tool_call_id = block_call_id THEN toInt64(round(tool_duration)) END AS duration_ms
FROM (
    SELECT
        id, place, blocks[place] AS block, tool_call_id, tool_duration,
        JSONExtract(block, 'type', 'Nullable(String)') AS type,
        JSONExtract(block, 'call_id', 'Nullable(String)') AS block_call_id,
        JSONExtract(block, 'name', 'Nullable(String)') AS block_name
    FROM (
        SELECT
            id, JSONExtractArrayRaw(event, 'blocks') AS blocks,
            JSONExtract(event, 'tool', 'call_id', 'Nullable(String)') AS tool_call_id,
            JSONExtract(event, 'tool', 'duration_ms', 'Nullable(Float64)') AS tool_duration
        FROM events WHERE JSONHas(event, 'blocks')
    )
    ARRAY JOIN arrayEnumerate(blocks) AS place
)
WHERE type IN ('tool_call', 'tool_result');

-- The rows that carry the usage of a message. Running totals are not messages, and neither is what Claude Code makes up.
CREATE VIEW message_rows AS
SELECT coalesce(message_id, '#' || id) AS message, events.*
FROM events
WHERE coalesce(output_tokens, input_tokens, cache_read_tokens, cache_creation_tokens) IS NOT NULL
    AND kind NOT IN ('session_cost', 'session', 'session_index', 'stats')
    AND coalesce(model, '') <> '<synthetic>'
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- Of the rows of a message, the one with the most output is the truth; among equals, one that lists its calls, then one
-- that says how the cache was written. The message happened when and where its earliest row says. Its output is unknown
-- if every row says so.
CREATE VIEW whole_messages AS
SELECT
    most.message AS message, most.id AS row_id, most.model AS model, most.speed AS speed, most.service_tier AS service_tier, most.inference_geo AS inference_geo, most.reported_cost AS reported_cost,
    most.input_tokens AS input_tokens, most.output_tokens AS output_tokens, most.cache_read_tokens AS cache_read_tokens, most.cache_creation_tokens AS cache_creation_tokens,
    most.cache_creation_5m_tokens AS cache_creation_5m_tokens, most.cache_creation_1h_tokens AS cache_creation_1h_tokens, most.thinking_tokens AS thinking_tokens, most.web_search_requests AS web_search_requests,
    most.web_fetch_requests AS web_fetch_requests, earliest.message_id AS message_id, earliest.id AS event_id, earliest.time AS time, earliest.day AS day,
    earliest.session_id AS session_id, earliest.agent_id AS agent_id, earliest.agent_type AS agent_type, earliest.project AS project, earliest.host_id AS host_id,
    earliest.host_name AS host_name, earliest.user_name AS user_name, finals.unknown_output AS unknown_output
FROM (
    SELECT *, row_number() OVER (
        PARTITION BY message
        ORDER BY coalesce(output_tokens, -1) DESC, has_calls DESC,
            CASE WHEN cache_creation_5m_tokens IS NULL THEN 0 ELSE 1 END DESC, id DESC
    ) AS place
    FROM message_rows
) AS most
JOIN (
    SELECT *, row_number() OVER (
        PARTITION BY message
        ORDER BY coalesce(time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, id
    ) AS place
    FROM message_rows
) AS earliest ON earliest.message = most.message AND earliest.place = 1
JOIN (
    SELECT
        message,
        min(CASE WHEN quality = 'output_tokens_unknown' THEN 1 ELSE 0 END) AS unknown_output
    FROM message_rows GROUP BY message
) AS finals ON finals.message = most.message
WHERE most.place = 1
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- What a message is billed as: usually itself. A message that was sampled in several calls is billed call by call, since
-- a long prompt may cost more, if the calls add up to its figures; and the advisor's calls, which its figures do not
-- contain, are billed under their own model.
CREATE VIEW sampled_calls AS
SELECT calls.*
FROM event_calls AS calls
JOIN (
    SELECT calls.id
    FROM event_calls AS calls JOIN events ON events.id = calls.id
    WHERE calls.type = 'message'
    GROUP BY calls.id
    HAVING count(*) > 1
        AND sum(calls.input_tokens) = max(coalesce(events.input_tokens, 0))
        AND sum(calls.output_tokens) = max(coalesce(events.output_tokens, 0))
        AND sum(calls.cache_read_tokens) = max(coalesce(events.cache_read_tokens, 0))
        AND sum(calls.cache_creation_tokens) = max(coalesce(events.cache_creation_tokens, 0))
        AND sum(calls.cache_creation_1h_tokens) = max(coalesce(events.cache_creation_1h_tokens, 0))
) AS adding_up ON adding_up.id = calls.id
WHERE calls.type = 'message'
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

CREATE VIEW billed AS
SELECT
    whole.message AS message, whole.row_id AS row_id, 0 AS place, whole.model AS model, 1 AS messages, unknown_output, reported_cost,
    coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
    coalesce(cache_read_tokens, 0) AS cache_read_tokens, coalesce(cache_creation_tokens, 0) AS cache_creation_tokens,
    coalesce(cache_creation_5m_tokens, 0) AS cache_creation_5m_tokens,
    coalesce(cache_creation_1h_tokens, 0) AS cache_creation_1h_tokens,
    coalesce(thinking_tokens, 0) AS thinking_tokens, coalesce(web_search_requests, 0) AS web_search_requests,
    coalesce(web_fetch_requests, 0) AS web_fetch_requests
FROM whole_messages AS whole
WHERE row_id NOT IN (SELECT id FROM sampled_calls)
UNION ALL
SELECT
    whole.message AS message, whole.row_id AS row_id, call.place AS place, whole.model AS model, CASE WHEN call.is_first THEN 1 ELSE 0 END,
    CASE WHEN call.is_first THEN whole.unknown_output ELSE 0 END,
    CASE WHEN call.is_first THEN whole.reported_cost END,
    call.input_tokens AS input_tokens, call.output_tokens AS output_tokens, call.cache_read_tokens AS cache_read_tokens, call.cache_creation_tokens AS cache_creation_tokens,
    call.cache_creation_5m_tokens AS cache_creation_5m_tokens, call.cache_creation_1h_tokens AS cache_creation_1h_tokens,
    CASE WHEN call.is_first THEN coalesce(whole.thinking_tokens, 0) ELSE 0 END,
    CASE WHEN call.is_first THEN coalesce(whole.web_search_requests, 0) ELSE 0 END,
    CASE WHEN call.is_first THEN coalesce(whole.web_fetch_requests, 0) ELSE 0 END
FROM whole_messages AS whole
JOIN (
    SELECT sampled_calls.*, row_number() OVER (PARTITION BY id ORDER BY place) = 1 AS is_first FROM sampled_calls
) AS call ON call.id = whole.row_id
UNION ALL
SELECT
    whole.message AS message, whole.row_id AS row_id, call.place AS place, call.model AS model, 1, 0, NULL,
    call.input_tokens AS input_tokens, call.output_tokens AS output_tokens, call.cache_read_tokens AS cache_read_tokens, call.cache_creation_tokens AS cache_creation_tokens,
    call.cache_creation_5m_tokens AS cache_creation_5m_tokens, call.cache_creation_1h_tokens AS cache_creation_1h_tokens, call.thinking_tokens AS thinking_tokens, call.web_search_requests AS web_search_requests,
    call.web_fetch_requests AS web_fetch_requests
FROM whole_messages AS whole
JOIN event_calls AS call ON call.id = whole.row_id
WHERE call.type = 'advisor_message'
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- One row for each message and each call of the advisor, with its price. `cost_exact` is in hundred-thousandths of a
-- micro-dollar: add it up, then divide. It is null where the model has no price.
CREATE VIEW messages AS
SELECT
    usage.message_id AS message_id, usage.event_id AS event_id, usage.time AS time, usage.day AS day, usage.session_id AS session_id, usage.agent_id AS agent_id, usage.agent_type AS agent_type,
    usage.project AS project, usage.host_id AS host_id, usage.host_name AS host_name, usage.user_name AS user_name, usage.model AS model, usage.speed AS speed,
    CASE WHEN usage.unknown_output = 1 THEN 'output_tokens_unknown' END AS quality,
    usage.messages AS messages, usage.input_tokens AS input_tokens, usage.output_tokens AS output_tokens, usage.cache_read_tokens AS cache_read_tokens, usage.cache_creation_tokens AS cache_creation_tokens,
    usage.cache_creation_5m_tokens AS cache_creation_5m_tokens, usage.cache_creation_1h_tokens AS cache_creation_1h_tokens, usage.thinking_tokens AS thinking_tokens, usage.web_search_requests AS web_search_requests,
    usage.web_fetch_requests AS web_fetch_requests,
    CASE WHEN usage.reported_cost IS NOT NULL THEN usage.reported_cost ELSE 
(
    usage.input_tokens * price.input
    + usage.output_tokens * price.output
    + usage.cache_read_tokens * price.cache_read
    + (usage.cache_creation_tokens - usage.cache_creation_1h_tokens) * price.cache_write_5m
    + usage.cache_creation_1h_tokens * price.cache_write_1h
) * usage.percent
+ usage.web_search_requests * price.web_search * 100
 END AS cost_exact,
    CASE
        WHEN usage.reported_cost IS NOT NULL THEN 'reported'
        WHEN price.model IS NOT NULL THEN 'computed'
        ELSE 'unknown'
    END AS cost_from
FROM (
    SELECT
        billed.*, whole.message_id AS message_id, whole.event_id AS event_id, whole.time AS time, whole.day AS day, whole.session_id AS session_id, whole.agent_id AS agent_id,
        whole.agent_type AS agent_type, whole.project AS project, whole.host_id AS host_id, whole.host_name AS host_name, whole.user_name AS user_name,
        CASE WHEN whole.speed = 'fast' THEN 'fast' ELSE 'standard' END AS speed,
        CASE WHEN whole.service_tier = 'batch' THEN 5 ELSE 10 END
            * CASE WHEN whole.inference_geo = 'us' THEN 11 ELSE 10 END AS percent,
        CASE WHEN input_tokens + cache_read_tokens + cache_creation_tokens > 200000 THEN 200000 WHEN input_tokens + cache_read_tokens + cache_creation_tokens > 100000 THEN 100000 ELSE 0 END AS prompt_over
    FROM (
        SELECT row_id, message_id, event_id, time, day, session_id, agent_id, agent_type, project, host_id, host_name,
            user_name, speed, service_tier, inference_geo
        FROM whole_messages
    ) AS whole JOIN billed ON billed.row_id = whole.row_id
) AS usage
LEFT JOIN price_names AS known ON known.name = usage.model
LEFT JOIN prices AS price
    ON price.model = known.model AND price.speed = usage.speed AND price.prompt_over = usage.prompt_over
    AND price.starts <= coalesce(usage.day, '') AND coalesce(usage.day, '') < price.ends
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- One row for each tool call, at its earliest place, with its earliest result. Where the result holds no duration, it is
-- computed from the times of call and result, and `duration_from` says so.
CREATE VIEW tool_calls AS
SELECT
    call.call_id AS call_id, coalesce(call.name, result.name) AS name, call.target AS target, call.time AS time, call.day AS day, call.session_id AS session_id,
    call.agent_id AS agent_id, call.agent_type AS agent_type, call.project AS project, call.host_id AS host_id, call.host_name AS host_name, call.user_name AS user_name,
    result.time AS result_time, result.ok,
    CASE
        WHEN result.duration_ms IS NOT NULL THEN result.duration_ms
        WHEN result.time >= call.time THEN dateDiff('millisecond', parseDateTime64BestEffortOrNull(call.time, 3), parseDateTime64BestEffortOrNull(result.time, 3))
    END AS duration_ms,
    CASE
        WHEN result.duration_ms IS NOT NULL THEN 'reported'
        WHEN result.time >= call.time THEN 'computed'
    END AS duration_from
FROM (
    SELECT
        tool.call_id, tool.name, tool.target, events.time, events.day, events.session_id, events.agent_id,
        events.agent_type, events.project, events.host_id, events.host_name, events.user_name,
        row_number() OVER (
            PARTITION BY tool.call_id
            ORDER BY coalesce(events.time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, events.id, tool.place
        ) AS first
    FROM event_tools AS tool JOIN events ON events.id = tool.id
    WHERE tool.type = 'tool_call'
) AS call
LEFT JOIN (
    SELECT
        tool.call_id, tool.name, tool.ok, tool.duration_ms, events.time,
        row_number() OVER (
            PARTITION BY tool.call_id
            ORDER BY coalesce(events.time, '9999'), CASE WHEN copied_from IS NULL THEN 0 ELSE 1 END, events.id, tool.place
        ) AS first
    FROM event_tools AS tool JOIN events ON events.id = tool.id
    WHERE tool.type = 'tool_result'
) AS result ON result.call_id = call.call_id AND result.first = 1
WHERE call.first = 1
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- One row for each session that left a transcript. Bookkeeping, which names no version, does not say when a session began: a
-- fork's has the times of what it copied.
CREATE VIEW sessions AS
SELECT
    session_id, coalesce(min(CASE WHEN client_version IS NOT NULL THEN time END), min(time)) AS time,
    max(time) AS last_time, min(project) AS project, min(host_id) AS host_id,
    min(host_name) AS host_name, min(user_name) AS user_name, count(*) AS events,
    sum(CASE WHEN kind = 'user_prompt' AND origin = 'human' THEN 1 ELSE 0 END) AS prompts,
    coalesce(sum(lines_added), 0) AS lines_added, coalesce(sum(lines_removed), 0) AS lines_removed
FROM events
WHERE session_id IS NOT NULL AND kind NOT IN ('prompt_history', 'session_index', 'heartbeat', 'canary')
GROUP BY session_id
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- Bookkeeping that Claude Code writes again whenever a session is opened or quit: the newest of its kind in its session.
CREATE VIEW bookkeeping AS
SELECT id, kind, record_type, time, session_id, agent_id, project, host_name, user_name, title, times_written
FROM (
    SELECT
        events.*,
        count(*) OVER (PARTITION BY session_id, agent_id, kind, record_type) AS times_written,
        row_number() OVER (
            PARTITION BY session_id, agent_id, kind, record_type ORDER BY coalesce(time, '') DESC, id DESC
        ) AS newest
    FROM events
    WHERE kind IN ('title', 'mode', 'last_prompt', 'session', 'session_cost', 'link')
) AS written
WHERE newest = 1
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- What agents say of themselves, a row for each heartbeat. Canaries, which `collector doctor` sends, are of another kind.
CREATE VIEW heartbeats AS
SELECT
    id, time, day, toInt64(toUnixTimestamp(happened)) AS sent_at, host_id, host_name, user_name,
    JSONExtract(event, 'installation_id', 'Nullable(String)') AS installation_id,
    JSONExtract(event, 'attributes', 'version', 'Nullable(String)') AS version,
    JSONExtract(event, 'attributes', 'command', 'Nullable(String)') AS command,
    JSONExtract(event, 'attributes', 'capture_level', 'Nullable(String)') AS capture_level,
    JSONExtract(event, 'attributes', 'configuration', 'Nullable(String)') AS configuration,
    JSONExtract(event, 'attributes', 'problem', 'Nullable(String)') AS problem,
    JSONExtract(event, 'attributes', 'last_error', 'Nullable(String)') AS last_error,
    JSONExtract(event, 'attributes', 'writers', 'Nullable(String)') AS writers,
    JSONExtract(event, 'labels', 'Nullable(String)') AS labels,
    CASE WHEN CAST(JSONExtract(event, 'attributes', 'is_last', 'Nullable(String)') AS text) = 'true' THEN 1 ELSE 0 END AS is_last,
    coalesce(JSONExtract(event, 'attributes', 'interval', 'Nullable(Int64)'), 300) AS interval_seconds,
    JSONExtract(event, 'attributes', 'uptime_seconds', 'Nullable(Int64)') AS uptime_seconds,
    JSONExtract(event, 'attributes', 'sources', 'Nullable(Int64)') AS sources,
    JSONExtract(event, 'attributes', 'lag', 'Nullable(Int64)') AS lag,
    JSONExtract(event, 'attributes', 'lines', 'Nullable(Int64)') AS lines,
    JSONExtract(event, 'attributes', 'delivered', 'Nullable(Int64)') AS delivered,
    JSONExtract(event, 'attributes', 'quarantined', 'Nullable(Int64)') AS quarantined,
    JSONExtract(event, 'attributes', 'quarantine', 'Nullable(Int64)') AS quarantine,
    JSONExtract(event, 'attributes', 'withheld', 'Nullable(Int64)') AS withheld,
    JSONExtract(event, 'attributes', 'held', 'Nullable(Int64)') AS held,
    JSONExtract(event, 'attributes', 'batches', 'Nullable(Int64)') AS batches,
    JSONExtract(event, 'attributes', 'bytes', 'Nullable(Int64)') AS bytes
FROM events WHERE kind = 'heartbeat'
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

-- The last that was heard of each installation, and what that means: `stopped` by somebody (or a scan that has ended),
-- `silent` for more than three of its intervals, or `running`.
CREATE VIEW agents AS
SELECT
    latest.*, toInt64(toUnixTimestamp(now())) - sent_at AS age_seconds,
    CASE
        WHEN is_last = 1 THEN 'stopped'
        WHEN toInt64(toUnixTimestamp(now())) - sent_at > 3 * interval_seconds THEN 'silent'
        ELSE 'running'
    END AS state
FROM (
    SELECT *, row_number() OVER (PARTITION BY installation_id ORDER BY sent_at DESC, is_last DESC, id DESC) AS place
    FROM heartbeats
) AS latest
WHERE place = 1
SETTINGS join_use_nulls = 1, cast_keep_nullable = 1, prefer_column_name_to_alias = 1;

