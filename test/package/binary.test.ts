import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { freePort } from '../free-port.ts'
import { startDemo } from '../runtime/demo.ts'
import { expectDocuments } from '../served-documents.ts'
import { expectPanel } from '../served-panel.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BINARY = process.env.TEST_BINARY ?? join(ROOT, 'dist/ops-panel')
const ADDON = join(ROOT, `node_modules/@libsql/linux-${process.arch}-gnu/index.node`)
/** Patience on a machine under load. */
const START_MS = 60_000

/** A root folder that contains only the executable and the libraries that it and libSQL's addon are linked with. */
let jail: string
beforeAll(async () => {
  jail = await mkdtemp(join(tmpdir(), 'ops-panel-binary-'))
  const { stdout } = await run('ldd', [BINARY, ADDON])
  const libraries = new Set(Array.from(stdout.matchAll(/\/\S+\.so\S*/g), ([path]) => path))
  for (const path of libraries) {
    await mkdir(join(jail, dirname(path)), { recursive: true })
    await copyFile(path, join(jail, path))
  }
  await copyFile(BINARY, join(jail, 'ops-panel'))
  return () => rm(jail, { recursive: true, force: true })
})

test('the executable serves with the C libraries alone: no HOME, no /tmp, no /proc, no /dev', async () => {
  const demo = await startDemo()
  const port = await freePort()
  const { child, log } = start({
    PANEL_PORT: String(port),
    PANEL_DATA_DIR: '/data',
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
  })
  const url = `http://127.0.0.1:${port}/api`
  await expect.poll(() => status(`${url}/health`), { timeout: START_MS }).toBe(200)
  const body = JSON.stringify({ username: 'demo', password: 'demo' })
  const login = await (await fetch(`${url}/auth/login`, { method: 'POST', body })).json()
  const headers = { authorization: `Bearer ${z.object({ access_token: z.string() }).parse(login).access_token}` }
  const started = await fetch(`${url}/updates/run`, { method: 'POST', headers, body: '{"target":"lxc:101"}' })
  const { job_id } = z.object({ job_id: z.string() }).parse(await started.json())
  const job = async () => (await fetch(`${url}/updates/jobs/${job_id}`, { headers })).json()
  await expect.poll(job, { timeout: START_MS }).toMatchObject({ status: 'success', exit_code: 0 })
  await expectDocuments(`http://127.0.0.1:${port}`)
  await expectPanel(`http://127.0.0.1:${port}`)

  const ended = once(child, 'close')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(log()).not.toContain('"level":"error"')
  // The data folder is the only writable place, so it contains the addon.
  expect(await readdir(join(jail, 'data'))).toContainEqual(expect.stringMatching(/^libsql-[0-9a-f]{16}\.node$/))
})

test('the executable runs commands there too, and --version writes nothing', async () => {
  const before = await readdir(jail)
  expect(await typed({}, '--version')).toEqual({ code: 0, text: `${await version()}\n` })
  expect(await readdir(jail)).toEqual(before)
  expect((await typed({}, '--help')).text).toContain('PANEL_DATA_DIR')
  expect(await typed({ PANEL_DATA_DIR: '/data' }, 'users')).toMatchObject({ code: 0 })
  expect(await typed({ PANEL_DATA_DIR: '/nothing' }, 'users')).toMatchObject({
    code: 1,
    text: expect.stringContaining('aucune base de données'),
  })
})

test('the executable does not obey options of Node', async () => {
  const code = 'process.stdout.write("obeyed");process.exit(3)'
  expect(await typed({}, '-e', code)).toMatchObject({ code: 2, text: expect.stringContaining('commande inconnue') })
  const preload = `--import=data:text/javascript,${encodeURIComponent(code)}`
  expect(await typed({ NODE_OPTIONS: preload }, '--version')).toEqual({ code: 0, text: `${await version()}\n` })
})

test('a build in another folder is identical, byte for byte', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'ops-panel-build-')), 'another-place')
  onTestFinished(() => rm(dirname(folder), { recursive: true, force: true }))
  await copySources(folder)
  for (const words of [[], ['binary']]) await run(process.execPath, ['build.mjs', ...words], { cwd: folder })
  const sums = async (cwd: string) => (await run('sha256sum', ['ops-panel', 'ops-panel.mjs'], { cwd })).stdout

  const made = await sums(dirname(BINARY))

  expect(made).toMatch(/^[0-9a-f]{64} {2}ops-panel\n[0-9a-f]{64} {2}ops-panel\.mjs\n$/)
  expect(await sums(join(folder, 'dist'))).toBe(made)
}, 300_000)

/**
 * Copies the files that git tracks or would add, and links the packages: without the caches beside them, in which vitest
 * makes and removes files all the time.
 */
async function copySources(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules'), { recursive: true })
  const copy = `
    comm -z -23 <(git ls-files -z --cached --others --exclude-standard | sort -z) <(git ls-files -z --deleted | sort -z) |
      xargs -0 cp -a --parents -t "$0" &&
      find node_modules -mindepth 1 -maxdepth 1 ! -name '.[cv]*' -exec cp -al -t "$0/node_modules" {} +`
  await run('bash', ['-c', `set -o pipefail; ${copy}`, folder], { cwd: ROOT })
}

function start(env: Record<string, string>, ...words: string[]) {
  // The environment contains nothing else, not even PATH.
  const program = ['-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), '/usr/sbin/chroot']
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    '/usr/bin/env',
    [...program, jail, '/ops-panel', ...words],
    { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part))
  return { child, log: () => text }
}

async function typed(env: Record<string, string>, ...words: string[]): Promise<{ code: number | null; text: string }> {
  const { child, log } = start(env, ...words)
  const [code] = await once(child, 'close')
  return { code, text: log() }
}

function status(url: string): Promise<number> {
  return fetch(url).then(
    (answer) => answer.status,
    () => pause(50, 0),
  )
}

async function version(): Promise<string> {
  const { stdout } = await run('sed', ['-n', 's/.*"version": "\\(.*\\)".*/\\1/p', join(ROOT, 'package.json')])
  return stdout.trim()
}
