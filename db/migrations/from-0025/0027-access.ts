/**
 * Second factors, the last proof of a session, targets of operators, barred accounts, API tokens and the chain of the
 * audit log.
 */
export const sql = `
-- A JSON list of targets, or '"all"'; NULL for an account that only reads. Until groups are configured, everybody works.
ALTER TABLE users ADD COLUMN operates TEXT DEFAULT '"all"';
-- When the host last confirmed the rights. NULL: the host must be asked before an API token of the account is accepted.
ALTER TABLE users ADD COLUMN rights_at TEXT;
-- Until when an instance is asking the host about the account.
ALTER TABLE users ADD COLUMN asking_until TEXT;
ALTER TABLE users ADD COLUMN barred_at TEXT;
ALTER TABLE users ADD COLUMN barred_by TEXT;

ALTER TABLE sessions ADD COLUMN proven_at TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN proven_by TEXT NOT NULL DEFAULT 'password'
  CHECK (proven_by IN ('password', 'host', 'totp', 'passkey', 'recovery', 'oidc'));
UPDATE sessions SET proven_at = created_at;
-- A sign-in may be under way while its account is barred.
CREATE TRIGGER barred_accounts_never_sign_in BEFORE INSERT ON sessions
  WHEN EXISTS (SELECT 1 FROM users WHERE id = NEW.user_id AND barred_at IS NOT NULL)
  BEGIN SELECT RAISE(ABORT, 'the account is barred'); END;

-- A TOTP secret is sealed. A passkey has its credential id, its public key (both base64url), its signature counter, and the
-- name of the relying party for which alone browsers offer it.
CREATE TABLE factors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('totp', 'passkey')),
  name TEXT NOT NULL,
  secret_sealed TEXT,
  last_step INTEGER NOT NULL DEFAULT 0,
  credential_id TEXT UNIQUE,
  public_key TEXT,
  rp_id TEXT,
  counter INTEGER NOT NULL DEFAULT 0,
  transports TEXT NOT NULL DEFAULT '[]',
  created_at TEXT NOT NULL,
  last_used_at TEXT,
  CHECK ((kind = 'totp') = (secret_sealed IS NOT NULL)),
  CHECK ((kind = 'passkey') = (credential_id IS NOT NULL AND public_key IS NOT NULL AND rp_id IS NOT NULL))
);
CREATE INDEX factors_of_user ON factors (user_id);

-- The hash is the hex SHA-256 of the code.
CREATE TABLE recovery_codes (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  used_at TEXT,
  PRIMARY KEY (user_id, hash)
);

-- Answers to a kind of factor since the last correct one, the time of the last of them, and until when it is locked.
CREATE TABLE factor_locks (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('totp', 'passkey', 'recovery')),
  answers INTEGER NOT NULL,
  last_at TEXT NOT NULL,
  locked_until TEXT,
  PRIMARY KEY (user_id, kind)
);

-- The hash is the hex SHA-256 of the id that the client has; the data is sealed JSON.
CREATE TABLE factor_challenges (
  hash TEXT PRIMARY KEY,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL,
  data_sealed TEXT NOT NULL,
  answers INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
);
CREATE INDEX factor_challenges_of_user ON factor_challenges (user_id);

-- Always empty: a transaction that must not go on inserts 0, which fails.
CREATE TABLE claims (
  won INTEGER NOT NULL,
  CONSTRAINT claim_lost CHECK (won <> 0)
);

-- The hash is the hex SHA-256 of the token; targets as in users.operates.
CREATE TABLE api_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  targets TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  last_used_at TEXT,
  last_ip TEXT
);
CREATE INDEX api_tokens_of_user ON api_tokens (user_id);

-- The hash is the hex SHA-256 of the hash before it and the entry; see db/access/audit-chain.ts.
CREATE TABLE audit_links (
  audit_id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL
);
CREATE TRIGGER audit_links_are_never_changed BEFORE UPDATE ON audit_links
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_links_are_never_replaced BEFORE INSERT ON audit_links
WHEN EXISTS (SELECT 1 FROM audit_links WHERE audit_id = NEW.audit_id)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_links_are_never_removed BEFORE DELETE ON audit_links
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE INDEX audit_by_target ON audit (target, id);
CREATE INDEX audit_by_time ON audit (at);
`
