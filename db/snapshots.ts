/*
 * The known snapshots and backups of containers, and what each container's storage can do. A check reads what the host
 * has; a protected run notes what it makes and removes.
 */
import * as z from 'zod'
import { ifEnded } from './checks.ts'
import type { Followed } from './jobs.ts'
import type { Database, Statement } from './libsql/database.ts'

const Row = z.object({
  target: z.string(),
  name: z.string(),
  kind: z.enum(['snapshot', 'backup']),
  made_at: z.string(),
  job_id: z.string().nullable(),
  ours: z.number().transform(Boolean),
  present: z.number().transform(Boolean),
  location: z.string().nullable(),
})
/**
 * A snapshot or backup of a container (`lxc:<id>`). `ours`: the panel has made it, by its name; only such a one is ever
 * removed or rolled back to. `job_id`: the upgrade that it was made for. `location`: the file of a backup.
 */
export type SnapshotRow = z.infer<typeof Row>

const COLUMNS = 'target, name, kind, made_at, job_id, ours, present, location'

/** Makes the statement that records a snapshot; with `job`, only together with the end of that job. */
export function noteSnapshot(snapshot: SnapshotRow, job?: Followed): Statement {
  const [condition, ended] = ifEnded(job)
  const { target, name, kind, made_at, job_id, ours, present, location } = snapshot
  return {
    sql: `INSERT INTO snapshots (${COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE ${condition}
          ON CONFLICT (target, name) DO UPDATE SET kind = excluded.kind, made_at = excluded.made_at,
            job_id = coalesce(excluded.job_id, job_id), ours = excluded.ours, present = excluded.present,
            location = coalesce(excluded.location, location)`,
    args: [target, name, kind, made_at, job_id, Number(ours), Number(present), location, ...ended],
  }
}

/** Makes the statement that records whether a known snapshot exists; with `job`, only together with its end. */
export function notePresent(
  { target, name, present }: Pick<SnapshotRow, 'target' | 'name' | 'present'>,
  job?: Followed,
): Statement {
  const [condition, ended] = ifEnded(job)
  return {
    sql: `UPDATE snapshots SET present = ? WHERE target = ? AND name = ? AND ${condition}`,
    args: [Number(present), target, name, ...ended],
  }
}

/** Reads the snapshots of a container, gone ones too, the newest first. */
export function snapshotsOf(db: Database, target: string): Promise<SnapshotRow[]> {
  return db.query(Row, `SELECT ${COLUMNS} FROM snapshots WHERE target = ? ORDER BY made_at DESC, name`, [target])
}

/** Reads the snapshots that exist, of every container, the newest first. */
export function presentSnapshots(db: Database): Promise<SnapshotRow[]> {
  return db.query(Row, `SELECT ${COLUMNS} FROM snapshots WHERE present = 1 ORDER BY made_at DESC, name`)
}

/** Reads the snapshot or backup that a job has made of its own target. */
export async function snapshotOfJob(db: Database, jobId: string): Promise<SnapshotRow | undefined> {
  const [row] = await db.query(
    Row,
    `SELECT ${COLUMNS} FROM snapshots WHERE job_id = ? AND ours = 1
       AND target = (SELECT target FROM jobs WHERE id = snapshots.job_id)`,
    [jobId],
  )
  return row
}

/** The storage and the snapshots of a container that a check has seen; `facts` is JSON. */
export interface SeenStorage {
  target: string
  facts: string
  snapshots: Pick<SnapshotRow, 'name' | 'made_at' | 'job_id' | 'ours'>[]
}

/** The kinds of job that change the snapshots of their target. The view of a check that ran beside one of them may be old. */
const CHANGING = `('upgrade', 'application', 'rollback', 'snapshot')`

/**
 * Makes the statements that store, with the end of a check that began at `at`, what it has seen of containers. Known
 * snapshots that are no longer there are marked as gone; backups stay as they are, and so do all snapshots of a
 * container if another job may have changed them meanwhile.
 */
export function saveStorage(
  job: Followed,
  { at, containers }: { at: string; containers: readonly SeenStorage[] },
): Statement[] {
  const [condition, ended] = ifEnded(job)
  const seen = JSON.stringify(containers)
  const known = `${condition} AND container.value ->> '$.target' IN (SELECT target FROM checks)`
  const busy = `(SELECT target FROM jobs WHERE kind IN ${CHANGING} AND launched = 1
    AND (finished_at IS NULL OR finished_at >= ?))`
  const snapshots = `json_each(?) AS container, json_each(container.value, '$.snapshots') AS snapshot`
  return [
    {
      sql: `INSERT INTO container_storage (target, facts, at)
            SELECT container.value ->> '$.target', container.value ->> '$.facts', ? FROM json_each(?) AS container
            WHERE ${known}
            ON CONFLICT (target) DO UPDATE SET facts = excluded.facts, at = excluded.at
              WHERE excluded.at >= container_storage.at`,
      args: [at, seen, ...ended],
    },
    {
      sql: `UPDATE snapshots SET present = 0
            WHERE present = 1 AND kind = 'snapshot' AND ${condition} AND target NOT IN ${busy}
              AND target IN (SELECT value ->> '$.target' FROM json_each(?))
              AND (target, name) NOT IN (
                SELECT container.value ->> '$.target', snapshot.value ->> '$.name' FROM ${snapshots})`,
      args: [...ended, at, seen, seen],
    },
    {
      sql: `INSERT INTO snapshots (target, name, kind, made_at, job_id, ours, present)
            SELECT container.value ->> '$.target', snapshot.value ->> '$.name', 'snapshot',
              snapshot.value ->> '$.made_at', snapshot.value ->> '$.job_id', snapshot.value ->> '$.ours', 1
            FROM ${snapshots} WHERE ${known} AND container.value ->> '$.target' NOT IN ${busy}
            ON CONFLICT (target, name) DO UPDATE SET made_at = excluded.made_at, present = 1
              WHERE kind = 'snapshot'`,
      args: [seen, ...ended, at],
    },
  ]
}

const Facts = z.object({ target: z.string(), facts: z.string() })

/** Reads what checks have told of the storage of each container, and of the `host`, as JSON by target. */
export async function readStorage(db: Database): Promise<Map<string, string>> {
  const rows = await db.query(Facts, 'SELECT target, facts FROM container_storage')
  return new Map(rows.map(({ target, facts }) => [target, facts]))
}

/** Makes the statement that stores, with the end of a check, the host's storages for backups, as JSON. */
export function saveHostStorage(job: Followed, { at, facts }: { at: string; facts: string }): Statement {
  const [condition, ended] = ifEnded(job)
  return {
    sql: `INSERT INTO container_storage (target, facts, at) SELECT 'host', ?, ? WHERE ${condition}
          ON CONFLICT (target) DO UPDATE SET facts = excluded.facts, at = excluded.at
            WHERE excluded.at >= container_storage.at`,
    args: [facts, at, ...ended],
  }
}
