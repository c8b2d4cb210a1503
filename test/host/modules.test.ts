import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { testForge } from '../forge.ts'
import { exampleRepository } from '../functions/modules/module.ts'
import { type Caller, signIn } from './client.ts'
import { jobDetail, steps, upTo } from './copies.ts'
import { startJob } from './job.ts'
import { replacePostinst, slowPostinst } from './postinst.ts'
import { followOn } from './resuming.ts'
import { inside, rig } from './rig.ts'
import { startService } from './service.ts'

const LINES = 40

const Health = z.object({ boot_id: z.string() })
const Begun = z.object({ deployment: z.string() })
const Registry = z.object({ modules: z.array(z.object({ id: z.string(), commit: z.string() })) })
const Deployment = z.object({ state: z.string(), error: z.string().nullable() })

const boot = async ({ get }: Caller) => Health.parse((await get('/api/health')).body).boot_id

async function install(admin: Caller, id: string, commit: string) {
  const { status, body } = await admin.post(`/api/registry/modules/${id}/install`, { commit })
  expect({ status, body }).toMatchObject({ status: 202 })
  const { deployment } = Begun.parse(body)
  const now = async () => Deployment.parse((await admin.get(`/api/registry/deployments/${deployment}`)).body)
  await vi.waitUntil(async () => /done|failed|rolled_back/.test((await now()).state), { timeout: 60_000 })
  return now()
}

/** Returns the commit of a module that the list shows. */
async function shown({ get }: Caller, id: string): Promise<string> {
  const { modules } = Registry.parse((await get('/api/registry/modules?refresh=1')).body)
  return modules.find((each) => each.id === id)?.commit ?? ''
}

test('a module that changed since it was shown is not installed: neither the new commit nor the old', async () => {
  const forge = await testForge()
  const example = await exampleRepository()
  forge.put(example)
  const service = await startService({ env: { PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org } })
  onTestFinished(() => service.stop())
  const alice = await signIn(service, 'alice')
  const commit = await shown(alice, 'hello')
  const files = { ...example.branches.master?.files, 'backend.mjs': 'process.exit(3)' }
  forge.put({ ...example, branches: { master: { files } } })

  const refused = await alice.post('/api/registry/modules/hello/install', { commit })

  expect(refused).toMatchObject({ status: 409, body: { code: 'commit_changed' } })
  expect((await alice.get('/api/repair/modules')).body).toEqual([])
  expect((await alice.get('/api/audit?action=module_installed')).body).toMatchObject({ entries: [] })
})

test('installing the example module during an upgrade interrupts none of its subscribers', async () => {
  await rig('reset')
  await replacePostinst('101', slowPostinst({ lines: LINES, seconds: 0.2 }))
  const forge = await testForge()
  forge.put(await exampleRepository())
  const service = await startService({
    env: { PANEL_DEPLOYER: 'process', PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org },
  })
  onTestFinished(() => service.stop())
  const [alice, bob] = [await signIn(service, 'alice'), await signIn(service, 'bob')]
  const before = await boot(bob)
  const id = await startJob(bob, 'lxc:101')
  const live = followOn(bob, id)
  await vi.waitUntil(() => steps(live.output()).length > 3, { timeout: 60_000 })

  let refused = 0
  let going = true
  const asking = (async () => {
    while (going) {
      await fetch(`${service.url}/api/health`, { headers: { connection: 'close' } }).then(
        (answer) => answer.text(),
        () => (refused += 1),
      )
      await pause(20)
    }
  })()
  const end = await install(alice, 'hello', await shown(alice, 'hello'))
  await vi.waitUntil(async () => (await boot(bob)) !== before, { timeout: 20_000 })
  going = false
  await asking

  expect(end).toEqual({ state: 'done', error: null })
  expect(refused).toBe(0)
  expect(await bob.get('/api/modules/hello/greeting')).toMatchObject({ status: 200, body: { message: 'Bonjour bob.' } })
  expect(await bob.get('/api/modules/hello/uptime')).toMatchObject({ status: 403 })
  const uptime = (await inside('host', 'uptime -p')).trim().replace(/\d+ minutes?$/, '')
  expect(await alice.get('/api/modules/hello/uptime')).toMatchObject({
    status: 200,
    body: { uptime: expect.stringContaining(uptime) },
  })
  expect((await live.ended).type).toBe('update_done')
  expect(steps(live.output())).toEqual(upTo(LINES))
  expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0 })
}, 180_000)
