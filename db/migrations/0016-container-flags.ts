const RAISE = `UPDATE revisions SET n = n + 1 WHERE name = 'checks'`

/**
 * The hypervisor's lock on a container as its list shows it, and whether a container is a template. The setting of
 * automatic checks and the age of the lists of vulnerabilities belong to what clients show of checks.
 */
export const sql = `
ALTER TABLE checks ADD COLUMN lock TEXT;
ALTER TABLE checks ADD COLUMN template INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER checks_flagged AFTER UPDATE OF lock, template ON checks
  WHEN OLD.lock IS NOT NEW.lock OR OLD.template IS NOT NEW.template
  BEGIN ${RAISE}; END;
CREATE TRIGGER checks_setting_added AFTER INSERT ON settings WHEN NEW.key = 'checks_automatic' BEGIN ${RAISE}; END;
CREATE TRIGGER checks_setting_changed AFTER UPDATE OF value ON settings
  WHEN NEW.key = 'checks_automatic' AND OLD.value <> NEW.value
  BEGIN ${RAISE}; END;
CREATE TRIGGER security_data_changed AFTER UPDATE OF fetched_at, error ON security_data
  WHEN OLD.fetched_at IS NOT NEW.fetched_at OR OLD.error IS NOT NEW.error
  BEGIN ${RAISE}; END;
`
