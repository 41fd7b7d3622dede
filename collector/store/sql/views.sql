-- What the store knows, ready to be queried. Recreated whenever a view changes, together with `billed` (billed.sql).

CREATE VIEW events AS
SELECT
    row.number AS number, lower(hex(row.id)) AS id, row.kind AS kind, row.record_type AS record_type, row.time AS time,
    substr(row.time, 1, 10) AS day,
    strftime('%Y-%m-%dT%H:%M:%fZ', row.received / 1000.0, 'unixepoch') AS received_at,
    context.session_id AS session_id, context.agent_id AS agent_id, context.agent_type AS agent_type,
    context.copied_from AS copied_from, context.project AS project, context.cwd AS cwd,
    context.git_branch AS git_branch, context.host_id AS host_id, context.host_name AS host_name,
    context.user AS user, context.user AS user_name, context.root AS root, context.client_version AS client_version,
    context.entrypoint AS entrypoint, context.labels AS labels, row.origin AS origin, row.model AS model,
    CASE WHEN substr(row.message, 1, 1) <> '#' THEN row.message END AS message_id,
    row.request_id AS request_id, row.stop_reason AS stop_reason, row.quality AS quality, row.speed AS speed,
    row.service_tier AS service_tier, row.inference_geo AS inference_geo,
    row.input_tokens AS input_tokens, row.output_tokens AS output_tokens,
    row.cache_read_tokens AS cache_read_tokens, row.cache_creation_tokens AS cache_creation_tokens,
    row.cache_creation_5m_tokens AS cache_creation_5m_tokens,
    row.cache_creation_1h_tokens AS cache_creation_1h_tokens,
    row.thinking_tokens AS thinking_tokens, row.web_search_requests AS web_search_requests,
    row.web_fetch_requests AS web_fetch_requests,
    row.lines_added AS lines_added, row.lines_removed AS lines_removed, row.title AS title,
    (
        SELECT json_group_array(json_object('call_id', tool.call_id, 'name', tool.name))
        FROM tool_rows AS tool WHERE tool.number = row.number AND NOT tool.is_result HAVING count(*)
    ) AS tools,
    row.bytes AS bytes
FROM event_rows AS row JOIN contexts AS context ON context.number = row.context;

-- Each event as it was sent. `unpacked` is a function that collector adds to its own connections.
CREATE VIEW bodies AS
SELECT number, unpacked(body) AS body FROM packed_bodies;

-- One row for each message and each call of the advisor: the truth about tokens (promise 4), and its price.
-- `cost_exact` is in hundred-thousandths of a micro-dollar, because a token can cost less than a micro-dollar: add it
-- up, then divide. `cost_micros` is rounded.
CREATE VIEW messages AS
SELECT
    CASE WHEN substr(priced.message, 1, 1) <> '#' THEN priced.message END AS message_id, priced.event_id AS event_id,
    priced.time AS time, substr(priced.time, 1, 10) AS day,
    context.session_id AS session_id, context.agent_id AS agent_id, context.agent_type AS agent_type,
    context.project AS project, context.host_id AS host_id, context.host_name AS host_name, context.user AS user,
    context.user AS user_name, priced.model AS model, priced.speed AS speed,
    CASE WHEN priced.unknown_output THEN 'output_tokens_unknown' END AS quality,
    priced.messages AS messages, priced.input_tokens AS input_tokens, priced.output_tokens AS output_tokens,
    priced.cache_read_tokens AS cache_read_tokens, priced.cache_creation_tokens AS cache_creation_tokens,
    priced.cache_creation_5m_tokens AS cache_creation_5m_tokens,
    priced.cache_creation_1h_tokens AS cache_creation_1h_tokens,
    priced.thinking_tokens AS thinking_tokens, priced.web_search_requests AS web_search_requests,
    priced.web_fetch_requests AS web_fetch_requests, priced.cost_exact AS cost_exact,
    (priced.cost_exact + 50000) / 100000 AS cost_micros, priced.cost_from AS cost_from
FROM (
    SELECT
        usage.*,
        CASE WHEN usage.reported_cost IS NOT NULL THEN usage.reported_cost ELSE /* cost */ END AS cost_exact,
        CASE
            WHEN usage.reported_cost IS NOT NULL THEN 'reported'
            WHEN price.model IS NOT NULL THEN 'computed'
            ELSE 'unknown'
        END AS cost_from
    FROM (SELECT *, /* prompt_over */ AS prompt_over FROM billed) AS usage
    LEFT JOIN price_names AS known ON known.name = usage.model
    LEFT JOIN prices AS price
        ON price.model = known.model AND price.speed = usage.speed AND price.prompt_over = usage.prompt_over
        AND price.starts <= substr(usage.hour, 1, 10) AND substr(usage.hour, 1, 10) < price.ends
) AS priced
JOIN contexts AS context ON context.number = priced.context;

