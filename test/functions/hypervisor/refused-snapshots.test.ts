import * as z from 'zod'
import { expect, test } from 'vitest'
import type { Behaviour } from '../../hypervisor.ts'
import { endless, HYPERVISOR_TOKEN, testHypervisor } from '../../hypervisor.ts'
import { askingService, now, VMID } from './snapshot-asking.ts'

type Service = Awaited<ReturnType<typeof askingService>>

const OLDER = 'panel-1772366400-k3x9q2pa'
const Id = z.object({ id: z.string() })

/** Asks for one step about the job's own snapshot, which exists, and returns the exit code and the reason. */
async function asked({ asking, answers, snapshots }: Service, step: string, name?: string) {
  const id = await asking((own) => {
    if (step !== 'snapshot') snapshots.listed.set(VMID, [{ name: own }, { name: OLDER }])
    return [`api_${step}_AT_${name ?? own}`]
  })
  const [answer] = await answers(id)
  return { code: answer?.code, reason: answer?.lines.at(-1)?.replace(`panel-${id}`, 'OWN') }
}

test.each<[string, string, (service: Service) => void, string]>([
  [
    'a storage without snapshots',
    'snapshot',
    ({ snapshots }) => (snapshots.feature = 0),
    'snapshot feature is not available',
  ],
  [
    'an ability that is not told',
    'snapshot',
    ({ snapshots }) => (snapshots.feature = null),
    'snapshot feature is not available',
  ],
  ['a lock', 'snapshot', locked, 'CT is locked (backup)'],
  ['a lock', 'rollback', locked, 'CT is locked (backup)'],
  ['no right', 'snapshot', without('VM.Snapshot'), 'Permission check failed (/vms/101, VM.Snapshot)'],
  ['no right', 'forget', without('VM.Snapshot'), 'Permission check failed (/vms/101, VM.Snapshot)'],
  [
    'no right',
    'rollback',
    without('VM.Snapshot'),
    'Permission check failed (/vms/101, VM.Snapshot|VM.Snapshot.Rollback)',
  ],
  ['no right to look', 'state', without('VM.Audit'), 'Permission check failed (/vms/101, VM.Audit)'],
  ['a task that fails', 'snapshot', failing('lvcreate error: no space'), 'lvcreate error: no space'],
  ['a task that fails', 'rollback', failing('lvremove error: in use'), 'lvremove error: in use'],
  [
    'a task that fails',
    'forget',
    failing("snapshot 'x' needed by replication job"),
    "snapshot 'x' needed by replication job",
  ],
  ['a task that does nothing', 'snapshot', failing('OK'), 'the snapshot OWN is not there, although its task has ended'],
  ['a task that does nothing', 'forget', failing('OK'), 'the snapshot OWN is still there, although its task has ended'],
])('%s (%s): the answer has the reason in the words of the hypervisor', async (_title, step, change, reason) => {
  const service = await askingService()
  change(service)

  expect(await asked(service, step)).toEqual({ code: 1, reason })

  expect(service.snapshots.begun.length).toBeLessThanOrEqual(1)
})

function locked({ api }: Service) {
  const place = api.containers.get('pve')?.find(({ vmid }) => String(vmid) === VMID)
  if (place) place.lock = 'backup'
}

function without(right: string) {
  return ({ api }: Service) => void delete api.permissions['/']?.[right]
}

function failing(exitstatus: string) {
  return ({ snapshots }: Service) => {
    snapshots.perform = async () => ({ lines: ['working', `TASK ERROR: ${exitstatus}`], exitstatus })
  }
}

test('a rollback needs no more than VM.Snapshot.Rollback', async () => {
  const service = await askingService()
  service.api.permissions = { '/': { 'VM.Audit': 1, 'VM.Snapshot.Rollback': 1 } }

  expect(await asked(service, 'rollback')).toMatchObject({ code: 0 })
})

