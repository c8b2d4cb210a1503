import { expect, test } from 'vitest'
import { rows } from '../answers.ts'
import { NO_UPGRADES } from './simulations.ts'
import { MINUTE, wave, waveApp } from './wave-app.ts'

const NOTHING = { plans: { 101: { stdout: NO_UPGRADES }, 102: { stdout: NO_UPGRADES } } }

/** A wave of two containers whose lists nobody has read. */
async function unread(own: Parameters<typeof waveApp>[0] = {}) {
  const all = await waveApp({ isFresh: false, ...own })
  const { begin, tick, jobsOf } = all
  const id = await begin({ waves: [wave(['lxc:101', 'lxc:102'])] })
  const checking = (targets: string[]) =>
    expect
      .poll(
        async () => {
          await tick()
          return jobsOf(`kind = 'check' AND status = 'running'`)
        },
        { interval: 5 },
      )
      .toEqual(targets)
  return { ...all, id, checking }
}

test('the lists of every target are read before its plan is made, in the name of the schedule’s owner', async () => {
  const { db, box, id, refresh, checking, until, endJob, jobsOf } = await unread()
  await checking(['lxc:101', 'lxc:102'])
  expect(box.planned).toEqual([])

  await endJob('lxc:101', null)
  await refresh(['lxc:101'])
  await checking(['lxc:102'])
  expect(box.planned).toEqual([])
  await endJob('lxc:102', null)
  await refresh(['lxc:102'])
  await until(id, 0, 'running')

  expect(box.planned.toSorted()).toEqual(['101', '102'])
  expect(await jobsOf(`kind = 'upgrade'`)).toEqual(['lxc:101', 'lxc:102'])
  expect(
    await rows(db, `SELECT username, details ->> '$.schedule_run' AS run FROM audit WHERE action = 'check_start'`),
  ).toEqual([
    { username: 'alice', run: id },
    { username: 'alice', run: id },
  ])
})

test('lists that were read a quarter of an hour ago are read again, and newer ones are not', async () => {
  const { app, refresh, checking, tick, jobsOf } = await unread()
  await refresh(['lxc:101'])
  app.advance(10 * MINUTE)
  await refresh(['lxc:102'])
  app.advance(6 * MINUTE)
  await tick()

  await checking(['lxc:101'])
  expect(await jobsOf(`kind = 'check'`)).toEqual(['lxc:101'])
})

test('a target whose check fails is not called up to date: it is impossible, and the others go on', async () => {
  const { id, read, ended, outcomes, refresh, checking, endJob } = await unread(NOTHING)
  await checking(['lxc:101', 'lxc:102'])

  await endJob('lxc:101', null, 'error', `, error = 'La cible n’a pas répondu.', error_code = 'command_failed'`)
  await endJob('lxc:102', null)
  await refresh(['lxc:102'])

  await ended(id, 'stopped')
  expect(await outcomes(id, 0)).toEqual({ 'lxc:101': 'impossible', 'lxc:102': 'nothing_to_do' })
  const [first] = (await read(id)).waves[0]?.jobs.filter(({ target }) => target === 'lxc:101') ?? []
  expect(first?.reason).toBe('Les listes de paquets n’ont pas été relues : La cible n’a pas répondu.')
})

test('a target with nothing to upgrade, one of whose repositories could not be read, is not called up to date', async () => {
  const { db, id, read, ended, refresh, checking, endJob } = await unread(NOTHING)
  await checking(['lxc:101', 'lxc:102'])
  await endJob('lxc:101', null)
  await endJob('lxc:102', null)
  await refresh(['lxc:101', 'lxc:102'])
  const finding = { code: 'repository_unreachable', severity: 'warning', message: 'Le dépôt x est injoignable.' }
  await db.run(`UPDATE checks SET summary = json_set(summary, '$.findings', json(?)) WHERE target = 'lxc:102'`, [
    JSON.stringify([{ ...finding, packages: [], repository: 'x', remedy: null }]),
  ])

  await ended(id, 'stopped')
  expect((await read(id)).waves[0]?.jobs).toMatchObject([
    { target: 'lxc:101', outcome: 'nothing_to_do', reason: null },
    { target: 'lxc:102', outcome: 'impossible', reason: 'Le dépôt x est injoignable.' },
  ])
})

