/*
 * The ground that the panel stands on: what checks have told of each target, and what each instance of the service
 * knows of its own place. Without them, an upgrade would take the panel away unannounced.
 */
import * as z from 'zod'
import { ifEnded } from './checks.ts'
import type { Followed } from './jobs.ts'
import type { Database, Statement } from './libsql/database.ts'

/** Makes the statement that stores, with the end of a check that began at `at`, what a target tells of itself as JSON. */
export function saveTargetStanding(
  job: Followed,
  { target, at, facts }: { target: string; at: string; facts: string },
): Statement {
  const [condition, ended] = ifEnded(job)
  return {
    sql: `INSERT INTO standing_targets (target, facts, at) SELECT ?, ?, ?
          WHERE ${condition} AND (? = 'host' OR EXISTS (SELECT 1 FROM checks WHERE target = ?))
          ON CONFLICT (target) DO UPDATE SET facts = excluded.facts, at = excluded.at
            WHERE excluded.at >= standing_targets.at`,
    args: [target, facts, at, ...ended, target, target],
  }
}

const Target = z.object({ target: z.string(), facts: z.string() })

/** Reads what checks have told of the host and of the containers in the last list, as JSON by target. */
export async function readTargetStandings(db: Database): Promise<Map<string, string>> {
  const rows = await db.query(
    Target,
    'SELECT standing_targets.target, facts FROM standing_targets JOIN checks ON checks.target = standing_targets.target',
  )
  return new Map(rows.map(({ target, facts }) => [target, facts]))
}

const Instance = z.object({ place: z.string(), facts: z.string(), seen_at: z.string() })
/** The facts that the instances at one place know, as JSON. */
export type InstanceRow = z.infer<typeof Instance>

/** Reads what the instances know, in no order. */
export function readInstances(db: Database): Promise<InstanceRow[]> {
  return db.query(Instance, 'SELECT place, facts, seen_at FROM standing_instances')
}

/**
 * Stores what an instance knows, and removes the rows of places that were last seen before `gone`, and those of containers
 * that are gone.
 */
export async function saveInstance(db: Database, { place, facts, seen_at }: InstanceRow, gone: string): Promise<void> {
  await db.batch([
    {
      sql: `INSERT INTO standing_instances (place, facts, seen_at) VALUES (?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET facts = excluded.facts, seen_at = excluded.seen_at`,
      args: [place, facts, seen_at],
    },
    { sql: 'DELETE FROM standing_instances WHERE seen_at < ?', args: [gone] },
    { sql: 'DELETE FROM standing_targets WHERE target NOT IN (SELECT target FROM checks)' },
  ])
}
