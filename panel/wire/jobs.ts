import { computed, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { type Outcome, outcomeOf } from '../nouns/outcome.ts'
import { check, checked } from './packages.ts'
import { api, atSignOut, isAdmin, me } from './panel.ts'

/** A record of an upgrade without its output. `status` does not know of apt's exit code: see `outcomeOfJob`. */
export type Job = NonNullable<Answer<'GET /api/updates/history'>>[number]

const IDLE_MS = 30_000
const RUNNING_MS = 4_000

/** The newest jobs, newest first; undefined until they are known. */
export const jobs = signal<readonly Job[]>()
export const jobsError = signal<unknown>()
export const running = computed(() => (jobs.value ?? []).filter(({ status }) => status === 'running'))
/** What the records do not tell, of the ended jobs among the newest. */
const endings = signal<ReadonlyMap<string, Ending>>(new Map())

interface Ending {
  exitCode: number | null
  /** Containers that were left behind. */
  skipped: number
  lastLine: string | undefined
}

/** How a job of the history has ended, as far as that is known by now. */
export function outcomeOfJob({ job_id, status }: Job): Outcome {
  return outcomeOf({ status, ...endings.value.get(job_id) })
}

const STARTED = 'ops-panel.started'
/** Jobs that were started in this window: who has started one may cancel it. */
const started = signal<ReadonlySet<string>>(new Set(startedBefore()))

function startedBefore(): string[] {
  try {
    return JSON.parse(sessionStorage.getItem(STARTED) ?? '[]')
  } catch {
    return []
  }
}

/** Whether who is signed in may cancel a job, as far as is known here. */
export function mayCancel(id: string): boolean {
  return isAdmin.value || started.value.has(id)
}

/** Only the newest: each is one question. */
const ASKED = 20
/** Long enough for what was left behind, and for who cancelled. */
const END_BYTES = 8_192
/** What the service tells of an output at a time. */
const PIECE_BYTES = 1024 * 1024

let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined
/** Something has begun since the question under way was asked. */
let again = false

/** Reads the history now, and again from time to time as long as somebody is signed in. */
export function readJobs(): Promise<void> {
  clearTimeout(timer)
  again = asking !== undefined
  asking ??= askAll().finally(() => {
    asking = undefined
    if (me.peek()) timer = setTimeout(whenSeen, running.peek().length > 0 ? RUNNING_MS : IDLE_MS)
  })
  return asking
}

function whenSeen(): void {
  if (document.hidden) document.addEventListener('visibilitychange', whenSeen, { once: true })
  else void readJobs()
}

async function askAll(): Promise<void> {
  do {
    again = false
    await ask()
  } while (again)
}

async function ask(): Promise<void> {
  try {
    const found = (await api('GET /api/updates/history', { query: { output: 'none' } })) ?? []
    recheck(running.value, found)
    jobs.value = found
    jobsError.value = undefined
    await readEndings(found)
  } catch (error) {
    jobsError.value = error
  }
}

/** Where an upgrade has ended, other packages wait than before. */
function recheck(ran: readonly Job[], now: readonly Job[]): void {
  const ended = ran.filter(({ job_id }) => now.find((job) => job.job_id === job_id)?.status !== 'running')
  const changed = ended.flatMap(({ target }) => (target === 'all' ? containersChecked() : [target]))
  void check([...new Set(changed)])
}

function containersChecked(): string[] {
  return [...checked.value.keys()].filter((id) => id !== 'host')
}

async function readEndings(found: readonly Job[]): Promise<void> {
  const missing = found
    .filter(({ job_id, status }) => status !== 'running' && !endings.value.has(job_id))
    .slice(0, ASKED)
  if (missing.length === 0) return
  const told = await Promise.allSettled(missing.map(async (job) => [job.job_id, await readEnding(job)] as const))
  // What could not be read is asked for again with the next history.
  const read = told.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  endings.value = new Map([...endings.value, ...read])
}

/** Of one over all containers, those left behind stand in its output; of one that was cancelled, that stands at its end. */
async function readEnding({ job_id: id, status, target }: Job): Promise<Ending> {
  const params = { id }
  const { exit_code: exitCode, output_size } = await api('GET /api/updates/jobs/{id}', {
    params,
    query: { output: 'none' },
  })
  const most = status === 'error' ? END_BYTES : target === 'all' ? PIECE_BYTES : 0
  if (most === 0) return { exitCode, skipped: 0, lastLine: undefined }
  const query = { offset: Math.max(0, output_size - most) }
  const { chunk } = await api('GET /api/updates/jobs/{id}/output', { params, query })
  return {
    exitCode,
    skipped: chunk.match(/^SKIP LXC \d+$/gm)?.length ?? 0,
    lastLine: chunk.match(/^Annulé par .*$/m)?.[0],
  }
}

/** Starts an upgrade; its id. */
export async function startUpgrade(target: string): Promise<string> {
  const { job_id } = await api('POST /api/updates/run', { body: { target } })
  const begun: Job = { job_id, target, status: 'running', started_at: new Date().toISOString() }
  jobs.value = [begun, ...(jobs.value ?? [])]
  started.value = new Set([...started.value, job_id])
  try {
    sessionStorage.setItem(STARTED, JSON.stringify([...started.value]))
  } catch {
    // It is known as long as the page is not loaded anew.
  }
  void readJobs()
  return job_id
}

atSignOut(() => {
  clearTimeout(timer)
  jobs.value = undefined
  jobsError.value = undefined
  endings.value = new Map()
  started.value = new Set()
  try {
    sessionStorage.removeItem(STARTED)
  } catch {
    // Nor was it kept.
  }
})
