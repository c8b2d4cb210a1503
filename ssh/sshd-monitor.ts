import { type SshdPenalties, versionWithPenalties } from './sshd-penalties.ts'

/** Keeps track of how the current sshd treats addresses with wrong passwords. */
export interface SshdMonitor {
  /** Receives the identification of the server at each connection. */
  identified(identification: string): void
  /** Returns the known penalties, or asks for them; undefined for an sshd without penalties. */
  penalties(): Promise<SshdPenalties | undefined>
  /** Drops what is known: another host may answer from now on. */
  forget(): void
}

/** A change of sshd’s configuration is noticed within this time. */
const KNOWN_MS = 300_000

/**
 * Asks in the background, by `ask`, whether the penalties of an sshd apply to the service. `onChange` receives every
 * new state.
 */
export function createSshdMonitor(
  ask: (version: string) => Promise<SshdPenalties>,
  onChange: (penalties: Pick<SshdPenalties, 'state'> | SshdPenalties | undefined) => void,
): SshdMonitor {
  let server: { identification: string; penalties?: Promise<SshdPenalties>; askedAt: number } | undefined

  const penalties = async (): Promise<SshdPenalties | undefined> => {
    const asked = server
    const version = versionWithPenalties(asked?.identification ?? '')
    if (!asked || version === undefined) return undefined
    if (!asked.penalties || performance.now() - asked.askedAt > KNOWN_MS) {
      asked.askedAt = performance.now()
      asked.penalties = ask(version)
      asked.penalties.then(
        (found) => {
          if (server === asked) onChange(found)
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
        onChange({ state: versionWithPenalties(identification) === undefined ? 'off' : 'unknown' })
      }
      // Without a service account the question fails, and the defaults apply.
      penalties().catch(() => {})
    },
    forget() {
      server = undefined
      onChange(undefined)
    },
  }
}
