export const sql = `
CREATE TABLE checks (
  target TEXT PRIMARY KEY,
  vmid INTEGER,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  checked_at TEXT,
  lists_at TEXT,
  job_id TEXT,
  unanswered INTEGER NOT NULL DEFAULT 0,
  summary TEXT,
  packages TEXT
);

CREATE INDEX jobs_of_target ON jobs (target, kind, finished_at);
CREATE UNIQUE INDEX jobs_checking ON jobs (target) WHERE kind = 'check' AND status = 'running';
`
