export const sql = `
CREATE TABLE security_data (
  name TEXT PRIMARY KEY,
  body BLOB,
  etag TEXT,
  fetched_at TEXT,
  tried_at TEXT NOT NULL,
  error TEXT
);
`
