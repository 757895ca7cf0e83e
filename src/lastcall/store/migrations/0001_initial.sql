-- Everything that survives a restart. Instants are microseconds since 1970, UTC.
-- A body is the whole value as JSON; columns beside it exist only to be searched by.

CREATE TABLE scopes (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    set_id TEXT,
    incarnation INTEGER NOT NULL,
    watched_at INTEGER,
    version INTEGER NOT NULL,   -- one up per decision: the optimistic lock of several servers
    due_at INTEGER              -- the scope's only timer
) WITHOUT ROWID;
CREATE INDEX scopes_due ON scopes (due_at) WHERE due_at IS NOT NULL;

-- Clustered by scope: ids are random, and a decision touches the machines of one scope.
CREATE TABLE machines (
    scope_id TEXT NOT NULL,
    id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,   -- order of arrival
    body BLOB NOT NULL,
    PRIMARY KEY (scope_id, id)
) WITHOUT ROWID;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,    -- order of announcement
    id TEXT NOT NULL UNIQUE,
    scope_id TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX events_scope ON events (scope_id);

-- Decided and not yet performed. due_at is also the lease: claiming moves it into the future.
CREATE TABLE effects (
    seq INTEGER PRIMARY KEY,    -- order of decision
    event_id TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (event_id, machine_id)
);
CREATE INDEX effects_due ON effects (due_at, seq);

CREATE TABLE scale_sets (
    id TEXT PRIMARY KEY,
    due_at INTEGER,
    body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX scale_sets_due ON scale_sets (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE documents (
    set_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (set_id, number)
) WITHOUT ROWID;

CREATE TABLE operations (
    id TEXT PRIMARY KEY,
    ended_at INTEGER,
    body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX operations_ended ON operations (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE ended_events (
    seq INTEGER PRIMARY KEY,
    scope_id TEXT NOT NULL,
    id TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (id)
);
CREATE INDEX ended_events_at ON ended_events (ended_at);

-- Searched by scope only: an index over random event ids would cost a page per line.
CREATE TABLE history (
    seq INTEGER PRIMARY KEY,
    scope_id TEXT NOT NULL,
    event_id TEXT,
    machine_id TEXT,
    body BLOB NOT NULL
);
CREATE INDEX history_scope ON history (scope_id, seq);

CREATE TABLE remembered (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
