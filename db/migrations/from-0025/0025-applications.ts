/**
 * The code that updates of applications would run, as it was fetched last, and the digests that administrators have agreed to.
 * `files` and `refused` are JSON; an agreement is for a digest, on whichever container it is run.
 */
export const sql = `
CREATE TABLE application_sources (
  target TEXT NOT NULL,
  application TEXT NOT NULL,
  address TEXT NOT NULL,
  digest TEXT NOT NULL,
  files TEXT NOT NULL,
  refused TEXT NOT NULL,
  fetched_at TEXT NOT NULL,
  PRIMARY KEY (target, application)
);
CREATE TABLE application_agreements (
  digest TEXT PRIMARY KEY,
  address TEXT NOT NULL,
  agreed_at TEXT NOT NULL,
  agreed_by TEXT NOT NULL
);
`
