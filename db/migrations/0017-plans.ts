/**
 * Plans of upgrades, and the runs that start several of them at once. `selection`, `actions` and `findings` are JSON;
 * `size` is the length of the actions, by which old plans are removed. `job_id` names the job that used the plan.
 */
export const sql = `
CREATE TABLE plans (
  id TEXT PRIMARY KEY,
  target TEXT NOT NULL,
  hash TEXT NOT NULL,
  made_at TEXT NOT NULL,
  made_by TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  selection TEXT NOT NULL,
  actions TEXT NOT NULL,
  size INTEGER NOT NULL,
  download_bytes INTEGER,
  disk_bytes INTEGER,
  findings TEXT NOT NULL,
  job_id TEXT
);
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  started_at TEXT NOT NULL,
  started_by INTEGER NOT NULL REFERENCES users (id)
);
ALTER TABLE jobs ADD COLUMN run_id TEXT;
ALTER TABLE jobs ADD COLUMN plan_id TEXT;
ALTER TABLE jobs ADD COLUMN plan_difference TEXT;
CREATE INDEX jobs_of_run ON jobs (run_id) WHERE run_id IS NOT NULL;
`
