import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from './audit.ts'
import { type Caller, signIn } from './client.ts'
import {
  ADDRESS,
  CODE,
  expectNoRemains,
  ID,
  NEW,
  OLD,
  offerUpdate,
  stateOfApp,
  updatingAs,
  withApplication,
} from './community.ts'
import { narrowAccount } from './narrow.ts'
import { calls, POLICY, snapshots } from './protecting.ts'
import { type Account, PASSWORDS, rig } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'
import { SITE, type Site, startSite } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await startSite()
})
afterAll(() => site.close())

let service: Service
let caller: Caller
let alice: ReturnType<typeof updatingAs>

/** Starts the service with its own policy on a new host. */
async function start(account: Account): Promise<() => Promise<void>> {
  await rig('reset')
  service = await startService({ as: account, isProtected: true })
  caller = await signIn(service, 'alice')
  alice = updatingAs(caller)
  return () => service.stop()
}

const PROTECTED = { ...POLICY, on_failure: 'ask' }
const LOST = ['socket tcp/8080', 'unit rig-app.service']
const VERSION = (text: string) => `ops-panel: version ${text}\n`

describe.each<[Account]>([['root'], ['ops']])('under the service account %s', (account) => {
  beforeAll(() => start(account))
  beforeEach(async () => {
    offerUpdate(site)
    await withApplication(site)
  })

  test('a check finds the application, its code is shown and agreed to, and the update is protected', async () => {
    const { findings } = await alice.check()
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'application_update',
        packages: ['rig-app'],
        message: 'Se met à jour par son propre script, et non par les paquets : rig-app (1.0).',
      }),
    )
    expect(await alice.list()).toMatchObject([
      {
        ...{ id: ID, kind: 'community_script', name: 'rig-app', version: '1.0', available: null, updatable: true },
        source: { address: ADDRESS, digest: null, agreed: false },
      },
    ])
    const { digest, files, refused, agreed } = await alice.shown()
    expect(files.map(({ address }) => address).sort()).toEqual(CODE.map((path) => `https://${SITE}${path}`).sort())
    expect(files[0]).toMatchObject({ address: ADDRESS, text: expect.stringContaining('function update_script() {') })
    expect(refused).toEqual([`https://${SITE}/community-scripts/ProxmoxVE/main/install/*.sh`])
    expect(agreed).toBe(false)
    expect(await alice.run(digest, PROTECTED)).toMatchObject({ status: 422, body: { code: 'not_agreed' } })
    expect((await alice.agree(digest)).status).toBe(200)
    expect(await stateOfApp()).toBe(OLD)
    await calls()
    site.forget()

    const id = await alice.begin(digest, PROTECTED)
    const job = await alice.ended(id)

    expect(job).toMatchObject({
      ...{ kind: 'application', status: 'success', outcome: 'upgraded', exit_code: 0, error_code: null },
      ...{ regressions: [], warnings: [], snapshot: { name: `panel-${id}`, kind: 'snapshot', present: true } },
    })
    expect(job.output).toContain('Updated successfully!')
    expect(job.output).toContain(VERSION('1.0 -> 2.0'))
    expect(job.comparison).toContainEqual(expect.objectContaining({ name: 'rig-app.service', state: 'same' }))
    expect(job.comparison?.filter(({ state }) => state === 'worse')).toEqual([])
    expect(await stateOfApp()).toBe(NEW)
    expect(await snapshots()).toEqual([`panel-${id}`])
    expect(await calls()).toEqual([`snapshot 101 panel-${id}`])
    // The request and the job fetch all code; the script loads data alone.
    const code = (path: string) => CODE.includes(path)
    expect(site.asked().filter(code).sort()).toEqual([...CODE, ...CODE].sort())
    const about = (action: string) => auditEntries(caller, `action=${action}`)
    expect(await about('application_agree')).toContainEqual(
      expect.objectContaining({
        ...{ username: 'alice', target: 'lxc:101' },
        details: expect.objectContaining({ application: ID, address: ADDRESS, digest }),
      }),
    )
    expect(await about('application_start')).toContainEqual(
      expect.objectContaining({ target: 'lxc:101', details: { job_id: id, application: ID, digest } }),
    )
    expect(await about('update_end')).toContainEqual(
      expect.objectContaining({ details: expect.objectContaining({ job_id: id, outcome: 'upgraded' }) }),
    )
    expect((await caller.get('/api/updates/jobs')).body).toMatchObject({
      jobs: expect.arrayContaining([expect.objectContaining({ job_id: id, outcome: 'upgraded' })]),
    })
    await expectNoRemains('101')

    const again = await alice.ended(await alice.begin(digest))
    expect(again).toMatchObject({ status: 'success', outcome: 'upgraded' })
    expect(again.output).toContain(VERSION('2.0 -> 2.0'))
    expect(again.warnings).toEqual(['La version est toujours 2.0 : il n’y avait peut-être rien à mettre à jour.'])
  })

  test('an update that breaks the service is rolled back where the policy says so', async () => {
    offerUpdate(site, { program: '#!/bin/sh\nexit 1\n' })

    const job = await alice.update({ ...PROTECTED, on_failure: 'rollback' })

    expect(job).toMatchObject({ outcome: 'rolled_back', phase: 'done', error_code: null, exit_code: 0 })
    expect(job.output).toContain(VERSION('1.0 -> 2.0'))
    expect(job.regressions.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(LOST)
    await expect.poll(() => stateOfApp(), { timeout: 60_000 }).toBe(OLD)
    await expectNoRemains('101')
  })

  test('where the policy asks, the broken service stays until somebody rolls the update back', async () => {
    offerUpdate(site, { program: '#!/bin/sh\nexit 1\n' })

    const job = await alice.update(PROTECTED)

    expect(job).toMatchObject({ outcome: 'regressed', decided: null })
    expect(job.regressions.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(LOST)
    expect(await stateOfApp()).toBe('2.0\n2.0\nfailed')
    expect(await alice.rollBack(job.job_id)).toMatchObject({ outcome: 'rolled_back', status: 'success' })
    await expect.poll(() => stateOfApp(), { timeout: 60_000 }).toBe(OLD)
    expect((await alice.record(job.job_id)).decided).toMatchObject({ choice: 'rollback' })
  })
})

describe('with an account that sudo allows only the host helper', () => {
  test('the application is listed, and everything else is refused before a job', async () => {
    await rig('reset')
    await narrowAccount()
    offerUpdate(site)
    await withApplication(site)
    const folder = await newFolder()
    const before = await startService({ as: 'root', folder })
    const admin = await signIn(before, 'alice')
    const digest = await updatingAs(admin).agreed()
    // The environment sets the account of a new installation only.
    const account = { ssh_username: 'narrow', ssh_password: PASSWORDS.narrow, current_password: PASSWORDS.alice }
    expect(await admin.patch('/api/settings', account)).toMatchObject({ status: 200 })
    await before.stop()
    const narrow = await startService({ as: 'narrow', folder })
    const own = updatingAs(await signIn(narrow, 'alice'))
    site.forget()

    await own.check()

    expect(await own.list()).toMatchObject([{ id: ID, version: '1.0', source: { digest, agreed: true } }])
    expect(await own.source()).toMatchObject({ status: 502, body: { code: 'host_helper_lacks' } })
    expect(await own.run(digest)).toMatchObject({ status: 502, body: { code: 'host_helper_lacks' } })
    expect(site.asked()).toEqual([])
    expect(await stateOfApp()).toBe(OLD)
    await narrow.stop()
  })
})
