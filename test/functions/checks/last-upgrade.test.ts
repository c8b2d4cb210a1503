import { expect, test } from 'vitest'
import { checksRevision } from '../../../db/check-schedule.ts'
import { saveFindings, updateContainers } from '../../../db/checks.ts'
import { decide, endJob, markLaunched, noteOutcome } from '../../../db/jobs.ts'
import check from '../../../functions/checks/check.get.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { START as NOW, testApp } from '../../app.ts'
import { recordJob } from '../../db/job.ts'
import { answered } from '../answers.ts'

const TARGET = 'lxc:101'
const UPGRADE = '1772366400-k3x9q2pa'
const at = (minute: number) => new Date(NOW.getTime() + (minute - 50) * 60_000).toISOString()
const DONE = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const REGRESSION = { kind: 'unit', name: 'nginx.service', message: 'Le service nginx.service ne tourne plus.' }

const SUMMARY = JSON.stringify({
  manager: 'apt',
  os: null,
  counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
  download_bytes: 0,
  disk_bytes: 0,
  findings: [],
  reboot: { required: null, reasons: [] },
  services: [],
})

/** A container that is up to date by a check of minute 20, after an upgrade of minute 10 with this outcome. */
async function upgraded({
  outcome = 'regressed',
  run = {},
  checked = 20,
}: {
  outcome?: string
  run?: object
  checked?: number
} = {}) {
  const app = await testApp([check])
  const { db } = app
  await updateContainers(db, [{ vmid: 101, name: 'web', status: 'running' }], at(0))
  /** Records an ended job of the container. */
  const ended = async (id: string, kind: string, minute: number, more: Parameters<typeof endJob>[3]['more'] = []) => {
    const job = await recordJob(db, id, { kind, target: TARGET, args: '{}', started_at: at(minute - 1) })
    await markLaunched(db, job)
    await endJob(db, job, DONE, { now: at(minute), more })
  }
  const protectedRun = JSON.stringify({ protection: DEFAULT_PROTECTION, regressions: [REGRESSION], ...run })
  const key = { id: UPGRADE, epoch: 1 }
  await ended(UPGRADE, 'upgrade', 10, [noteOutcome(key, { phase: 'done', outcome, protectedRun })])
  const look = { target: TARGET, at: at(checked), listsAt: at(checked), summary: SUMMARY, packages: '[]' }
  await ended('check', 'check', checked, [saveFindings({ id: 'check', epoch: 1 }, look)])
  const read = async () => answered(await app.request('GET', `/api/updates/checks/${TARGET}`, { as: 'user' }), 200)
  return { db, ended, read }
}

test('an upgrade after which something does not work needs somebody until it is decided', async () => {
  const { db, read } = await upgraded()
  const last = { job_id: UPGRADE, outcome: 'regressed', exit_code: 0, regressions: 1, on_failure: 'ask' }
  expect(await read()).toMatchObject({ state: 'attention', last_upgrade: { ...last, decided: null } })
  const before = await checksRevision(db)

  await db.batch([decide(UPGRADE, { by: 'alice', at: at(30) })])

  const decided = { by: 'alice', at: at(30), choice: 'keep', job_id: null }
  expect(await read()).toMatchObject({ state: 'up_to_date', last_upgrade: { ...last, decided } })
  expect(await checksRevision(db)).toBe(before + 1)
})

test('a policy that keeps every upgrade leaves nothing to decide', async () => {
  const { read } = await upgraded({ run: { protection: { ...DEFAULT_PROTECTION, on_failure: 'keep' } } })

  expect(await read()).toMatchObject({
    state: 'up_to_date',
    last_upgrade: { outcome: 'regressed', regressions: 1, on_failure: 'keep', decided: null },
  })
})

test('a policy that goes back by itself tells so, and leaves nothing to decide', async () => {
  const { read } = await upgraded({ outcome: 'rolled_back' })

  expect(await read()).toMatchObject({ state: 'up_to_date', last_upgrade: { outcome: 'rolled_back', regressions: 1 } })
})

test('a failed rollback needs somebody until the container answers a check again', async () => {
  const former = await upgraded({ outcome: 'rollback_failed', checked: 10 })
  expect(await former.read()).toMatchObject({ state: 'attention', last_upgrade: { outcome: 'rollback_failed' } })
  const later = await upgraded({ outcome: 'rollback_failed' })
  expect(await later.read()).toMatchObject({ state: 'up_to_date', last_upgrade: { outcome: 'rollback_failed' } })
})

