import { computed, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { check, checked } from './packages.ts'
import { api, atSignOut, isAdmin, me } from './panel.ts'

/** A record of an upgrade without its output. `status` does not know of apt's exit code: see `exitCodes`. */
export type Job = NonNullable<Answer<'GET /api/updates/history'>>[number]

const IDLE_MS = 30_000
const RUNNING_MS = 4_000

/** The newest jobs, newest first; undefined until they are known. */
export const jobs = signal<readonly Job[]>()
export const jobsError = signal<unknown>()
export const running = computed(() => (jobs.value ?? []).filter(({ status }) => status === 'running'))
/** What apt's exit code was, of the ended jobs among the newest; null when unknown. */
export const exitCodes = signal<ReadonlyMap<string, number | null>>(new Map())

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

let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined

/** Reads the history now, and again from time to time as long as somebody is signed in. */
export function readJobs(): Promise<void> {
  clearTimeout(timer)
  asking ??= ask().finally(() => {
    asking = undefined
    if (me.peek()) timer = setTimeout(whenSeen, running.peek().length > 0 ? RUNNING_MS : IDLE_MS)
  })
  return asking
}

function whenSeen(): void {
  if (document.hidden) document.addEventListener('visibilitychange', whenSeen, { once: true })
  else void readJobs()
}

async function ask(): Promise<void> {
  try {
    const found = (await api('GET /api/updates/history', { query: { output: 'none' } })) ?? []
    recheck(running.value, found)
    jobs.value = found
    jobsError.value = undefined
    await readExitCodes(found)
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

async function readExitCodes(found: readonly Job[]): Promise<void> {
  const missing = found
    .filter(({ job_id, status }) => status === 'success' && !exitCodes.value.has(job_id))
    .slice(0, ASKED)
  if (missing.length === 0) return
  const told = await Promise.all(
    missing.map(async ({ job_id: id }) => {
      const { exit_code } = await api('GET /api/updates/jobs/{id}', { params: { id }, query: { output: 'none' } })
      return [id, exit_code] as const
    }),
  )
  exitCodes.value = new Map([...exitCodes.value, ...told])
}

/** Starts an upgrade; its id. */
export async function startUpgrade(target: string): Promise<string> {
  const { job_id } = await api('POST /api/updates/run', { body: { target } })
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
  exitCodes.value = new Map()
  started.value = new Set()
  sessionStorage.removeItem(STARTED)
})
