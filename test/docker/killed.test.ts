import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SWAP_STEPS, type SwapStep } from '../../modules/deploy/docker/swap.ts'
import { repository } from '../functions/modules/module.ts'
import { type Service, startContainer } from './service.ts'

const FAILING = 'process.exit(3)'
/** The steps that lead back are gone through with a module that does not start. */
const isGoingBack = (step: SwapStep) => SWAP_STEPS.indexOf(step) >= SWAP_STEPS.indexOf('clearing')

/** What the helper asks of the engine in each step. */
const ASKED: Record<SwapStep, RegExp> = {
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
/** What the helper has told is there a little later. */
const TOLD_MS = 1_000

/** Kills the helper once, in this step, with a request on its way: before the engine has it, or while it does it. */
async function killIn(service: Service, step: SwapStep, when: 'before' | 'during'): Promise<string> {
  let [killed, done] = ['', false]
  service.proxy.meet = async (line) => {
    if (done || !ASKED[step].test(line)) return
    for (const until = performance.now() + TOLD_MS; (await service.step()) !== step; await pause(20))
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
  // The last step takes a moment only, and may be faster.
  const isLast = when === 'during' && (step === 'settled' || step === 'restored')
  expect(killed).not.toMatch(isLast ? /^\((?!.*ESRCH)/ : /^\(/)
  return killed
}

const WALK = SWAP_STEPS.flatMap((step) => [
  [step, 'before', { PANEL_MODULES_DIR: '/modules' }] as const,
  [step, 'during', {}] as const,
])

test.each(WALK)(
  'the helper killed in %s, %s the engine does what it asked: the service serves',
  async (step, when, env) => {
    const service = await startContainer({ env })
    const back = isGoingBack(step)
    const [before, boot] = [await service.inspect(), await service.boot()]
    service.forge.put(repository('wordy', '1.0.0', back ? FAILING : undefined))
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
    expect(await service.get('/api/repair/modules')).toMatchObject({
      body: back ? [] : [{ id: 'wordy', problem: null }],
    })
    expect((await service.get('/api/modules/wordy/word')).status).toBe(back ? 404 : 200)
  },
)

test.each([
  ['the image is built', /^POST \/build/],
  ['the new container is made', /^POST \/containers\/create\S*\.new\b/],
  ['the helper is made', /^POST \/containers\/create\S*\.helper\b/],
  ['the helper is started', /^POST \/containers\/\w+\/start /],
])('the service killed before %s: it is back, without the change', async (_, pattern) => {
  const service = await startContainer({ env: { PANEL_MODULES_DIR: '/modules' } })
  const { Id, State } = await service.inspect()
  service.forge.put(repository('wordy', '1.0.0'))
  let killed = false
  service.proxy.meet = async (line) => {
    if (killed || !pattern.test(line)) return
    killed = true
    process.kill(State.Pid, 'SIGKILL')
    await new Promise(() => {})
  }

  const { state } = { ...(await service.end(await service.begin('wordy'))) }

  expect({ killed, state }).toEqual({ killed: true, state: 'rolled_back' })
  expect((await service.inspect()).Id).toBe(Id)
  expect(await service.get('/api/repair/modules')).toMatchObject({ body: [] })
  // What is left of the attempt is not in the way of the next one.
  service.proxy.meet = () => undefined
  expect(await service.install('wordy')).toMatchObject({ state: 'done' })
  expect((await service.get('/api/modules/wordy/word')).status).toBe(200)
  await service.quiet()
})
