/*
 * The hash chain of the audit log. Entry after entry, in the order of their ids, has a link: the hex SHA-256 of
 *
 *     <hash of the link before it> "\n" <entry>
 *
 * in UTF-8. Before the first link stand 64 zeros. The entry is the JSON array [id, at, action, user_id, username, target,
 * ip, details] as `JSON.stringify` writes it; a column that holds bytes is {"hex": "…"} there, and details is the stored
 * text. A linked entry that is changed, removed, inserted or moved breaks every link from there on. Where all later links
 * are written anew, too, a link that was noted elsewhere before shows it.
 *
 * SQLite and libSQL have one writer at a time, and a transaction that is rolled back gives its ids back: an entry never
 * appears after one with a larger id, and a missing id was removed. Should a server ever commit out of order, no link
 * passes a missing id before every transaction of that time has ended.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Database } from '../libsql/database.ts'

/** The hash before the first link. */
export const FIRST_HASH = '0'.repeat(64)

const Column = z.union([z.string(), z.number(), z.null(), z.instanceof(ArrayBuffer)])
const Entry = z.object({
  id: z.number(),
  at: Column,
  action: Column,
  user_id: Column,
  username: Column,
  target: Column,
  ip: Column,
  details: Column,
})
type Entry = z.infer<typeof Entry>
const COLUMNS = 'a.id, a.at, a.action, a.user_id, a.username, a.target, a.ip, a.details'

const Link = z.object({ id: z.number(), hash: z.string() })
/** A link: the id of its entry, and its hash. */
export type Link = z.infer<typeof Link>

/** Returns the hash of an entry after the one before it. */
export function linkedHash(before: string, { id, at, action, user_id, username, target, ip, details }: Entry): string {
  const columns = [at, action, user_id, username, target, ip, details]
  const plain = columns.map((value) =>
    value instanceof ArrayBuffer ? { hex: Buffer.from(value).toString('hex') } : value,
  )
  return createHash('sha256')
    .update(`${before}\n${JSON.stringify([id, ...plain])}`)
    .digest('hex')
}

/** The newest link; undefined before the first one. */
export async function newestLink(db: Database): Promise<Link | undefined> {
  const [link] = await db.query(Link, 'SELECT audit_id AS id, hash FROM audit_links ORDER BY audit_id DESC LIMIT 1')
  return link
}

/**
 * Links at most `most` entries behind the newest link, and returns their number. An entry behind a missing id waits until
 * it is older than `settled`. Instances may link at the same time: the links of the one that is slower are not stored.
 */
export async function linkEntries(db: Database, most: number, settled: string): Promise<number> {
  const last = await newestLink(db)
  const entries = await db.query(Entry, `SELECT ${COLUMNS} FROM audit a WHERE a.id > ? ORDER BY a.id LIMIT ?`, [
    last?.id ?? 0,
    most,
  ])
  let [id, hash] = [last?.id ?? 0, last?.hash ?? FIRST_HASH]
  const links: [id: number, hash: string][] = []
  for (const entry of entries) {
    if (entry.id !== id + 1 && String(entry.at) >= settled) break
    hash = linkedHash(hash, entry)
    id = entry.id
    links.push([id, hash])
  }
  if (links.length === 0) return 0
  return db.run(
    `INSERT INTO audit_links (audit_id, hash)
     SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?1)
     WHERE (SELECT coalesce(max(audit_id), 0) FROM audit_links) = ?2
       AND (?2 = 0 OR EXISTS (SELECT 1 FROM audit_links WHERE audit_id = ?2 AND hash = ?3))
     ORDER BY key`,
    [JSON.stringify(links), last?.id ?? 0, last?.hash ?? ''],
  )
}

/** The first fault that a check of the chain finds, and the id of its entry. */
export interface ChainFault {
  id: number
  /**
   * `entry_missing`: the entry was removed. `added`: no entry ever had this id. `changed`: the entry is not the one that was linked, or the links before it are not.
   * `link_missing`: the link was removed, while a later entry has one. `noted_missing`, `noted_differs`: the link that was
   * noted is gone, or is another one.
   */
  fault: 'entry_missing' | 'added' | 'changed' | 'link_missing' | 'noted_missing' | 'noted_differs'
}

/** The result of a check of the whole chain. */
export interface ChainReport {
  entries: number
  /** Entries whose links are sound, from the first on. */
  linked: number
  newest: Link | undefined
  /** Entries without a link, all of them behind the last link, and the time of the first of them. */
  unlinked: number
  unlinkedSince: string | undefined
  /** The time of the last entry. */
  until: string | undefined
  fault: ChainFault | undefined
}

const Checked = Entry.extend({ hash: z.string().nullable() })
const Totals = z.object({ entries: z.number(), first_id: z.number(), last_link: z.number(), last_id: z.number() })

/**
 * The ids before the entries are read: entries may be added meanwhile. `sqlite_sequence` knows the largest id that an entry
 * ever had.
 */
const TOTALS = `SELECT (SELECT count(*) FROM audit) AS entries,
  (SELECT coalesce(min(id), 1) FROM audit) AS first_id,
  (SELECT coalesce(max(audit_id), 0) FROM audit_links) AS last_link,
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0) AS last_id`

/** Entries that a check reads at a time. */
const PAGE = 1_000

/** Checks every entry and every link, and that the noted link is one of them. */
export async function checkChain(query: Database['query'], noted?: Link): Promise<ChainReport> {
  const [totals] = await query(Totals, TOTALS)
  if (!totals) throw new Error('a query without a table has no row')
  const { entries, first_id, last_link, last_id } = totals
  const report: ChainReport = {
    entries,
    linked: 0,
    newest: undefined,
    unlinked: 0,
    unlinkedSince: undefined,
    until: undefined,
    fault: undefined,
  }
  if (first_id < 1) return { ...report, fault: { id: first_id, fault: 'added' } }
  let id = 0
  for (;;) {
    const page = await query(
      Checked,
      `SELECT ${COLUMNS}, l.hash FROM audit a LEFT JOIN audit_links l ON l.audit_id = a.id
       WHERE a.id > ? ORDER BY a.id LIMIT ${PAGE}`,
      [id],
    )
    for (const entry of page) {
      const fault = faultOf(entry, id, report.newest?.hash ?? FIRST_HASH, last_link)
      if (fault) return { ...report, fault }
      id = entry.id
      report.until = String(entry.at)
      if (entry.hash === null) {
        report.unlinked += 1
        report.unlinkedSince ??= report.until
        continue
      }
      if (noted?.id === id && noted.hash !== entry.hash) return { ...report, fault: { id, fault: 'noted_differs' } }
      report.linked += 1
      report.newest = { id, hash: entry.hash }
    }
    if (page.length < PAGE) break
  }
  if (id < Math.max(last_id, last_link)) return { ...report, fault: { id: id + 1, fault: 'entry_missing' } }
  if (noted && noted.id > (report.newest?.id ?? 0))
    return { ...report, fault: { id: noted.id, fault: 'noted_missing' } }
  return { ...report, entries: Math.max(entries, report.linked + report.unlinked) }
}

function faultOf(
  entry: z.infer<typeof Checked>,
  before: number,
  hash: string,
  lastLink: number,
): ChainFault | undefined {
  if (entry.id !== before + 1) return { id: before + 1, fault: 'entry_missing' }
  if (entry.hash === null) return entry.id < lastLink ? { id: entry.id, fault: 'link_missing' } : undefined
  return linkedHash(hash, entry) === entry.hash ? undefined : { id: entry.id, fault: 'changed' }
}
