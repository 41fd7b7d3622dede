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
/* clickhouse columns */
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
CREATE TABLE prices (/* price columns */) ENGINE = MergeTree ORDER BY model;
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

/* clickhouse views */
/* heartbeats */
