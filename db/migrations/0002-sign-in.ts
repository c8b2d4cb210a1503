export const sql = `
CREATE TABLE ended_sessions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id INTEGER NOT NULL,
  ended_at TEXT NOT NULL
);

ALTER TABLE signing_keys ADD COLUMN origin TEXT NOT NULL DEFAULT 'made'
  CHECK (origin IN ('made', 'environment', 'rotation'));
ALTER TABLE signing_keys ADD COLUMN revoked_at TEXT;

CREATE INDEX audit_by_user ON audit (username, id);

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_is_never_replaced BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_is_never_removed BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`
