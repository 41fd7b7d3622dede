-- Queries for whoever runs a fleet. They work on the views of the embedded store (SQLite) and on those of postgresql.sql,
-- duckdb.sql and clickhouse.sql, and read no text that anybody wrote. The dashboards grafana-postgresql.json and
-- grafana-clickhouse.json are made from them.
--
-- In ClickHouse, first: SET prefer_column_name_to_alias = 1, cast_keep_nullable = 1

-- silent: Which agents went silent without being stopped?
SELECT host_name, user_name, version, time AS last_heard, interval_seconds, last_error
FROM agents WHERE state = 'silent' ORDER BY time, host_name, user_name;

-- lagging: Which agents were never up to date in their last hour?
SELECT
    agents.host_name AS host_name, agents.user_name AS user_name, max(agents.lag) AS lag_now,
    min(heartbeats.lag) AS least_lag, count(*) AS heartbeats, max(agents.problem) AS problem
FROM agents JOIN heartbeats ON heartbeats.installation_id = agents.installation_id
WHERE agents.state <> 'stopped' AND heartbeats.sent_at > agents.sent_at - 3600
GROUP BY agents.installation_id, agents.host_name, agents.user_name
HAVING min(heartbeats.lag) > 0 ORDER BY lag_now DESC, host_name;

-- quarantining: Which agents have events in quarantine, withheld text that could not be redacted, or held files?
SELECT host_name, user_name, version, quarantine, withheld, held, time AS last_heard
FROM agents WHERE quarantine > 0 OR withheld > 0 OR held > 0
ORDER BY quarantine DESC, withheld DESC, held DESC, host_name;

-- problems: Which agents report a problem?
SELECT host_name, user_name, state, problem, last_error, time AS last_heard
FROM agents WHERE problem IS NOT NULL OR last_error IS NOT NULL ORDER BY time DESC, host_name;

-- versions: Which versions of collector are running?
SELECT version, state, count(*) AS agents, min(time) AS least_recent, max(time) AS most_recent
FROM agents GROUP BY version, state ORDER BY version DESC, state;

-- configurations: Which configurations are in force? A rollout has not reached machines with a rare one.
SELECT configuration, capture_level, count(*) AS agents, min(host_name) AS for_example
FROM agents WHERE state <> 'stopped' GROUP BY configuration, capture_level ORDER BY agents DESC, configuration;

-- claude_code_versions: Which versions of Claude Code are in use, on how many machines, and since when?
SELECT client_version, count(DISTINCT host_id) AS hosts, count(*) AS events, min(day) AS first_day, max(day) AS last_day
FROM events WHERE client_version IS NOT NULL AND kind NOT IN ('heartbeat', 'canary')
GROUP BY client_version ORDER BY client_version;

-- unknown_records: Which record types does collector not know yet, and how common are they?
SELECT record_type, client_version, count(*) AS events, max(day) AS last_day
FROM events WHERE kind = 'unknown' GROUP BY record_type, client_version ORDER BY events DESC, record_type, client_version;

-- cost_per_day: What did each day cost, and how many people worked?
SELECT
    day, count(DISTINCT user_name) AS people, count(DISTINCT host_id) AS hosts,
    CAST((sum(cost_exact) + 50000 - (sum(cost_exact) + 50000) % 100000) / 100000 AS bigint) AS cost_micros,
    CAST(sum(output_tokens) AS bigint) AS output_tokens,
    CAST(sum(CASE WHEN cost_from = 'unknown' THEN messages ELSE 0 END) AS bigint) AS messages_without_price
FROM messages WHERE day IS NOT NULL GROUP BY day ORDER BY day;

-- events_per_day: How many events arrive each day, and from how many machines?
SELECT day, count(*) AS events, count(DISTINCT host_id) AS hosts, count(DISTINCT session_id) AS sessions
FROM events WHERE kind NOT IN ('heartbeat', 'canary') AND day IS NOT NULL GROUP BY day ORDER BY day;
