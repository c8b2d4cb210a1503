/*
 * The code that updates of applications would run, as it was fetched last, and the digests that administrators have agreed to.
 */
import * as z from 'zod'
import { onlyIf } from './audit.ts'
import type { Database, Statement } from './libsql/database.ts'
import { StoredText, storedText } from './libsql/text.ts'

const Row = z.object({
  target: z.string(),
  application: z.string(),
  address: z.string(),
  digest: z.string(),
  files: z.string(),
  refused: z.string(),
  fetched_at: z.string(),
})
/** The code that the update of one application would run; `files` and `refused` are JSON. */
export type SourceRow = z.infer<typeof Row>

const Agreed = Row.extend({ agreed_by: StoredText.nullable(), agreed_at: z.string().nullable() }).transform((row) => ({
  ...row,
  agreed: row.agreed_at !== null,
}))
/** The same, and whether somebody has agreed to it, who and when. */
export type AgreedSource = z.infer<typeof Agreed>

const Agreement = z.object({ address: z.string(), agreed_by: StoredText, agreed_at: z.string() })

/** Reads what was fetched for the applications of a target, in no order. */
export function readSources(db: Database, target: string): Promise<AgreedSource[]> {
  return db.query(
    Agreed,
    `SELECT s.*, a.agreed_by, a.agreed_at
     FROM application_sources s LEFT JOIN application_agreements a ON a.digest = s.digest WHERE s.target = ?`,
    [target],
  )
}

/** Stores what was fetched in place of what was fetched before, and removes that of containers that are gone. */
export async function saveSource(db: Database, row: SourceRow): Promise<void> {
  const { target, application, address, digest, files, refused, fetched_at } = row
  await db.batch([
    {
      sql: `INSERT INTO application_sources (target, application, address, digest, files, refused, fetched_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (target, application) DO UPDATE SET address = excluded.address, digest = excluded.digest,
              files = excluded.files, refused = excluded.refused, fetched_at = excluded.fetched_at`,
      args: [target, application, address, digest, files, refused, fetched_at],
    },
    { sql: 'DELETE FROM application_sources WHERE target NOT IN (SELECT target FROM checks)' },
  ])
}

/**
 * Stores an agreement to the digest that was fetched last, with its audit entry; false, without a change, where another
 * one was fetched last. A second agreement to the same digest changes nothing, and has no entry.
 */
export async function saveAgreement(
  db: Database,
  { target, application, digest }: Pick<SourceRow, 'target' | 'application' | 'digest'>,
  { at, by, entry }: { at: string; by: string; entry: Statement },
): Promise<boolean> {
  const isNew = {
    sql: `SELECT count(*) FROM application_sources WHERE target = ? AND application = ? AND digest = ?
          AND digest NOT IN (SELECT digest FROM application_agreements)`,
    args: [target, application, digest],
  }
  await db.batch([
    onlyIf(entry, isNew),
    {
      sql: `INSERT INTO application_agreements (digest, address, agreed_at, agreed_by)
            SELECT digest, address, ?, ? FROM application_sources WHERE target = ? AND application = ? AND digest = ?
            ON CONFLICT (digest) DO NOTHING`,
      args: [at, storedText(by), target, application, digest],
    },
  ])
  const stored = await readSources(db, target)
  return stored.some((each) => each.application === application && each.digest === digest && each.agreed)
}

/** Whether there is an agreement to a digest. */
export async function isAgreed(db: Database, digest: string): Promise<boolean> {
  return (await agreementTo(db, digest)) !== undefined
}

/** Removes the agreement to a digest, with the audit entry that is made of it; without one, nothing changes. */
export async function removeAgreement(
  db: Database,
  digest: string,
  entryOf: (agreement: z.infer<typeof Agreement>) => Statement,
): Promise<void> {
  const agreement = await agreementTo(db, digest)
  if (!agreement) return
  // Another request may have removed it, or have agreed again.
  const same = 'FROM application_agreements WHERE digest = ? AND agreed_at = ?'
  const args = [digest, agreement.agreed_at]
  await db.batch([
    onlyIf(entryOf(agreement), { sql: `SELECT count(*) ${same}`, args }),
    { sql: `DELETE ${same}`, args },
  ])
}

async function agreementTo(db: Database, digest: string) {
  const sql = 'SELECT address, agreed_by, agreed_at FROM application_agreements WHERE digest = ?'
  const [agreement] = await db.query(Agreement, sql, [digest])
  return agreement
}
