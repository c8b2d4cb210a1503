import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SWAP_STEPS, type SwapStep } from '../../modules/deploy/docker/swap.ts'
import { repository, withPage } from '../functions/modules/module.ts'
import { isLong } from '../rounds.ts'
import { type Service, startContainer } from './service.ts'

const FAILING = 'process.exit(3)'
/** The steps that lead back need a module that does not start. */
const isGoingBack = (step: SwapStep) => SWAP_STEPS.indexOf(step) >= SWAP_STEPS.indexOf('clearing')

/** The request of the helper to the engine in each step. */
const REQUESTS: Record<SwapStep, RegExp> = {
  stopping: /^POST \S+\/stop/,
  renaming: /^POST \S+\/rename/,
  starting: /^POST \S+\/start/,
  waiting: /^POST \S+\/exec/,
  settling: /^(POST \S+\/update|DELETE)/,
  settled: /^GET \/containers\/json/,
  clearing: /^DELETE/,
  restoring: /^POST \S+\/start/,
  restored: /^GET \/containers\/json/,
}
/** Maximum delay until a printed step can be read in the helper's log. */
const LOG_MS = 1_000

/** Kills the helper once in this step, before the engine receives its request or while the engine carries it out. */
async function killIn(service: Service, step: SwapStep, when: 'before' | 'during'): Promise<string> {
  let [killed, done] = ['', false]
  service.proxy.onRequest = async (line) => {
    if (done || !REQUESTS[step].test(line)) return
    for (const until = performance.now() + LOG_MS; (await service.step()) !== step; await pause(20))
      if (done || performance.now() > until) return
    if (done) return
    done = true
    const { State } = await service.helper()
    const kill = () => {
      killed = line
      try {
        process.kill(State.Pid, 'SIGKILL')
      } catch (error) {
        killed = `(${String(error)}) ${line}`
      }
    }
    if (when === 'before') kill()
    else setTimeout(kill, 5)
  }
  await expect.poll(() => killed, { timeout: 40_000 }).not.toBe('')
  // The last step is short, and may end before the signal.
  const isLast = when === 'during' && (step === 'settled' || step === 'restored')
  expect(killed).not.toMatch(isLast ? /^\((?!.*ESRCH)/ : /^\(/)
  return killed
}

/** The version that is installed before the change, and the one that it brings. */
const CHANGES = {
  install: { former: undefined, version: '1.0.0' },
  update: { former: '1.0.0', version: '2.0.0' },
} as const

/** Each request is struck in one of the changes; `npm run test:long` strikes it in both. */
const WALK = SWAP_STEPS.flatMap((step) => [
  [step, 'before', 'install', { PANEL_MODULES_DIR: '/modules' }] as const,
  [step, 'during', 'update', {}] as const,
  ...(isLong
    ? [[step, 'before', 'update', {}] as const, [step, 'during', 'install', { PANEL_MODULES_DIR: '/modules' }] as const]
    : []),
])

test.each(WALK)(
  'the service serves after the helper was killed in %s, %s the engine carries out its request (%s)',
  async (step, when, change, env) => {
    const service = await startContainer({ env })
    const { former, version } = CHANGES[change]
    if (former) {
      service.forge.put(withPage(repository('wordy', former), former))
      expect(await service.install('wordy')).toMatchObject({ state: 'done' })
      await service.quiet()
    }
    const back = isGoingBack(step)
    const [before, boot] = [await service.inspect(), await service.boot()]
    service.forge.put(withPage(repository('wordy', version, back ? FAILING : undefined), version))
    const killed = killIn(service, step, when)

    const deployment = await service.begin('wordy')
    const line = await killed
    const { state, error } = { ...(await service.end(deployment)) }
    await service.quiet()

    console.log(`killed in ${step}, ${when} ${line.slice(0, 60)}: ${state}`)
    expect({ state, error }).toEqual({
      state: back ? 'rolled_back' : 'done',
      error: back ? expect.stringContaining('code 3') : null,
    })
    expect(await service.boot()).not.toBe(boot)
    const after = await service.inspect()
    expect(after.Id === before.Id).toBe(back)
    expect(after.HostConfig.RestartPolicy).toEqual(before.HostConfig.RestartPolicy)
    const now = back ? former : version
    expect(await service.get('/api/repair/modules')).toMatchObject({
      body: now === undefined ? [] : [{ id: 'wordy', version: now, problem: null }],
    })
    expect(await service.get('/api/modules/wordy/word')).toMatchObject(
      now === undefined ? { status: 404 } : { status: 200, body: { word: now } },
    )
  },
)

test.each([
  ['the image is built', /^POST \/build/],
  ['the new container is created', /^POST \/containers\/create\S*\.new\b/],
  ['the helper is created', /^POST \/containers\/create\S*\.helper\b/],
  ['the helper is started', /^POST \/containers\/\w+\/start /],
])('a service killed before %s is back without the change', async (_, pattern) => {
  const service = await startContainer({ env: { PANEL_MODULES_DIR: '/modules' } })
  const { Id, State } = await service.inspect()
  service.forge.put(repository('wordy', '1.0.0'))
  let killed = false
  service.proxy.onRequest = async (line) => {
    if (killed || !pattern.test(line)) return
    killed = true
    process.kill(State.Pid, 'SIGKILL')
    await new Promise(() => {})
  }

  const { state } = { ...(await service.end(await service.begin('wordy'))) }

  expect({ killed, state }).toEqual({ killed: true, state: 'rolled_back' })
  expect((await service.inspect()).Id).toBe(Id)
  expect(await service.get('/api/repair/modules')).toMatchObject({ body: [] })
  // The leftovers of the attempt do not block the next one.
  service.proxy.onRequest = () => undefined
  expect(await service.install('wordy')).toMatchObject({ state: 'done' })
  expect((await service.get('/api/modules/wordy/word')).status).toBe(200)
  await service.quiet()
})
