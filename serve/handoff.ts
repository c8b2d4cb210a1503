import cluster from 'node:cluster'
import * as z from 'zod'

/**
 * A message of a worker to the process that owns the port; the table in `serve/workers.ts` lists the reactions. The
 * owner may be older than its worker, after an upgrade of the program, so these words never change.
 *
 * `trying`: it tries new code. `narrowed`: it leaves out other modules than the start before. `serving`: it listens. `failed`: it does not, with the reason. `replace`: another worker
 * shall take its place. `deaf`: it no longer listens. `closed`: its last connection has ended. `leaving`: no reaction;
 * once it is sent, all earlier messages are sent too.
 */
export const WorkerMessage = z.union([
  z.object({ said: z.enum(['trying', 'narrowed', 'serving', 'replace', 'deaf', 'closed', 'leaving']) }),
  z.object({ said: z.literal('failed'), reason: z.string() }),
])
type WorkerMessage = z.infer<typeof WorkerMessage>

/** The answer to `replace`: the successor serves, or the reason why not. */
const Answer = z.object({ succeeded: z.boolean(), reason: z.string() })
/** The answer to `serving`: no other worker listens. */
const Alone = z.object({ alone: z.literal(true) })
/** The answer to `closed`: the owner hands over no more connections. All of them arrive before this message. */
const Released = z.object({ released: z.literal(true) })
export type OwnerMessage = z.infer<typeof Answer> | z.infer<typeof Alone> | z.infer<typeof Released>

/** A graceful restart as its worker sees it. */
export interface Handoff {
  /** Whether to start without some code of modules, because earlier services have ended too soon too often. */
  withoutModules: boolean
  report(said: 'trying' | 'narrowed'): void
  /** Reports that this worker serves; settles when no earlier worker listens. */
  serve(): Promise<void>
  /** Reports why this worker does not serve; settles when the message is sent. */
  fail(reason: string): Promise<void>
  /** Resolves when a successor serves; rejects with an Error that says why it does not. */
  replace(): Promise<void>
  /** Settles when a successor serves. This worker then has to end, and nobody waits for it. */
  followed: Promise<void>
  isFollowed(): boolean
  /** Reports that this worker no longer listens. */
  close(): void
  /**
   * To be called after `close`. Settles when the owner of the port has back every connection that it handed over since,
   * or when the owner is gone.
   */
  leave(): Promise<void>
}

export const { isWorker } = cluster

/** Tells a worker that the ones before ended too soon too often. Internal: people do not set it. */
export const WITHOUT_MODULES = 'OPS_PANEL_WITHOUT_MODULES'

/** Returns undefined in a process that is no worker, because nothing can take its place. */
export function createHandoff(environment: Record<string, string | undefined>): Handoff | undefined {
  if (!cluster.isWorker || !process.send) return undefined
  let isFollowed = false
  let follow = () => {}
  const followed = new Promise<void>((resolve) => {
    follow = resolve
  })
  const send = (message: WorkerMessage) =>
    new Promise<void>((resolve) => {
      if (process.send) process.send(message, undefined, {}, () => resolve())
      else resolve()
    })
  return {
    withoutModules: environment[WITHOUT_MODULES] === 'on',
    report: (said) => void send({ said }),
    async serve() {
      const alone = nextMessage(Alone)
      void send({ said: 'serving' })
      await alone
    },
    fail: (reason) => send({ said: 'failed', reason }),
    async replace() {
      const answered = nextMessage(Answer)
      void send({ said: 'replace' })
      const { succeeded, reason } = await answered
      if (!succeeded) throw new Error(reason)
      isFollowed = true
      follow()
    },
    followed,
    isFollowed: () => isFollowed,
    close: () => void send({ said: 'deaf' }),
    async leave() {
      const gone = new Promise<void>((resolve) => process.once('disconnect', resolve))
      if (!process.connected) return
      const released = nextMessage(Released)
      void send({ said: 'closed' })
      await Promise.race([released, gone])
      // The refusals of connections precede it in the same channel: once it is sent, they are sent too.
      if (process.connected) await send({ said: 'leaving' })
    },
  }
}

/** Resolves to the next message from the owner that matches the schema. */
function nextMessage<message>(schema: z.ZodType<message>): Promise<message> {
  return new Promise((resolve) => {
    const receive = (message: unknown) => {
      const { success, data } = schema.safeParse(message)
      if (!success) return
      process.off('message', receive)
      resolve(data)
    }
    process.on('message', receive)
  })
}
