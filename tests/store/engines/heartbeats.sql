-- What agents report about themselves: one row per heartbeat. Canaries, which `collector doctor` sends, have another kind.
CREATE VIEW heartbeats AS
SELECT
    id, time, day, /* seconds */ AS sent_at, host_id, host_name, user_name,
    event->>'installation_id' AS installation_id,
    event->'attributes'->>'version' AS version,
    event->'attributes'->>'command' AS command,
    event->'attributes'->>'capture_level' AS capture_level,
    event->'attributes'->>'configuration' AS configuration,
    event->'attributes'->>'problem' AS problem,
    event->'attributes'->>'last_error' AS last_error,
    event->'attributes'->>'writers' AS writers,
    event->>'labels' AS labels,
    CASE WHEN CAST(event->'attributes'->>'is_last' AS text) = 'true' THEN 1 ELSE 0 END AS is_last,
    coalesce(CAST(event->'attributes'->>'interval' AS bigint), 300) AS interval_seconds,
    CAST(event->'attributes'->>'uptime_seconds' AS bigint) AS uptime_seconds,
    CAST(event->'attributes'->>'sources' AS bigint) AS sources,
    CAST(event->'attributes'->>'lag' AS bigint) AS lag,
    CAST(event->'attributes'->>'lines' AS bigint) AS lines,
    CAST(event->'attributes'->>'delivered' AS bigint) AS delivered,
    CAST(event->'attributes'->>'quarantined' AS bigint) AS quarantined,
    CAST(event->'attributes'->>'quarantine' AS bigint) AS quarantine,
    CAST(event->'attributes'->>'withheld' AS bigint) AS withheld,
    CAST(event->'attributes'->>'held' AS bigint) AS held,
    CAST(event->'attributes'->>'batches' AS bigint) AS batches,
    CAST(event->'attributes'->>'bytes' AS bigint) AS bytes
FROM events WHERE kind = 'heartbeat';

-- The latest heartbeat of each installation, and what it means: `stopped` by somebody (or a scan that has ended),
-- `silent` for more than three of its intervals, or `running`.
CREATE VIEW agents AS
SELECT
    latest.*, /* now */ - sent_at AS age_seconds,
    CASE
        WHEN is_last = 1 THEN 'stopped'
        WHEN /* now */ - sent_at > 3 * interval_seconds THEN 'silent'
        ELSE 'running'
    END AS state
FROM (
    SELECT *, row_number() OVER (PARTITION BY installation_id ORDER BY sent_at DESC, is_last DESC, id DESC) AS place
    FROM heartbeats
) AS latest
WHERE place = 1;
