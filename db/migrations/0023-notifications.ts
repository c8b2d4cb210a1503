/**
 * Events that people are told of, the notices that are made of them, and the delivery of each notice to each channel.
 * `details`, `settings`, `chosen`, `events` and `last` are JSON; `secrets` is sealed. An event without a notice waits for its
 * group to be closed. `closed_by` names the attempt that made the notice. `owner` names one attempt of a delivery, which
 * alone may record how that went; `next_ms` is null once the delivery has ended.
 */
export const sql = `
CREATE TABLE notification_channels (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  settings TEXT NOT NULL,
  secrets TEXT NOT NULL,
  chosen TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  last TEXT
);

CREATE TABLE notices (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  event TEXT NOT NULL,
  severity TEXT NOT NULL,
  target TEXT,
  closed_by TEXT UNIQUE
);

CREATE TABLE notification_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  at TEXT NOT NULL,
  event TEXT NOT NULL,
  severity TEXT NOT NULL,
  target TEXT,
  run TEXT,
  details TEXT NOT NULL,
  notice_id INTEGER REFERENCES notices (id) ON DELETE CASCADE
);
CREATE INDEX notification_events_open ON notification_events (id) WHERE notice_id IS NULL;
CREATE INDEX notification_events_of ON notification_events (notice_id) WHERE notice_id IS NOT NULL;

CREATE TABLE notification_deliveries (
  id TEXT PRIMARY KEY,
  notice_id INTEGER NOT NULL REFERENCES notices (id) ON DELETE CASCADE,
  channel_id TEXT NOT NULL REFERENCES notification_channels (id) ON DELETE CASCADE,
  events TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  first_ms INTEGER NOT NULL,
  next_ms INTEGER,
  last_error TEXT,
  delivered_at TEXT,
  owner TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0,
  UNIQUE (notice_id, channel_id)
);
CREATE INDEX notification_deliveries_due ON notification_deliveries (next_ms) WHERE next_ms IS NOT NULL;
CREATE INDEX notification_deliveries_of ON notification_deliveries (notice_id);
CREATE INDEX notification_deliveries_to ON notification_deliveries (channel_id);
`
