const RAISE = `UPDATE revisions SET n = n + 1 WHERE name = 'schedules'`

/**
 * The revision of a schedule that a run carries out; null for runs from before. The number `schedules` grows with each change that
 * the list of schedules shows; the renewal of a run’s lease and an attempt to ping do not change it.
 */
export const sql = `
ALTER TABLE schedule_runs ADD COLUMN schedule_revision INTEGER;

INSERT INTO revisions VALUES ('schedules', 1);
CREATE TRIGGER schedules_added AFTER INSERT ON schedules BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_changed AFTER UPDATE ON schedules BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_removed AFTER DELETE ON schedules BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_run_added AFTER INSERT ON schedule_runs BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_run_changed
  AFTER UPDATE OF started_at, finished_at, state, reason, missed, waves, cancelled_by, ping_error ON schedule_runs
  BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_run_removed AFTER DELETE ON schedule_runs BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_pause_begun AFTER INSERT ON schedules_pause BEGIN ${RAISE}; END;
CREATE TRIGGER schedules_pause_ended AFTER DELETE ON schedules_pause BEGIN ${RAISE}; END;
`
