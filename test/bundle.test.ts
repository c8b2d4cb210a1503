import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
/** The project's own Node, and the machine's, which npm scripts hide behind it. */
const machine = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((file) => !file.includes('node_modules') && existsSync(file))
const nodes = [...new Set([process.execPath, machine ?? process.execPath])]

let temp: string
let alone: string
let started: ChildProcess[] = []

// Always made anew, so that what is tested is the source as it is now.
beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'build.mjs')])
  temp = await mkdtemp(join(tmpdir(), 'ops-panel-bundle-'))
}, 60_000)

afterAll(() => rm(temp, { recursive: true, force: true }))

beforeEach(async () => {
  alone = await mkdtemp(join(temp, 'alone-'))
  await copyFile(join(root, 'dist/ops-panel.mjs'), join(alone, 'ops-panel.mjs'))
})

afterEach(async () => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  started = []
})

test.for(nodes)('copied alone into an empty folder it serves, and SIGTERM ends it within 5 s, on %s', async (node) => {
  const port = await freePort()
  const service = start(node, { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') })
  const health = await answer(`http://127.0.0.1:${port}/api/health`, service)
  expect(health.status).toBe(200)
  expect(await health.json()).toMatchObject({ status: 'ok' })
  expect(await readdir(alone)).toEqual(['data', 'ops-panel.mjs'])

  const stopping = performance.now()
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(0)
  expect(performance.now() - stopping).toBeLessThan(5_000)
})

test.for(nodes)('a wrong variable stops the start and is named, on %s', async (node) => {
  const service = start(node, { PANEL_PORT: 'abc' })
  expect(await service.exit).toBe(1)
  expect(service.stderr()).toContain('PANEL_PORT')
  expect(await readdir(alone)).toEqual(['ops-panel.mjs'])
})

test.for(nodes)('where unnamed files are refused, libSQL is loaded from a file in the cache, on %s', async (node) => {
  // As some file systems do: a preloaded module stands in for them.
  const home = join(alone, 'home')
  await mkdir(home)
  const refuse = `import fs from 'node:fs'; const open = fs.openSync
    fs.openSync = (path, flags, mode) => { if (flags & 0o20000000) throw new Error('refused'); return open(path, flags, mode) }`
  const preload = `data:text/javascript,${encodeURIComponent(refuse)}`
  const service = start(node, { XDG_CACHE_HOME: home }, ['--import', preload], ['--version'])
  expect(await service.exit).toBe(0)
  expect(await readdir(join(home, 'ops-panel'))).toEqual([expect.stringMatching(/^libsql-[0-9a-f]{16}\.node$/)])
})

function start(node: string, variables: Record<string, string>, options: string[] = [], args: string[] = []) {
  const env = { PATH: process.env.PATH ?? '', HOME: alone, ...variables }
  const child = spawn(node, [...options, 'ops-panel.mjs', ...args], {
    cwd: alone,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.push(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  // 'close' rather than 'exit': what was written has then arrived.
  const exit = once(child, 'close').then(([code]) => code)
  return { child, exit, stderr: () => stderr }
}

async function answer(url: string, { child, stderr }: ReturnType<typeof start>): Promise<Response> {
  const until = performance.now() + 10_000
  for (;;) {
    try {
      return await fetch(url)
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}: ${stderr()}`)
      if (performance.now() > until) throw error
      await pause(50)
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
