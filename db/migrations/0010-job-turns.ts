export const sql = `
-- The order among jobs that are in each other's way: by turn, then by arrival; one whose turn has come has begun.
ALTER TABLE jobs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;

UPDATE jobs SET begun = 1 WHERE launched = 1 OR status <> 'running';
`
