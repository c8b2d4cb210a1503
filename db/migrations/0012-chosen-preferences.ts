/** Existing users count as having chosen: they keep the preferences that they have. */
export const sql = `
ALTER TABLE users ADD COLUMN preferences_chosen INTEGER NOT NULL DEFAULT 0;
UPDATE users SET preferences_chosen = 1;
`
