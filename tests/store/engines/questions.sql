-- Common queries. They work on the views of the embedded store (SQLite) and on those of postgresql.sql, duckdb.sql and
-- clickhouse.sql, and give the same figures in all four, to the micro-dollar.
-- In ClickHouse, first: SET prefer_column_name_to_alias = 1, cast_keep_nullable = 1
--
-- Costs are in micro-dollars: `cost_exact` is added up, then rounded once. They leave out messages of models without a
-- price, which have `cost_from = 'unknown'`.

-- cost_per_user_and_day: What did each person cost, day by day?
SELECT
    user_name, day,
    CAST((sum(cost_exact) + 50000 - (sum(cost_exact) + 50000) % 100000) / 100000 AS bigint) AS cost_micros,
    CAST(sum(CASE WHEN cost_from = 'unknown' THEN messages ELSE 0 END) AS bigint) AS messages_without_price
FROM messages GROUP BY user_name, day ORDER BY user_name, day;

-- tokens_by_model_project_and_host: Where do the tokens go?
SELECT
    model, project, host_name, CAST(sum(messages) AS bigint) AS messages,
    CAST(sum(input_tokens) AS bigint) AS input_tokens, CAST(sum(output_tokens) AS bigint) AS output_tokens,
    CAST(sum(cache_read_tokens) AS bigint) AS cache_read_tokens,
    CAST(sum(cache_creation_tokens) AS bigint) AS cache_creation_tokens,
    CAST(sum(CASE WHEN quality = 'output_tokens_unknown' THEN 1 ELSE 0 END) AS bigint) AS output_unknown
FROM messages GROUP BY model, project, host_name ORDER BY model, project, host_name;

-- tool_failures: Which tools fail, and how often?
SELECT
    name, count(*) AS calls, count(ok) AS answered, CAST(sum(CASE WHEN ok = 0 THEN 1 ELSE 0 END) AS bigint) AS failed
FROM tool_calls GROUP BY name ORDER BY failed DESC, name;

-- tool_durations: How long do tools take, and how many of these durations were computed?
SELECT
    name, count(duration_ms) AS timed, CAST(sum(duration_ms) AS bigint) AS total_ms, max(duration_ms) AS longest_ms,
    CAST(sum(CASE WHEN duration_from = 'computed' THEN 1 ELSE 0 END) AS bigint) AS computed
FROM tool_calls GROUP BY name ORDER BY name;

-- prompts: How much do people ask, and in how many sessions?
SELECT
    user_name, day, count(*) AS prompts, count(DISTINCT session_id) AS sessions
FROM events WHERE kind = 'user_prompt' AND origin = 'human' GROUP BY user_name, day ORDER BY user_name, day;

-- subagents: How much do subagents do, compared with the main conversation?
SELECT
    CASE WHEN agent_id IS NULL THEN 'main' ELSE coalesce(agent_type, 'subagent') END AS agent,
    count(DISTINCT agent_id) AS agents, CAST(sum(messages) AS bigint) AS messages,
    CAST(sum(output_tokens) AS bigint) AS output_tokens,
    CAST((sum(cost_exact) + 50000 - (sum(cost_exact) + 50000) % 100000) / 100000 AS bigint) AS cost_micros
FROM messages
GROUP BY CASE WHEN agent_id IS NULL THEN 'main' ELSE coalesce(agent_type, 'subagent') END ORDER BY agent;

-- cache: How much of the input came from the cache, and how much was written to it?
SELECT
    model, CAST(sum(input_tokens) AS bigint) AS fresh, CAST(sum(cache_read_tokens) AS bigint) AS from_cache,
    CAST(sum(cache_creation_5m_tokens) AS bigint) AS written_for_5m,
    CAST(sum(cache_creation_1h_tokens) AS bigint) AS written_for_1h
FROM messages GROUP BY model ORDER BY model;

-- lines: How many lines did edits add and remove?
SELECT
    project, user_name, CAST(sum(lines_added) AS bigint) AS lines_added,
    CAST(sum(lines_removed) AS bigint) AS lines_removed
FROM events WHERE lines_added IS NOT NULL OR lines_removed IS NOT NULL
GROUP BY project, user_name ORDER BY project, user_name;

-- servers_skills_and_agents: Which MCP servers, skills and kinds of subagents are used?
SELECT
    CASE WHEN substr(name, 1, 5) = 'mcp__' THEN 'mcp server' WHEN name = 'Skill' THEN 'skill' ELSE 'agent' END AS what,
    target, count(*) AS calls, CAST(sum(CASE WHEN ok = 0 THEN 1 ELSE 0 END) AS bigint) AS failed
FROM tool_calls WHERE target IS NOT NULL
GROUP BY CASE WHEN substr(name, 1, 5) = 'mcp__' THEN 'mcp server' WHEN name = 'Skill' THEN 'skill' ELSE 'agent' END, target
ORDER BY what, target;
