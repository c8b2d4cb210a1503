/**
 * Schedules, and what each of their times came to. `settings` and `waves` are JSON. `handled_ms`: the times up to then are
 * accounted for; `next_ms` is the first one after it. `schedules_pause` has one row while all schedules are paused. A run's
 * `pinged` is the last signal that its schedule's address got, and `ping_at_ms` the time of the next attempt: 0 is at once.
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
CREATE INDEX schedules_due ON schedules (next_ms) WHERE enabled = 1;
CREATE INDEX schedules_ahead ON schedules (handled_ms) WHERE enabled = 1;

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
CREATE INDEX schedule_runs_of ON schedule_runs (schedule_id, due_ms, id, state);
CREATE UNIQUE INDEX schedule_runs_running ON schedule_runs (schedule_id) WHERE state = 'running';
CREATE INDEX schedule_runs_to_ping ON schedule_runs (ping_at_ms) WHERE ping_at_ms IS NOT NULL;

-- A run of plans that is a wave of a schedule's run.
ALTER TABLE runs ADD COLUMN schedule_run_id TEXT;
CREATE INDEX runs_of_schedules ON runs (schedule_run_id) WHERE schedule_run_id IS NOT NULL;

-- Each state of a run is told to the address that its schedule pings. A time that was missed because all were paused is silent.
CREATE TRIGGER schedule_run_pings AFTER INSERT ON schedule_runs
  WHEN coalesce(NEW.reason, '') <> 'all_paused' AND (SELECT ping FROM schedules WHERE id = NEW.schedule_id) IS NOT NULL
  BEGIN UPDATE schedule_runs SET ping_at_ms = 0 WHERE id = NEW.id; END;
CREATE TRIGGER schedule_run_pings_again AFTER UPDATE OF state ON schedule_runs
  WHEN NEW.state <> OLD.state AND (SELECT ping FROM schedules WHERE id = NEW.schedule_id) IS NOT NULL
  BEGIN UPDATE schedule_runs SET ping_at_ms = 0, ping_attempts = 0 WHERE id = NEW.id; END;

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
