import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { Said, type Told, WITHOUT_MODULES } from './handoff.ts'
import type { ServiceManager } from './service-manager.ts'

/** A service on a slow machine starts in seconds; one that takes longer has been stopped by what it tries. */
const START_MS = 30_000
/** Longer than a service takes to stop; what holds on then is killed. */
const LEAVE_MS = 8_000
/** The same once another one serves: requests under way may take their time. */
const FOLLOWED_MS = 30_000
/** A service that ends by itself is started again, not in a circle without a pause. */
const AGAIN_MS = 1_000

/** Who is to blame is often the module that came last. */
const HINT = 'Si un module en est la cause : « ops-panel modules list », « ops-panel modules disable <module> ».'

/** One that ends sooner is counted, and after so many the next one is started without the code of modules. */
const SOON_MS = 60_000
const MOST_SOON = 3

/**
 * Owns the port and runs the service in a worker. A graceful restart starts a second worker beside the first, which leaves when
 * the second serves: somebody listens at every moment. Settles with the exit code when the service has been stopped, or does not start.
 *
 * What follows from what a worker says or does, by the state of that worker. `current` is the one that serves; `leaving` is one
 * that was current and has been replaced.
 *
 * | event           | starting, none current                 | starting, to replace          | current                  | leaving            |
 * | --------------- | -------------------------------------- | ----------------------------- | ------------------------ | ------------------ |
 * | says `trying`   | noted                                  | noted                         | noted                    | noted              |
 * | says `serving`  | becomes current, hears `alone`         | becomes current; the former   | -                        | -                  |
 * |                 |                                        | hears that it is replaced (a) |                          |                    |
 * | says `failed`   | killed; the end, or after `trying` (b) | killed; current hears why     | -                        | -                  |
 * | START_MS pass   | killed, logged (b)                     | killed; current hears why     | -                        | -                  |
 * | ends            | logged (b)                             | current hears why             | logged, started again (c)| -                  |
 * | says `replace`  | -                                      | -                             | a worker starts (d)      | hears why not      |
 * | says `deaf`     | -                                      | -                             | -                        | successor: `alone` |
 * | says `closed`   | hears `released`                       | hears `released`              | hears `released`         | hears `released`   |
 * | FOLLOWED_MS pass| -                                      | -                             | -                        | killed             |
 * | first signal    | SIGTERM; killed after LEAVE_MS         | the same                      | the same                 | the same           |
 * | second signal   | killed                                 | killed                        | killed                   | killed             |
 *
 * (a) It becomes `leaving` and has FOLLOWED_MS. The successor hears `alone` once the former one is deaf or has ended.
 * (b) The next one starts at once, and this counts as a quick end. After MOST_SOON quick ends one starts without the code of
 *     modules; when that one does not start, it is the end.
 * (c) After AGAIN_MS. When a worker is starting to replace it, that one decides first: if it serves, it is current. An end within
 *     SOON_MS of the start counts as quick.
 * (d) Unless one is starting already, or a signal has come: it hears why not.
 * After a signal nothing is started, and the end of the current worker is the end.
 */
export async function runWorkers(log: (line: string) => void, manager: ServiceManager): Promise<number> {
  const services = new Set<Service>()
  let current: Service | undefined
  /** Told that another one is the current one now. */
  let changed = () => {}
  let replacing = false
  const stopping = new AbortController()
  const killAll = () => {
    for (const { worker } of services) worker.process.kill('SIGKILL')
  }
  const stop = () => {
    // A second wish means: at once.
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
    // It ends by itself then. Not by a signal, which may come before the answer.
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
    if (reason !== undefined) {
      service.worker.process.kill('SIGKILL')
      const code = await service.ended
      // It said itself what is wrong: another start would say it again. One that tried new code is followed by one without.
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
    // Until the one that serves has ended, whichever that is by then.
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
  /** Undefined once it serves; else why it does not. */
  started: Promise<string | undefined>
  /** Its exit code; 1 after a signal. */
  ended: Promise<number>
  /** Settles when it listens no more. */
  deaf: Promise<void>
  /** Whether it said that it tries new code. */
  tried: boolean
  /** Whether it said why it does not start. */
  explained: boolean
  onReplace: () => void
  answer(told: Told): void
}

function startService(withoutModules: boolean): Service {
  const worker = cluster.fork({ PANEL_DEPLOYER: 'process', [WITHOUT_MODULES]: withoutModules ? 'on' : 'off' })
  const ended = new Promise<number>((resolve) => {
    worker.once('exit', (code: number | null) => resolve(code ?? 1))
    // The program may have been moved, or the machine be short of processes.
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
    explained: false,
    onReplace: () => {},
    answer(told) {
      if (worker.isConnected()) worker.send(told)
    },
  }
  service.deaf = new Promise((resolve) => {
    void ended.then(() => resolve())
    worker.on('message', (message: unknown) => {
      if (Said.safeParse(message).data?.said === 'deaf') resolve()
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
      const said = Said.safeParse(message)
      if (!said.success) return
      if (said.data.said === 'trying') service.tried = true
      if (said.data.said === 'serving') settle(undefined)
      if (said.data.said === 'failed' && 'reason' in said.data) {
        service.explained = true
        settle(said.data.reason)
      }
      if (said.data.said === 'replace') service.onReplace()
      if (said.data.said === 'closed') service.answer({ released: true })
    })
  })
  return service
}

async function leave({ worker, ended }: Service): Promise<void> {
  const killer = setTimeout(() => worker.process.kill('SIGKILL'), FOLLOWED_MS)
  await ended
  clearTimeout(killer)
}
