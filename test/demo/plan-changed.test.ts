import { beforeEach, expect, test } from 'vitest'
import { createPanel, type Panel } from '../../client/index.ts'
import { fleet, fleetHost } from '../../demo/fleet.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'

let panel: Panel
let upgradable: (id: string) => string[]

beforeEach(async () => {
  const demo = await startDemo({ containers: fleet(), host: fleetHost() })
  upgradable = demo.upgradable
  panel = createPanel({ url: (await startService(demo)).url, WebSocket: false })
  await panel.signIn('demo', 'demo')
})

const plan = (target: string, allow_remove = false) =>
  panel.api('POST /api/updates/plans', { body: { target, allow_remove } })

async function ended(id: string) {
  const read = () => panel.api('GET /api/updates/jobs/{id}', { params: { id } })
  await expect.poll(async () => (await read()).status).not.toMatch(/running|queued/)
  return read()
}

const run = async (target: string, id: string) =>
  ended((await panel.api('POST /api/updates/run', { body: { target, plan: id } })).job_id)

test('the run of a plan of the demonstration makes its changes', async () => {
  const { id, actions, download_bytes, disk_bytes } = await plan('lxc:101')
  const job = await run('lxc:101', id)

  expect(actions.map(({ name }) => name).sort()).toEqual(['libssl3', 'nginx', 'nginx-common', 'openssl', 'tzdata'])
  expect(download_bytes).toBe(4_395_000)
  expect(disk_bytes).toBeGreaterThan(0)
  expect(job).toMatchObject({ status: 'success', exit_code: 0, plan_id: id, plan_difference: null })
  expect(upgradable('101')).toEqual([])
})

test('container 110 of the demonstration refuses a plan once it was checked again', async () => {
  const { id } = await plan('lxc:110')
  await ended((await panel.api('POST /api/updates/checks', { body: { target: 'lxc:110' } })).job_id)
  const job = await run('lxc:110', id)

  expect(job).toMatchObject({
    status: 'error',
    error_code: 'plan_changed',
    plan_difference: [{ name: 'grafana:amd64', planned: 'upgrade 12.2.0 12.2.1', found: 'upgrade 12.2.0 12.2.2' }],
  })
  expect(upgradable('110').sort()).toEqual(['grafana', 'tzdata'])
})

test('container 106 of the demonstration has removals only in a plan that may remove', async () => {
  const removed = (actions: readonly { action: string; name: string }[]) =>
    actions.flatMap(({ action, name }) => (action === 'remove' ? [name] : []))

  expect(removed((await plan('lxc:106')).actions)).toEqual([])
  const { id, actions } = await plan('lxc:106', true)
  expect(removed(actions).sort()).toEqual(['docker.io', 'runc'])
  expect((await run('lxc:106', id)).output).toContain('Removing runc (1.1.5+ds1-1+deb12u1) ...')
})

test('container 105 of the demonstration lacks space for a plan, which its cache of archives takes', async () => {
  await expect(plan('lxc:105')).rejects.toMatchObject({
    code: 'plan_impossible',
    findings: [{ code: 'disk_low', remedy: { action: 'clean_cache' } }, { code: 'lists_stale' }],
  })
})
