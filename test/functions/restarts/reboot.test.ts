import { expect, test } from 'vitest'
import * as z from 'zod'
import { endJob } from '../../../db/jobs.ts'
import reboot from '../../../functions/restarts/reboot.post.ts'
import { LOOK, LOOK_MARK } from '../../../functions/restarts/reboot-script.ts'
import { SshError } from '../../../ssh/connection.ts'
import { testApp } from '../../app.ts'
import { recordJob } from '../../db/job.ts'
import { NOW } from '../../db/database.ts'
import { answered, audited, refused, rows } from '../answers.ts'

const PATH = '/api/hypervisor/host/reboot'
const BOOT = '5f0c1b4e-3f0a-4f0e-9c0e-2b7a1d6c8e90'
const SECONDS = 1_795_000_000
const Started = z.strictObject({ job_id: z.string(), message: z.string() })

/** An app whose host is called `pve1`; its jobs never start. */
async function appOf({ backup = 'free', stdout }: { backup?: string; stdout?: string } = {}) {
  const text = [LOOK_MARK, 'pve1', BOOT, SECONDS, backup, 'active', 'end'].join('\n')
  const app = await testApp([reboot])
  const asked: string[] = []
  app.services.host.exec = async (command) => {
    if (command[2] !== LOOK) return new Promise(() => {})
    asked.push(String(command[2]))
    return { code: 0, signal: undefined, stdout: stdout ?? text, stderr: '' } as never
  }
  const ask = (confirm: unknown = 'pve1', as: 'admin' | 'user' = 'admin') =>
    app.request('POST', PATH, { as, body: { confirm } })
  return { app, ask, asked }
}

test('the host’s name starts the job, with its boot, its time and an entry in the audit log', async () => {
  const { app, ask } = await appOf()

  const { job_id, message } = Started.parse(await answered(await ask(), 202))

  expect(message).toBe('Redémarrage de l’hôte demandé.')
  expect(await rows(app.db, 'SELECT id, kind, target, queue, args FROM jobs')).toEqual([
    {
      id: job_id,
      kind: 'reboot',
      target: 'host',
      queue: '*',
      args: JSON.stringify({ name: 'pve1', boot: BOOT, until: SECONDS + 900 }),
    },
  ])
  expect(await audited(app.db)).toMatchObject([
    { action: 'host_reboot', target: 'host', details: { job_id, boot_id: BOOT } },
  ])
})

test.each([['pve'], [''], ['PVE1'], [' pve1'], ['pve1\n'], ['localhost']])(
  'the name %j starts nothing',
  async (name) => {
    const { app, ask } = await appOf()

    await refused(await ask(name), 422, 'confirm_invalid')

    expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
    expect(await audited(app.db)).toEqual([])
  },
)

test('a user may not, and the host is not asked', async () => {
  const { ask, asked } = await appOf()

  await refused(await ask('pve1', 'user'), 403, 'forbidden')

  expect(asked).toEqual([])
})

test('a backup forbids it', async () => {
  const { app, ask } = await appOf({ backup: 'backup' })

  await refused(await ask(), 409, 'backup_running')

  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
})

test.each(['upgrade', 'container', 'remedy', 'rollback', 'restart', 'reboot'])(
  'a job of kind %s forbids it until it ends',
  async (kind) => {
    const { app, ask } = await appOf()
    const job = await recordJob(app.db, '1772366400-aaaaaaaa', { kind })
    await recordJob(app.db, '1772366400-bbbbbbbb', { kind: 'check', queue: '' })

    expect(await refused(await ask(), 409, 'jobs_running')).toMatchObject({ job_id: job.id })
    await endJob(app.db, job, { status: 'success', error: null, error_code: null, exit_code: 0 }, { now: NOW })

    await answered(await ask(), 202)
  },
)

test('a host that cannot be asked gives 502, and incomplete settings 503', async () => {
  const { app, ask } = await appOf({ stdout: 'Welcome!\n' })
  await refused(await ask(), 502, 'ssh_failed')
  app.services.host.exec = async () => {
    throw new SshError('unreachable', 'ECONNREFUSED')
  }
  await refused(await ask(), 502, 'ssh_failed')
  const incomplete = await testApp([reboot], { ssh: { host: '' } })
  await refused(
    await incomplete.request('POST', PATH, { as: 'admin', body: { confirm: 'pve1' } }),
    503,
    'ssh_incomplete',
  )
})
