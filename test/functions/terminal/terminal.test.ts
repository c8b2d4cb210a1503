import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { DemoHost } from '../../../demo/host.ts'
import terminalSocket from '../../../functions/terminal/terminal.ws.ts'
import type { Config } from '../../../platform/config.ts'
import { testApp } from '../../app.ts'
import { hostOf, startDemo } from '../../runtime/demo.ts'
import { listening } from '../../serve/listening.ts'
import { issue, openSocket, startService } from '../../serve/service.ts'
import { openTerminal, type Terminal } from '../../terminal-client.ts'

const Row = z.object({ action: z.string(), username: z.string(), target: z.string(), details: z.string().nullable() })
const ENTRIES = "SELECT action, username, target, details FROM audit WHERE action LIKE 'terminal%' ORDER BY id"

/** Terminals of an imitated host, and an administrator. */
async function start({
  demo,
  ssh = {},
  config = {},
}: {
  demo?: DemoHost
  ssh?: Partial<Config['ssh']>
  config?: Partial<Config>
} = {}) {
  const imitated = demo ?? (await startDemo())
  const app = await testApp([])
  const { host } = await hostOf(imitated, ssh)
  const services = { ...app.services, host, config: { ...app.services.config, ...config } }
  const { url } = await listening(services, { sockets: [terminalSocket] })
  const token = await app.tokenFor('admin')
  return {
    ...app,
    demo: imitated,
    host,
    url,
    token,
    open: (target: string, size?: Parameters<typeof openTerminal>[2]) => openTerminal({ url, token }, target, size),
    entries: () => app.db.query(Row, ENTRIES),
  }
}