-- The same, added up by hour (UTC), context and everything that decides the price.
CREATE VIEW usage_costs AS
SELECT
    usage.*,
    CASE WHEN usage.is_reported THEN usage.reported_cost ELSE /* cost */ END AS cost_exact,
    CASE WHEN usage.is_reported THEN 'reported' WHEN price.model IS NOT NULL THEN 'computed' ELSE 'unknown' END
        AS cost_from
FROM usage_totals AS usage
LEFT JOIN price_names AS known ON known.name = usage.model
LEFT JOIN prices AS price
    ON price.model = known.model AND price.speed = usage.speed AND price.prompt_over = usage.prompt_over
    AND price.starts <= substr(usage.hour, 1, 10) AND substr(usage.hour, 1, 10) < price.ends;

-- One row for each tool call, however many rows and copies repeat it. `duration_from` says whether the record held the
-- duration (reported) or it was computed from the times of call and result (computed), which includes the time that the
-- person took to allow the call.
CREATE VIEW tool_calls AS
SELECT
    call.call_id AS call_id, call.name AS name, call.target AS target, call.time AS time,
    substr(call.time, 1, 10) AS day, context.session_id AS session_id, context.agent_id AS agent_id,
    context.agent_type AS agent_type, context.project AS project, context.host_id AS host_id,
    context.host_name AS host_name, context.user AS user, context.user AS user_name, call.result_time AS result_time, call.ok AS ok,
    call.duration_ms AS duration_ms, call.duration_from AS duration_from
FROM call_totals AS call JOIN contexts AS context ON context.number = call.context;

-- One row for each session that left a transcript. The prompt history and the session index only mention sessions.
-- Bookkeeping, which names no version, does not say when a session began: a fork's has the times of what it copied.
CREATE VIEW sessions AS
SELECT
    context.session_id AS session_id,
    coalesce(
        min(activity.first_time) FILTER (WHERE context.client_version IS NOT NULL), min(activity.first_time)
    ) AS time,
    max(activity.last_time) AS last_time,
    min(context.project) AS project, min(context.host_id) AS host_id, min(context.host_name) AS host_name,
    min(context.user) AS user, min(context.user) AS user_name, sum(activity.events - activity.mentions) AS events, sum(activity.prompts) AS prompts,
    sum(activity.lines_added) AS lines_added, sum(activity.lines_removed) AS lines_removed,
    (
        SELECT title FROM contexts AS here JOIN event_rows AS row ON row.context = here.number
        WHERE here.session_id = context.session_id AND here.agent_id IS NULL AND row.title IS NOT NULL
        ORDER BY
            CASE
                WHEN row.record_type = 'custom-title' THEN 1
                WHEN row.kind = 'title' AND row.record_type <> 'agent-name' THEN 2
                WHEN row.kind = 'summary' THEN 3
                WHEN row.kind = 'user_prompt' THEN 4
                ELSE 5
            END,
            CASE WHEN row.kind = 'user_prompt' THEN row.time END,
            row.time DESC, row.number DESC
        LIMIT 1
    ) AS title
FROM activity_totals AS activity JOIN contexts AS context ON context.number = activity.context
WHERE context.session_id IS NOT NULL
GROUP BY context.session_id
HAVING sum(activity.events - activity.mentions) > 0;

-- Bookkeeping that Claude Code writes again whenever a session is opened or quit, each once: the newest of its kind in
-- its session (or subagent).
CREATE VIEW bookkeeping AS
SELECT
    number, id, kind, record_type, time, session_id, agent_id, project, host_name, user, title, times_written
FROM (
    SELECT
        number, id, kind, record_type, time, session_id, agent_id, project, host_name, user, title,
        count(*) AS times_written, max(coalesce(time, '') || printf('%020d', number)) AS newest
    FROM events
    WHERE kind IN ('title', 'mode', 'last_prompt', 'session', 'session_cost', 'link')
    GROUP BY session_id, agent_id, kind, record_type
);

