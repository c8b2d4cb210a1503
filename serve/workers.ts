/*
 * The supervisor of the service: owns the port and starts, restarts and replaces workers. An installation of a module
 * therefore causes no outage, and the service starts even if a module ends the process.
 */

import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { type OwnerMessage, WITHOUT_MODULES, WorkerMessage } from './handoff.ts'
import type { ServiceManager } from './service-manager.ts'

/** A service starts within seconds, even on a slow machine; a longer start is hung. */
const START_MS = 30_000
/** Longer than a service takes to stop; then it is killed. */
const LEAVE_MS = 8_000
/** The same once a successor serves: requests in progress get more time. */
const FOLLOWED_MS = 30_000
/** Pause before a service that ended by itself is started again. */
const AGAIN_MS = 1_000

/** A module is often the cause. */
const HINT = 'Si un module en est la cause : « ops-panel modules list », « ops-panel modules disable <module> ».'

/**
 * An end within this time counts as quick; after this many quick ends the next start leaves out code of modules.
 */
const SOON_MS = 60_000
const MOST_SOON = 3

/**
 * Runs the service in a worker. A graceful restart starts a second worker beside the first, which leaves when the
 * second serves, so that a worker listens at every moment. Resolves to the exit code when the service has stopped or
 * does not start.
 *
 * The table lists the reactions to an event of a worker, by the state of that worker. The `current` worker serves; a
 * `leaving` worker was current and has been replaced.
 *
 * | event           | starting, none current                 | starting, to replace          | current                  | leaving            |
 * | --------------- | -------------------------------------- | ----------------------------- | ------------------------ | ------------------ |
 * | sends `trying`  | noted                                  | noted                         | noted                    | noted              |
 * | sends `narrowed`| (e)                                    | noted                         | -                        | -                  |
 * | sends `serving` | becomes current, gets `alone`          | becomes current; the previous | -                        | -                  |
 * |                 |                                        | one is told so (a)            |                          |                    |
 * | sends `failed`  | killed; exit, or after `trying` (b)    | killed; current gets reason   | -                        | -                  |
 * | START_MS pass   | killed, logged (b)                     | killed; current gets reason   | -                        | -                  |
 * | ends            | logged (b)                             | current gets reason           | logged, restarted (c)    | -                  |
 * | sends `replace` | -                                      | -                             | a worker starts (d)      | gets a refusal     |
 * | sends `deaf`    | -                                      | -                             | -                        | successor: `alone` |
 * | sends `closed`  | gets `released`                        | gets `released`               | gets `released`          | gets `released`    |
 * | FOLLOWED_MS pass| -                                      | -                             | -                        | killed             |
 * | first signal    | SIGTERM; killed after LEAVE_MS         | the same                      | the same                 | the same           |
 * | second signal   | killed                                 | killed                        | killed                   | killed             |
 *
 * (a) It becomes `leaving` and has FOLLOWED_MS. The successor gets `alone` once the previous worker is deaf or has
 * ended.
 * (b) The next worker starts at once, and this counts as a quick end. After MOST_SOON quick ends a worker is told to
 * leave out code of modules: one module at first, and all of them in the end. If one without modules does not start
 * either, the supervisor exits.
 * (c) After AGAIN_MS. If a worker is starting to replace it, that worker's start is awaited first; if it serves, it is
 * current. An end within SOON_MS of the start counts as quick.
 * (d) Unless a worker is starting already or a signal has arrived; then it gets a refusal.
 * (e) If it ends quickly, too, the next worker is told to leave out code again.
 * After a signal no worker starts, and the supervisor exits when the current worker has ended.
 */
