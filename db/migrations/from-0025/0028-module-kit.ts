/**
 * Modules: the files of their pages, the release before the current one, why the service has taken one out, and what they
 * store. `files` is a JSON list of paths; `previous` is JSON, `{version, commit, tag}`. A secret value is sealed. A record is
 * a JSON text of a module's own collection.
 */
export const sql = `
ALTER TABLE modules ADD COLUMN files TEXT NOT NULL DEFAULT '[]';
ALTER TABLE modules ADD COLUMN tag TEXT;
ALTER TABLE modules ADD COLUMN previous TEXT;
ALTER TABLE modules ADD COLUMN fault TEXT;
ALTER TABLE modules ADD COLUMN fault_at TEXT;
CREATE TABLE module_values (
  module TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  is_secret INTEGER NOT NULL CHECK (is_secret IN (0, 1)),
  updated_at TEXT NOT NULL,
  PRIMARY KEY (module, name)
);
CREATE TABLE module_records (
  module TEXT NOT NULL,
  collection TEXT NOT NULL,
  id TEXT NOT NULL,
  value TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (module, collection, id)
);
CREATE TRIGGER removed_modules_store_nothing AFTER DELETE ON modules
BEGIN
  DELETE FROM module_values WHERE module = OLD.id;
  DELETE FROM module_records WHERE module = OLD.id;
END;
`
