import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { built } from './built.ts'
import { startLibsqlServer } from './libsql-server.ts'
import { nodes } from './nodes.ts'
import { startDemo } from './runtime/demo.ts'
import { functionClient, ways } from './serve/function-client.ts'
import { functionEnvironment } from './serve/function-environment.ts'

/** The file for function hosts, and the program's file, which has the same exports. */
const [NAME, PROGRAM] = ['ops-panel-fetch.mjs', 'ops-panel.mjs'] as const

let alone: string
beforeAll(async () => {
  const dist = await built()
  alone = await mkdtemp(join(tmpdir(), 'ops-panel-fetch-'))
  for (const name of [NAME, PROGRAM]) await copyFile(join(dist, name), join(alone, name))
})
afterAll(() => rm(alone, { recursive: true, force: true }))

test('the bundle imports only Node’s own modules, and contains no addon', async () => {
  const file = join(alone, NAME)
  const { metafile } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  })
  const { imports, exports } = Object.values(metafile.outputs)[0] ?? { imports: [], exports: [] }
  const text = await readFile(file, 'utf8')

  expect(imports.length).toBeGreaterThan(10)
  expect(imports.filter(({ path }) => !isBuiltin(path))).toEqual([])
  expect(exports).toEqual(['default', 'handler'])
  expect(text).not.toMatch(/dlopen|libsql-native|neon-rs/)
})

/** Imports the file like a function host, and answers messages through its exports. */
const hostOf = (name: string) => `
  import entry, { handler } from './${name}'
  process.on('message', async ({ path, event }) => {
    if (event) return process.send({ result: await handler(event) })
    const response = await entry.fetch(new Request('https://panel.test' + path))
    const body = await response.text()
    process.send({ result: { status: response.status, body: body.startsWith('{') ? JSON.parse(body) : body } })
  })`

const each = nodes.flatMap((node) => [NAME, PROGRAM].map((name): [string, string] => [name, node]))

test.for(each)('%s, copied alone into an empty folder, serves on %s, and writes nothing', async ([name, node]) => {
  const demo = await startDemo()
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  const child = spawn(node, ['--input-type=module', '-e', hostOf(name)], {
    cwd: alone,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { HOME: alone, ...functionEnvironment(server.url, demo) },
  })
  onTestFinished(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  const ask = async (message: { path: string } | { event: object }): Promise<unknown> => {
    child.send(message)
    const [{ result }] = await once(child, 'message')
    return result
  }
  const fetch = () => Promise.reject(new Error('not by this way'))
  const client = functionClient(async () => ways.gateway({ fetch, handler: (event) => ask({ event }) }))

  expect(await ask({ path: '/api/health' })).toMatchObject({ status: 200, body: { status: 'ok' } })
  const page = z.object({ status: z.literal(200), body: z.string() }).parse(await ask({ path: '/updates' }))
  const [script = ''] = /\/panel\/main-\w+\.js/.exec(page.body) ?? []
  expect(await ask({ path: script })).toMatchObject({
    status: 200,
    body: expect.stringContaining('/api/install/status'),
  })
  expect((await client.signIn()).status).toBe(200)
  const poller = client.poller(await client.start('lxc:101'))
  while (!poller.ended()) await poller.poll()

  expect(poller.text()).toContain('upgraded')
  expect((await readdir(alone)).sort()).toEqual([NAME, PROGRAM])
})