export async function runWorkers(log: (line: string) => void, manager: ServiceManager): Promise<number> {
  const services = new Set<Service>()
  let current: Service | undefined
  /** Called when another worker has become the current one. */
  let changed = () => {}
  let replacing = false
  const stopping = new AbortController()
  const killAll = () => {
    for (const { worker } of services) worker.process.kill('SIGKILL')
  }
  const stop = () => {
    // A second signal asks to stop at once.
    if (stopping.signal.aborted) return killAll()
    stopping.abort()
    void manager.stopping()
    for (const { worker } of services) worker.process.kill('SIGTERM')
    setTimeout(killAll, LEAVE_MS).unref()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)

  const begin = (withoutModules = false): Service => {
    const service = startService(withoutModules)
    services.add(service)
    void service.ended.then(() => services.delete(service))
    return service
  }

  const replace = async (asking: Service) => {
    if (replacing || asking !== current || stopping.signal.aborted)
      return asking.answer({ succeeded: false, reason: 'le service s’arrête ou redémarre déjà' })
    replacing = true
    const next = begin()
    const reason = await next.started
    replacing = false
    if (reason !== undefined) {
      next.worker.process.kill('SIGKILL')
      return asking.answer({ succeeded: false, reason })
    }
    next.onReplace = () => void replace(next)
    current = next
    changed()
    // It ends by itself after this answer. A signal could arrive before the answer.
    asking.answer({ succeeded: true, reason: '' })
    void leave(asking)
    await asking.deaf
    next.answer({ alone: true })
  }

  let soon = 0
  while (!stopping.signal.aborted) {
    const since = performance.now()
    const service = begin(soon >= MOST_SOON)
    const reason = await service.started
    // It leaves out a module that the others did not leave out: this has to be tried before all are left out.
    if (service.narrowed) soon = Math.min(soon, MOST_SOON - 1)
    if (reason !== undefined) {
      service.worker.process.kill('SIGKILL')
      const code = await service.ended
      // A worker that has explained its failure would fail again, unless it tried new code: the next one starts without
      // that.
      if (!service.explained && !stopping.signal.aborted) log(`le service n’a pas démarré : ${reason}. ${HINT}`)
      if (stopping.signal.aborted || (service.explained && !service.tried) || soon > MOST_SOON) return code || 1
      soon += 1
      continue
    }
    current = service
    void manager.ready()
    service.onReplace = () => void replace(service)
    service.answer({ alone: true })
    let code = 0
    // Waits until the current worker has ended, which may be a successor by then.
    for (let watched: Service | undefined; watched !== current; ) {
      watched = current
      const replaced = new Promise<number>((resolve) => {
        changed = () => resolve(0)
      })
      code = await Promise.race([watched.ended, replaced])
      while (replacing) await pause(50)
    }
    if (stopping.signal.aborted) return code
    soon = performance.now() - since < SOON_MS ? soon + 1 : 1
    log(`le service s’est arrêté (code ${code}) et redémarre. ${HINT}`)
    await pause(AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {})
  }
  return 0
}

interface Service {
  worker: Worker
  /** Resolves to undefined when it serves, otherwise to the reason why it does not. */
  started: Promise<string | undefined>
  /** Resolves to its exit code, or to 1 after a signal. */
  ended: Promise<number>
  /** Settles when it no longer listens. */
  deaf: Promise<void>
  /** Whether it reported that it tries new code. */
  tried: boolean
  /** Whether it reported that it leaves out other modules than the start before. */
  narrowed: boolean
  /** Whether it reported why it does not start. */
  explained: boolean
  onReplace: () => void
  answer(message: OwnerMessage): void
}

function startService(withoutModules: boolean): Service {
  const worker = cluster.fork({ PANEL_DEPLOYER: 'process', [WITHOUT_MODULES]: withoutModules ? 'on' : 'off' })
  const ended = new Promise<number>((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code ?? 1))
    // The program may have been moved, or no process could be created.
    worker.on('error', () => {
      if (worker.process.pid === undefined) resolve(1)
    })
  })
  const service: Service = {
    worker,
    ended,
    deaf: Promise.resolve(),
    started: Promise.resolve(undefined),
    tried: false,
    narrowed: false,
    explained: false,
    onReplace: () => {},
    answer(message) {
      if (worker.isConnected()) worker.send(message)
    },
  }
  service.deaf = new Promise((resolve) => {
    void ended.then(() => resolve())
    worker.on('message', (message: unknown) => {
      if (WorkerMessage.safeParse(message).data?.said === 'deaf') resolve()
    })
  })
  service.started = new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`il n’a pas démarré en ${START_MS / 1000} s`), START_MS)
    const settle = (reason: string | undefined) => {
      clearTimeout(timer)
      resolve(reason)
    }
    void ended.then((code) => settle(`il s’est arrêté au démarrage (code ${code})`))
    worker.on('message', (message: unknown) => {
      const { success, data } = WorkerMessage.safeParse(message)
      if (!success) return
      if (data.said === 'trying') service.tried = true
      if (data.said === 'narrowed') service.narrowed = true
      if (data.said === 'serving') settle(undefined)
      if (data.said === 'failed' && 'reason' in data) {
        service.explained = true
        settle(data.reason)
      }
      if (data.said === 'replace') service.onReplace()
      if (data.said === 'closed') service.answer({ released: true })
    })
  })
  return service
}

async function leave({ worker, ended }: Service): Promise<void> {
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), FOLLOWED_MS)
  await ended
  clearTimeout(killer)
}
