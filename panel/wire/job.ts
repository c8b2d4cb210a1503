import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Answer, FollowState, FollowTrouble, UpdateEvent } from '../../client/index.ts'
import { type AptReading, createAptReader } from '../nouns/apt-progress.ts'
import { createLines, type Lines } from '../nouns/lines.ts'
import { type Outcome, outcomeOf } from '../nouns/outcome.ts'
import { returns } from './connection.ts'
import { checkWhatIsDue } from './checks.ts'
import { readJobs } from './jobs.ts'
import { api, panel } from './panel.ts'

export type JobRecord = Answer<'GET /api/updates/jobs/{id}'>

/** A job as it is followed: its output so far, how far it is, and how the connection does. */
export interface FollowedJob {
  id: string
  lines: Lines
  /** Changes, once a frame at most, when `lines` has more. */
  version: ReadonlySignal<number>
  reading: ReadonlySignal<AptReading>
  connection: ReadonlySignal<FollowState>
  /** What is the matter with it, where the service has said so. */
  trouble: ReadonlySignal<FollowTrouble | undefined>
  /** It was cut, and came back a moment ago. */
  isResumed: ReadonlySignal<boolean>
  /** As it was at the beginning, then as it is at the end. */
  record: ReadonlySignal<JobRecord | undefined>
  outcome: ReadonlySignal<Outcome>
  /** Why it ended in error, or was cancelled. */
  reason: ReadonlySignal<string | undefined>
  /** Why it cannot be followed. */
  error: ReadonlySignal<unknown>
  /** Bytes at its beginning that are not read here. */
  omitted: ReadonlySignal<number>
  /** Goes on after an error, from the byte that it had come to; by itself when the service is back. */
  retry(): void
  stop(): void
}

/** What of a long output is read: more would be dropped again. */
const TAIL_BYTES = 16 * 1024 * 1024
/** How long it is said that a cut is over. */
const RESUMED_MS = 8_000

/** Follows a job to its end, whatever becomes of the connection, until it is stopped. */
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
    const { status = 'running', exit_code: exitCode, error_code: errorCode, containers } = record.value ?? {}
    const unchecked = record.value?.unchecked?.length ?? 0
    const { skipped, errors } = reading.value
    return outcomeOf({ status, exitCode, errorCode, containers, unchecked, errors: errors + skipped.length })
  })
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
    // Frames stand still in a window that nobody sees, and so does what only people read.
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
    } else if (event.type === 'update_error') reason.value = event.data.error
  }
  const read = async (signal: AbortSignal) => {
    record.value = await api('GET /api/updates/jobs/{id}', { params: { id }, query: { output: 'none' }, signal })
    return record.value
  }
  let isLearnt = false
  /** Which containers a job is over is known once it is no longer waiting for others. */
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
  const unsubscribe = returns.subscribe(() => {
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
    reason,
    error,
    omitted,
    retry: () => void begin(),
    stop() {
      going.abort()
      unsubscribe()
      clearTimeout(resumedTimer)
      cancelAnimationFrame(frame)
    },
  }
}

/** All of an output, byte for byte. However long it is, no more than a piece of it is a text at a time: the browser keeps the rest. */
export async function wholeOutput(id: string): Promise<Blob> {
  const pieces: Blob[] = []
  for (let offset = 0; ; ) {
    const { chunk, next_offset } = await api('GET /api/updates/jobs/{id}/output', { params: { id }, query: { offset } })
    if (chunk) pieces.push(new Blob([chunk]))
    if (next_offset === offset) return new Blob(pieces, { type: 'text/plain;charset=utf-8' })
    offset = next_offset
  }
}
