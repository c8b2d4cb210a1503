/** The kinds of job that this version adds to those whose start and end change how targets are shown. */
const KINDS = `('rollback', 'snapshot')`

const RAISE = `UPDATE revisions SET n = n + 1 WHERE name = 'checks'`

/**
 * Protection of upgrades: the policies, the known snapshots and backups (`location` is the file of a backup), what each
 * container's storage can do as JSON, and the protected run of a job; `protected` is JSON. `revision` counts the changes of a job that its lists show.
 */
export const sql = `
CREATE TABLE protections (target TEXT PRIMARY KEY, protection TEXT NOT NULL, changed_at TEXT NOT NULL, changed_by TEXT NOT NULL) STRICT;
CREATE TABLE snapshots (
  target TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  made_at TEXT NOT NULL,
  job_id TEXT,
  ours INTEGER NOT NULL,
  present INTEGER NOT NULL,
  location TEXT,
  PRIMARY KEY (target, name)
) STRICT;
CREATE INDEX snapshots_of_job ON snapshots (job_id) WHERE job_id IS NOT NULL;
CREATE TABLE container_storage (target TEXT PRIMARY KEY, facts TEXT NOT NULL, at TEXT NOT NULL) STRICT;
ALTER TABLE jobs ADD COLUMN phase TEXT;
ALTER TABLE jobs ADD COLUMN outcome TEXT;
ALTER TABLE jobs ADD COLUMN protected TEXT;
ALTER TABLE jobs ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER protections_added AFTER INSERT ON protections BEGIN ${RAISE}; END;
CREATE TRIGGER protections_changed AFTER UPDATE OF protection ON protections
  WHEN OLD.protection <> NEW.protection
  BEGIN ${RAISE}; END;
CREATE TRIGGER protections_removed AFTER DELETE ON protections BEGIN ${RAISE}; END;
CREATE TRIGGER container_storage_added AFTER INSERT ON container_storage BEGIN ${RAISE}; END;
CREATE TRIGGER container_storage_changed AFTER UPDATE OF facts ON container_storage
  WHEN OLD.facts <> NEW.facts
  BEGIN ${RAISE}; END;
CREATE TRIGGER protection_job_added AFTER INSERT ON jobs WHEN NEW.kind IN ${KINDS} BEGIN ${RAISE}; END;
CREATE TRIGGER protection_job_changed AFTER UPDATE OF status, begun, launched ON jobs
  WHEN NEW.kind IN ${KINDS}
    AND (OLD.status <> NEW.status OR OLD.begun <> NEW.begun OR OLD.launched <> NEW.launched)
  BEGIN ${RAISE}; END;
`
