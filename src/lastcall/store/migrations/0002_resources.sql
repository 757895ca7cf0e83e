-- Everything of the control plane that is not a scale set, and who asked for what.

CREATE TABLE resources (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,    -- the path in lower case
    kind TEXT NOT NULL,         -- the type in lower case
    group_name TEXT NOT NULL,   -- the resource group in lower case, empty outside of any
    due_at INTEGER,
    body BLOB NOT NULL
);
CREATE INDEX resources_group ON resources (group_name, kind);
CREATE INDEX resources_kind ON resources (kind);
CREATE INDEX resources_due ON resources (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE activities (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    group_name TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX activities_at ON activities (at);
