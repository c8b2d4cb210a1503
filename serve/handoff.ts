import cluster from 'node:cluster'
import * as z from 'zod'

/**
 * What a worker says to the process that owns the port; `serve/workers.ts` has a table of what follows. An owner may be
 * older than its worker, when the program was upgraded meanwhile: the words never change.
 *
 * `trying`: it tries new code. `serving`: it listens. `failed`: why it does not. `replace`: another worker is to take its place.
 * `deaf`: it listens no more. `closed`: its last connection has ended. `leaving` is heard by nobody: once it is sent, so is
 * all that was said before.
 */
export const Said = z.union([
  z.object({ said: z.enum(['trying', 'serving', 'replace', 'deaf', 'closed', 'leaving']) }),
  z.object({ said: z.literal('failed'), reason: z.string() }),
])
type Said = z.infer<typeof Said>

/** The answer to `replace`: that its successor serves, or why there is none. */
const Answer = z.object({ succeeded: z.boolean(), reason: z.string() })
/** The answer to `serving`: that no other worker listens beside it. */
const Alone = z.object({ alone: z.literal(true) })
/** The answer to `closed`: that it is handed no more connections; all of them came before this. */
const Released = z.object({ released: z.literal(true) })
export type Told = z.infer<typeof Answer> | z.infer<typeof Alone> | z.infer<typeof Released>

/** A graceful restart as its worker sees it. */
export interface Handoff {
  /** Whether the services before this one have ended too soon, too often: the code of modules is left out then. */
  withoutModules: boolean
  tell(said: 'trying'): void
  /** Says that it serves; settles when no former one listens any more. */
  serve(): Promise<void>
  /** Says why it does not serve; settles when that is said. */
  fail(reason: string): Promise<void>
  /** Resolves when a successor serves; rejects with an Error that says why it does not. */
  replace(): Promise<void>
  /** Settles when a successor serves: this one has to end then, and nobody waits for it. */
  followed: Promise<void>
  isFollowed(): boolean
  /** Says that it listens no more. */
  close(): void
  /**
   * For one that listens no more. Settles when what the owner of the port has handed over since then is back with it, or
   * when that one is gone.
   */
  leave(): Promise<void>
}

export const { isWorker } = cluster

/** For a worker: that it is to leave out the code of modules. Not for people to set. */
export const WITHOUT_MODULES = 'OPS_PANEL_WITHOUT_MODULES'

/** Undefined in a process that is no worker: nothing can take its place. */
export function createHandoff(environment: Record<string, string | undefined>): Handoff | undefined {
  if (!cluster.isWorker || !process.send) return undefined
  let isFollowed = false
  let follow = () => {}
  const followed = new Promise<void>((resolve) => {
    follow = resolve
  })
  const say = (said: Said) =>
    new Promise<void>((resolve) => {
      if (process.send) process.send(said, undefined, {}, () => resolve())
      else resolve()
    })
  return {
    withoutModules: environment[WITHOUT_MODULES] === 'on',
    tell: (said) => void say({ said }),
    async serve() {
      const alone = heard(Alone)
      void say({ said: 'serving' })
      await alone
    },
    fail: (reason) => say({ said: 'failed', reason }),
    async replace() {
      const answered = heard(Answer)
      void say({ said: 'replace' })
      const { succeeded, reason } = await answered
      if (!succeeded) throw new Error(reason)
      isFollowed = true
      follow()
    },
    followed,
    isFollowed: () => isFollowed,
    close: () => void say({ said: 'deaf' }),
    async leave() {
      const gone = new Promise<void>((resolve) => process.once('disconnect', resolve))
      if (!process.connected) return
      const released = heard(Released)
      void say({ said: 'closed' })
      await Promise.race([released, gone])
      // Behind the refusals of connections, on the same way: once it is sent, they are.
      if (process.connected) await say({ said: 'leaving' })
    },
  }
}

/** The next message of that form. */
function heard<told>(form: z.ZodType<told>): Promise<told> {
  return new Promise((resolve) => {
    const hear = (message: unknown) => {
      const { success, data } = form.safeParse(message)
      if (!success) return
      process.off('message', hear)
      resolve(data)
    }
    process.on('message', hear)
  })
}
