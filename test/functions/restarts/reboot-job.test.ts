import { expect, test } from 'vitest'
import type { DemoHost } from '../../../demo/host.ts'
import { newContainers } from '../../../demo/place.ts'
import { OtherQueued } from '../../../db/job-start.ts'
import type { Jobs } from '../../../jobs/manager.ts'
import { beforeScript, jobService, listen, movedClock, starts } from '../../jobs/job-service.ts'
import { startDemo } from '../../runtime/demo.ts'
import { controlledOutput } from '../../runtime/upgrade-output.ts'

const MINUTE = 60_000
const SOON = { timeout: 20_000, interval: 10 }

async function rebooting(demo: DemoHost, clock: { elapsed?(): number } = {}) {
  const service = await jobService(demo, clock)
  return {
    ...service,
    /** Starts a reboot of the boot that the host has, or of another one. */
    begin: (jobs: Jobs, { boot = demo.boot, until = Date.now() / 1_000 + 60 } = {}) =>
      jobs.start({
        kind: 'reboot',
        args: { name: 'pve', boot, until: Math.floor(until) },
        target: 'host',
        startedBy: 1,
        onlyBeside: ['check'],
      }),
    async over(id: string) {
      await expect.poll(async () => (await service.row(id)).status, SOON).not.toBe('running')
      return service.row(id)
    },
  }
}

test('the loss of the command with the boot is the job’s success, and subscribers get its whole output', async () => {
  const demo = await startDemo({ rebootMs: 500 })
  const { jobs, hub, begin, over, output } = await rebooting(demo)
  const before = demo.boot
  const id = await begin(jobs)
  const subscriber = listen(hub, id)

  expect(await over(id)).toMatchObject({
    status: 'success',
    exit_code: 0,
    error: null,
    warnings: [],
    cancelled_by: null,
  })

  expect(demo.boot).not.toBe(before)
  expect(await output(id)).toBe(
    [
      'The host is asked to reboot.',
      `L’hôte a redémarré : ${before} → ${demo.boot}.`,
      'Attente des conteneurs qui tournaient…',
      'Conteneurs de nouveau en marche : 2 sur 2.',
    ].join('\n'),
  )
  expect(subscriber.text()).toBe(await output(id))
  expect(subscriber.events.at(-1)).toMatchObject({ type: 'update_done', data: { job_id: id } })
  expect(starts(demo)).toHaveLength(1)
})

test('another instance that takes the job over while the host is away ends it as well', async () => {
  const demo = await startDemo({ rebootMs: 1_500 })
  const { jobs, again, expireLeases, begin, over, output, lines } = await rebooting(demo)
  const id = await begin(jobs)
  await expect.poll(() => lines().some((line) => line.includes('the host is not reached')), SOON).toBe(true)
  await jobs.stop()
  await expireLeases()
  const other = again()
  await other.jobs.maintain()

  expect(await over(id)).toMatchObject({ status: 'success', exit_code: 0, epoch: 2 })
  expect((await output(id)).match(/L’hôte a redémarré/g)).toHaveLength(1)
  expect(starts(demo)).toHaveLength(1)
})

test('a host that does not come back is waited for 15 minutes, and no longer', async () => {
  const demo = await startDemo({ rebootMs: 2 ** 30 })
  const { elapsed, pass } = movedClock()
  const { jobs, begin, over, row, lines } = await rebooting(demo, { elapsed })
  const id = await begin(jobs)
  const misses = () => lines().filter((line) => line.includes('the host is not reached')).length
  await expect.poll(misses, SOON).toBeGreaterThan(1)

  pass(14 * MINUTE)
  const seen = misses()
  await expect.poll(misses, SOON).toBeGreaterThan(seen)
  expect(await row(id)).toMatchObject({ status: 'running' })
  pass(2 * MINUTE)

  expect(await over(id)).toMatchObject({ status: 'error', error_code: 'host_not_back', exit_code: null })
})

test('a host that goes down before it answers the start is waited for as long', async () => {
  const demo = await startDemo({ rebootMs: 2 ** 30 })
  const { elapsed, pass } = movedClock()
  beforeScript(demo, 'start', (times) => {
    if (times > 0) return undefined
    demo.accepting = false
    demo.cut()
    return undefined
  })
  const { jobs, begin, over, row, lines } = await rebooting(demo, { elapsed })
  const id = await begin(jobs)
  const misses = () => lines().filter((line) => line.includes('the host is not reached')).length
  await expect.poll(misses, SOON).toBeGreaterThan(1)

  pass(14 * MINUTE)
  const seen = misses()
  await expect.poll(misses, SOON).toBeGreaterThan(seen)
  expect(await row(id)).toMatchObject({ status: 'running', launched: false })
  pass(2 * MINUTE)

  expect(await over(id)).toMatchObject({ status: 'error', error_code: 'host_not_back', exit_code: null })
})

