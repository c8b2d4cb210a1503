/** The kinds of job whose start and end change how targets are shown. */
const KINDS = `('check', 'upgrade', 'remedy', 'container')`

const RAISE = `UPDATE revisions SET n = n + 1 WHERE name = 'checks'`

export const sql = `
-- Owns the jobs that start by themselves. No name of an account is empty.
INSERT INTO users (id, username, is_admin, created_at)
  VALUES (0, '', 0, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
CREATE TRIGGER automatic_user_is_never_changed BEFORE UPDATE OF id, username, is_admin ON users
  WHEN OLD.id = 0
  BEGIN SELECT RAISE(ABORT, 'the automatic user is never changed'); END;
CREATE TRIGGER automatic_user_never_signs_in BEFORE INSERT ON sessions WHEN NEW.user_id = 0
  BEGIN SELECT RAISE(ABORT, 'the automatic user never signs in'); END;

-- When a container that was known to be stopped was first seen to run.
ALTER TABLE checks ADD COLUMN started_at TEXT;

-- Numbers that grow with each change, so that other instances see it. The renewal of a lease and new output change none.
CREATE TABLE revisions (name TEXT PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO revisions VALUES ('checks', 1);
CREATE TRIGGER checks_added AFTER INSERT ON checks BEGIN ${RAISE}; END;
CREATE TRIGGER checks_removed AFTER DELETE ON checks BEGIN ${RAISE}; END;
CREATE TRIGGER checks_changed
  AFTER UPDATE OF checked_at, lists_at, job_id, unanswered, summary, packages ON checks BEGIN ${RAISE}; END;
CREATE TRIGGER checks_renamed AFTER UPDATE OF name, status, started_at ON checks
  WHEN OLD.name IS NOT NEW.name OR OLD.status IS NOT NEW.status OR OLD.started_at IS NOT NEW.started_at
  BEGIN ${RAISE}; END;
CREATE TRIGGER checks_job_added AFTER INSERT ON jobs WHEN NEW.kind IN ${KINDS} BEGIN ${RAISE}; END;
CREATE TRIGGER checks_job_changed AFTER UPDATE OF status, begun, launched ON jobs
  WHEN NEW.kind IN ${KINDS}
    AND (OLD.status <> NEW.status OR OLD.begun <> NEW.begun OR OLD.launched <> NEW.launched)
  BEGIN ${RAISE}; END;
`
