import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { built } from './built.ts'
import { freePort } from './free-port.ts'
import { testHypervisor } from './hypervisor.ts'
import { nodes } from './nodes.ts'
import { startDemo } from './runtime/demo.ts'
import { expectDocuments } from './served-documents.ts'
import { expectPanel } from './served-panel.ts'

let dist: string
let temp: string
let alone: string
let started: ChildProcess[] = []

// Built anew, so that the current source is tested; BUILT=1 takes the files that are there.
beforeAll(async () => {
  dist = await built()
  temp = await mkdtemp(join(tmpdir(), 'ops-panel-bundle-'))
})

afterAll(() => rm(temp, { recursive: true, force: true }))

beforeEach(async () => {
  alone = await mkdtemp(join(temp, 'alone-'))
  await copyFile(join(dist, 'ops-panel.mjs'), join(alone, 'ops-panel.mjs'))
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

test.for(nodes)(
  'copied alone into an empty folder the bundle serves, and SIGTERM ends it within 5 s, on %s',
  async (node) => {
    const port = await freePort()
    const service = start(node, { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') })
    const health = await answer(`http://127.0.0.1:${port}/api/health`, service)
    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ status: 'ok' })
    await expectDocuments(`http://127.0.0.1:${port}`)
    await expectPanel(`http://127.0.0.1:${port}`)
    expect(await readdir(alone)).toEqual(['data', 'ops-panel.mjs'])

    const stopping = performance.now()
    service.child.kill('SIGTERM')
    expect(await service.exit).toBe(0)
    expect(performance.now() - stopping).toBeLessThan(5_000)
  },
)

test.for(nodes)('imported by a program that runs it for others, like pm2, the bundle serves, on %s', async (node) => {
  const port = await freePort()
  await writeFile(join(alone, 'container.mjs'), 'process.argv.splice(2); import(process.env.pm_exec_path)')
  const env = {
    pm_exec_path: join(alone, 'ops-panel.mjs'),
    PANEL_PORT: String(port),
    PANEL_DATA_DIR: join(alone, 'data'),
  }
  const service = start(node, env, ['container.mjs'])
  expect((await answer(`http://127.0.0.1:${port}/api/health`, service)).status).toBe(200)
})

test.for(nodes)('an invalid variable stops the start and is named, on %s', async (node) => {
  const service = start(node, { PANEL_PORT: 'abc' })
  expect(await service.exit).toBe(1)
  expect(service.stderr()).toContain('PANEL_PORT')
  expect(await readdir(alone)).toEqual(['ops-panel.mjs'])
})

/** A preloaded module imitates file systems that refuse unnamed files. */
const NO_UNNAMED = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`import fs from 'node:fs'; const open = fs.openSync
    fs.openSync = (path, flags, mode) => { if (flags & 0o20000000) throw new Error('refused'); return open(path, flags, mode) }`)}`,
]

test.for(nodes)('where unnamed files are refused, libSQL is loaded from a file in the cache, on %s', async (node) => {
  const home = join(alone, 'home')
  await mkdir(home)
  const port = await freePort()
  const env = { XDG_CACHE_HOME: home, PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') }
  const service = start(node, env, NO_UNNAMED)
  expect((await answer(`http://127.0.0.1:${port}/api/health`, service)).status).toBe(200)
  expect(await readdir(join(home, 'ops-panel'))).toEqual([expect.stringMatching(/^libsql-[0-9a-f]{16}\.node$/)])
})

test.runIf(process.getuid?.() === 0).for(nodes)(
  'no library is loaded from a folder of another account, on %s',
  async (node) => {
    const [home, data] = [join(alone, 'home'), join(alone, 'data')]
    for (const folder of [join(home, 'ops-panel'), data]) {
      await mkdir(folder, { recursive: true })
      await chown(folder, 12_345, 12_345)
    }
    const service = start(node, { XDG_CACHE_HOME: home, PANEL_DATA_DIR: data, PANEL_PORT: '0' }, NO_UNNAMED)

    expect(await service.exit).toBe(1)
    expect(service.stderr()).toContain(`${data} appartient à un autre compte`)
    expect(await readdir(join(home, 'ops-panel'))).toEqual([])
  },
)

