export const sql = `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  is_admin INTEGER NOT NULL DEFAULT 0,
  lang TEXT NOT NULL DEFAULT 'fr',
  theme TEXT NOT NULL DEFAULT 'dark',
  sidebar_position TEXT NOT NULL DEFAULT 'left',
  created_at TEXT NOT NULL,
  last_login_at TEXT
);

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  expires_at TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  ip TEXT NOT NULL,
  created_at TEXT NOT NULL,
  last_used_at TEXT
);
CREATE INDEX sessions_of_user ON sessions (user_id, expires_at);

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  updated_at TEXT NOT NULL
);

CREATE TABLE signing_keys (
  kid TEXT PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  private_sealed TEXT NOT NULL,
  created_at TEXT NOT NULL
);

CREATE TABLE rate_hits (
  bucket TEXT NOT NULL,
  address TEXT NOT NULL,
  at_ms INTEGER NOT NULL
);
CREATE INDEX rate_hits_of_address ON rate_hits (bucket, address, at_ms);
CREATE INDEX rate_hits_by_age ON rate_hits (bucket, at_ms);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  args TEXT NOT NULL,
  target TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'success', 'error')),
  error TEXT,
  error_code TEXT,
  exit_code INTEGER,
  output_size INTEGER NOT NULL DEFAULT 0,
  host_offset INTEGER NOT NULL DEFAULT 0,
  launched INTEGER NOT NULL DEFAULT 0,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  started_by INTEGER NOT NULL REFERENCES users (id)
);
CREATE INDEX jobs_by_start ON jobs (started_at DESC);
CREATE INDEX jobs_running ON jobs (id) WHERE status = 'running';

CREATE TABLE job_output (
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  offset INTEGER NOT NULL,
  chunk BLOB NOT NULL,
  PRIMARY KEY (job_id, offset)
);

CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  action TEXT NOT NULL,
  user_id INTEGER,
  username TEXT,
  target TEXT,
  ip TEXT NOT NULL,
  details TEXT
);
CREATE INDEX audit_by_action ON audit (action, id);
`
