import ssh2 from 'ssh2'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DemoHost, startDemoHost } from '../../demo/host.ts'
import { newHostKey } from '../../demo/host-key.ts'
import { script } from '../../ssh/command.ts'
import { ELEVATION, IDENTIFY, INSPECT } from '../../ssh/identity-script.ts'
import { connect, exec, run, signIn } from './client.ts'

let host: DemoHost

beforeEach(async () => {
  host = await startDemoHost({
    wrongMs: 20,
    users: {
      expired: { password: 'pw', uid: 1100, groups: ['expired'], expired: true },
      nologin: { password: 'pw', uid: 1101, groups: ['nologin'], shell: 'nologin' },
      keen: { password: 'pw', uid: 1102, groups: ['keen', 'sudo'], sudo: 'nopasswd' },
      rule: { password: 'pw', uid: 1103, groups: ['rule'], sudo: 'rule' },
    },
  })
})

afterEach(() => host.close())

const identify = () => script(IDENTIFY, 'ops-panel-identify', 'mark')
const inspect = (name: string) => script(INSPECT, 'ops-panel-inspect', 'mark', name)
/** Shows the NULs of an answer as bars. */
const barred = ({ code, stdout }: { code: unknown; stdout: string }) => [code, stdout.replaceAll('\0', '|')]
const as = (username: string, password: string) => connect({ port: host.port, username, password })

test('identifies the signed-in account and other accounts', async () => {
  const demo = await as('demo', 'demo')
  const guest = await as('guest', 'guest')

  expect(barred(await run(demo, identify()))).toEqual([0, 'mark|demo|1000|demo|sudo|mark|'])
  expect(barred(await run(guest, identify()))).toEqual([0, 'mark|guest|1001|guest|mark|'])
  expect(barred(await run(guest, inspect('nobody-here')))).toEqual([0, 'mark|gone|mark|'])
  const [code, reported] = barred(await run(guest, inspect('demo')))
  expect([code, reported]).toEqual([
    0,
    expect.stringMatching(/^mark\|demo\|1000\|\/bin\/bash\|unseen\|\|\d+\|unasked\|demo\|sudo\|mark\|$/),
  ])
})

test('the service account is root, with a password that only this start accepts', async () => {
  const other = await startDemoHost()
  const { username, password } = host.service
  const client = await as(username, password)

  expect(barred(await run(client, identify()))).toEqual([0, 'mark|panel|0|root|mark|'])
  expect(other.service.password).not.toBe(password)
  expect(other.hostKey).not.toBe(host.hostKey)
  expect(host.hostKey).toMatch(/^ssh-ed25519 SHA256:[\w+/]{43}$/)

  await other.close()
})

test('refuses a wrong password and an unknown account', async () => {
  expect(await signIn({ port: host.port, username: 'demo', password: 'no' })).toBe('refused')
  expect(await signIn({ port: host.port, username: 'toString', password: '' })).toBe('refused')
  expect(host.commands).toEqual([])
})

test('an expired account is hung up on, neither ready nor refused', async () => {
  expect(await signIn({ port: host.port, username: 'expired', password: 'pw' })).toBe('ended')
})

test('an account without a shell signs in and runs nothing', async () => {
  const client = await as('nologin', 'pw')

  expect(await exec(client, 'id -u')).toMatchObject({ code: 1, stdout: 'This account is currently not available.\n' })
})

test('accepts the password by keyboard-interactive where the host offers only that', async () => {
  const other = await startDemoHost({ method: 'keyboard-interactive' })
  const login = { port: other.port, username: 'demo', password: 'demo' }

  expect(await signIn({ ...login, method: 'password' })).toBe('refused')
  const client = await connect({ ...login, method: 'keyboard-interactive' })
  expect((await exec(client, 'id -u')).stdout).toBe('1000\n')

  await other.close()
})

test.each([
  ['demo', 'demo', 'password\n'],
  ['guest', 'guest', 'rule\n'],
  ['keen', 'pw', 'sudo\n'],
  ['rule', 'pw', 'rule\n'],
])('reports how %s gains rights', async (username, password, mode) => {
  const client = await as(username, password)

  const { stdout } = await run(client, script(ELEVATION, 'ops-panel-elevation'), `${password}\n`)

  expect(stdout).toBe(mode)
})

test('sudo asks for the password on stdin, and a rule allows single commands only', async () => {
  const demo = await as('demo', 'demo')
  const rule = await as('rule', 'pw')
  const list = '/usr/sbin/pct list'

  expect(await exec(demo, list)).toMatchObject({ code: 255, stdout: '' })
  expect(await exec(demo, `sudo -n ${list}`)).toMatchObject({ code: 1, stderr: 'sudo: a password is required\n' })
  expect(await exec(demo, `sudo -k -S -p '' -- ${list}`, 'no\n')).toMatchObject({ code: 1, stdout: '' })
  expect((await exec(demo, `sudo -k -S -p '' -- ${list}`, 'demo\n')).stdout).toContain('101')
  expect((await exec(rule, `sudo -n ${list}`)).stdout).toContain('101')
  expect(await exec(rule, `sudo -n env LC_ALL=C ${list}`)).toMatchObject({ code: 1, stdout: '' })
})

test('refuses the eleventh session of a connection, until one has ended', async () => {
  const client = await as('demo', 'demo')
  host.override = (words) => (words[0] === 'wait' ? new Promise(() => {}) : undefined)
  const sessions = Array.from({ length: 10 }, () => exec(client, 'wait'))
  await expect.poll(() => host.commands.length).toBe(10)

  await expect(exec(client, 'true')).rejects.toThrow('Channel open failure')

  host.cut()
  await Promise.allSettled(sessions)
  const again = await as('demo', 'demo')
  for (let round = 0; round < 12; round += 1) expect((await exec(again, 'true')).code).toBe(0)
})

test('a login fails while the host accepts no connections', async () => {
  host.accepting = false
  expect(await signIn({ port: host.port, username: 'demo', password: 'demo' })).not.toBeInstanceOf(Object)

  host.accepting = true
  expect(await signIn({ port: host.port, username: 'demo', password: 'demo' })).toBeInstanceOf(Object)
})

test('another host with the same key can take over the port', async () => {
  const { port, privateKey, hostKey } = host
  await as('demo', 'demo')
  await host.close()

  host = await startDemoHost({ port, privateKey })

  expect(host.port).toBe(port)
  expect(host.hostKey).toBe(hostKey)
})

test('every new host key can be read', () => {
  const keys = Array.from({ length: 1000 }, () => ssh2.utils.parseKey(newHostKey()))

  expect(keys.filter((key) => key instanceof Error)).toEqual([])
})