test.for(nodes)('while the service runs, the command line lists and rotates its keys, on %s', async (node) => {
  const port = await freePort()
  const env = { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') }
  const service = start(node, env)
  expect((await answer(`http://127.0.0.1:${port}/api/health`, service)).status).toBe(200)
  const command = async (...args: string[]) => {
    const { exit, stdout, stderr } = start(node, env, [], args)
    expect({ code: await exit, stderr: stderr() }).toEqual({ code: 0, stderr: '' })
    return stdout()
  }
  const line = /^[\w-]{43} {2}\d{4}-\d\d-\d\dT[\d:.]+Z {2}(signe|vérifie)$/

  const rotated = await command('keys', 'rotate')
  const keys = (await command('keys', 'list')).trimEnd().split('\n')

  expect(keys).toEqual([expect.stringMatching(line), expect.stringMatching(line)])
  expect(keys.map((key) => key.split('  ')[2])).toEqual(['signe', 'vérifie'])
  expect(rotated).toContain(keys[0]?.slice(0, 43))
  expect((await fetch(`http://127.0.0.1:${port}/api/health`)).status).toBe(200)
})

test.for(nodes)('while the service runs, doctor, backup and users work, on %s', async (node) => {
  const port = await freePort()
  const env = { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') }
  const service = start(node, env)
  expect((await answer(`http://127.0.0.1:${port}/api/health`, service)).status).toBe(200)
  const command = async (...args: string[]) => {
    const { exit, stdout, stderr } = start(node, env, [], args)
    return { code: await exit, stdout: stdout(), stderr: stderr() }
  }

  const [doctor, backup, users] = [await command('doctor'), await command('backup', 'b.db'), await command('users')]

  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(/^✓ La base de données répond\.\n/) })
  expect(doctor.stdout).toContain('« setup »')
  expect(backup).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Sauvegarde : /) })
  expect((await readdir(alone)).sort()).toEqual(['b.db', 'b.db.key', 'data', 'ops-panel.mjs'])
  expect(users).toEqual({ code: 0, stdout: 'Personne ne s’est encore connecté.\n', stderr: '' })
})

test.for(nodes)('an unknown command or flag gets a French error and exits with 2, on %s', async (node) => {
  const cases: [args: string[], expected: string][] = [
    [['frobnicate'], 'commande inconnue « frobnicate »'],
    [['keys', 'list', '--all'], 'n’a pas d’option'],
    [['--frobnicate'], 'une option seule n’est pas une commande'],
  ]
  const ended = await Promise.all(
    cases.map(async ([args]) => {
      const { exit, stdout, stderr } = start(node, {}, [], args)
      return { code: await exit, stdout: stdout(), stderr: stderr() }
    }),
  )

  for (const [at, [, expected]] of cases.entries()) {
    expect(ended[at]).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(expected) })
    expect(ended[at]?.stderr).toMatch(/^ops-panel : .*\. Voir ops-panel --help\.\n$/)
  }
  expect(await readdir(alone)).toEqual(['ops-panel.mjs'])
})

test.for(nodes)(
  'a command without the data of a service names what is missing, and creates nothing, on %s',
  async (node) => {
    const { exit, stderr } = start(node, {}, [], ['keys', 'rotate'])

    expect(await exit).toBe(1)
    expect(stderr()).toMatch(/^ops-panel : aucune base de données : .*panel\.db\..*PANEL_DATA_DIR\.\n$/)
    expect(await readdir(alone)).toEqual(['ops-panel.mjs'])
  },
)