-- What each session cost, so that the column `cost_exact` may be added up over all of them. `computed` is the cost of
-- its messages, each counted in the session that it was first written in. `reported` is Claude Code's own total. A fork
-- goes on counting where its parent stood, with the parent's `started`: `inherited` is what the parent had cost until
-- then. /branch begins a new count. What that leaves beyond the messages is `uncounted`: calls that are in no row, such
-- as the one that /compact makes.
CREATE VIEW session_costs AS
WITH computed AS (
    SELECT
        context.session_id AS session_id, sum(usage.cost_exact) AS cost,
        sum(CASE WHEN usage.cost_from = 'unknown' THEN usage.messages ELSE 0 END) AS unknown
    FROM usage_costs AS usage JOIN contexts AS context ON context.number = usage.context
    GROUP BY 1
),
states AS (
    SELECT
        context.session_id AS session_id, row.time AS time, row.number AS number, row.reported_cost AS cost,
        row.started AS started
    FROM event_rows AS row JOIN contexts AS context ON context.number = row.context
    WHERE row.kind = 'session_cost' AND row.reported_cost IS NOT NULL
),
last AS (
    SELECT session_id, cost, started, max(coalesce(time, '') || printf('%020d', number)) AS newest
    FROM states GROUP BY 1
),
first AS (
    SELECT session_id, min(time) AS time FROM states GROUP BY 1
),
known AS (
    SELECT session_id FROM computed UNION SELECT session_id FROM last
),
-- The parent is the youngest of the sessions that a fork names, because a fork of a fork names both.
parents AS (
    SELECT
        forks.session_id AS session_id, forks.parent_session_id AS parent_session_id,
        max(coalesce(first.time, '') || forks.parent_session_id) AS youngest
    FROM forks LEFT JOIN first ON first.session_id = forks.parent_session_id
    GROUP BY 1
),
-- When a fork made its first call.
begun AS (
    SELECT context.session_id AS session_id, min(row.time) AS time
    FROM event_rows AS row JOIN contexts AS context ON context.number = row.context
    WHERE row.counts AND context.copied_from IS NULL AND context.session_id IN (SELECT session_id FROM forks)
    GROUP BY 1
),
joined AS (
    SELECT
        known.session_id AS session_id, parents.parent_session_id AS parent_session_id,
        coalesce(computed.cost, 0) AS computed, coalesce(computed.unknown, 0) AS messages_unknown,
        last.cost AS reported,
        coalesce(
            (
                SELECT state.cost FROM states AS state
                WHERE state.session_id = parents.parent_session_id AND state.started IS last.started
                    AND state.time <= coalesce(begun.time, first.time)
                ORDER BY state.time DESC, state.number DESC LIMIT 1
            ),
            0
        ) AS inherited
    FROM known
    LEFT JOIN parents ON parents.session_id = known.session_id
    LEFT JOIN begun ON begun.session_id = known.session_id
    LEFT JOIN computed ON computed.session_id = known.session_id
    LEFT JOIN last ON last.session_id = known.session_id
    LEFT JOIN first ON first.session_id = known.session_id
)
SELECT
    session_id, parent_session_id, computed, messages_unknown, reported, inherited,
    max(0, coalesce(reported - inherited - computed, 0)) AS uncounted,
    computed + max(0, coalesce(reported - inherited - computed, 0)) AS cost_exact,
    (computed + max(0, coalesce(reported - inherited - computed, 0)) + 50000) / 100000 AS cost_micros
FROM joined;

-- What agents say about themselves, one row per heartbeat. Canaries, which `collector doctor` sends, have another kind.
CREATE VIEW heartbeats AS
SELECT
    id, time, substr(time, 1, 10) AS day, CAST(strftime('%s', time) AS integer) AS sent_at, host_id, host_name,
    user_name, json_extract(event, '$.installation_id') AS installation_id,
    json_extract(event, '$.attributes.version') AS version, json_extract(event, '$.attributes.command') AS command,
    json_extract(event, '$.attributes.capture_level') AS capture_level,
    json_extract(event, '$.attributes.configuration') AS configuration,
    json_extract(event, '$.attributes.problem') AS problem,
    json_extract(event, '$.attributes.last_error') AS last_error,
    json_extract(event, '$.attributes.writers') AS writers, json_extract(event, '$.labels') AS labels,
    coalesce(json_extract(event, '$.attributes.is_last'), 0) AS is_last,
    coalesce(CAST(json_extract(event, '$.attributes.interval') AS integer), 300) AS interval_seconds,
    json_extract(event, '$.attributes.uptime_seconds') AS uptime_seconds,
    json_extract(event, '$.attributes.sources') AS sources, json_extract(event, '$.attributes.lag') AS lag,
    json_extract(event, '$.attributes.lines') AS lines, json_extract(event, '$.attributes.delivered') AS delivered,
    json_extract(event, '$.attributes.quarantined') AS quarantined,
    json_extract(event, '$.attributes.quarantine') AS quarantine,
    json_extract(event, '$.attributes.withheld') AS withheld, json_extract(event, '$.attributes.held') AS held,
    json_extract(event, '$.attributes.batches') AS batches, json_extract(event, '$.attributes.bytes') AS bytes
FROM (
    SELECT
        lower(hex(row.id)) AS id, row.time AS time, context.host_id AS host_id, context.host_name AS host_name,
        context.user AS user_name, unpacked(packed.body) AS event
    FROM event_rows AS row
    JOIN contexts AS context ON context.number = row.context
    JOIN packed_bodies AS packed ON packed.number = row.number
    WHERE row.kind = 'heartbeat'
);

-- The latest heartbeat of each installation, and what it means: `stopped` by somebody (or a scan that has ended),
-- `silent` for more than three of its intervals, or `running`.
CREATE VIEW agents AS
SELECT
    latest.*, CAST(strftime('%s', 'now') AS integer) - sent_at AS age_seconds,
    CASE
        WHEN is_last = 1 THEN 'stopped'
        WHEN CAST(strftime('%s', 'now') AS integer) - sent_at > 3 * interval_seconds THEN 'silent'
        ELSE 'running'
    END AS state
FROM (
    SELECT *, row_number() OVER (PARTITION BY installation_id ORDER BY sent_at DESC, is_last DESC, id DESC) AS place
    FROM heartbeats
) AS latest
WHERE place = 1;
