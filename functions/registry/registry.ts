import { timestamp } from '../../runtime/clock.ts'
import type { Config } from '../../runtime/config.ts'
import type { Services } from '../../runtime/context.ts'
import type { Log } from '../../runtime/log.ts'
import { createForge, type ForgeAddress, ForgeError, type Registry } from './forge.ts'

/** What is known of the forge. */
export interface KnownRegistry {
  /** As it was last read; undefined when it never was. */
  registry: Registry | undefined
  /** Why it could not be read now, in French. */
  error: string | null
}

interface Memory {
  registry?: Registry
  /** Until when what was read, or why it could not be, is good; as `timestamp` writes it. */
  readUntil?: string
  error?: string | null
  reading?: Promise<KnownRegistry>
}

/** A page that is opened again does not ask the forge again. */
const FRESH_MS = 60_000
/** Nor does it wait again for one that did not answer. */
const FAILED_MS = 10_000

/** So many repositories that are no modules have a line in the log. */
const TOLD = 50

const memories = new WeakMap<Config, Memory>()

/**
 * What the forge has to offer, as read within the last minute; who asks while it is being read gets the same answer.
 * Never rejects: what was read before stands beside the error, since a forge that is away has removed nothing.
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
    // What could not be read now has not gone.
    const kept = (before?.modules ?? []).filter(({ repository }) => unread.has(repository.name))
    return {
      registry: { ...read, modules: [...read.modules, ...kept] },
      error: `La forge n’a pas laissé lire ${unread.size} dépôt${unread.size > 1 ? 's' : ''} : ${[...unread].slice(0, 5).join(', ')}`,
    }
  } catch (error) {
    log.warn({ err: error }, 'the forge could not be read')
    const message = error instanceof ForgeError ? error.message : 'la réponse est inattendue'
    return { registry: before, error: `La forge ne peut pas être lue : ${message}` }
  }
}

/** The repositories that the forge has, modules or not; undefined when its list was too long to be read whole. */
export function namesOnForge({ modules, left }: Registry): ReadonlySet<string> | undefined {
  const names = [...modules.map(({ descriptor }) => descriptor.id), ...left.map(({ repository }) => repository)]
  return names.includes('*') ? undefined : new Set(names)
}
