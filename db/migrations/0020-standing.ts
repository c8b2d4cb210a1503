const RAISE = `UPDATE revisions SET n = n + 1 WHERE name = 'checks'`

/**
 * The ground that the panel stands on: what each target tells of itself, and what each instance of the service knows of
 * its own place, both as JSON. `late`: of a run, jobs with a higher number wait for all those with a lower one.
 */
export const sql = `
CREATE TABLE standing_targets (target TEXT PRIMARY KEY, facts TEXT NOT NULL, at TEXT NOT NULL) STRICT;
CREATE TABLE standing_instances (place TEXT PRIMARY KEY, facts TEXT NOT NULL, seen_at TEXT NOT NULL) STRICT;
ALTER TABLE jobs ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER standing_targets_added AFTER INSERT ON standing_targets BEGIN ${RAISE}; END;
CREATE TRIGGER standing_targets_changed AFTER UPDATE OF facts ON standing_targets
  WHEN OLD.facts <> NEW.facts
  BEGIN ${RAISE}; END;
CREATE TRIGGER standing_instances_added AFTER INSERT ON standing_instances BEGIN ${RAISE}; END;
CREATE TRIGGER standing_instances_changed AFTER UPDATE OF facts ON standing_instances
  WHEN OLD.facts <> NEW.facts
  BEGIN ${RAISE}; END;
`