test.for(nodes)('an upgrade to HTTP/2 without TLS is ignored: the request is answered, on %s', async (node) => {
  const port = await freePort()
  const service = start(node, { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') })
  const url = `http://127.0.0.1:${port}/api/health`
  await answer(url, service)

  const headers = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
  }
  const asked = request(url, { headers, agent: false })
  asked.end()
  const [response] = await once(asked, 'response')

  expect(response.statusCode).toBe(200)
  expect(JSON.parse(await text(response))).toMatchObject({ status: 'ok' })

  // The body is read as well, because it contains the reason of the refusal.
  const login = request(url.replace('health', 'auth/login'), { method: 'POST', headers, agent: false })
  login.end(JSON.stringify({ username: 'bob', password: '' }))
  const [refusal] = await once(login, 'response')
  expect(JSON.parse(await text(refusal))).toMatchObject({ code: 'credentials_missing' })
})

test.for(nodes)(
  'clients that break off in the middle of such an upgrade do not end the service, on %s',
  async (node) => {
    const port = await freePort()
    const service = start(node, { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') })
    const url = `http://127.0.0.1:${port}/api/health`
    await answer(url, service)

    for (const upgrade of ['h2c', 'websocket']) {
      for (let n = 0; n < 50; n += 1) {
        const client = connect(port, '127.0.0.1')
        await once(client, 'connect')
        client.write(`GET /api/health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`)
        if (n % 2) await setImmediate()
        client.resetAndDestroy()
      }
    }

    expect((await fetch(url)).status).toBe(200)
    expect(service.child.exitCode).toBeNull()
  },
)

test.for(nodes)('an API with its own certificate is used once that is trusted, on %s', async (node) => {
  const [demo, hypervisor] = [await startDemo(), await testHypervisor()]
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/api`
  const host = { PANEL_SSH_HOST: `127.0.0.1:${demo.port}`, PANEL_SSH_USERNAME: demo.service.username }
  const data = { PANEL_PORT: String(port), PANEL_DATA_DIR: join(alone, 'data') }
  const service = start(node, { ...data, ...host, PANEL_SSH_PASSWORD: demo.service.password })
  await answer(`${url}/health`, service)
  const body = JSON.stringify({ username: 'demo', password: 'demo' })
  const login = Object(await (await fetch(`${url}/auth/login`, { method: 'POST', body })).json())
  const headers = { authorization: `Bearer ${login.access_token}` }
  const list = async () => (await fetch(`${url}/hypervisor/containers`, { headers })).json()
  const settle = (settings: object) =>
    fetch(`${url}/settings`, { method: 'PATCH', headers, body: JSON.stringify(settings) })

  await settle({ hypervisor_url: hypervisor.url, hypervisor_token: hypervisor.token })
  expect(await list()).toMatchObject({ code: 'hypervisor_certificate' })
  expect(hypervisor.requests).toEqual([])
  await settle({ hypervisor_fingerprint: hypervisor.fingerprint, current_password: 'demo' })
  expect(await list()).toHaveLength(3)
  const before = hypervisor.requests.length
  hypervisor.behave = (_, response) => Boolean(response.destroy())
  expect(await list()).toMatchObject({ code: 'hypervisor_unreachable' })
  expect(hypervisor.requests).toHaveLength(before + 1)
})

function start(node: string, variables: Record<string, string>, options: string[] = [], args: string[] = []) {
  const env = { PATH: process.env.PATH ?? '', HOME: alone, ...variables }
  const child = spawn(node, [...options, 'ops-panel.mjs', ...args], {
    cwd: alone,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  // 'close' rather than 'exit', because all output has arrived then.
  const exit = once(child, 'close').then(([code]) => code)
  return { child, exit, stdout: () => stdout, stderr: () => stderr }
}

async function answer(url: string, { child, stderr }: ReturnType<typeof start>): Promise<Response> {
  // Only a service that hangs takes this long: on a busy machine, a start of half a second takes ten.
  const until = performance.now() + 60_000
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