test('other jobs wait for the end of a cancelled reboot that was asked for', async () => {
  const demo = await startDemo({ rebootMs: 1_500 })
  const { jobs, begin, over, start, row, output } = await rebooting(demo)
  const before = demo.boot
  const id = await begin(jobs)
  const late = await start(jobs, 'lxc:101')
  await expect.poll(() => output(id), SOON).toContain('asked to reboot')

  expect(await jobs.cancel(id, 'alice')).toBe(true)

  await expect.poll(async () => (await row(late)).launched, SOON).toBe(true)
  expect(demo.boot).not.toBe(before)
  expect(await over(id)).toMatchObject({ status: 'error', error_code: 'cancelled' })
  expect(await over(late)).toMatchObject({ status: 'success' })
})

/** The pauses between attempts grow to 15 seconds. */
const ATTEMPTS_MS = 60_000

test(
  'a host that lets nobody in yet is tried for three minutes',
  async () => {
    const demo = await startDemo({ rebootMs: 300 })
    const { elapsed, pass } = movedClock()
    const { jobs, begin, over, row, lines } = await rebooting(demo, { elapsed })
    const { username } = demo.service
    const account = demo.users.get(username)
    if (!account) throw new Error('no account')
    const id = await begin(jobs)
    await expect.poll(() => lines().some((line) => line.includes('the host is not reached')), SOON).toBe(true)
    demo.users.set(username, { ...account, password: 'not yet' })
    const refused = () => lines().filter((line) => line.includes('bad_credentials')).length
    await expect.poll(refused, SOON).toBeGreaterThan(0)

    pass(2 * MINUTE)
    const seen = refused()
    await expect.poll(refused, SOON).toBeGreaterThan(seen)
    expect(await row(id)).toMatchObject({ status: 'running' })
    demo.users.set(username, account)

    expect(await over(id)).toMatchObject({ status: 'success' })
  },
  ATTEMPTS_MS,
)

test('while it runs, no other job starts, and no second reboot; afterwards they do', async () => {
  const demo = await startDemo({ rebootMs: 1_000 })
  const { jobs, begin, over, start, output, ended } = await rebooting(demo)
  const id = await begin(jobs)

  await expect(begin(jobs)).rejects.toThrow(OtherQueued)
  const late = await start(jobs, 'lxc:101')
  await expect.poll(() => output(late)).toBe(`En attente de la fin de la tâche ${id} (host)…\n`)

  expect(await over(id)).toMatchObject({ status: 'success' })
  expect(await ended(late)).toMatchObject({ status: 'success' })
})

test('a running job forbids it', async () => {
  const demo = await startDemo()
  const running = controlledOutput(demo)
  const { jobs, begin, start, ended } = await rebooting(demo)
  const id = await start(jobs, 'lxc:101')

  await expect(begin(jobs)).rejects.toMatchObject({ name: 'OtherQueued', id })

  running.end()
  await ended(id)
})

test('a container that does not start with the host is a warning of the success', async () => {
  const containers = newContainers()
  const place = containers.find(({ id }) => id === '102')
  if (place) place.onboot = false
  const demo = await startDemo({ rebootMs: 300, containers })
  const { jobs, begin, over } = await rebooting(demo)

  const row = await over(await begin(jobs))

  expect(row).toMatchObject({
    status: 'success',
    warnings: [`Le conteneur 102 (${place?.name}) tournait avant le redémarrage et ne tourne plus.`],
  })
})

test('a host that has been rebooted since the request is not rebooted again', async () => {
  const demo = await startDemo({ rebootMs: 300 })
  const { jobs, begin, over, output } = await rebooting(demo)
  const former = demo.boot
  demo.reboot()
  const { boot } = demo

  const id = await begin(jobs, { boot: former })

  expect(await over(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(demo.boot).toBe(boot)
  expect(await output(id)).toContain('The host has been rebooted in the meantime.\n')
})

test('a request that is too old is not carried out, and the output ends with the reason', async () => {
  const demo = await startDemo({ rebootMs: 300 })
  const { jobs, begin, over, output } = await rebooting(demo)
  const { boot } = demo

  const id = await begin(jobs, { until: Date.now() / 1_000 - 1 })

  const row = await over(id)
  expect(row).toMatchObject({ status: 'error', error_code: 'reboot_late', exit_code: 75 })
  expect(await output(id)).toBe(row.error)
  expect(demo.boot).toBe(boot)
})

test('a cancelled reboot that was asked for says that it takes place', async () => {
  const demo = await startDemo({ rebootMs: 2_000 })
  const { jobs, begin, over, output, row } = await rebooting(demo)
  const id = await begin(jobs)
  await expect.poll(() => output(id), SOON).toContain('asked to reboot')
  await expect.poll(() => demo.connections, SOON).toBe(0)
  expect(await row(id)).toMatchObject({ status: 'running' })

  expect(await jobs.cancel(id, 'alice')).toBe(true)

  expect(await over(id)).toMatchObject({ status: 'error', error_code: 'cancelled' })
  expect(await output(id)).toMatch(
    /Le redémarrage était déjà demandé à l’hôte : il a lieu quand même\.\nAnnulé par alice$/,
  )
})
