import { auditEntry, onlyIf } from '../../db/audit.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { findUser } from '../../db/users.ts'
import type { EndedJob } from '../../jobs/jobs.ts'
import type { Outcome } from './run-record.ts'

/** The newest entries, among which a repeated one is looked for: a repetition comes within seconds. */
const RECENT = 1_000

/**
 * Makes the audit entry of an upgrade's or rollback's end, in one transaction with it. Another instance may repeat the
 * statement: a job has one such entry.
 */
export async function endStatements(
  { db, row, at }: EndedJob,
  { outcome, regressions, snapshot }: { outcome: Outcome; regressions: number; snapshot: string | undefined },
): Promise<Statement[]> {
  const user = await findUser(db, row.started_by)
  const details = JSON.stringify({
    job_id: row.id,
    kind: row.kind,
    outcome,
    regressions,
    ...(snapshot && { snapshot }),
  })
  const entry = auditEntry(
    {
      action: 'update_end',
      user_id: row.started_by,
      username: user?.username ?? null,
      target: row.target,
      ip: '',
      details,
    },
    at,
  )
  const isFirst = {
    sql: `SELECT count(*) FROM jobs WHERE id = ? AND epoch = ? AND status <> 'running' AND NOT EXISTS (
      SELECT 1 FROM audit WHERE action = 'update_end' AND id > (SELECT max(id) FROM audit) - ${RECENT}
        AND json_extract(details, '$.job_id') = ?)`,
    args: [row.id, row.epoch, row.id],
  }
  return [onlyIf(entry, isFirst)]
}
