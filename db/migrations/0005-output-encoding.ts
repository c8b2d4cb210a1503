export const sql = `
ALTER TABLE job_output ADD COLUMN encoding TEXT;
`