test.each([
  ['rollback', OLDER],
  ['snapshot', OLDER],
  ['state', OLDER],
  ['forget', 'before-work'],
  ['rollback', 'current'],
  ['unlock', undefined],
  ['start', undefined],
])('%s of %s is none of the steps that a program may ask for', async (step, name) => {
  const service = await askingService()

  expect(await asked(service, step, name)).toEqual({ code: 1, reason: 'the service does not carry out this step' })

  expect(service.snapshots.begun).toEqual([])
  expect(service.api.requests).toEqual([])
})

test('the API of another machine is not used', async () => {
  const service = await askingService()
  service.api.nodes = [{ node: 'pve2' }]

  expect(await asked(service, 'rollback')).toEqual({
    code: 1,
    reason: 'the API of the hypervisor has no node with the name of the host (pve)',
  })

  expect(service.snapshots.begun).toEqual([])
})

test('in a cluster, the node with the name of the host is asked', async () => {
  const service = await askingService()
  service.api.nodes = [{ node: 'other' }, { node: 'pve' }]

  expect(await asked(service, 'state')).toEqual({ code: 0, reason: 'snapshot whole' })
})

test('a task of somebody else for the same container is not followed', async () => {
  const service = await askingService()
  const time = now().toString(16).toUpperCase()
  const foreign = `UPID:pve:0000AAAA:01C3A5B7:${time}:vzrollback:${VMID}:root@pam:`
  service.api.tasks.set(foreign, { lines: ['TASK OK'], exitstatus: 'OK' })

  expect(await asked(service, 'rollback')).toMatchObject({ code: 0 })

  expect(service.snapshots.begun).toHaveLength(1)
})

test.each([
  [
    'another token',
    { hypervisor_token: HYPERVISOR_TOKEN.replace(/.$/, '0') },
    'the hypervisor does not accept the API token',
  ],
  [
    'another certificate',
    { hypervisor_fingerprint: Array(32).fill('AA').join(':') },
    'the certificate of the hypervisor is not the agreed one, or no authority vouches for it',
  ],
])('%s: nothing is done', async (_title, settings, reason) => {
  const service = await askingService(undefined, settings)

  expect(await asked(service, 'snapshot')).toEqual({ code: 1, reason })

  expect(service.snapshots.begun).toEqual([])
})

test('an API whose address was removed meanwhile is told', async () => {
  const service = await askingService()
  await service.settings.change({ hypervisor_url: '' })

  expect(await asked(service, 'snapshot')).toEqual({ code: 1, reason: 'no API token of the hypervisor is set' })
})

const json = (text: string): Behaviour => {
  return ({ url = '' }, response) => {
    if (!url.endsWith('/snapshot')) return false
    response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' }).end(text)
    return true
  }
}
const endlessSnapshots: Behaviour = (request, response) =>
  request.url?.endsWith('/snapshot') === true && endless(request, response)

test.each<[string, Behaviour]>([
  ['an answer without an end', endlessSnapshots],
  ['a list of too many snapshots', json(JSON.stringify({ data: Array(10_001).fill({ name: OLDER }) }))],
  ['snapshots without names', json('{"data":[{"name":1}]}')],
  ['no JSON', json('snapshots')],
])('%s is of no use, and is not asked for without end', async (_title, behave) => {
  const service = await askingService()
  service.api.behave = behave

  const id = await service.asking(() => ['api_snapshots_AT'])

  expect(await service.answers(id)).toMatchObject([{ code: 1, lines: ['the answer of the hypervisor cannot be used'] }])
  expect(service.api.requests.filter((line) => line.endsWith('/snapshot'))).toHaveLength(4)
  await expect.poll(() => service.api.open()).toBe(0)
})

test('a task that the hypervisor forgets is begun again once, not without end', async () => {
  const service = await askingService()
  service.api.behave = ({ url = '' }, response) => {
    if (!url.includes('/tasks')) return false
    const known = url.includes('/tasks?')
      ? [200, '{"data":[]}']
      : [400, '{"data":null,"errors":{"upid":"no such task"}}']
    response.writeHead(Number(known[0]), { 'content-type': 'application/json' }).end(known[1])
    return true
  }
  service.snapshots.perform = async () => ({ lines: [], exitstatus: undefined })

  expect(await asked(service, 'rollback')).toEqual({ code: 1, reason: 'the hypervisor does not know its own task' })

  expect(service.snapshots.begun).toHaveLength(2)
})

