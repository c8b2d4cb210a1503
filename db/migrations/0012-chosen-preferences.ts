/** Whoever is there already has lived with what is shown, and keeps it. */
export const sql = `
ALTER TABLE users ADD COLUMN preferences_chosen INTEGER NOT NULL DEFAULT 0;
UPDATE users SET preferences_chosen = 1;
`
