/*
 * The signals to the address that a schedule pings. Each run tells its newest state; of several instances one sends it.
 */
import * as z from 'zod'
import type { Database } from '../libsql/database.ts'

const Due = z.object({
  id: z.string(),
  schedule_id: z.string(),
  state: z.string(),
  ping: z.string().nullable(),
  ping_attempts: z.number(),
  ping_at_ms: z.number(),
  waves: z.string(),
  over: z.number().transform(Boolean),
})
/**
 * A run whose state is to be told. `ping` is the sealed address. `over`: another run of the schedule has a newer state, after
 * which a success of this one would be a lie.
 */
export type DuePing = z.infer<typeof Due>

/** The time of a run's state. */
const since = (run: string) => `coalesce(${run}.finished_at, ${run}.started_at)`

/** The runs whose signal is due at `now`, or later than `latest` because the clock was set back, the longest due first. */
export function duePings(
  db: Database,
  { now, latest, ahead, limit }: { now: number; latest: number; ahead: number; limit: number },
): Promise<DuePing[]> {
  // Runs that are dated after `ahead` are those of a clock that was set back.
  const over = `EXISTS (SELECT 1 FROM schedule_runs n WHERE n.schedule_id = r.schedule_id AND coalesce(n.reason, '') <> 'all_paused'
    AND ${since('n')} > ${since('r')} AND unixepoch(${since('n')}) * 1000 <= ?4)`
  return db.query(
    Due,
    `SELECT r.id, schedule_id, state, ping, ping_attempts, ping_at_ms, waves, ${over} AS over
     FROM schedule_runs r JOIN schedules s ON s.id = schedule_id
     WHERE ping_at_ms IS NOT NULL AND (ping_at_ms <= ?3 OR ping_at_ms > ?1) ORDER BY ping_at_ms, r.id LIMIT ?2`,
    [latest, limit, now, ahead],
  )
}

const isSo = 'id = ? AND state = ? AND ping_attempts = ? AND ping_at_ms = ?'
const sameAs = ({ id, state, ping_attempts, ping_at_ms }: DuePing) => [id, state, ping_attempts, ping_at_ms]

/** Takes the signal for one attempt; the next one is due at `next`, or never. False when another instance was first. */
export async function takePing(db: Database, ping: DuePing, next: number | null): Promise<boolean> {
  const sql = `UPDATE schedule_runs SET ping_attempts = ping_attempts + 1, ping_at_ms = ? WHERE ${isSo}`
  return (await db.run(sql, [next, ...sameAs(ping)])) > 0
}

/** Records the result of an attempt: `told` is the signal that has arrived, `error` is a French sentence. */
export async function notePing(
  db: Database,
  { id, state, ping_attempts }: DuePing,
  { told, error }: { told: string | null; error: string | null },
): Promise<void> {
  // A state that the run has reached meanwhile has its own attempts.
  await db.run(
    `UPDATE schedule_runs SET pinged = coalesce(?, pinged), ping_error = ?, ping_at_ms = iif(? IS NULL, ping_at_ms, NULL)
     WHERE id = ? AND state = ? AND ping_attempts = ?`,
    [told, error, told, id, state, ping_attempts + 1],
  )
}

/** Ends the attempts of a run whose schedule has no address any more. */
export async function dropPing(db: Database, ping: DuePing): Promise<void> {
  await db.run(`UPDATE schedule_runs SET ping_at_ms = NULL, ping_error = NULL WHERE ${isSo}`, sameAs(ping))
}
