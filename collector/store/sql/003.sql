-- Version 3 of the store: which session was at work on which day, and what tool calls come to by day, are kept ready too.

-- Sessions by place and day, so that they can be counted: how many rows of activity_totals say that it did something,
-- and how many rows of usage_totals it has. They follow from these: the triggers note which of them come and go.
CREATE TABLE session_days (
    session_id TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    day TEXT NOT NULL,
    active INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (session_id, place, day)
) WITHOUT ROWID;
CREATE TRIGGER session_active AFTER INSERT ON activity_totals WHEN new.events > new.mentions BEGIN
    INSERT INTO session_days (session_id, place, day, active, used)
    SELECT context.session_id, context.place, substr(new.hour, 1, 10), 1, 0
    FROM contexts AS context WHERE context.number = new.context AND context.session_id IS NOT NULL
    ON CONFLICT DO UPDATE SET active = active + 1;
END;
CREATE TRIGGER session_becomes_active AFTER UPDATE ON activity_totals
WHEN new.events > new.mentions AND NOT old.events > old.mentions BEGIN
    INSERT INTO session_days (session_id, place, day, active, used)
    SELECT context.session_id, context.place, substr(new.hour, 1, 10), 1, 0
    FROM contexts AS context WHERE context.number = new.context AND context.session_id IS NOT NULL
    ON CONFLICT DO UPDATE SET active = active + 1;
END;
CREATE TRIGGER session_goes AFTER DELETE ON activity_totals WHEN old.events > old.mentions BEGIN
    UPDATE session_days SET active = active - 1
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10);
    DELETE FROM session_days
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10) AND active = 0 AND used = 0;
END;
CREATE TRIGGER session_used AFTER INSERT ON usage_totals BEGIN
    INSERT INTO session_days (session_id, place, day, active, used)
    SELECT context.session_id, context.place, substr(new.hour, 1, 10), 0, 1
    FROM contexts AS context WHERE context.number = new.context AND context.session_id IS NOT NULL
    ON CONFLICT DO UPDATE SET used = used + 1;
END;
CREATE TRIGGER session_used_no_more AFTER DELETE ON usage_totals BEGIN
    UPDATE session_days SET used = used - 1
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10);
    DELETE FROM session_days
    WHERE (session_id, place) = (SELECT session_id, place FROM contexts WHERE number = old.context)
        AND day = substr(old.hour, 1, 10) AND active = 0 AND used = 0;
END;

-- Tool calls by day and place; every call is in it once, as it is in call_totals. `durations` are those of its calls in
-- milliseconds, in order, with commas between them: so the median of any period is exact.
CREATE TABLE call_days (
    day TEXT NOT NULL,
    place INTEGER NOT NULL REFERENCES places (number),
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    calls INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    timed INTEGER NOT NULL,
    computed INTEGER NOT NULL,
    durations TEXT NOT NULL,
    PRIMARY KEY (day, place, name, target)
) WITHOUT ROWID;
CREATE INDEX call_days_used_up ON call_days (calls) WHERE calls = 0;
-- How often each tool was called, for the overview.
CREATE INDEX call_days_by_name ON call_days (name, day, calls);
