export const sql = `
ALTER TABLE jobs ADD COLUMN parts TEXT;
`
