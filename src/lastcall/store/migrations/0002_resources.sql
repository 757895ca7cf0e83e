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

-- Sets that were there before had groups that nobody had made.
INSERT INTO resources (id, kind, group_name, body)
SELECT
    '/subscriptions/' || lower(subscription) || '/resourcegroups/' || lower(name),
    'microsoft.resources/resourcegroups',
    lower(name),
    CAST(json_object(
        'id', '/subscriptions/' || lower(subscription) || '/resourcegroups/' || lower(name),
        'path', '/subscriptions/' || subscription || '/resourceGroups/' || name,
        'kind', 'microsoft.resources/resourcegroups',
        'group', lower(name),
        'content', json_object('location', location),
        'created_at', created_at
    ) AS BLOB)
FROM (
    SELECT
        json_extract(CAST(body AS TEXT), '$.subscription') AS subscription,
        json_extract(CAST(body AS TEXT), '$.resource_group') AS name,
        min(json_extract(CAST(body AS TEXT), '$.location')) AS location,
        min(json_extract(CAST(body AS TEXT), '$.created_at')) AS created_at
    FROM scale_sets
    GROUP BY lower(subscription), lower(name)
);
