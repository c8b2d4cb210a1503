const OTHER_NAMES = `username GLOB '*[:/' || char(1) || '-' || char(32) || char(127) || '-' || char(160) || ']*'`

export const sql = `
-- What the host said of the account when it was last asked: see docs/decisions/0022.
ALTER TABLE users ADD COLUMN uid INTEGER;
ALTER TABLE users ADD COLUMN kept_out INTEGER NOT NULL DEFAULT 0 CHECK (kept_out IN (0, 1));
ALTER TABLE users ADD COLUMN own_word TEXT NOT NULL DEFAULT 'user'
  CHECK (own_word IN ('administrator', 'user', 'silent', 'refused'));
ALTER TABLE users ADD COLUMN shadow_counts INTEGER NOT NULL DEFAULT 1 CHECK (shadow_counts IN (0, 1));
UPDATE users SET own_word = 'administrator' WHERE is_admin = 1;
-- Whether it does is learnt at the next login: of an account of LDAP the host has no entry that could be locked.
UPDATE users SET shadow_counts = 0;

-- Names that sshd reads as other ones (bob:style, bob/role), or that nobody can have: their sessions are over.
UPDATE users SET is_admin = 0, own_word = 'user' WHERE ${OTHER_NAMES};
INSERT INTO audit (at, action, target, ip, details)
  SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'account_ended', username, 'host', '{"reason":"name"}' FROM users
  WHERE ${OTHER_NAMES} AND id IN (SELECT user_id FROM sessions);
INSERT INTO ended_sessions (session_id, ended_at)
  SELECT id, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM sessions
  WHERE user_id IN (SELECT id FROM users WHERE ${OTHER_NAMES});
DELETE FROM sessions WHERE user_id IN (SELECT id FROM users WHERE ${OTHER_NAMES});
`
