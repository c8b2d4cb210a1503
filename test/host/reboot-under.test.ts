import { rm } from 'node:fs/promises'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { freePort } from '../free-port.ts'
import { signIn } from './client.ts'
import { installPanel, makePackage, standInForSystemd } from './installed-panel.ts'
import { bootId, rebootingAs, rebootsAsked } from './rebooting.ts'
import { jobFolders } from './remains.ts'
import { followOn } from './resuming.ts'
import { inside, rig } from './rig.ts'
import { isHealthy, newFolder, startService } from './service.ts'

const Health = z.looseObject({ boot_id: z.string() })
const PATIENCE = { timeout: 30_000, interval: 50 }

beforeEach(() => rig('reset'))

test.each([
  ['with a signal to end', '2'],
  ['without a word', '2 hard'],
])('the panel on the host goes down %s, comes back with it, and the job is whole', async (_, how) => {
  await standInForSystemd('host')
  await rig('reboots', ...how.split(' '))
  const panel = await installPanel('host', await makePackage('host', '0.2.9'))
  const service = async () => Health.parse(await (await fetch(`${panel.url}/api/health`)).json()).boot_id
  const admin = await signIn({ url: panel.url }, 'alice')
  const { begin, ended, output } = rebootingAs(admin)
  const [before, started] = [await bootId(), await service()]

  const id = await begin()
  const live = followOn(admin, id)
  await expect.poll(() => isHealthy(panel.url), PATIENCE).toBe(false)

  expect(await live.ended).toMatchObject({ type: 'update_done', data: { job_id: id } })
  const job = await ended(id)
  const after = await bootId()
  expect(job).toMatchObject({ status: 'success', exit_code: 0, warnings: [] })
  expect(after).not.toBe(before)
  expect(await service()).not.toBe(started)
  expect(live.connections()).toBeGreaterThan(1)
  expect(live.output()).toBe(await output(id))
  expect(live.output().match(/The host is asked to reboot\.\n/g)).toHaveLength(1)
  expect(live.output().match(/L’hôte a redémarré : .*\n/g)).toEqual([`L’hôte a redémarré : ${before} → ${after}.\n`])
  expect(live.output()).toMatch(/Conteneurs de nouveau en marche : 2 sur 2\.$/)
  expect(await rebootsAsked()).toHaveLength(1)
  expect((await admin.get('/api/hypervisor/host')).body).toMatchObject({ boot_id: after })
  await expect.poll(jobFolders, PATIENCE).toBe('')
})

test('a service elsewhere that is killed while the host is away, and again while it waits, goes on to the end', async () => {
  await rig('reboots', '3')
  const [folder, port] = [await newFolder(), await freePort()]
  let service = await startService({ folder, port })
  onTestFinished(async () => {
    await service.kill()
    await rm(folder, { recursive: true, force: true })
  })
  const admin = await signIn(service, 'alice')
  const { begin, ended, output } = rebootingAs(admin)
  await inside('host', 'pct start 103')

  const id = await begin()
  const live = followOn(admin, id)
  await expect.poll(() => service.log(), PATIENCE).toContain('the host is not reached')
  await service.kill()
  service = await startService({ folder, port })
  const running = () => inside('host', 'pct list | grep -c " running " || true')
  await expect.poll(running, PATIENCE).toBe('2')
  await service.kill()
  service = await startService({ folder, port })

  expect(await live.ended).toMatchObject({ type: 'update_done' })
  const job = await ended(id)
  expect(job).toMatchObject({
    status: 'success',
    warnings: ['Le conteneur 103 (old-backup) tournait avant le redémarrage et ne tourne plus.'],
  })
  expect(live.connections()).toBeGreaterThan(1)
  expect(live.output()).toBe(await output(id))
  expect(live.output().match(/L’hôte a redémarré/g)).toHaveLength(1)
  expect(live.output().match(/Le conteneur 103/g)).toHaveLength(1)
  expect(await rebootsAsked()).toHaveLength(1)
})
