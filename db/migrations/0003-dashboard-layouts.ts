export const sql = `
CREATE TABLE dashboard_layouts (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  layout TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
`
