/** Jobs that are there already keep the folder that bears their id: null. */
export const sql = `
ALTER TABLE jobs ADD COLUMN folder TEXT;
`
