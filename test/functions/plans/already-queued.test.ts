import { expect, test } from 'vitest'
import { audited, refused, rows } from '../answers.ts'
import { planApp } from './plan-host.ts'

const RUN = '/api/updates/run'

test('a second run of a target without a plan is refused with the job of the first, until that one has ended', async () => {
  const { app, send, start } = await planApp({ isBusy: true })
  const first = await start({ target: 'host' })

  const own = await refused(await send('POST', RUN, { target: 'host' }), 409, 'already_queued')
  const other = await app.request('POST', RUN, { as: 'admin', body: { target: 'host' } })

  expect(own).toEqual({
    error:
      'Une mise à jour de cette cible est déjà en cours ou en attente : suivez-la, ou faites un plan pour la suivante.',
    code: 'already_queued',
    job_id: first,
  })
  expect(await refused(other, 409, 'already_queued')).toMatchObject({ job_id: first })
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([{ id: first }])
  expect(await audited(app.db)).toHaveLength(1)
  await app.db.run(`UPDATE jobs SET status = 'success'`)
  expect(await start({ target: 'host' })).not.toBe(first)
})

test('a run waits beside that of another target, also one that covers it', async () => {
  const { app, start } = await planApp({ isBusy: true })

  for (const target of ['lxc:101', 'lxc:0101', 'all', 'host']) await start({ target })

  expect(await rows(app.db, `SELECT id FROM jobs WHERE status = 'running'`)).toHaveLength(4)
})

test('of ten runs of a target at the same moment one starts, and the others name it', async () => {
  const { app, send } = await planApp({ isBusy: true })

  const answers = await Promise.all(Array.from({ length: 10 }, () => send('POST', RUN, { target: 'lxc:101' })))

  expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(409)])
  const [job] = await rows(app.db, 'SELECT id FROM jobs')
  for (const answer of answers.filter(({ status }) => status === 409))
    expect(await refused(answer, 409, 'already_queued')).toMatchObject({ job_id: job?.id })
  expect(await rows(app.db, 'SELECT id FROM jobs')).toHaveLength(1)
  expect(await audited(app.db)).toHaveLength(1)
})

test('a run with a plan waits behind one without, which is then refused with the job that works', async () => {
  const { app, store, send, start } = await planApp({ isBusy: true })
  await store('p')
  const works = await start({ target: 'host' })
  const waits = await start({ target: 'host', plan: 'p' })
  const refusal = async () => refused(await send('POST', RUN, { target: 'host' }), 409, 'already_queued')

  expect(await refusal()).toMatchObject({ job_id: works })
  await app.db.run(`UPDATE jobs SET status = 'success' WHERE id = ?`, [works])
  expect(await refusal()).toMatchObject({ job_id: waits })
})

test('a plan of several targets keeps out the run of one of them without a plan', async () => {
  const { app, store, send } = await planApp({ isBusy: true })
  for (const n of [101, 102]) await store(`p${n}`, { target: `lxc:${n}` })
  expect((await send('POST', '/api/updates/runs', { plans: ['p101', 'p102'] })).status).toBe(202)

  const { job_id } = await refused(await send('POST', RUN, { target: 'lxc:102' }), 409, 'already_queued')

  expect(await rows(app.db, `SELECT id FROM jobs WHERE target = 'lxc:102'`)).toEqual([{ id: job_id }])
})

test('a target whose queue is full for the user names its job all the same', async () => {
  const { store, send, start } = await planApp({ isBusy: true })
  const first = await start({ target: 'host' })
  for (const plan of ['a', 'b']) await start({ target: 'host', plan: await store(plan) })
  await store('c')

  await refused(await send('POST', RUN, { target: 'host', plan: 'c' }), 429, 'queue_full')
  expect(await refused(await send('POST', RUN, { target: 'host' }), 409, 'already_queued')).toMatchObject({
    job_id: first,
  })
})
