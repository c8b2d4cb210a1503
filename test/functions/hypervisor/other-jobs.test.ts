import { expect, test } from 'vitest'
import * as z from 'zod'
import { endJob, findJob } from '../../../db/jobs.ts'
import pruneJobs from '../../../functions/jobs/prune-jobs.task.ts'
import { testApp } from '../../app.ts'
import { NOW } from '../../db/database.ts'
import { recordJob, storeOutput } from '../../db/job.ts'
import { parseExposition, sampleOf } from '../../exposition.ts'
import { startDemo } from '../../runtime/demo.ts'
import { issue, openSocket, startService } from '../../serve/service.ts'
import { controlledOutput } from '../../runtime/upgrade-output.ts'

const Started = z.object({ task: z.string() })
const Task = z.object({ status: z.string(), exit_status: z.string().nullable(), log: z.array(z.string()) })
const Listed = z.array(z.looseObject({ vmid: z.number(), status: z.string() }))

/** Starts the service for an imitated host, and signs in an administrator of it. */
async function start(env: Record<string, string> = {}) {
  const demo = await startDemo()
  const service = await startService(demo, env)
  const { token } = await issue(service.folder, 900, { isAdmin: true })
  const ask = (method: string, path: string) =>
    fetch(service.url + path, { method, headers: { authorization: `Bearer ${token}` } })
  const task = async (id: string) => Task.parse(await (await ask('GET', `/api/hypervisor/tasks/${id}`)).json())
  return {
    ...service,
    demo,
    ask,
    task,
    /** Starts an action on a container, and returns the task. */
    async act(vmid: number, action: string): Promise<string> {
      return Started.parse(await (await ask('POST', `/api/hypervisor/containers/${vmid}/${action}`)).json()).task
    },
    async ended(id: string) {
      await expect.poll(async () => (await task(id)).status).toBe('stopped')
      return task(id)
    },
    async statusOf(vmid: number) {
      const list = Listed.parse(await (await ask('GET', '/api/hypervisor/containers')).json())
      return list.find((one) => one.vmid === vmid)?.status
    },
  }
}

test('from end to end: starts and stops show in their task and in the list', async () => {
  const { act, ended, statusOf } = await start()
  expect(await statusOf(103)).toBe('stopped')

  for (const [action, status] of [
    ['start', 'running'],
    ['reboot', 'running'],
    ['shutdown', 'stopped'],
    ['start', 'running'],
    ['stop', 'stopped'],
  ] as const) {
    expect(await ended(await act(103, action))).toEqual({ status: 'stopped', exit_status: 'OK', log: [] })
    expect(await statusOf(103)).toBe(status)
  }
})

test('a refusal of the container tool ends the task', async () => {
  const { act, ended } = await start()

  expect(await ended(await act(101, 'start'))).toEqual({
    status: 'stopped',
    exit_status: 'CT 101 already running',
    log: ['CT 101 already running'],
  })
})

test('such a job is no upgrade: not in the history, by id, on a socket, cancellable, or counted', async () => {
  const { act, ended, ask, url, token } = await start({ PANEL_METRICS: 'on' })
  const id = await act(101, 'stop')
  await ended(id)

  expect(await (await ask('GET', '/api/updates/history')).json()).toBeNull()
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/output'],
    ['POST', '/cancel'],
  ] as const)
    expect((await ask(method, `/api/updates/jobs/${id}${path}`)).status).toBe(404)
  const signedIn = openSocket(url, `/ws/updates/${id}`, { token })
  const anonymous = openSocket(url, `/ws/updates/${id}`)
  expect([await signedIn.end, await anonymous.end]).toEqual([4404, 4404])
  expect([signedIn.events, anonymous.events]).toEqual([[], []])

  const samples = parseExposition(await (await fetch(`${url}/metrics`)).text())
  const counted = (kind: string) => sampleOf(samples, 'ops_panel_jobs', { kind, status: 'success' })
  expect([counted('container'), counted('upgrade')]).toEqual([1, 0])
})

test('an upgrade is not a task of a container', async () => {
  const { run, ask, job } = await start()
  const id = await run('lxc:101')
  await expect.poll(async () => (await job(id))?.status).toBe('success')

  expect((await ask('GET', `/api/hypervisor/tasks/${id}`)).status).toBe(404)
})

test('a container can be stopped during its upgrade, and two actions on it run one after the other', async () => {
  const { demo, act, ended, run, job, task } = await start()
  const output = controlledOutput(demo)
  const upgrade = await run('lxc:102')
  output.print('un\n')
  await expect.poll(async () => (await job(upgrade))?.output).toBe('un\n')
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  demo.override = (words) => (words.join(' ') === '/usr/sbin/pct shutdown 102' ? held.then(() => 0) : undefined)

  const first = await act(102, 'shutdown')
  const second = await act(102, 'stop')
  const other = await act(101, 'stop')

  await ended(other)
  await expect.poll(async () => (await task(second)).log.join()).toContain(`En attente de la fin de la tâche ${first}`)
  expect(await task(first)).toEqual({ status: 'running', exit_status: null, log: [] })
  release()
  expect(await ended(first)).toMatchObject({ exit_status: 'OK' })
  expect(await ended(second)).toMatchObject({ exit_status: 'OK' })
  expect((await job(upgrade))?.status).toBe('running')
})

test('a restarted service follows a running action to its end', async () => {
  const demo = await startDemo()
  const before = await startService(demo)
  const { token } = await issue(before.folder, 900, { isAdmin: true })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  demo.override = (words) => (words.join(' ') === '/usr/sbin/pct stop 101' ? held.then(() => 0) : undefined)
  const headers = { authorization: `Bearer ${token}` }
  const path = '/api/hypervisor/containers/101/stop'
  const { task } = Started.parse(await (await fetch(before.url + path, { method: 'POST', headers })).json())
  await expect.poll(() => demo.commands.some((words) => words.includes('stop'))).toBe(true)
  await before.stop()

  const after = await startService(demo, { PANEL_DATA_DIR: before.folder })
  const reported = async () =>
    Task.parse(await (await fetch(`${after.url}/api/hypervisor/tasks/${task}`, { headers })).json())
  expect(await reported()).toMatchObject({ status: 'running' })
  release()

  await expect.poll(reported).toEqual({ status: 'stopped', exit_status: 'OK', log: [] })
})

test('their output does not count among the kept outputs of upgrades', async () => {
  const { db, services } = await testApp([])
  for (const [id, kind] of [
    ['upgrade 1', 'upgrade'],
    ['upgrade 2', 'upgrade'],
    ['task 1', 'container'],
    ['task 2', 'container'],
  ] as const) {
    const followed = await recordJob(db, id, { kind })
    await storeOutput(db, followed, ['words'])
    await endJob(db, followed, { status: 'success', error: null, error_code: null, exit_code: 0 }, { now: NOW })
  }

  await pruneJobs.run({ ...services, config: { ...services.config, keepJobs: 1 } })

  const kept = async (id: string) => (await findJob(db, id))?.output_from === 0
  expect(await Promise.all(['upgrade 1', 'upgrade 2', 'task 1', 'task 2'].map(kept))).toEqual([
    false,
    true,
    false,
    true,
  ])
})
