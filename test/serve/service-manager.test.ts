import { chmod, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { serviceManager } from '../../serve/service-manager.ts'
import { temporaryFolder } from '../db/folder.ts'
import { startProgram } from './program.ts'

/** A folder with a stand-in for systemd's program, which records its calls. */
async function standIn(script = '') {
  const folder = await temporaryFolder()
  const [program, calls] = [join(folder, 'systemd-notify'), join(folder, 'heard')]
  await writeFile(program, `#!/bin/sh\nprintf '%s|' "$NOTIFY_SOCKET" "$@" >>'${calls}'\necho >>'${calls}'\n${script}`)
  await chmod(program, 0o755)
  return {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    notified: async () => (await readFile(calls, 'utf8').catch(() => '')).split('\n').slice(0, -1),
  }
}

const READY = '/run/notify|READY=1|STATUS=En service.|'
const STOPPING = '/run/notify|STOPPING=1|STATUS=Arrêt demandé.|'

test.each([
  ['one process', 'none'],
  ['a process that owns the port', 'process'],
])('started as %s, the program reports that it serves, and that it stops', async (_, PANEL_DEPLOYER) => {
  const { PATH, notified } = await standIn()
  const data = join(await temporaryFolder(), 'data')
  const program = startProgram({ PATH, NOTIFY_SOCKET: '/run/notify', PANEL_DATA_DIR: data, PANEL_DEPLOYER })

  await vi.waitUntil(async () => (await notified()).length > 0, { timeout: 30_000 })
  expect(program.stdout()).toContain('"msg":"ready"')
  program.kill('SIGTERM')
  expect(await program.ended).toBe(0)
  await vi.waitUntil(async () => (await notified()).length > 1)

  expect(await notified()).toEqual([READY, STOPPING])
  expect(program.stderr()).toBe('')
})

test('a program that does not start never reports that it serves', async () => {
  const { PATH, notified } = await standIn()
  const program = startProgram({
    PATH,
    NOTIFY_SOCKET: '/run/notify',
    PANEL_DATA_DIR: '/dev/null/data',
    PANEL_DEPLOYER: 'process',
  })

  expect(await program.ended).toBe(1)
  expect(await notified()).toEqual([])
})

test('a command reports nothing, nor does a service without a supervisor', async () => {
  const { PATH, notified } = await standIn()

  await startProgram({ PATH, NOTIFY_SOCKET: '/run/notify' }, 'users').ended
  await serviceManager({ PATH }, () => {}).ready()

  expect(await notified()).toEqual([])
})

test('a failed notification is reported', async () => {
  const { PATH } = await standIn('echo "no such socket" >&2; exit 1')
  const complaints: string[] = []

  await serviceManager({ PATH, NOTIFY_SOCKET: '/run/notify' }, (text) => complaints.push(text)).ready()

  expect(complaints).toEqual([expect.stringContaining('no such socket')])
})
