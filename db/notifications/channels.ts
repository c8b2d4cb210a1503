import * as z from 'zod'
import { onlyIf } from '../audit.ts'
import type { Database, Statement } from '../libsql/database.ts'

/** How the newest attempt of a channel went. `error` is also set where only some of its receivers refused. */
export const LastAttempt = z.object({ at: z.string(), ok: z.boolean(), error: z.string().nullable() })
export type LastAttempt = z.infer<typeof LastAttempt>

const Row = z.object({
  id: z.string(),
  name: z.string(),
  kind: z.string(),
  settings: z.string(),
  secrets: z.string(),
  chosen: z.string(),
  enabled: z.number().transform(Boolean),
  revision: z.number(),
  last: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : LastAttempt.parse(JSON.parse(text)))),
})
/** A channel as stored; `settings` and `chosen` are JSON, `secrets` is sealed JSON. */
export type ChannelRow = z.infer<typeof Row>

/** The values of a channel that a change may replace. */
export type ChannelValues = Pick<ChannelRow, 'name' | 'settings' | 'secrets' | 'chosen' | 'enabled'>

const COLUMNS = 'id, name, kind, settings, secrets, chosen, enabled, revision, last'

/** All channels, by name as people sort names: without regard to case and accents. */
export async function readChannels(db: Database): Promise<ChannelRow[]> {
  const rows = await db.query(Row, `SELECT ${COLUMNS} FROM notification_channels ORDER BY name`)
  // Made here, because the first collator of a process takes 6 ms, which every start would spend.
  const names = new Intl.Collator('fr', { sensitivity: 'base', numeric: true })
  return rows.sort((one, other) => names.compare(one.name, other.name))
}

export async function findChannel(db: Database, id: string): Promise<ChannelRow | undefined> {
  const [row] = await db.query(Row, `SELECT ${COLUMNS} FROM notification_channels WHERE id = ?`, [id])
  return row
}

/** Stores a channel with its audit entry; false when there are `most` channels or one has the name. */
export async function addChannel(
  db: Database,
  { id, kind, name, settings, secrets, chosen, enabled }: ChannelValues & Pick<ChannelRow, 'id' | 'kind'>,
  { now, most, entry }: { now: string; most: number; entry: Statement },
): Promise<boolean> {
  const [added] = await db.batch([
    {
      sql: `INSERT INTO notification_channels (id, name, kind, settings, secrets, chosen, enabled, created_at)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
            WHERE (SELECT count(*) FROM notification_channels) < ?9
              AND NOT EXISTS (SELECT 1 FROM notification_channels WHERE name = ?2)`,
      args: [id, name, kind, settings, secrets, chosen, Number(enabled), now, most],
    },
    onlyIf(entry, { sql: 'SELECT count(*) FROM notification_channels WHERE id = ?', args: [id] }),
  ])
  return added === 1
}

/**
 * Replaces the values of a channel with its audit entry, unless it was changed since it was read or another channel has
 * the name; returns whether it did. The deliveries of a channel that gets switched off end with `off` as their error.
 */
export async function changeChannel(
  db: Database,
  { id, revision }: Pick<ChannelRow, 'id' | 'revision'>,
  { name, settings, secrets, chosen, enabled }: ChannelValues,
  { off, entry }: { off: string; entry: Statement },
): Promise<boolean> {
  const same = {
    sql: `SELECT count(*) FROM notification_channels WHERE id = ? AND revision = ?
          AND NOT EXISTS (SELECT 1 FROM notification_channels AS others WHERE others.name = ? AND others.id <> ?)`,
    args: [id, revision, name, id],
  }
  const counts = await db.batch([
    onlyIf(entry, same),
    {
      sql: `UPDATE notification_deliveries SET state = 'given_up', next_ms = NULL, last_error = ?
            WHERE channel_id = ? AND next_ms IS NOT NULL AND ? = 0 AND (${same.sql}) > 0`,
      args: [off, id, Number(enabled), ...same.args],
    },
    {
      sql: `UPDATE notification_channels
            SET name = ?, settings = ?, secrets = ?, chosen = ?, enabled = ?, revision = revision + 1
            WHERE (${same.sql}) > 0 AND id = ?`,
      args: [name, settings, secrets, chosen, Number(enabled), ...same.args, id],
    },
  ])
  return counts.at(-1) === 1
}

/** Stores the settings of a channel in another form; without effect where it was changed since it was read. */
export async function rewriteSettings(
  db: Database,
  { id, revision }: Pick<ChannelRow, 'id' | 'revision'>,
  { settings, secrets }: Pick<ChannelRow, 'settings' | 'secrets'>,
): Promise<void> {
  await db.run(
    `UPDATE notification_channels SET settings = ?, secrets = ?, revision = revision + 1 WHERE id = ? AND revision = ?`,
    [settings, secrets, id, revision],
  )
}

/** Removes a channel and its deliveries, with the audit entry; false when there is none with this id. */
export async function removeChannel(db: Database, id: string, entry: Statement): Promise<boolean> {
  const [, removed] = await db.batch([
    onlyIf(entry, { sql: 'SELECT count(*) FROM notification_channels WHERE id = ?', args: [id] }),
    { sql: 'DELETE FROM notification_channels WHERE id = ?', args: [id] },
  ])
  return removed === 1
}

/** Makes the statement that records how the newest attempt of a channel went. */
export function noteLast(id: string, last: LastAttempt): Statement {
  return { sql: 'UPDATE notification_channels SET last = ? WHERE id = ?', args: [JSON.stringify(last), id] }
}
