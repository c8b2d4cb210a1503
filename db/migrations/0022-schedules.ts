/**
 * Schedules, and what each of their times came to. `settings` and `waves` are JSON. `handled_ms`: the times up to then are
 * accounted for; `next_ms` is the first one after it. `switched` of `schedules_pause` has one row while all schedules are paused.
 */
export const sql = `
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  cron TEXT NOT NULL,
  timezone TEXT NOT NULL,
  settings TEXT NOT NULL,
  ping TEXT,
  created_by INTEGER NOT NULL REFERENCES users (id),
  created_at TEXT NOT NULL,
  changed_at TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  handled_ms INTEGER NOT NULL,
  next_ms INTEGER,
  paused_reason TEXT
);
CREATE INDEX schedules_due ON schedules (next_ms) WHERE enabled = 1 AND next_ms IS NOT NULL;

CREATE TABLE schedule_runs (
  id TEXT PRIMARY KEY,
  schedule_id TEXT NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  due_ms INTEGER NOT NULL,
  due_at TEXT NOT NULL,
  closes_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT,
  started_by TEXT,
  state TEXT NOT NULL,
  reason TEXT,
  missed INTEGER NOT NULL DEFAULT 0,
  settings TEXT NOT NULL,
  waves TEXT NOT NULL,
  cancelled_by TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  owner TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0,
  pinged TEXT,
  ping_attempts INTEGER NOT NULL DEFAULT 0,
  ping_at_ms INTEGER,
  ping_error TEXT
);
CREATE UNIQUE INDEX schedule_slots ON schedule_runs (schedule_id, due_ms) WHERE state <> 'missed' AND started_by IS NULL;
CREATE INDEX schedule_runs_of ON schedule_runs (schedule_id, due_ms);
CREATE INDEX schedule_runs_running ON schedule_runs (id) WHERE state = 'running';
CREATE INDEX schedule_runs_to_ping ON schedule_runs (ping_at_ms) WHERE ping_at_ms IS NOT NULL;

CREATE TABLE schedules_pause (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  by TEXT NOT NULL,
  at TEXT NOT NULL
);
CREATE TRIGGER schedules_paused AFTER INSERT ON schedules_pause BEGIN
  UPDATE revisions SET n = n + 1 WHERE name = 'checks';
END;
CREATE TRIGGER schedules_resumed AFTER DELETE ON schedules_pause BEGIN
  UPDATE revisions SET n = n + 1 WHERE name = 'checks';
END;
`
