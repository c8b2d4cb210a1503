import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { live } from './client.ts'
import type { Findings } from './findings.ts'
import { createGate } from './gate.ts'
import { createLedger, type Ledger } from './ledger.ts'
import type { Random } from './random.ts'
import type { Weather } from './weather.ts'

/** The clients of a run. */
export interface Crowd {
  ledger: Ledger
  /** Counts of answers, closed sockets and lost connections, by kind. */
  counts: ReadonlyMap<string, number>
  /** Number of jobs that are being followed. */
  underWay(): number
  /** Settles when every client has paused, and has seen the end of its jobs. */
  quiet(): Promise<void>
  goOn(): void
  /** Dismisses every client; settles when they have gone. */
  dismiss(): Promise<void>
  /** Rejects when a client fails, which is a defect of this program. */
  failed: Promise<never>
}

/** Every client signs in within this time of the start, or a tenth of the run. */
const ARRIVAL_MS = 8_000
/** Generous for a job of ten seconds behind others of its target on a busy machine; a longer wait hangs. */
const DRAIN_MS = 180_000

export function createCrowd(
  { url, weather, findings, random }: { url: string; weather: Weather; findings: Findings; random: Random },
  { clients, seconds }: { clients: number; seconds: number },
): Crowd {
  const ledger = createLedger()
  const gate = createGate()
  const counts = new Map<string, number>()
  const given = new AbortController()
  setMaxListeners(0, given.signal)
  const count = (kind: string) => void counts.set(kind, (counts.get(kind) ?? 0) + 1)
  const company = { world: { url, weather, findings, count }, ledger, gate, given: given.signal }
  const lives = Array.from({ length: clients }, async (_, number) => {
    const own = random.branch()
    await gate.rest(own.between(0, Math.min(ARRIVAL_MS, seconds * 100)))
    await live({ ...company, random: own }, number)
  })
  const failed = new Promise<never>((_, reject) => {
    for (const life of lives) life.catch(reject)
  })
  failed.catch(() => {})
  return {
    ledger,
    counts,
    underWay: () => Math.max(0, ledger.jobs.size - new Set(ledger.followed.map(({ id }) => id)).size),
    failed,
    async quiet() {
      gate.close()
      const giveUp = setTimeout(() => given.abort(), DRAIN_MS)
      while (gate.waiting() < clients) await Promise.race([failed, pause(100)])
      clearTimeout(giveUp)
    },
    goOn: gate.open,
    async dismiss() {
      given.abort()
      gate.dismiss()
      await Promise.allSettled(lives)
    },
  }
}
