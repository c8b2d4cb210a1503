/**
 * Whether the folder of an ended job on the host is known to be removed. Folders of jobs that have ended before are left to
 * the removal of old ones.
 */
export const sql = `
ALTER TABLE jobs ADD COLUMN folder_removed INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET folder_removed = 1 WHERE status <> 'running';
CREATE INDEX jobs_with_folder ON jobs (finished_at) WHERE folder_removed = 0 AND status <> 'running';
`