test('after a rollback nothing is known until the next check: the packages are those of before', async () => {
  const { ended, read } = await upgraded()

  await ended('1772366900-b4ckb4ck', 'rollback', 30)

  expect(await read()).toMatchObject({ state: 'unknown', changed_at: at(30), last_upgrade: { job_id: UPGRADE } })
})

test('an upgrade without protection compares nothing', async () => {
  const { db, read } = await upgraded({ outcome: 'upgraded' })
  await db.run('UPDATE jobs SET protected = NULL')

  expect(await read()).toMatchObject({
    state: 'up_to_date',
    last_upgrade: { outcome: 'done', regressions: 0, on_failure: null, decided: null },
  })
})

const APPLICATION = '1772366600-4pp11c4t'
const OF_APP = JSON.stringify({ target: TARGET, application: 'compose:shop', name: 'shop' })

/** Records an ended update of an application of the container, before the check of minute 20. */
async function updated(
  { db }: Awaited<ReturnType<typeof upgraded>>,
  {
    id = APPLICATION,
    minute,
    outcome,
    run,
    args = OF_APP,
    error_code = null,
  }: {
    id?: string
    minute: number
    outcome: string
    run?: object
    args?: string
    error_code?: string | null
  },
) {
  const job = await recordJob(db, id, { kind: 'application', target: TARGET, args, started_at: at(minute - 1) })
  await markLaunched(db, job)
  const protectedRun = run === undefined ? null : JSON.stringify(run)
  const more = [noteOutcome({ id, epoch: 1 }, { phase: 'done', outcome, protectedRun })]
  await endJob(db, job, { ...DONE, ...(error_code && { status: 'error', error_code }) }, { now: at(minute), more })
}
const HARMED = { protection: DEFAULT_PROTECTION, regressions: [REGRESSION] }

test('an application that an update broke needs somebody, whatever is upgraded or checked after it', async () => {
  const place = await upgraded({ outcome: 'upgraded' })
  await updated(place, { minute: 12, outcome: 'regressed', run: HARMED })
  await place.ended('1772366700-p4ck4g3s', 'upgrade', 14)
  await updated(place, {
    ...{ id: '1772366800-0th3r4pp', minute: 16, outcome: 'upgraded' },
    args: OF_APP.replace('compose:shop', 'compose:other'),
  })
  await updated(place, { id: '1772366810-n0th1ng0', minute: 17, outcome: 'failed', error_code: 'source_changed' })
  await updated(place, {
    id: '1772366820-n0th1ng1',
    minute: 18,
    outcome: 'failed',
    error_code: 'protection_unavailable',
  })

  const last = { job_id: APPLICATION, application: 'shop', outcome: 'regressed', regressions: 1 }
  expect(await place.read()).toMatchObject({ state: 'attention', last_upgrade: last })

  await place.db.batch([decide(APPLICATION, { by: 'alice', at: at(30) })])
  expect(await place.read()).toMatchObject({
    state: 'up_to_date',
    last_upgrade: { job_id: '1772366700-p4ck4g3s', application: null, outcome: 'done' },
  })
})

test('an application whose update failed needs somebody until one of its updates goes well, or somebody has decided', async () => {
  const place = await upgraded({ outcome: 'upgraded' })
  await updated(place, { minute: 12, outcome: 'failed', run: { protection: null } })
  const failed = { job_id: APPLICATION, application: 'shop', outcome: 'failed' }
  expect(await place.read()).toMatchObject({ state: 'attention', last_upgrade: failed })

  await updated(place, { id: '1772366800-4g41n000', minute: 15, outcome: 'upgraded' })
  const over = { state: 'up_to_date', last_upgrade: { job_id: UPGRADE, outcome: 'done' } }
  expect(await place.read()).toMatchObject(over)

  await updated(place, { id: '1772366900-w0rs3000', minute: 16, outcome: 'failed', run: { protection: null } })
  expect(await place.read()).toMatchObject({ state: 'attention' })
  await place.db.batch([decide('1772366900-w0rs3000', { by: 'alice', at: at(30) })])
  expect(await place.read()).toMatchObject(over)
})

test('of a broken upgrade and an application whose update failed, the broken one comes first', async () => {
  const place = await upgraded()
  await updated(place, { minute: 12, outcome: 'failed' })

  expect(await place.read()).toMatchObject({ state: 'attention', last_upgrade: { job_id: UPGRADE, application: null } })
  await place.db.batch([decide(UPGRADE, { by: 'alice', at: at(30) })])
  expect(await place.read()).toMatchObject({
    state: 'attention',
    last_upgrade: { job_id: APPLICATION, outcome: 'failed' },
  })
})
