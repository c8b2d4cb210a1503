/** The kinds of job that this migration adds to those whose start and end change how targets are shown. */
const KINDS = `('restart', 'reboot')`

const RAISE = `UPDATE revisions SET n = n + 1 WHERE name = 'checks'`

/**
 * Restarts of services and reboots of the host: a check of the target follows them. A decision about a regression changes
 * how its target is shown.
 */
export const sql = `
CREATE TRIGGER restart_job_added AFTER INSERT ON jobs WHEN NEW.kind IN ${KINDS} BEGIN ${RAISE}; END;
CREATE TRIGGER restart_job_changed AFTER UPDATE OF status, begun, launched ON jobs
  WHEN NEW.kind IN ${KINDS}
    AND (OLD.status <> NEW.status OR OLD.begun <> NEW.begun OR OLD.launched <> NEW.launched)
  BEGIN ${RAISE}; END;
CREATE TRIGGER regression_decided AFTER UPDATE OF protected ON jobs
  WHEN (OLD.protected ->> '$.decided') IS NOT (NEW.protected ->> '$.decided')
  BEGIN ${RAISE}; END;
`