test('of a long log the end is told, in lines of printable characters', async () => {
  const service = await askingService()
  const perform = service.snapshots.perform
  service.snapshots.perform = async (step) => {
    await perform(step)
    const lines = Array.from({ length: 3_000 }, (_, at) => `line ${at}: é\u001b[31m${'x'.repeat(500)}`)
    return { lines: [...lines, 'TASK OK'], exitstatus: 'OK' }
  }

  const id = await service.asking((own) => [`api_snapshot_AT_${own}`])

  const [answer] = await service.answers(id)
  expect(answer?.code).toBe(0)
  expect(answer?.lines).toHaveLength(100)
  expect(answer?.lines.at(-1)).toBe(`line 2999: ??[31m${'x'.repeat(283)}`)
})

test('a change goes on through answers that fail for a moment', async () => {
  const service = await askingService()
  const refusals: Behaviour[] = [
    (_, response) => Boolean(response.destroy()),
    (_, response) => Boolean(response.writeHead(595, 'no route to host').end()),
    (_, response) => Boolean(response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')),
  ]
  service.api.behave = ({ url = '' }, response) => {
    const next = url.includes('/tasks?') ? refusals.shift() : undefined
    return next?.(Object(undefined), response) ?? false
  }

  expect(await asked(service, 'rollback')).toMatchObject({ code: 0 })

  expect(refusals).toEqual([])
  expect(service.snapshots.begun).toHaveLength(1)
})

test('while an answer takes its time, phases go on, and the next question ends it', async () => {
  const service = await askingService()
  const { asking, snapshots, row, answers, demo, api } = service
  const { perform } = snapshots
  snapshots.perform = (step) => (step.type === 'vzsnapshot' ? new Promise(() => {}) : perform(step))
  let ofPhase: string | null = null
  demo.override = (words, process) => {
    if (words[0] !== 'perl') return undefined
    const own = words[5] ?? ''
    const run = async () => {
      process.note?.(JSON.stringify({ ask: `api_snapshot_${now()}_${own}` }))
      await expect.poll(() => snapshots.begun, { timeout: 10_000 }).toHaveLength(1)
      process.note?.(JSON.stringify({ phase: 'measuring' }))
      const phase = async () => (await row(own.replace('panel-', ''))).phase
      await expect.poll(phase, { timeout: 10_000 }).toBe('measuring')
      ofPhase = await phase()
      const question = `api_snapshots_${now()}`
      process.note?.(JSON.stringify({ ask: question }))
      const [code, ...lines] = (await process.asked?.(question, 10_000)) ?? []
      await process.stdout(`${JSON.stringify({ question, code: code === 'code 0' ? 0 : 1, lines })}\n`)
      return 0
    }
    return run()
  }

  const id = await asking(() => [])

  expect(await answers(id)).toMatchObject([{ code: 0, lines: [] }])
  expect(ofPhase).toBe('measuring')
  await expect.poll(() => api.open()).toBe(0)
})

test('the token is nowhere in an answer, in the output or in the log', async () => {
  const api = await testHypervisor()
  const service = await askingService(api)
  const [, secret = ''] = api.token.split('=')
  service.snapshots.perform = async () => ({
    lines: [`using ${api.token}`, `TASK ERROR: bad ${secret}`],
    exitstatus: `bad ${secret}`,
  })

  expect(await asked(service, 'rollback')).toEqual({ code: 1, reason: 'bad ?' })

  const [{ id = '' } = {}] = await service.db.query(Id, 'SELECT id FROM jobs')
  expect(await service.output(id)).not.toContain(secret)
  expect(service.lines().join('\n')).not.toContain(secret)
  expect(service.demo.commands.flat().join('\n')).not.toContain(secret)
})
