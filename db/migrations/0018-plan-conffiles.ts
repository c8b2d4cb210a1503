/** Changed configuration files of a plan's packages, with the diffs to the new versions and the choices, as JSON. */
export const sql = `
ALTER TABLE plans ADD COLUMN conffiles TEXT NOT NULL DEFAULT '[]';
`
