import { expect, test } from 'vitest'
import { createPanel, type Panel } from '../../client/index.ts'
import { fleet, fleetHost } from '../../demo/fleet.ts'
import { startDemoHypervisor } from '../../demo/hypervisor.ts'
import { prepare } from '../../demo/prepare.ts'
import { DEFAULT_PROTECTION } from '../../functions/protection/protection.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'

/** Starts the demonstration as `npm run demo` does, with an administrator signed in. */
async function start() {
  const containers = fleet()
  const demo = await startDemo({ containers, host: fleetHost() })
  const hypervisor = await startDemoHypervisor(containers)
  const { url } = await startService(demo)
  const panel = createPanel({ url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  // Other tests run their plans without protection.
  await panel.api('PUT /api/updates/protection/{target}', { params: { target: 'default' }, body: DEFAULT_PROTECTION })
  await prepare(url, hypervisor)
  hypervisor.close()
  return { demo, panel }
}

async function ended(panel: Panel, id: string) {
  const read = () => panel.api('GET /api/updates/jobs/{id}', { params: { id } })
  await expect.poll(async () => (await read()).status, { timeout: 10_000 }).not.toMatch(/running|queued/)
  return read()
}

/** Runs the plan of a container. */
async function upgrade(panel: Panel, target: string) {
  const { id: plan } = await panel.api('POST /api/updates/plans', { body: { target } })
  return ended(panel, (await panel.api('POST /api/updates/run', { body: { target, plan } })).job_id)
}

test('nextcloud breaks with its upgrade, and a person takes it back', async () => {
  const { demo, panel } = await start()
  const before = demo.upgradable('107')

  const job = await upgrade(panel, 'lxc:107')

  expect(job).toMatchObject({ status: 'success', outcome: 'regressed', phase: 'done', unprotected: null })
  expect(job.snapshot).toMatchObject({ name: `panel-${job.job_id}`, kind: 'snapshot', present: true })
  expect(job.regressions.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
    'socket tcp/443',
    'unit php8.2-fpm.service',
  ])
  expect(job.comparison?.filter(({ state }) => state === 'worse')).toHaveLength(2)
  const back = await panel.api('POST /api/updates/jobs/{id}/rollback', { params: { id: job.job_id } })
  expect(await ended(panel, back.job_id)).toMatchObject({ status: 'success', outcome: 'rolled_back' })
  expect(demo.upgradable('107')).toEqual(before)
})

test('the policy that the demonstration sets rolls immich back by itself', async () => {
  const { demo, panel } = await start()
  const before = demo.upgradable('115')

  const job = await upgrade(panel, 'lxc:115')

  expect(job).toMatchObject({ outcome: 'rolled_back', regressions: [{ kind: 'docker' }, {}, {}] })
  expect(job.outage_seconds).toBeGreaterThanOrEqual(0)
  expect(demo.upgradable('115')).toEqual(before)
})

test('a service that is slow to return is no regression; a bind mount leaves an upgrade without a snapshot', async () => {
  const { panel } = await start()

  const slow = await upgrade(panel, 'lxc:119')
  const bound = await upgrade(panel, 'lxc:108')

  expect(slow).toMatchObject({ outcome: 'upgraded', regressions: [] })
  expect(slow.comparison?.filter(({ state }) => state === 'unsteady')).toMatchObject([{ name: 'act_runner.service' }])
  expect(bound).toMatchObject({ outcome: 'upgraded', snapshot: null })
  expect(bound.unprotected).toEqual(expect.any(String))
})

test('a check tells what the storages of the fleet can do, and whose snapshots there are', async () => {
  const { panel } = await start()

  await ended(panel, (await panel.api('POST /api/updates/checks', { body: { target: 'all' } })).job_id)
  const { targets, storages } = await panel.api('GET /api/updates/protection')

  expect(storages).toEqual(['local', 'nas'])
  const cannot = targets.filter(({ can }) => can.snapshot === false).map(({ target }) => target)
  expect(cannot).toEqual(['lxc:103', 'lxc:108', 'lxc:117'])
  expect(targets.filter(({ own }) => own).map(({ target }) => target)).toEqual(['lxc:115'])
  const foreign = targets.flatMap(({ snapshots }) => snapshots.map(({ name, ours }) => [name, ours]))
  expect(foreign).toEqual([['before-pg15', false]])
})
