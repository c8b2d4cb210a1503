import { timestamp } from '../../runtime/clock.ts'
import type { Config } from '../../runtime/config.ts'
import type { Services } from '../../runtime/context.ts'
import { createForge, ForgeError, type Registry } from './forge.ts'

/** What is known of the forge. */
export interface KnownRegistry {
  /** As it was last read; undefined when it never was. */
  registry: Registry | undefined
  /** Why it could not be read now, in French. */
  error: string | null
}

interface Memory {
  registry?: Registry
  /** When, as `timestamp` writes it. */
  readUntil?: string
  reading?: Promise<KnownRegistry>
}

/** A page that is opened again does not ask the forge again. */
const FRESH_MS = 60_000

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
  const { registry, readUntil } = memory
  if (!refresh && registry && readUntil && timestamp(clock()) < readUntil) return { registry, error: null }

  memory.reading ??= (async () => {
    try {
      const read = await createForge(forge).list()
      for (const { repository, reason } of read.left) log.info({ repository, reason }, 'a repository is no module')
      memory.registry = read
      memory.readUntil = timestamp(new Date(clock().getTime() + FRESH_MS))
      return { registry: read, error: null }
    } catch (error) {
      log.warn({ err: error }, 'the forge could not be read')
      const message = error instanceof ForgeError ? error.message : 'la réponse est inattendue'
      return { registry: memory.registry, error: `La forge ne peut pas être lue : ${message}` }
    } finally {
      delete memory.reading
    }
  })()
  return memory.reading
}

/** The repositories that the forge has, modules or not; undefined when its list was too long to be read whole. */
export function namesOnForge({ modules, left }: Registry): ReadonlySet<string> | undefined {
  const names = [...modules.map(({ descriptor }) => descriptor.id), ...left.map(({ repository }) => repository)]
  return names.includes('*') ? undefined : new Set(names)
}
