import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { readConfig } from '../../platform/config.ts'
import { createLog } from '../../platform/log.ts'
import { openExisting } from '../../db/storage.ts'
import { temporaryFolder } from '../db/folder.ts'
import { testForge } from '../forge.ts'
import { freePort } from '../free-port.ts'
import { typeCommand } from '../functions/console.ts'
import { repository, saying, writeFiles } from '../functions/modules/module.ts'
import { runProgram, startProgram } from './program.ts'
import { Begun, childrenOf, killAll, startReplaceable } from './replaceable.ts'

/** The programs start others, which may be slow on a busy machine. */
const LONG = 120_000

const Switched = z.looseObject({ deployment: z.string().nullish() })

/** Sends a request fifty times a second, each on a new connection; returns every failure. */
function watch(url: string) {
  const failures: string[] = []
  let asked = 0
  let going = true
  const asking = (async () => {
    const pending = new Set<Promise<void>>()
    while (going) {
      asked += 1
      const one = fetch(`${url}/api/health`, { headers: { connection: 'close' } })
        .then(async (answer) => {
          if (answer.status !== 200) failures.push(String(answer.status))
          await answer.text()
        })
        .catch((error: Error) => void failures.push(`${error.message} ${String(error.cause)}`))
        .finally(() => pending.delete(one))
      pending.add(one)
      await pause(20)
    }
    await Promise.all(pending)
  })()
  const stop = async () => {
    going = false
    await asking
    return failures
  }
  onTestFinished(async () => void (await stop()))
  return Object.assign(stop, { asked: () => asked })
}

test(
  'a module with code is installed by a restart without one refused connection',
  async () => {
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge)
    const before = await service.boot()
    const stop = watch(service.url)

    const { state, error, log } = await service.install('wordy')

    expect({ state, error }).toEqual({ state: 'done', error: null })
    expect(log).toEqual([
      'Les fichiers du module sont préparés.',
      'Le module est mis en place.',
      'Le service redémarre avec le module.',
      'Le service a redémarré.',
    ])
    expect(await service.boot()).not.toBe(before)
    expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
    await expect.poll(() => childrenOf(service.pid), { timeout: 20_000 }).toHaveLength(1)
    const askedBoth = stop.asked()
    await expect.poll(stop.asked).toBeGreaterThan(Math.max(30, askedBoth + 5))
    expect(await stop()).toEqual([])
  },
  LONG,
)

/** A service with a pending request to an endpoint that waits until it is released. */
async function startSlow() {
  const forge = await testForge()
  const folder = await temporaryFolder()
  const slow = saying('slow', 'x').replace(
    "handler: () => ({ word: 'x' })",
    `async handler() {
      writeFileSync('${folder}/asked', '')
      while (!existsSync('${folder}/enough')) await new Promise((resolve) => setTimeout(resolve, 20))
      return { word: 'at last' }
    }`,
  )
  forge.put(repository('slow', '1.0.0', `import { existsSync, writeFileSync } from 'node:fs'; ${slow}`))
  const service = await startReplaceable(forge, undefined, { PANEL_PORT: String(await freePort()) })
  expect(await service.install('slow')).toMatchObject({ state: 'done' })
  const answer = service.get('/api/modules/slow/word').catch(() => 'cut' as const)
  await expect.poll(() => existsSync(`${folder}/asked`)).toBe(true)
  return { forge, service, answer, letGo: () => writeFile(`${folder}/enough`, '') }
}

test(
  'a request that outlasts the change is answered by its original service',
  async () => {
    const { forge, service, answer, letGo } = await startSlow()
    forge.put(repository('wordy', '1.0.0'))
    const boot = await service.boot()
    const stop = watch(service.url)

    expect(await service.install('wordy')).toMatchObject({ state: 'done' })

    expect(await service.boot()).not.toBe(boot)
    await letGo()
    expect(await answer).toEqual({ status: 200, body: { word: 'at last' } })
    expect(await stop()).toEqual([])
  },
  LONG,
)

