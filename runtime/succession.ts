import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'

/**
 * What a service that runs in a worker says to the process that owns its port: that it tries new code, that it serves, why
 * it does not, and that it wants to be followed by another one.
 */
const Said = z.union([
  z.object({ said: z.enum(['trying', 'serving', 'replace']) }),
  z.object({ said: z.literal('failed'), reason: z.string() }),
])
type Said = z.infer<typeof Said>

/** What it is answered: that its successor serves, or why there is none. */
const Answer = z.object({ succeeded: z.boolean(), reason: z.string() })

/** A service on a slow machine starts in seconds; one that takes longer has been stopped by what it tries. */
const START_MS = 30_000
/** Longer than a service takes to stop; what holds on then is killed. */
const LEAVE_MS = 8_000
/** A service that ends by itself is started again, not in a circle without a pause. */
const AGAIN_MS = 1_000

/** The service's end: only in a worker. */
export interface Succession {
  tell(said: 'trying' | 'serving'): void
  /** Says why it does not serve; settles when that is said. */
  fail(reason: string): Promise<void>
  /** Resolves when a successor serves; rejects with an Error that says why it does not. */
  replace(): Promise<void>
}

/** How this service is followed by another one; undefined where it is on its own. */
export function succession(): Succession | undefined {
  if (!cluster.isWorker || !process.send) return undefined
  const say = (said: Said) =>
    new Promise<void>((resolve) => {
      if (process.send) process.send(said, undefined, {}, () => resolve())
      else resolve()
    })
  return {
    tell: (said) => void say({ said }),
    fail: (reason) => say({ said: 'failed', reason }),
    replace: () =>
      new Promise((resolve, reject) => {
        const hear = (message: unknown) => {
          const answer = Answer.safeParse(message)
          if (!answer.success) return
          process.off('message', hear)
          if (answer.data.succeeded) resolve()
          else reject(new Error(answer.data.reason))
        }
        process.on('message', hear)
        void say({ said: 'replace' })
      }),
  }
}

/**
 * Owns the port, and runs the service in a worker, which can be followed by another one without a moment in which nobody
 * listens: the old one leaves when the new one serves. One that ends by itself is started again. Settles with the exit code
 * when the service has been stopped, or does not start.
 */
export async function runWorkers(log: (line: string) => void): Promise<number> {
  let current: Service | undefined
  let stopping = false
  let replacing = false
  const stop = () => {
    stopping = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

  const replace = async (asking: Service) => {
    if (replacing || stopping)
      return asking.answer({ succeeded: false, reason: 'le service s’arrête ou redémarre déjà' })
    replacing = true
    const next = startService()
    const reason = await next.started
    replacing = false
    if (reason !== undefined) {
      next.worker.process.kill('SIGKILL')
      return asking.answer({ succeeded: false, reason })
    }
    next.onReplace = () => void replace(next)
    current = next
    asking.answer({ succeeded: true, reason: '' })
    await leave(asking)
  }

  for (let tries = 0; ; tries += 1) {
    const service = startService()
    const reason = await service.started
    if (reason !== undefined && !stopping) {
      // What ended with new code gets another start, which leaves it out.
      if (service.tried && tries === 0) continue
      service.worker.process.kill('SIGKILL')
      return (await service.ended) || 1
    }
    tries = -1
    current = service
    service.onReplace = () => void replace(service)
    let code = 0
    // Until the one that serves has ended, whichever that is by then.
    for (let watched: Service | undefined; watched !== current; ) {
      watched = current
      code = await watched.ended
      while (replacing) await pause(50)
    }
    if (stopping) return code
    log(`le service s’est arrêté (code ${code}) et redémarre`)
    await pause(AGAIN_MS)
  }
}

interface Service {
  worker: Worker
  /** Undefined once it serves; else why it does not. */
  started: Promise<string | undefined>
  /** Its exit code; 1 after a signal. */
  ended: Promise<number>
  /** Whether it said that it tries new code. */
  tried: boolean
  onReplace: () => void
  answer(answer: z.infer<typeof Answer>): void
}

function startService(): Service {
  const worker = cluster.fork()
  const ended = new Promise<number>((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code ?? 1))
  })
  const service: Service = {
    worker,
    ended,
    started: Promise.resolve(undefined),
    tried: false,
    onReplace: () => {},
    answer(answer) {
      if (worker.isConnected()) worker.send(answer)
    },
  }
  service.started = new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`il n’a pas démarré en ${START_MS / 1000} s`), START_MS)
    const settle = (reason: string | undefined) => {
      clearTimeout(timer)
      resolve(reason)
    }
    void ended.then((code) => settle(`il s’est arrêté au démarrage (code ${code})`))
    worker.on('message', (message: unknown) => {
      const said = Said.safeParse(message)
      if (!said.success) return
      if (said.data.said === 'trying') service.tried = true
      if (said.data.said === 'serving') settle(undefined)
      if (said.data.said === 'failed' && 'reason' in said.data) settle(said.data.reason)
      if (said.data.said === 'replace') service.onReplace()
    })
  })
  return service
}

async function leave({ worker, ended }: Service): Promise<void> {
  worker.process.kill('SIGTERM')
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), LEAVE_MS)
  await ended
  clearTimeout(killer)
}
