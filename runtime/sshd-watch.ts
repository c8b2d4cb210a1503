import { type Penalties, penalisingVersion } from './penalties.ts'

/** What the sshd that answers does with who gives wrong passwords. */
export interface SshdWatch {
  /** To be told of each connection what the server says it is. */
  identified(identification: string): void
  /** As it is known, or asked for; undefined of one that has no penalties. */
  penalties(): Promise<Penalties | undefined>
  /** Another host may answer from now on. */
  forget(): void
}

/** A line that was added to its configuration is noticed within this time. */
const KNOWN_MS = 300_000

/**
 * Asks an sshd that has penalties, by `ask`, whether they are in force for the service, in the background; `learn` is told what
 * is known, each time that it changes.
 */
export function createSshdWatch(
  ask: (version: string) => Promise<Penalties>,
  learn: (penalties: Pick<Penalties, 'state'> | Penalties | undefined) => void,
): SshdWatch {
  let server: { identification: string; penalties?: Promise<Penalties>; askedAt: number } | undefined

  const penalties = async (): Promise<Penalties | undefined> => {
    const asked = server
    const version = penalisingVersion(asked?.identification ?? '')
    if (!asked || version === undefined) return undefined
    if (!asked.penalties || performance.now() - asked.askedAt > KNOWN_MS) {
      asked.askedAt = performance.now()
      asked.penalties = ask(version)
      asked.penalties.then(
        (found) => {
          if (server === asked) learn(found)
        },
        () => {
          delete asked.penalties
        },
      )
    }
    return asked.penalties
  }

  return {
    penalties,
    identified(identification) {
      if (server?.identification !== identification) {
        server = { identification, askedAt: Number.NEGATIVE_INFINITY }
        learn({ state: penalisingVersion(identification) === undefined ? 'off' : 'unknown' })
      }
      // Without a service account there is nobody to ask: the defaults are reckoned with.
      penalties().catch(() => {})
    },
    forget() {
      server = undefined
      learn(undefined)
    },
  }
}