test(
  'after a stop during a request of the previous service, the serving module is there at the next start',
  async () => {
    const { forge, service, answer } = await startSlow()
    forge.put(repository('wordy', '1.0.0'))
    expect(await service.install('wordy')).toMatchObject({ state: 'done' })
    service.kill('SIGTERM')
    await service.ended
    await answer

    const next = await startReplaceable(forge, service.data)

    expect(await next.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  },
  LONG,
)

test(
  'a successor that ends while the previous service finishes a request is replaced at once',
  async () => {
    const { forge, service, answer } = await startSlow()
    const deadly = saying('deadly', 'x').replace("handler: () => ({ word: 'x' })", 'handler: () => process.exit(9)')
    forge.put(repository('deadly', '1.0.0', deadly))
    expect(await service.install('deadly')).toMatchObject({ state: 'done' })
    const boot = await service.boot()

    expect(await service.get('/api/modules/deadly/word').catch(() => 'cut')).toBe('cut')
    await service.said('(code 9)')

    await service.anew(boot)
    // Nobody has waited for it.
    expect(await Promise.race([answer, 'under way'])).toBe('under way')
  },
  LONG,
)

test(
  'a client with a busy connection is answered, and led to the new service',
  async () => {
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge)
    const boot = await service.boot()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const bootOver = () =>
      new Promise<string>((resolve, reject) => {
        get(`${service.url}/api/health`, { agent }, (response) => {
          text(response).then((body) => resolve(JSON.parse(body).boot_id), reject)
        }).on('error', reject)
      })
    const begun = performance.now()
    const installed = service.install('wordy')
    let last = ''

    do last = await bootOver()
    while (last === boot && performance.now() - begun < 60_000)

    expect(await installed).toMatchObject({ state: 'done' })
    expect(last).not.toBe(boot)
  },
  LONG,
)

test.each([
  ['ends the process at its start', 'process.exit(3)', 'arrêté au démarrage (code 3)'],
  ['throws', 'throw new Error("no way")', 'no way'],
  ['declares an endpoint without a limit', 'export default () => [{ method: "GET" }]', 'rateLimit'],
])(
  'a module that %s is rolled back, and the former version serves on',
  async (_, code, reason) => {
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge)
    await service.install('wordy')
    const [boot, module] = [await service.boot(), await service.module('wordy')]

    forge.put(repository('wordy', '2.0.0', code))
    const { state, error } = await service.install('wordy')

    expect(state).toBe('rolled_back')
    expect(error).toContain(reason)
    expect(await service.boot()).toBe(boot)
    expect(await service.module('wordy')).toEqual(module)
    expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
    expect(await service.get('/api/repair/modules')).toMatchObject({ body: [{ id: 'wordy', problem: null }] })
    expect((await readdir(`${service.data}/modules`)).sort()).toEqual(['.place', 'wordy'])
  },
  LONG,
)

test(
  'an unhandled rejection of a module does not end the service',
  async () => {
    const forge = await testForge()
    const careless = saying('wordy', '1.0.0').replace(
      "handler: () => ({ word: '1.0.0' })",
      "handler() { void Promise.reject(new Error('left alone')); return { word: 'said' } }",
    )
    forge.put(repository('wordy', '1.0.0', careless))
    const service = await startReplaceable(forge)
    expect(await service.install('wordy')).toMatchObject({ state: 'done' })
    const boot = await service.boot()

    expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: 'said' } })

    await service.said('left alone')
    expect(await service.boot()).toBe(boot)
  },
  LONG,
)

test(
  'disabling, enabling and removing a module with code also restart the service',
  async () => {
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge)
    await service.install('wordy')
    const restarted = async (act: () => Promise<Response>) => {
      const before = await service.boot()
      const answer = await act()
      expect(answer.status).toBe(200)
      await service.anew(before)
      const { deployment, ...result } = Switched.parse(await answer.json())
      if (deployment) expect(await service.end(deployment)).toMatchObject({ state: 'done' })
      return result
    }

    expect(await restarted(() => service.post('/api/modules/wordy/disable'))).toMatchObject({ restart: true })
    expect((await service.get('/api/modules/wordy/word')).status).toBe(404)
    expect(await restarted(() => service.post('/api/modules/wordy/enable'))).toMatchObject({ restart: true })
    expect((await service.get('/api/modules/wordy/word')).status).toBe(200)
    await restarted(() => service.remove('/api/repair/modules/wordy'))
    expect((await service.get('/api/modules/wordy/word')).status).toBe(404)
    expect(await readdir(`${service.data}/modules`)).toEqual(['.place'])
  },
  LONG,
)

/** Runs a command next to the service with its data in that folder. */
async function typedBeside(folder: string, ...words: string[]) {
  const config = readConfig({ PANEL_DATA_DIR: folder })
  const { db, secrets } = await openExisting(config)
  onTestFinished(() => db.close())
  const { log } = createLog({ level: 'silent', write: () => {} })
  return typeCommand({ db, secrets, config, clock: () => new Date(), log }, words)
}

