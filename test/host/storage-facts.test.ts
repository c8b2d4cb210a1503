import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { narrowAccount } from './narrow.ts'
import { type Account, inside, rig } from './rig.ts'
import { startService } from './service.ts'

const PATH = '/api/updates/protection'
const UNKNOWN = { snapshot: null, backup: null, why: null }

const Protections = z.object({
  targets: z.array(z.looseObject({ target: z.string(), snapshots: z.array(z.looseObject({ name: z.string() })) })),
  storages: z.array(z.string()),
})

const accounts: [Account, knows: boolean][] = [
  ['root', true],
  ['alice', true],
  ['narrow', true],
  ['ops', false],
]

describe.each(accounts)('under the service account %s', (account, knows) => {
  let bob: Caller
  let look: (target: string) => Promise<unknown>
  beforeAll(async () => {
    await rig('reset')
    if (account === 'narrow') await narrowAccount()
    // On a real host only root and www-data read them.
    await inside('host', 'chmod 750 /etc/pve/nodes/pve/lxc')
    const service = await startService({ as: account, isProtected: true })
    bob = await signIn(service, 'bob')
    look = async (target) => checkingAs(bob).check(target)
    return () => service.stop()
  })
  const told = async () => Protections.parse((await bob.get(PATH)).body)
  const of = async (target: string) => (await told()).targets.find((each) => each.target === target)

  test('a check tells which container can have a snapshot, and why one cannot', async () => {
    await rig('storage', '101', 'dir')
    await rig('mount', '102', 'bind')

    const { findings } = z
      .looseObject({ findings: z.array(z.looseObject({ code: z.string() })) })
      .parse(await look('lxc:101'))
    await look('lxc:102')

    const why = [expect.stringContaining('(dir)'), expect.stringContaining('mp0'), null]
    const cannot = (at: number) => (knows ? { snapshot: false, backup: true, why: why[at] } : UNKNOWN)
    expect((await of('lxc:101'))?.can).toEqual(cannot(0))
    expect((await of('lxc:102'))?.can).toEqual(cannot(1))
    expect(findings.some(({ code }) => code === 'protection_unavailable')).toBe(knows)
    expect((await told()).storages).toEqual(knows ? expect.arrayContaining(['local']) : [])

    await rig('storage', '101', 'lvmthin')
    await look('lxc:101')

    expect((await of('lxc:101'))?.can).toEqual(knows ? { snapshot: true, backup: true, why: null } : UNKNOWN)
  })

  test('a foreign snapshot is told with the next check, and no longer once it is gone', async () => {
    await rig('storage', '101', 'lvmthin')
    await inside('host', '/usr/sbin/pct snapshot 101 before-php --description "a secret: hunter2"')
    await look('lxc:101')

    const foreign = { name: 'before-php', kind: 'snapshot', ours: false, job_id: null, present: true }
    expect((await of('lxc:101'))?.snapshots).toMatchObject(knows ? [foreign] : [])
    expect(JSON.stringify((await bob.get('/api/updates/history?kind=check')).body)).not.toContain('hunter2')

    await inside('host', '/usr/sbin/pct delsnapshot 101 before-php')
    await look('lxc:101')

    expect((await of('lxc:101'))?.snapshots).toEqual([])
  })
})
