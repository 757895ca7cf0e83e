-- Named queries. A name stands alone on its line; the statement follows.

-- name: find_scope
SELECT kind, set_id, incarnation, watched_at, version FROM scopes WHERE id = ?;

-- name: all_scopes
SELECT id, kind, set_id, incarnation, watched_at, version FROM scopes ORDER BY id;

-- name: scope_machines
SELECT body FROM machines WHERE scope_id = ? ORDER BY ordinal;

-- name: scope_events
SELECT body FROM events WHERE scope_id = ? ORDER BY seq;

-- name: all_machines
SELECT scope_id, body FROM machines ORDER BY scope_id, ordinal;

-- name: all_events
SELECT scope_id, body FROM events ORDER BY seq;

-- name: put_scope
INSERT INTO scopes (id, kind, set_id, incarnation, watched_at, version, due_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET incarnation = excluded.incarnation,
    watched_at = excluded.watched_at, version = excluded.version, due_at = excluded.due_at;

-- name: forget_scope
DELETE FROM scopes WHERE id = ?;

-- name: put_machine
INSERT INTO machines (scope_id, id, ordinal, body) VALUES (?, ?, ?, ?)
ON CONFLICT (scope_id, id) DO UPDATE SET body = excluded.body;

-- name: forget_machine
DELETE FROM machines WHERE scope_id = ? AND id = ?;

-- name: put_event
INSERT INTO events (id, scope_id, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET body = excluded.body;

-- name: forget_event
DELETE FROM events WHERE id = ?;

-- name: find_scale_set
SELECT body FROM scale_sets WHERE id = ?;

-- name: all_scale_sets
SELECT body FROM scale_sets ORDER BY id;

-- name: put_scale_set
INSERT INTO scale_sets (id, due_at, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, body = excluded.body;

-- name: forget_scale_set
DELETE FROM scale_sets WHERE id = ?;

-- name: find_document
SELECT body FROM documents WHERE set_id = ? AND number = ?;

-- name: put_document
INSERT OR REPLACE INTO documents (set_id, number, body) VALUES (?, ?, ?);

-- name: forget_documents
DELETE FROM documents WHERE set_id = ?;

-- name: find_operation
SELECT body FROM operations WHERE id = ?;

-- name: put_operation
INSERT INTO operations (id, ended_at, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, body = excluded.body;

-- name: put_effect
INSERT INTO effects (event_id, machine_id, due_at, body) VALUES (?, ?, ?, ?)
ON CONFLICT (event_id, machine_id) DO UPDATE SET due_at = excluded.due_at, body = excluded.body;

-- name: forget_effect
DELETE FROM effects WHERE event_id = ? AND machine_id = ?;

-- name: release_effects
UPDATE effects SET due_at = 0;

-- name: due_effects
SELECT due_at, body FROM effects WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?;

-- name: due_scopes
SELECT id FROM scopes WHERE due_at <= ? ORDER BY due_at, id LIMIT ?;

-- name: due_scale_sets
SELECT id FROM scale_sets WHERE due_at <= ? ORDER BY due_at, id LIMIT ?;

-- name: next_due
SELECT MIN(due_at) FROM (
    SELECT MIN(due_at) AS due_at FROM scopes WHERE due_at IS NOT NULL
    UNION ALL SELECT MIN(due_at) FROM scale_sets WHERE due_at IS NOT NULL
    UNION ALL SELECT MIN(due_at) FROM effects
    UNION ALL SELECT MIN(due_at) FROM resources WHERE due_at IS NOT NULL
);

-- name: find_ended
SELECT id FROM ended_events WHERE scope_id = ? AND id = ?;

-- name: find_ended_event
SELECT body FROM ended_events WHERE id = ?;

-- name: newest_ended
SELECT body FROM ended_events ORDER BY seq DESC LIMIT ? OFFSET ?;

-- name: put_ended
INSERT OR IGNORE INTO ended_events (id, scope_id, ended_at, body) VALUES (?, ?, ?, ?);

-- name: last_history
SELECT MAX(seq) FROM history;

-- name: put_history
INSERT INTO history (seq, scope_id, event_id, machine_id, body) VALUES (?, ?, ?, ?, ?);

-- name: find_history
SELECT seq, body FROM history
WHERE seq > ?1 AND (?3 IS NULL OR machine_id = ?3) AND (?4 IS NULL OR event_id = ?4)
ORDER BY seq DESC LIMIT ?2;

-- name: scope_history
SELECT seq, body FROM history
WHERE scope_id = ?4 AND seq > ?1 AND (?3 IS NULL OR machine_id = ?3)
    AND (?5 IS NULL OR event_id = ?5)
ORDER BY seq DESC LIMIT ?2;

-- name: scope_of_event
SELECT scope_id FROM events WHERE id = ?1
UNION ALL SELECT scope_id FROM ended_events WHERE id = ?1
LIMIT 1;

-- name: recall
SELECT value FROM remembered WHERE key = ?;

-- name: remember
INSERT OR REPLACE INTO remembered (key, value) VALUES (?, ?);

-- name: prune_history
DELETE FROM history WHERE seq <= (SELECT MAX(seq) FROM history) - ?;

-- name: prune_ended
DELETE FROM ended_events WHERE ended_at <= ?;

-- name: prune_operations
DELETE FROM operations WHERE ended_at <= ?;

-- name: keep_documents
DELETE FROM documents
WHERE set_id = ? AND number NOT IN (SELECT value FROM json_each(CAST(? AS TEXT)));

-- name: find_resource
SELECT body FROM resources WHERE id = ?;

-- name: find_resources
SELECT body FROM resources
WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR group_name = ?2) ORDER BY id;

-- name: find_resources_below
SELECT body FROM resources
WHERE id = ?1 OR (id > ?1 || '/' AND id < ?1 || '0') ORDER BY id;  -- 0 is what follows a slash

-- name: put_resource
INSERT INTO resources (id, kind, group_name, due_at, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, body = excluded.body;

-- name: forget_resource
DELETE FROM resources WHERE id = ?;

-- name: due_resources
SELECT id FROM resources WHERE due_at <= ? ORDER BY due_at, id LIMIT ?;

-- name: put_activity
INSERT INTO activities (at, group_name, body) VALUES (?, ?, ?);

-- name: find_activities
SELECT seq, body FROM activities
WHERE (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at <= ?3) AND (?4 IS NULL OR group_name = ?4)
    AND (?5 IS NULL OR seq < ?5)
ORDER BY seq DESC LIMIT ?1;

-- name: prune_activities
DELETE FROM activities WHERE seq <= (SELECT MAX(seq) FROM activities) - ?;
