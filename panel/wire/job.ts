import { batch, computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import type { Answer, FollowState, FollowTrouble, UpdateEvent } from '../../client/index.ts'
import { type AptReading, createAptReader } from '../nouns/apt-progress.ts'
import { createLines, type Lines } from '../nouns/lines.ts'
import { type Outcome, outcomeOf } from '../nouns/outcome.ts'
import { type Begun, withPhase } from '../nouns/stations.ts'
import { checkWhatIsDue } from './checks.ts'
import { reconnects } from './connection.ts'
import { type Job, newestJobs, readJobs } from './jobs.ts'
import { api, panel } from './panel.ts'

export type JobRecord = Answer<'GET /api/updates/jobs/{id}'>

/** A followed job: its output, its progress, and the state of the connection. */
export interface FollowedJob {
  id: string
  lines: Lines
  /** Changes at most once a frame when `lines` grows. */
  version: ReadonlySignal<number>
  reading: ReadonlySignal<AptReading>
  connection: ReadonlySignal<FollowState>
  /** The problem of the connection, if the service named it. */
  trouble: ReadonlySignal<FollowTrouble | undefined>
  /** Whether the connection has just come back. */
  isResumed: ReadonlySignal<boolean>
  /** The record at the start, replaced by the one at the end. */
  record: ReadonlySignal<JobRecord | undefined>
  outcome: ReadonlySignal<Outcome>
  /** The phases of a protected upgrade so far. */
  phases: ReadonlySignal<readonly Begun[]>
  /** The reason of an error or a cancellation. */
  reason: ReadonlySignal<string | undefined>
  /** The reason why it cannot be followed. */
  error: ReadonlySignal<unknown>
  /** The number of skipped bytes at the beginning. */
  omitted: ReadonlySignal<number>
  /** Continues after an error from the last known byte. It also happens automatically when the service is back. */
  retry(): void
  /** Reads the record again: somebody has decided, or its snapshot is gone. Rejects when it cannot be read. */
  reread(): Promise<unknown>
  stop(): void
}

/** The part of a long output that is read: more would be dropped anyway. */
const TAIL_BYTES = 16 * 1024 * 1024
/** How long the notice about a reconnect stays. */
const RESUMED_MS = 8_000

/** Follows a job to its end, across reconnects, until it is stopped. */
export function followJob(id: string): FollowedJob {
  const lines = createLines()
  const record = signal<JobRecord>()
  const apt = createAptReader(() => record.peek()?.containers?.map(({ vmid }) => `${vmid}`))
  const version = signal(0)
  const reading = signal(apt.read())
  const connection = signal<FollowState>('connecting')
  const trouble = signal<FollowTrouble>()
  const isResumed = signal(false)
  const reason = signal<string>()
  const error = signal<unknown>()
  const omitted = signal(0)
  const outcome = computed(() => {
    const { status = 'running', exit_code: exitCode, error_code: errorCode, containers, warnings } = record.value ?? {}
    const unchecked = record.value?.unchecked?.length ?? 0
    const { skipped, errors } = reading.value
    return outcomeOf({
      status,
      exitCode,
      errorCode,
      containers,
      warnings,
      unchecked,
      errors: errors + skipped.length,
      ...(record.value && { told: record.value }),
    })
  })
  /** The phases that have begun since the record was read. */
  const seen = signal<readonly Begun[]>([])
  const phases = computed(() =>
    seen.value.reduce<readonly Begun[]>((all, { phase, at }) => withPhase(all, phase, at), record.value?.phases ?? []),
  )
  const note = (phase: string, at = new Date().toISOString()) => {
    seen.value = withPhase(seen.peek(), phase, at)
  }
  let going = new AbortController()
  let at = 0
  let isCut = false
  let resumedTimer: ReturnType<typeof setTimeout> | undefined
  let frame = 0
  let skipsFirstLine = false

  const show = () => {
    frame = 0
    batch(() => {
      version.value += 1
      reading.value = apt.read()
    })
  }
  const feed = (chunk: string) => {
    let text = chunk
    if (skipsFirstLine) {
      const end = text.indexOf('\n')
      text = end < 0 ? '' : text.slice(end + 1)
      skipsFirstLine = end < 0
    }
    lines.feed(text, apt.line)
    // Animation frames pause in a hidden window, and so does everything that is only visible.
    if (frame === 0) frame = requestAnimationFrame(show)
  }
  const onState = (state: FollowState, why?: FollowTrouble) => {
    connection.value = state
    trouble.value = why
    if (state === 'waiting' || state === 'polling') isCut = true
    else if (state === 'live' && isCut) {
      isCut = false
      isResumed.value = true
      clearTimeout(resumedTimer)
      resumedTimer = setTimeout(() => {
        isResumed.value = false
      }, RESUMED_MS)
    }
  }
  const take = (event: UpdateEvent) => {
    at = event.seq
    if (event.type === 'update_output') {
      feed(event.data.chunk)
      void learnContainers()
    } else if (event.type === 'update_phase') note(event.data.phase)
    else if (event.type === 'update_error') reason.value = event.data.error
  }
  const read = async (signal: AbortSignal) => {
    const found = await api('GET /api/updates/jobs/{id}', { params: { id }, query: { output: 'none' }, signal })
    batch(() => {
      record.value = found
      if (found.status !== 'running') seen.value = []
      // When it has begun is known only of the phases after it.
      else if (found.phase && seen.peek().length === 0) note(found.phase, '')
    })
    return found
  }
  const reread = () => read(going.signal)
  /** The list of jobs, which is read every second, has the phase of each, and what other people decide. */
  const unwatch = effect(() => {
    const listed = newestJobs.value?.find(({ job_id }) => job_id === id)
    if (listed) untracked(() => compare(listed))
  })
  function compare({ status, phase, decided, snapshot }: Job) {
    const known = record.peek()
    if (!known) return
    if (status === 'running' && known.status === 'running' && phase) note(phase)
    if (status === 'running' || known.status === 'running') return
    const isNews = known.decided?.at !== decided?.at || known.snapshot?.present !== snapshot?.present
    // The next list tries again.
    if (isNews) reread().catch(() => {})
  }
  let isLearnt = false
  /** The containers of a job are known only after it stops waiting for other jobs. */
  const learnContainers = async () => {
    if (isLearnt || record.peek()?.target !== 'all' || record.peek()?.containers || !apt.read().progress.container)
      return
    isLearnt = true
    await read(going.signal).catch(() => {
      isLearnt = false
    })
  }
  const begin = async () => {
    going.abort()
    going = new AbortController()
    const { signal } = going
    error.value = undefined
    try {
      const { output_size: size } = await read(signal)
      if (at === 0 && size > TAIL_BYTES) {
        at = size - TAIL_BYTES
        omitted.value = at
        skipsFirstLine = true
      }
      for await (const event of panel.follow(`update:${id}`, { from: at, signal, onState })) take(event)
      const { kind } = await read(signal)
      void readJobs()
      if (kind === 'remedy') void checkWhatIsDue()
    } catch (cause) {
      if (!signal.aborted) error.value = cause
    }
  }
  void begin()
  const unsubscribe = reconnects.subscribe(() => {
    if (error.peek() !== undefined) void begin()
  })

  return {
    id,
    lines,
    version,
    reading,
    connection,
    trouble,
    isResumed,
    record,
    outcome,
    phases,
    reason,
    error,
    omitted,
    retry: () => void begin(),
    reread,
    stop() {
      going.abort()
      unwatch()
      unsubscribe()
      clearTimeout(resumedTimer)
      cancelAnimationFrame(frame)
    },
  }
}

/** Fetches a whole output byte for byte. Only one piece at a time is text; the browser keeps the rest as blobs. */
export async function wholeOutput(id: string): Promise<Blob> {
  const pieces: Blob[] = []
  for (let offset = 0; ; ) {
    const { chunk, next_offset } = await api('GET /api/updates/jobs/{id}/output', { params: { id }, query: { offset } })
    if (chunk) pieces.push(new Blob([chunk]))
    if (next_offset === offset) return new Blob(pieces, { type: 'text/plain;charset=utf-8' })
    offset = next_offset
  }
}