test(
  'during a trial, the previous version of the module serves, and no other action on it is possible',
  async () => {
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge)
    await service.install('wordy')
    forge.put(
      repository('wordy', '2.0.0', `${saying('wordy', '2.0.0')}; console.log('tries'); await new Promise(() => {})`),
    )
    const { deployment } = Begun.parse(await (await service.post('/api/registry/modules/wordy/install')).json())
    await service.said('tries')

    expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
    for (const path of [
      '/api/modules/wordy/disable',
      '/api/modules/wordy/enable',
      '/api/registry/modules/wordy/install',
    ])
      expect((await service.post(path)).status).toBe(409)
    expect((await service.remove('/api/repair/modules/wordy')).status).toBe(409)
    // Not as a program: on a busy machine its start may outlast the trial.
    await expect(typedBeside(service.data, 'modules', 'remove', 'wordy')).rejects.toThrow(
      'une installation de « wordy » est en cours.',
    )

    expect(await service.end(deployment ?? '')).toMatchObject({ state: 'rolled_back' })
    expect(await service.module('wordy')).toMatchObject({ version: '1.0.0', is_enabled: 1 })
    expect((await service.post('/api/modules/wordy/disable')).status).toBe(200)
  },
  LONG,
)

test(
  'a service that a module ends starts without this module',
  async () => {
    const forge = await testForge()
    const data = await temporaryFolder()
    const port = String(await freePort())
    const first = await startReplaceable(forge, data, { PANEL_PORT: port })
    first.kill('SIGTERM')
    await first.ended
    const folder = await temporaryFolder()
    const deadly = `${saying('deadly', 'x')}; setTimeout(() => { throw new Error('deadly') }, 300)`
    await writeFiles(folder, {
      'module.json': JSON.stringify({ id: 'deadly', name: 'Deadly', version: '1', has_backend: true }),
      'backend.mjs': deadly,
    })
    expect((await runProgram({ PANEL_DATA_DIR: data }, 'modules', 'install', folder)).code).toBe(0)

    const service = await startReplaceable(forge, data, { PANEL_PORT: port })
    await service.said('module taken out')

    await expect
      .poll(() => service.get('/api/repair/modules', AbortSignal.timeout(2_000)).catch(() => undefined), {
        timeout: 60_000,
      })
      .toMatchObject({
        body: [
          { id: 'deadly', problem: 'taken_out', detail: expect.stringMatching(/backend\.mjs:\d+:\d+\) : deadly$/) },
        ],
      })
    expect(service.stderr()).toContain('ops-panel modules disable')
  },
  LONG,
)

test(
  'a start with a module that is killed is not tried again: the next start has the previous version',
  async () => {
    const forge = await testForge()
    forge.put(repository('wordy', '1.0.0'))
    const service = await startReplaceable(forge)
    await service.install('wordy')
    const slow = `${saying('wordy', '2.0.0')}; console.log('tries'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20000)`
    forge.put(repository('wordy', '2.0.0', slow))
    const answer = await service.post('/api/registry/modules/wordy/install')
    const { deployment } = Begun.parse(await answer.json())
    await service.said('tries')
    await killAll(service)

    const next = await startReplaceable(forge, service.data)

    expect(await next.end(deployment ?? '')).toMatchObject({ state: 'rolled_back' })
    expect(await next.module('wordy')).toMatchObject({ version: '1.0.0' })
    expect(await next.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  },
  LONG,
)

test(
  'a killed service is started again, and SIGTERM ends it with all of its processes',
  async () => {
    const forge = await testForge()
    // A port is free only until somebody else takes it.
    const service = await startReplaceable(forge, undefined, { PANEL_PORT: String(await freePort()) })
    const before = await service.boot()
    const [worker = 0] = await childrenOf(service.pid)

    process.kill(worker, 'SIGKILL')

    await service.anew(before)
    const workers = await childrenOf(service.pid)
    expect(workers).toHaveLength(1)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  },
  LONG,
)

test(
  'a killed supervisor leaves no service behind, even one that a module keeps busy for ever',
  async () => {
    const forge = await testForge()
    const service = await startReplaceable(forge)
    forge.put(repository('wordy', '1.0.0', `console.log('tries'); for (;;);`))
    await service.post('/api/registry/modules/wordy/install')
    await service.said('tries')
    const workers = await childrenOf(service.pid)
    expect(workers).toHaveLength(2)

    service.kill('SIGKILL')

    const alive = () =>
      workers.filter((pid) => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      })
    await expect.poll(alive, { timeout: 60_000 }).toEqual([])
  },
  LONG,
)

test(
  'a port in use is reported once, and ends the program',
  async () => {
    const forge = await testForge()
    const { url } = await startReplaceable(forge)
    const second = startProgram({
      PANEL_DATA_DIR: await temporaryFolder(),
      PANEL_DEPLOYER: 'process',
      PANEL_PORT: new URL(url).port,
    })

    expect(await second.ended).toBe(1)
    expect(second.stderr()).toBe('ops-panel : le port est déjà pris. Choisissez-en un autre avec PANEL_PORT.\n')
  },
  LONG,
)