test('a target whose apt was at work during its check, so that its lists are old, is not called up to date', async () => {
  const { app, db, id, read, ended, refresh, checking, endJob } = await unread(NOTHING)
  await checking(['lxc:101', 'lxc:102'])
  await endJob('lxc:101', null)
  await endJob('lxc:102', null)
  await refresh(['lxc:101', 'lxc:102'])
  const finding = { code: 'manager_locked', severity: 'warning', message: 'apt est en cours d’exécution.' }
  await db.run(
    `UPDATE checks SET summary = json_set(summary, '$.findings', json(?1)), checked_at = ?2, lists_at = '2026-03-01T10:00:00.000Z'
     WHERE target = 'lxc:102'`,
    [
      JSON.stringify([{ ...finding, packages: [], repository: null, remedy: null }]),
      app.services.clock().toISOString(),
    ],
  )

  await ended(id, 'stopped')
  expect((await read(id)).waves[0]?.jobs).toMatchObject([
    { target: 'lxc:101', outcome: 'nothing_to_do', reason: null },
    {
      target: 'lxc:102',
      outcome: 'impossible',
      reason: 'Les listes de paquets n’ont pas été relues : apt est en cours d’exécution.',
    },
  ])
})

test('a host that goes away during the checks is asked again while the window is open', async () => {
  const { app, box, id, read, until, refresh, checking, tick, endJob, jobsOf } = await unread()
  await checking(['lxc:101', 'lxc:102'])
  for (const target of ['lxc:101', 'lxc:102'])
    await endJob(target, null, 'error', `, error = 'connexion refusée', error_code = 'ssh_failed'`)

  // The host is asked again some seconds after the look that found the failure.
  await expect
    .poll(
      async () => {
        app.advance(2_000)
        await tick()
        return jobsOf(`kind = 'check' AND status = 'running'`)
      },
      { interval: 50 },
    )
    .toEqual(['lxc:101', 'lxc:102'])
  expect(await read(id)).toMatchObject({ state: 'running', reason: null })
  expect(box.planned).toEqual([])
  for (const target of ['lxc:101', 'lxc:102']) await endJob(target, null)
  await refresh(['lxc:101', 'lxc:102'])
  await until(id, 0, 'running')
})

test.each([
  ['regressed', null, 'stopped'],
  ['rollback_failed', null, 'stopped'],
  ['regressed', '{"by":"alice","at":"x","choice":"keep","job_id":null}', 'done'],
] as const)(
  'a container that an earlier upgrade has broken (%s, decided: %s) ends the next run as %s',
  async (outcome, decided, state) => {
    const plans = Object.fromEntries([101, 102, 103].map((n) => [n, { stdout: NO_UPGRADES }]))
    const { db, box, services, begin, ended, refresh, outcomes, stopped, jobsOf } = await waveApp({
      plans,
      isFresh: false,
    })
    await refresh(['lxc:101', 'lxc:102', 'lxc:103'])
    const at = services.clock().toISOString()
    const run = JSON.stringify({ protection: { on_failure: 'ask' }, regressions: [{}], decided: null }).replace(
      'null',
      decided ?? 'null',
    )
    await db.run(
      `INSERT INTO jobs (id, kind, args, queue, target, status, started_at, finished_at, started_by, launched, begun, outcome, protected, exit_code)
     SELECT 'old', 'upgrade', '{}', '', 'lxc:101', 'success', ?1, ?1, id, 1, 1, ?2, ?3, 0 FROM users WHERE username = 'alice'`,
      [at, outcome, run],
    )
    const id = await begin({ waves: [wave(['lxc:101', 'lxc:102']), wave('rest')], on_failure: 'continue' })

    const isStopped = state === 'stopped'
    expect(await ended(id, state)).toMatchObject({ reason: isStopped ? 'regressed' : null })
    expect(await outcomes(id, 0)).toEqual(
      isStopped
        ? { 'lxc:101': outcome, 'lxc:102': 'not_started' }
        : { 'lxc:101': 'nothing_to_do', 'lxc:102': 'nothing_to_do' },
    )
    expect(await outcomes(id, 1)).toEqual(isStopped ? { rest: 'not_started' } : { 'lxc:103': 'nothing_to_do' })
    expect(await stopped()).toHaveLength(isStopped ? 1 : 0)
    expect(box.planned).toHaveLength(isStopped ? 0 : 3)
    expect(await jobsOf(`id <> 'old'`)).toEqual([])
  },
)
