import { expect, test } from 'vitest'
import { askingService, now, VMID } from './snapshot-asking.ts'

const OLDER = 'panel-1772366400-k3x9q2pa'
const FOREIGN = 'before-work'

test('each step is carried out, and its answer has the output of the hypervisor', async () => {
  const { asking, answers, snapshots, api } = await askingService()
  snapshots.listed.set(VMID, [{ name: FOREIGN }, { name: OLDER }])

  const id = await asking((own) => [
    'api_room_AT',
    `api_snapshot_AT_${own}`,
    `api_state_AT_${own}`,
    'api_snapshots_AT',
    `api_forget_AT_${OLDER}`,
    `api_rollback_AT_${own}`,
    `api_forget_AT_${own}`,
    `api_state_AT_${own}`,
  ])

  const own = `panel-${id}`
  expect((await answers(id)).map(({ code, lines }) => [code, ...lines])).toEqual([
    [0, 'volume local-lvm local-lvm', 'on local-lvm local-lvm', 'zfs local-lvm 41'],
    [0, `vzsnapshot ${own}`],
    [0, 'status running', 'snapshot whole'],
    [0, ...[OLDER, own].sort().map((name) => `\`-> ${name}`)],
    [0, `vzdelsnapshot ${OLDER}`],
    [0, `vzrollback ${own}`, 'vzstart '],
    [0, `vzdelsnapshot ${own}`],
    [0, 'status running', 'snapshot none'],
  ])
  expect(snapshots.begun).toEqual([
    `vzsnapshot ${VMID} ${own}`,
    `vzdelsnapshot ${VMID} ${OLDER}`,
    `vzrollback ${VMID} ${own}`,
    `vzdelsnapshot ${VMID} ${own}`,
  ])
  expect(snapshots.listed.get(VMID)).toEqual([{ name: FOREIGN }])
  expect(api.open()).toBe(0)
})

/** The three changes, each with the snapshots that it needs. */
const CHANGES: [step: string, before: (own: string) => { name: string }[], begun: string][] = [
  ['snapshot', () => [], 'vzsnapshot'],
  ['rollback', (own) => [{ name: own }], 'vzrollback'],
  ['forget', (own) => [{ name: own }], 'vzdelsnapshot'],
]

test.each(CHANGES)(
  'a service that is killed while the hypervisor works (%s) and another one after it begin one task',
  async (step, before, type) => {
    const { asking, answers, snapshots, jobs, again, expireLeases, api } = await askingService()
    const perform = snapshots.perform
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    snapshots.perform = async (each) => {
      if (each.type === type) await held
      return perform(each)
    }
    const id = await asking((own) => {
      snapshots.listed.set(VMID, before(own))
      return [`api_${step}_AT_${own}`]
    })
    await expect.poll(() => snapshots.begun, { timeout: 10_000 }).toHaveLength(1)

    await jobs.stop()
    await expireLeases()
    api.requests.length = 0
    await again().jobs.maintain()
    await expect.poll(() => api.requests.some((line) => line.includes('/tasks/')), { timeout: 10_000 }).toBe(true)
    release()

    expect(await answers(id)).toMatchObject([{ code: 0 }])
    expect(snapshots.begun).toEqual([`${type} ${VMID} panel-${id}`])
  },
)

test.each(CHANGES)('a change (%s) whose answer is lost is not begun again', async (step, before, type) => {
  const { asking, answers, snapshots, api } = await askingService()
  api.behave = (request, response) => {
    if (request.method === 'GET') return false
    // It does what it is asked for, and its answer gets lost.
    Object.assign(response, { end: () => response.destroy() })
    return false
  }

  const id = await asking((own) => {
    snapshots.listed.set(VMID, before(own))
    return [`api_${step}_AT_${own}`]
  })

  expect(await answers(id)).toMatchObject([{ code: 0 }])
  expect(snapshots.begun).toEqual([`${type} ${VMID} panel-${id}`])
})

test('a task of a former question is none of this one', async () => {
  const { asking, answers, snapshots } = await askingService()
  const perform = snapshots.perform
  snapshots.perform = async () => ({ lines: ['TASK ERROR: volume in use'], exitstatus: 'volume in use' })
  const first = await asking((own) => {
    snapshots.listed.set(VMID, [{ name: own }])
    return [`api_rollback_AT_${own}`]
  })
  expect(await answers(first)).toMatchObject([{ code: 1, lines: ['volume in use'] }])
  snapshots.perform = perform
  const since = now() + 1
  await expect.poll(now, { timeout: 3_000 }).toBeGreaterThanOrEqual(since)

  const second = await asking((own) => {
    snapshots.listed.set(VMID, [{ name: own }])
    return [`api_rollback_${since}_${own}`]
  })

  expect(await answers(second)).toMatchObject([{ code: 0 }])
  expect(snapshots.begun).toHaveLength(2)
})

test('a hypervisor that does not know the start after a rollback is asked to start the container', async () => {
  const { asking, answers, snapshots, api } = await askingService()
  snapshots.knowsStart = false

  const id = await asking((own) => {
    snapshots.listed.set(VMID, [{ name: own }])
    return [`api_rollback_AT_${own}`]
  })

  expect(await answers(id)).toMatchObject([{ code: 0 }])
  expect(api.requests.filter((line) => line.startsWith('POST '))).toEqual([
    `POST /api2/json/nodes/pve/lxc/101/snapshot/panel-${id}/rollback`,
    `POST /api2/json/nodes/pve/lxc/101/snapshot/panel-${id}/rollback`,
    'POST /api2/json/nodes/pve/lxc/101/status/start',
  ])
  expect(api.containers.get('pve')?.find(({ vmid }) => String(vmid) === VMID)?.status).toBe('running')
})

test.each([
  ['a whole one', undefined, ''],
  ['an incomplete one', 'prepare', '?force=1'],
])('of snapshots, %s is removed with the words that it needs', async (_title, snapstate, query) => {
  const { asking, answers, snapshots, api } = await askingService()

  const id = await asking((own) => {
    snapshots.listed.set(VMID, [{ name: own, ...(snapstate && { snapstate }) }])
    return [`api_forget_AT_${own}`]
  })

  expect(await answers(id)).toMatchObject([{ code: 0 }])
  expect(api.requests).toContain(`DELETE /api2/json/nodes/pve/lxc/101/snapshot/panel-${id}${query}`)
})
