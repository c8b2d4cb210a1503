import { expect, test } from 'vitest'
import { endJob, findJob } from '../../../db/jobs.ts'
import { saveUser } from '../../../db/users.ts'
import cancel from '../../../functions/jobs/cancel.post.ts'
import history from '../../../functions/jobs/history.get.ts'
import job from '../../../functions/jobs/job.get.ts'
import { START, testApp } from '../../app.ts'
import { recordJob } from '../../db/job.ts'
import { startDemo } from '../../runtime/demo.ts'
import { openSocket, startService } from '../../serve/service.ts'
import { controlledOutput } from '../../runtime/upgrade-output.ts'
import { answered, audited, refused } from '../answers.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const

/** The app with a running job of bob's that another instance follows. */
async function cancelApp() {
  const app = await testApp([cancel, history, job])
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  const followed = await recordJob(app.db, 'job', { target: 'lxc:101', queue: 'lxc/101' })
  const path = (id = 'job') => `/api/updates/jobs/${id}/cancel`
  return { ...app, followed, path, own: (id?: string) => app.request('POST', path(id), { headers }) }
}

test('the user who started a job may cancel it: 202, and the canceller is recorded', async () => {
  const { own, db } = await cancelApp()

  expect(await answered(await own(), 202)).toEqual({ message: 'Annulation demandée.' })

  expect(await findJob(db, 'job')).toMatchObject({ status: 'running', cancelled_by: 'bob' })
})

test('the request is audited with the job and its target', async () => {
  const { own, db } = await cancelApp()

  await own()

  expect(await audited(db)).toEqual([
    {
      at: START.toISOString(),
      action: 'update_cancel',
      user_id: 1,
      username: 'bob',
      target: 'lxc:101',
      ip: expect.any(String),
      details: { job_id: 'job' },
    },
  ])
})

test('an administrator may cancel any job', async () => {
  const { request, path, db } = await cancelApp()

  await answered(await request('POST', path(), { as: 'admin' }), 202)

  expect(await findJob(db, 'job')).toMatchObject({ cancelled_by: 'alice' })
})

test('other users get 403; no cancellation is requested and nothing is audited', async () => {
  const { own, db } = await cancelApp()
  const { id } = await saveUser(db, 'carol', false, START.toISOString())
  await recordJob(db, 'hers', { started_by: id })

  const { error } = await refused(await own('hers'), 403, 'forbidden')

  expect(error).not.toBe('')
  expect(await findJob(db, 'hers')).toMatchObject({ status: 'running', cancelled_by: null })
  expect(await audited(db)).toEqual([])
})

test('a second request is 202 too and does not change the recorded canceller', async () => {
  const { own, request, path, db } = await cancelApp()
  await answered(await own(), 202)

  await answered(await request('POST', path(), { as: 'admin' }), 202)
  await answered(await own(), 202)

  expect(await findJob(db, 'job')).toMatchObject({ cancelled_by: 'bob' })
})

test('a job that has ended gives 409, and keeps its result', async () => {
  const { own, db, followed } = await cancelApp()
  await endJob(db, followed, SUCCESS, { now: START.toISOString() })

  const { error } = await refused(await own(), 409, 'job_ended')

  expect(error).toBe('Cette tâche est déjà terminée.')
  expect(await findJob(db, 'job')).toMatchObject({ status: 'success', cancelled_by: null })
  expect(await audited(db)).toEqual([])
})

test('a missing job gives 404, for everybody', async () => {
  const { own, request, path, db } = await cancelApp()

  await refused(await own('none'), 404, 'job_missing')
  await refused(await request('POST', path('none'), { as: 'admin' }), 404, 'job_missing')

  expect(await audited(db)).toEqual([])
})

test('from end to end: a running job is cancelled, and every endpoint reports it', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { url, token, request, run } = await startService(demo)
  const id = await run('lxc:101')
  const socket = openSocket(url, `/ws/updates/${id}`, { token })
  output.print('un\n')
  await expect.poll(() => socket.text()).toBe('un\n')

  expect((await request('POST', `/api/updates/jobs/${id}/cancel`)).status).toBe(202)

  expect(await socket.end).toBe(1000)
  const text = 'un\ndpkg n’a rien laissé d’inachevé.\nAnnulé par bob'
  expect(socket.text()).toBe(text)
  const size = Buffer.byteLength(text)
  expect(socket.last()).toMatchObject({ type: 'update_error', seq: size, data: { error: 'Annulé par bob' } })
  const record = { job_id: id, target: 'lxc:101', status: 'error', output: text }
  expect(await (await request('GET', '/api/updates/history')).json()).toMatchObject([record])
  expect(await (await request('GET', `/api/updates/jobs/${id}`)).json()).toMatchObject({
    ...record,
    exit_code: 143,
    output_size: size,
  })
  expect(await (await request('GET', `/api/updates/jobs/${id}/output`)).json()).toEqual({
    chunk: text,
    offset: 0,
    next_offset: size,
    ended: true,
  })
  expect((await request('POST', `/api/updates/jobs/${id}/cancel`)).status).toBe(409)
  const late = openSocket(url, `/ws/updates/${id}`, { token })
  expect(await late.end).toBe(1000)
  expect([late.text(), late.last()]).toEqual([text, socket.last()])
})
