CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- The state machine: one row for each rule and subject whose state is not OK. `key` is a JSON array.
CREATE TABLE statuses (key TEXT PRIMARY KEY, state INTEGER NOT NULL, since INTEGER) WITHOUT ROWID;

-- One row for each time a rule fired for a subject, a host was silent, or a rule was flapping.
-- `hold`: not to be notified until the catching up is done. `hush`: its beginning is never notified.
-- `replaced_at`: points that arrived late showed it otherwise.
CREATE TABLE alerts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    rule TEXT NOT NULL,
    severity TEXT NOT NULL,
    signal TEXT NOT NULL,
    host TEXT NOT NULL,
    instance TEXT,
    since INTEGER,
    fired_at INTEGER NOT NULL,
    ended_at INTEGER,
    ended_how TEXT,
    value REAL,
    worst REAL,
    last REAL,
    healthy TEXT NOT NULL DEFAULT '',
    firings INTEGER NOT NULL DEFAULT 1,
    stale INTEGER NOT NULL DEFAULT 0,
    late INTEGER NOT NULL DEFAULT 0,
    hold INTEGER NOT NULL DEFAULT 0,
    hush INTEGER NOT NULL DEFAULT 0,
    replaced_at INTEGER,
    acked_at INTEGER,
    acked_by TEXT,
    ack_note TEXT,
    details TEXT NOT NULL
);
CREATE INDEX alerts_open ON alerts (key) WHERE ended_at IS NULL;
CREATE INDEX alerts_open_kind ON alerts (kind) WHERE ended_at IS NULL;
CREATE INDEX alerts_fired ON alerts (fired_at);
CREATE INDEX alerts_ended ON alerts (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX alerts_ended_loudly ON alerts (ended_at) WHERE ended_at IS NOT NULL AND NOT hush;
CREATE INDEX alerts_key ON alerts (key, fired_at);

CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    alert INTEGER NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    what TEXT NOT NULL,
    value REAL,
    note TEXT NOT NULL DEFAULT ''
);
CREATE INDEX events_alert ON events (alert);
CREATE INDEX events_recorded ON events (recorded_at);

CREATE TABLE silences (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    rule TEXT NOT NULL,
    host TEXT NOT NULL,
    instance TEXT NOT NULL,
    start INTEGER NOT NULL,
    until INTEGER NOT NULL,
    reason TEXT NOT NULL,
    who TEXT NOT NULL
);

CREATE TABLE roster (
    host TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    since INTEGER,
    newest INTEGER,
    interval INTEGER,
    expected INTEGER NOT NULL DEFAULT 0,
    retired_at INTEGER
) WITHOUT ROWID;

-- What each target was last told of an alert: `fired` or `ended`.
CREATE TABLE told (
    alert INTEGER NOT NULL,
    target TEXT NOT NULL,
    what TEXT NOT NULL,
    at INTEGER NOT NULL,
    times INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (alert, target)
) WITHOUT ROWID;

CREATE INDEX told_what ON told (target, what);
CREATE INDEX told_at ON told (target, at);

-- Whom to notify, by the name in up.toml. `attempts` counts those that failed since the last that succeeded.
CREATE TABLE targets (
    name TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    since INTEGER NOT NULL,
    sent_at INTEGER,
    failing_since INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_try INTEGER,
    error TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- The log of messages, a row for each attempt. `outcome`: sending, sent, failed or given up.
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    target TEXT NOT NULL,
    at INTEGER NOT NULL,
    title TEXT NOT NULL,
    alerts TEXT NOT NULL,
    outcome TEXT NOT NULL,
    error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX notifications_at ON notifications (target, at);

CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
