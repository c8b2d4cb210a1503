import { timestamp } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import type { Log } from '../../platform/log.ts'
import type { Services } from '../services.ts'
import { createForge, type ForgeAddress, ForgeError, type Registry } from './forge.ts'

/** The last known state of the forge. */
export interface KnownRegistry {
  /** The list as last read; undefined before the first success. */
  registry: Registry | undefined
  /** Why the forge could not be read now, in French. */
  error: string | null
}

interface Memory {
  registry?: Registry
  /** Until when the list or the error is valid, in the format of `timestamp`. */
  readUntil?: string
  error?: string | null
  reading?: Promise<KnownRegistry>
}

/** Time in ms during which another request gets the list without asking the forge again. */
const FRESH_MS = 60_000
/** Time in ms during which the error of an unreachable forge is returned again. */
const FAILED_MS = 10_000

/** Most repositories without a module that the log names. */
const TOLD = 50

const memories = new WeakMap<Config, Memory>()

/**
 * Returns the forge's modules as read within the last minute. Requests during a read share its result. Never rejects:
 * an unreachable forge has removed nothing, so the last list is returned beside the error.
 */
export async function readRegistry(
  { config, clock, log }: Pick<Services, 'config' | 'clock' | 'log'>,
  { refresh }: { refresh: boolean },
): Promise<KnownRegistry> {
  const { forge } = config
  if (!forge) return { registry: undefined, error: 'Aucune forge n’est configurée (PANEL_FORGE_URL, PANEL_FORGE_ORG).' }
  const memory = memories.get(config) ?? {}
  memories.set(config, memory)
  const { readUntil, error = null } = memory
  if (!refresh && readUntil && timestamp(clock()) < readUntil) return { registry: memory.registry, error }

  memory.reading ??= (async () => {
    try {
      Object.assign(memory, await readNow(forge, memory.registry, log))
    } finally {
      const good = memory.error === null ? FRESH_MS : FAILED_MS
      memory.readUntil = timestamp(new Date(clock().getTime() + good))
      delete memory.reading
    }
    return { registry: memory.registry, error: memory.error ?? null }
  })()
  return memory.reading
}

async function readNow(forge: ForgeAddress, before: Registry | undefined, log: Log): Promise<KnownRegistry> {
  try {
    const read = await createForge(forge).list()
    for (const { repository, reason } of read.left.slice(0, TOLD))
      log.info({ repository, reason }, 'a repository is left out')
    if (read.left.length > TOLD) log.info({ more: read.left.length - TOLD }, 'more repositories are left out')
    const unread = new Set(read.left.filter((left) => left.unread).map(({ repository }) => repository))
    if (unread.size === 0) return { registry: read, error: null }
    // A module that could not be read now is kept from the last list.
    const kept = (before?.modules ?? []).filter(({ repository }) => unread.has(repository.name))
    return {
      registry: { ...read, modules: [...read.modules, ...kept] },
      error: `La forge a refusé la lecture de ${unread.size} dépôt${unread.size > 1 ? 's' : ''} : ${[...unread].slice(0, 5).join(', ')}`,
    }
  } catch (error) {
    log.warn({ err: error }, 'the forge could not be read')
    const message = error instanceof ForgeError ? error.message : 'la réponse est inattendue'
    return { registry: before, error: `La forge ne peut pas être lue : ${message}` }
  }
}

/**
 * Returns the names of the forge's repositories, modules or not; undefined when the list was too long to read in full.
 */
export function namesOnForge({ modules, left }: Registry): ReadonlySet<string> | undefined {
  const names = [...modules.map(({ descriptor }) => descriptor.id), ...left.map(({ repository }) => repository)]
  return names.includes('*') ? undefined : new Set(names)
}
