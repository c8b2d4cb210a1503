import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkingAs } from './checking.ts'
import { type Caller, signIn } from './client.ts'
import { rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** The version of an installed package, as the manager of its container shows it. */
const VERSIONS = {
  '111': 'rpm -q --qf "%{VERSION}" "$1"',
  '112': 'rpm -q --qf "%{VERSION}" "$1"',
  '113': `pacman -Q "$1" | cut -d' ' -f2 | cut -d- -f1`,
} as const
type Id = keyof typeof VERSIONS
const IDS: readonly Id[] = ['111', '112', '113']
const versionOf = (id: Id, name: string) => rig('in', id, 'sh', '-c', VERSIONS[id], 'sh', name)

const Started = z.object({ job_id: z.string() })
const Job = z.looseObject({ containers: z.array(z.looseObject({ vmid: z.number(), state: z.string() })) })
const Warned = z.looseObject({ warnings: z.array(z.string()) })

describe('an upgrade without a plan of containers with other managers than apt', () => {
  let service: Service
  let alice: Caller
  let ended: ReturnType<typeof checkingAs>['ended']

  /** Starts an upgrade, waits for its end and returns its record. */
  async function upgrade(target: string) {
    const { status, body } = await alice.post('/api/updates/run', { target })
    expect(status).toBe(202)
    const { job_id } = Started.parse(body)
    await ended(job_id)
    return (await alice.get(`/api/updates/jobs/${job_id}`)).body
  }

  beforeAll(async () => {
    await rig('reset')
    await rig('managers', 'up')
    for (const id of ['101', '102', ...IDS]) await rig('slow', '1', '1', id)
    service = await startService()
    alice = await signIn(service, 'alice')
    ended = checkingAs(alice).ended
    return () => service.stop()
  }, 300_000)

  test('of one container, with the protection of its policy, upgrades everything', async () => {
    expect(await versionOf('111', 'rig-web')).toBe('1.0')

    expect(await upgrade('lxc:111')).toMatchObject({ status: 'success', exit_code: 0, outcome: 'upgraded' })

    expect(await versionOf('111', 'rig-web')).toBe('2.0')
    expect(await versionOf('112', 'rig-web')).toBe('1.0')
  })

  test('of all containers upgrades each by its own manager', async () => {
    const { containers } = Job.parse(await upgrade('all'))

    expect(containers.filter(({ vmid }) => vmid !== 103)).toMatchObject(
      ['101', '102', ...IDS].map((id) => ({ vmid: Number(id), state: 'done' })),
    )
    for (const id of IDS) expect(await versionOf(id, 'rig-web')).toBe('2.0')
  })

  test('with a repository that fails upgrades from the others, and warns', async () => {
    await rig('reset', '112')
    await rig('slow', '1', '1', '112')
    await rig('third', '112', 'unreachable')

    const job = await upgrade('lxc:112')

    expect(job).toMatchObject({ status: 'success' })
    expect(Warned.parse(job).warnings).not.toEqual([])
    expect(await versionOf('112', 'rig-web')).toBe('2.0')
  })
})
