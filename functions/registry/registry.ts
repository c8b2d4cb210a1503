import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../platform/config.ts'
import { Failure } from '../../runtime/errors.ts'
import { FORGE_ERRORS } from '../forge/codes.ts'
import type { Services } from '../services.ts'
import { createForge, type Forge, type ForgeAddress, ForgeError, type ListProgress, type Registry } from './forge.ts'
import type { LeftOut } from './left-out.ts'

/** The last known state of the forge. */
export interface KnownRegistry {
  /** The list as last read; undefined before the first success. */
  registry: Registry | undefined
  /** When the list was read; undefined before the first success. */
  readAt: Date | undefined
  /** Why the forge could not be read the last time, in French. */
  error: string | null
  /** The state of the reading under way; undefined when there is none. */
  reading: ListProgress | undefined
}

interface Memory {
  /** The address that everything else comes from. */
  key: string
  forge: Forge
  registry: Registry | undefined
  readAt: Date | undefined
  error: string | null
  /** Failures in a row. */
  failures: number
  /** When the list or the error is too old, in ms since 1970. */
  validUntil: number
  reading: Reading | undefined
}

interface Reading {
  progress: ListProgress
  /** Resolves when the names of all repositories are known, and when the reading has ended. */
  listed: Promise<void>
  done: Promise<void>
  stop(): void
}

type Known = Pick<Services, 'config' | 'settings' | 'clock' | 'log'>

/** Time in ms for which a list is given without asking the forge again. */
const FRESH_MS = 60_000
/** Time in ms for which the error of an unreachable forge is given again. It doubles with every failure. */
const FAILED_MS = 10_000
const MAX_FAILED_MS = 300_000
/** The specification's time-out for the forge, and a little more, so that the error of a time-out is in the answer. */
const WAIT_MS = 10_250
/** Time in ms after which a list that is not finished is shown in part to who has none. */
const FIRST_MS = 3_000

const memories = new WeakMap<Config, Memory>()

/** The address of the forge; undefined when none is configured. Throws `forge_token_unreadable`. */
export function forgeOf({
  config,
  settings,
}: Pick<Services, 'config' | 'settings'>): Promise<ForgeAddress | undefined> {
  return settings.forge(config.forge)
}

/**
 * Returns what is known of the forge, and reads it in the background when that is older than a minute. `refresh` reads
 * it in any case and waits for the end, for 10 s at most; `patient` waits when nothing is known yet. Never rejects: an
 * unreachable forge has removed nothing, so the last list is returned beside the error.
 */
export async function readRegistry(
  context: Known,
  { refresh = false, patient = false }: { refresh?: boolean; patient?: boolean },
): Promise<KnownRegistry> {
  const address = await forgeOf(context).catch((error: unknown) => {
    if (error instanceof Failure) return error
    throw error
  })
  if (!address || address instanceof Failure) {
    const error = address?.message ?? FORGE_ERRORS.forge_missing[1]
    return { registry: undefined, readAt: undefined, error, reading: undefined }
  }
  const memory = memoryOf(context.config, address)
  if (refresh || context.clock().getTime() >= memory.validUntil) memory.reading ??= beginReading(memory, context)
  const { reading } = memory
  if (reading && refresh) await firstOf(() => [reading.done])
  else if (reading && patient && !memory.registry)
    await firstOf((signal) => [reading.done, Promise.all([reading.listed, pause(FIRST_MS, undefined, { signal })])])
  const { registry, readAt, error } = memory
  return { registry, readAt, error, reading: memory.reading?.progress }
}

/** The memory of the forge at this address; the memory of another one is forgotten. */
function memoryOf(config: Config, address: ForgeAddress): Memory {
  const key = JSON.stringify(address)
  const before = memories.get(config)
  if (before?.key === key) return before
  before?.reading?.stop()
  const memory: Memory = {
    key,
    forge: createForge(address),
    registry: undefined,
    readAt: undefined,
    error: null,
    failures: 0,
    validUntil: 0,
    reading: undefined,
  }
  memories.set(config, memory)
  return memory
}

function beginReading(memory: Memory, { clock, log }: Known): Reading {
  const stopping = new AbortController()
  let isListed = () => {}
  const reading: Reading = {
    progress: { isListed: false, candidates: 0, read: 0, modules: [] },
    listed: new Promise((resolve) => {
      isListed = resolve
    }),
    done: Promise.resolve(),
    stop: () => stopping.abort(),
  }
  const tell = (progress: ListProgress) => {
    reading.progress = progress
    if (progress.isListed) isListed()
  }
  const read = async () => {
    const began = performance.now()
    try {
      const now = clock()
      const { modules, left } = await memory.forge.list({ now, tell, signal: stopping.signal })
      const unread = new Set(left.flatMap(({ repository, code }) => (code === 'unreadable' ? [repository] : [])))
      // A module that could not be read now is kept from the last list.
      const kept = (memory.registry?.modules ?? []).filter(({ repository }) => unread.has(repository.name))
      memory.registry = { modules: [...modules, ...kept], left }
      memory.readAt = now
      memory.error = unread.size > 0 ? refusalOf([...unread]) : null
      const ms = Math.round(performance.now() - began)
      log.info({ modules: modules.length, left: countsOf(left), ms }, 'the forge was read')
    } catch (error) {
      const message = error instanceof ForgeError ? error.message : 'la réponse est inattendue'
      memory.error = `La forge ne peut pas être lue : ${message}`
      if (!stopping.signal.aborted) log.warn({ err: error }, 'the forge could not be read')
    } finally {
      memory.failures = memory.error === null ? 0 : memory.failures + 1
      const failedMs = Math.min(MAX_FAILED_MS, FAILED_MS * 2 ** (memory.failures - 1))
      memory.validUntil = clock().getTime() + (memory.error === null ? FRESH_MS : failedMs)
      memory.reading = undefined
      isListed()
    }
  }
  reading.done = read()
  return reading
}

/** Waits for the first of these, at most `WAIT_MS`; the signal ends the others. */
async function firstOf(ends: (signal: AbortSignal) => Promise<unknown>[]): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  try {
    await Promise.race([...ends(signal), pause(WAIT_MS, undefined, { signal })])
  } finally {
    over.abort()
  }
}

function refusalOf(unread: readonly string[]): string {
  const [several, names] = [unread.length > 1 ? 's' : '', unread.slice(0, 5).join(', ')]
  return `La forge a refusé la lecture de ${unread.length} dépôt${several} : ${names}`
}

function countsOf(left: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of left) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/**
 * Returns the names of the forge's repositories, modules or not; undefined when the list was too long to read in full.
 */
export function namesOnForge({ modules, left }: Registry): ReadonlySet<string> | undefined {
  const names = [...modules.map(({ descriptor }) => descriptor.id), ...left.map(({ repository }) => repository)]
  return names.includes('*') ? undefined : new Set(names)
}