const prompt = (terminal: Terminal) => terminal.until(/[#$] $/)

test('a shell on the host: input is echoed, its size follows a resize, and its exit code is reported at the end', async () => {
  const { open, entries, advance } = await start()
  const terminal = await open('host', { cols: 90, rows: 30 })

  await prompt(terminal)
  terminal.type('stty size\r')
  await terminal.until('30 90\r\n')
  terminal.tell({ type: 'resize', cols: 1000, rows: 1 })
  await prompt(terminal)
  terminal.type('stty size\r')
  await terminal.until('1 1000\r\n')
  terminal.type('echo é€😀\r')
  await terminal.until('\r\né€😀\r\n')
  expect(await entries()).toEqual([{ action: 'terminal_open', username: 'alice', target: 'host', details: null }])
  advance(61_000)
  terminal.type('exit 7\r')

  expect(await terminal.closed).toEqual({ code: 1000, word: '' })
  expect(terminal.exit()).toEqual({ type: 'exit', code: 7 })
  expect((await entries()).slice(1)).toEqual([
    { action: 'terminal_close', username: 'alice', target: 'host', details: '{"seconds":61,"code":7}' },
  ])
})

test.each([
  ['root', {}],
  ['sudo without its password', { username: 'quick', password: 'q' }],
  ['sudo with its password', { username: 'demo', password: 'demo-geheim-1' }],
  ['a rule for single commands', { username: 'ruled', password: 'r' }],
])('a shell in a container with %s: nothing before it is passed on', async (_, ssh) => {
  const demo = await startDemo({
    users: {
      demo: { password: 'demo-geheim-1', uid: 1000, groups: ['demo'], sudo: 'password' },
      quick: { password: 'q', uid: 1002, groups: ['quick'], sudo: 'nopasswd' },
      ruled: { password: 'r', uid: 1003, groups: ['ruled'], sudo: 'rule' },
    },
  })
  const { open } = await start({ demo, ssh })
  const terminal = await open('lxc:101')

  await prompt(terminal)
  terminal.type('whoami\r')

  await terminal.until('root\r\n')
  expect(terminal.seen()).toMatch(/^Imitation/)
  expect(terminal.seen()).toContain('root@web')
  expect(terminal.seen()).not.toMatch(/ops-panel|geheim/)
})

test('input typed before the shell starts reaches it', async () => {
  const { open } = await start()
  const terminal = await open('lxc:102')

  terminal.type('hostname\r')

  await terminal.until('db\r\n')
})

test('Ctrl-C ends an endless program', async () => {
  const { open } = await start()
  const terminal = await open('host')
  await prompt(terminal)
  terminal.type('yes\r')
  await terminal.until('y\r\ny\r\n')

  terminal.type('\x03')

  await terminal.until('^C')
  await prompt(terminal)
})

test.each([
  ['lxc:103', 1000, 'Le conteneur 103 n’est pas démarré.'],
  ['lxc:999', 1000, 'Le conteneur 999 n’existe pas.'],
  ['all', 1008, 'Cible invalide : all'],
  ['lxc:', 1008, 'Cible invalide : lxc:'],
  ['', 1008, 'Cible invalide : '],
  [`lxc:${'1'.repeat(61)}`, 1008, `Cible invalide : lxc:${'1'.repeat(61)}`],
])('the target %j gets the French reason why there is no shell', async (target, code, reason) => {
  const { open, entries } = await start()
  const terminal = await open(target)

  expect((await terminal.closed).code).toBe(code)
  expect(terminal.exit()).toEqual({ type: 'exit', code: null, reason })
  expect(await entries()).toEqual([])
})

test('a terminal that was refused ends no other one, which has taken over its connection', async () => {
  const { demo, host, open } = await start()
  // Pins the key of the host, before which a connection is not used again.
  await host.exec(['id', '-u'])
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const refused = await open('lxc:103')
  await refused.closed
  const connections = demo.connections
  const other = await open('lxc:101')
  await prompt(other)
  expect(demo.connections).toBe(connections)

  // Longer than a host may take to confirm a close.
  await vi.advanceTimersByTimeAsync(3_000)

  other.type('echo here\r')
  await other.until('here\r\n')
  expect(other.exit()).toBeUndefined()
})

test.each([{ cols: 0 }, { rows: 0 }, { cols: 1001 }, { rows: '' }, { cols: 'x' }, { rows: 1.5 }])(
  'an invalid size closes with 1008: %j',
  async (size) => {
    const { open, demo } = await start()

    expect((await (await open('host', size)).closed).code).toBe(1008)
    expect(demo.signIns).toEqual([])
  },
)

test.each([
  'x',
  '',
  '{}',
  'null',
  '{"type":"resize"}',
  '{"type":"resize","cols":0,"rows":1}',
  '{"type":"resize","cols":1,"rows":1001}',
  '{"type":"resize","cols":"80","rows":24}',
  '{"type":"exit"}',
])('an invalid control frame closes with 1008: %s', async (text) => {
  const { open, entries } = await start()
  const terminal = await open('host')
  await prompt(terminal)

  terminal.ws.send(text)

  expect(await terminal.closed).toEqual({ code: 1008, word: 'malformed_frame' })
  await expect.poll(entries).toHaveLength(2)
})

test('an ordinary user is closed with 4403, a stranger with 4401, a foreign page refused with 403', async () => {
  const { url, token, tokenFor, demo } = await start()
  const path = `${terminalSocket.path}?target=host`

  expect(await openSocket(url, path, { token: await tokenFor('user') }).end).toBe(4403)
  expect(await openSocket(url, path).end).toBe(4401)
  expect(await openSocket(url, path, { token: 'a.b.c' }).end).toBe(4401)
  const foreign = openSocket(url, path, { token, headers: { origin: 'https://evil.example' } })
  await expect.poll(() => foreign.refused()).toMatchObject({ status: 403 })
  expect(demo.signIns).toEqual([])
})

test('eight terminals at once; the ninth is refused until one of them ends', async () => {
  const { open } = await start()
  const eight = await Promise.all(Array.from({ length: 8 }, (_, n) => open(n % 2 ? 'host' : 'lxc:101')))
  for (const terminal of eight) await prompt(terminal)

  const ninth = await open('host')

  expect(await ninth.closed).toEqual({ code: 1013, word: 'terminals_busy' })
  expect(ninth.exit()).toEqual({
    type: 'exit',
    code: null,
    reason: 'Trop de terminaux sont ouverts (8 au plus) : fermez-en un.',
  })
  for (const terminal of eight) expect(terminal.ws.readyState).toBe(terminal.ws.OPEN)
  eight[0]?.type('exit\r')
  await eight[0]?.closed
  const next = await open('host')
  await prompt(next)
})

test('a terminal through which nothing comes or goes is closed with a reason', async () => {
  const { open, entries } = await start({ config: { terminalIdleMs: 500 } })
  const terminal = await open('host')
  await prompt(terminal)

  expect(await terminal.closed).toEqual({ code: 1000, word: '' })

  expect(terminal.exit()).toMatchObject({
    code: null,
    reason: expect.stringMatching(/^Le terminal a été fermé après .* d’inactivité\.$/),
  })
  expect((await entries()).map(({ action }) => action)).toEqual(['terminal_open', 'terminal_close'])
})

test('the end of the session that opened it closes the terminal with 4401, and ends its shell', async () => {
  const { open, entries, services } = await start()
  const terminal = await open('host')
  await prompt(terminal)

  services.sessions.endHere('1')

  expect((await terminal.closed).code).toBe(4401)
  await expect.poll(entries).toHaveLength(2)
})

test('an expired token closes the terminal with 4401, unless a new one has arrived in time', async () => {
  const { open, tokenFor, advance } = await start()
  // Three seconds of its fifteen minutes are left.
  advance(897_000)
  const [left, renewed] = [await open('host'), await open('host')]
  await prompt(left)
  await prompt(renewed)

  renewed.tell({ type: 'auth', token: await tokenFor('admin') })

  expect((await left.closed).code).toBe(4401)
  // The first token would have expired before.
  renewed.type('echo still here\r')
  await renewed.until('\r\nstill here\r\n')
})

test('input waits until the user is recorded; if that fails, nothing is typed', async () => {
  const typed: string[] = []
  let closed = 0
  const never = new Promise<never>(() => {})
  const shell = {
    read: () => never,
    write: (bytes: Buffer) => void typed.push(bytes.toString()),
    resize: () => {},
    end: never,
    close: () => {
      closed += 1
    },
  }
  const app = await testApp([])
  const { host } = await hostOf(await startDemo())
  const services = { ...app.services, host: { ...host, terminal: async () => shell } }
  const { url } = await listening(services, { sockets: [terminalSocket] })
  const token = await app.tokenFor('admin')
  const begun = await openTerminal({ url, token }, 'host')
  begun.type('first\r')
  await expect.poll(() => typed).toEqual(['first\r'])
  expect(await app.db.query(Row, ENTRIES)).toHaveLength(1)
  await app.db.script('ALTER TABLE audit RENAME TO away')

  const terminal = await openTerminal({ url, token }, 'host')
  terminal.type('second\r')

  expect((await terminal.closed).code).toBe(1011)
  expect(typed).toEqual(['first\r'])
  expect(closed).toBe(1)
  await app.db.script('ALTER TABLE away RENAME TO audit')
})

test('a lost connection ends the terminal with a reason', async () => {
  const { open, demo, entries } = await start()
  const terminal = await open('host')
  await prompt(terminal)

  demo.cut()

  expect((await terminal.closed).code).toBe(1000)
  expect(terminal.exit()).toEqual({ type: 'exit', code: null, reason: 'La connexion avec l’hôte a été perdue.' })
  expect(await entries()).toHaveLength(2)
})

test('a silent host ends the terminal with a reason', async () => {
  const { open, demo } = await start()
  await demo.close()

  const terminal = await open('lxc:101')

  expect((await terminal.closed).code).toBe(1000)
  expect(terminal.exit()).toMatchObject({ code: null, reason: expect.stringMatching(/^Erreur SSH : /) })
})

test('a client that disconnects frees its terminal, also while its shell is being opened', async () => {
  const { open } = await start()

  for (let n = 0; n < 20; n += 1) (await open(n % 2 ? 'host' : 'lxc:101')).ws.terminate()

  await expect
    .poll(
      async () => {
        const terminal = await open('host')
        await Promise.race([terminal.closed, expect.poll(() => terminal.seen()).toMatch(/# $/)])
        const { readyState, OPEN } = terminal.ws
        return readyState === OPEN
      },
      { timeout: 20_000 },
    )
    .toBe(true)
})

test('when the service stops the terminal closes with 1001, and its end is audited', async () => {
  const demo = await startDemo()
  const { url, folder, stop } = await startService(demo)
  const { token } = await issue(folder, 900, { isAdmin: true })
  const terminal = await openTerminal({ url, token }, 'host')
  await prompt(terminal)

  await stop()

  expect((await terminal.closed).code).toBe(1001)
  const db = await openDatabase(`file:${folder}/panel.db`)
  expect((await db.query(Row, ENTRIES)).map(({ action }) => action)).toEqual(['terminal_open', 'terminal_close'])
  await db.close()
})

test('shells run concurrently', async () => {
  const { open } = await start()
  const [one, two] = [await open('host'), await open('lxc:101')]
  await prompt(one)
  await prompt(two)

  one.type('yes\r')
  two.type('hostname\r')

  await two.until('web\r\n')
  await one.until('y\r\ny\r\n')
})
