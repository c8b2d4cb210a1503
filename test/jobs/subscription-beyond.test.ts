import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import type { DemoHost } from '../../demo/host.ts'
import { temporaryFolder } from '../db/folder.ts'
import { startDemo } from '../runtime/demo.ts'
import { issue, openSocket } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

/** Starts the service in a process of its own, so that the test can kill it if it hangs. */
async function startProcess(demo: DemoHost) {
  const folder = await temporaryFolder()
  const child = spawn(process.execPath, [new URL('../../serve/main.ts', import.meta.url).pathname], {
    env: {
      PATH: process.env.PATH,
      PANEL_PORT: '0',
      PANEL_DATA_DIR: folder,
      PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
      PANEL_SSH_USERNAME: demo.service.username,
      PANEL_SSH_PASSWORD: demo.service.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  await expect.poll(() => log, { timeout: 30_000 }).toContain('"msg":"ready"')
  const url = /"url":"([^"]+)"/.exec(log)?.[1] ?? ''
  const { token } = await issue(folder, 900)
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/api/updates/run`, { method: 'POST', headers, body: '{"target":"lxc:101"}' })
  const { job_id: id } = z.object({ job_id: z.string() }).parse(await answer.json())
  const healthy = async () => (await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(1_000) })).status
  return { subscribe: (query = '') => openSocket(url, `/ws/updates/${id}${query}`, { token }), healthy }
}

test.each([4, 4_000_000_000])('a from beyond the end of an ended job (%i) gets the end and 1000', async (from) => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { subscribe, healthy } = await startProcess(demo)
  output.print('un\n')
  output.end()
  await subscribe().end

  const beyond = subscribe(`?from=${from}`)

  await expect.poll(() => beyond.closed()?.code, { timeout: 2_000 }).toBe(1000)
  expect(beyond.events.map(({ type, seq }) => [type, seq])).toEqual([['update_done', 3]])
  expect(await healthy()).toBe(200)
})

test('a from beyond the output of a running job blocks nobody, and later output is sent', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { subscribe, healthy } = await startProcess(demo)
  output.print('un\n')
  const first = subscribe()
  await expect.poll(() => first.text()).toBe('un\n')

  const beyond = subscribe('?from=1000')
  await beyond.opened
  expect(await healthy()).toBe(200)
  output.print('deux\n')
  await expect.poll(() => first.text(), { timeout: 2_000 }).toBe('un\ndeux\n')
  output.end()

  await expect.poll(() => beyond.closed()?.code, { timeout: 2_000 }).toBe(1000)
  expect(beyond.text()).not.toContain('un')
  expect(beyond.last()).toMatchObject({ type: 'update_done', seq: 8 })
})
