import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Account } from '../../demo/account.ts'
import { type Command, script } from '../../ssh/command.ts'
import { IDENTIFY } from '../../ssh/identity-script.ts'
import { SshError } from '../../ssh/connection.ts'
import { hostOf, startDemo, textOf } from '../runtime/demo.ts'

const never = (words: readonly string[]) => (words[0] === 'wait' ? new Promise<number>(() => {}) : undefined)
const LIST: Command = ['/usr/sbin/pct', 'list']

test('a command runs to its end and returns its output, its errors and its code', async () => {
  const demo = await startDemo()
  const { host } = await hostOf(demo)

  expect(await host.exec(['id', '-u'])).toEqual({ code: 0, stdout: '0\n', stderr: '' })
  expect(await host.exec(['no-such-program'])).toEqual({
    code: 127,
    stdout: '',
    stderr: 'sh: 1: no-such-program: not found\n',
  })
  expect(demo.connections).toBe(1)
})

test('forty simultaneous commands all succeed, though a connection carries ten', async () => {
  const demo = await startDemo()
  demo.override = (words) => (words[0] === 'slow' ? pause(50).then(() => 0) : undefined)
  const { host } = await hostOf(demo)

  const outputs = await Promise.all(Array.from({ length: 40 }, () => host.exec(['slow'])))

  expect(outputs.every(({ code }) => code === 0)).toBe(true)
  expect(demo.connections).toBeGreaterThan(1)
  expect(demo.connections).toBeLessThanOrEqual(8)
})

test('two hundred simultaneous streams are all served', async () => {
  const demo = await startDemo()
  const { host } = await hostOf(demo)

  const streams = await Promise.all(Array.from({ length: 200 }, () => host.stream(['id', '-u'])))
  const texts = await Promise.all(streams.map(async ({ read, end }) => ({ text: await textOf(read), ...(await end) })))

  expect(texts.filter(({ text, code }) => text === '0\n' && code === 0)).toHaveLength(200)
})

test('a command that takes too long is given up, and the next one works', async () => {
  const demo = await startDemo()
  demo.override = never
  const { host } = await hostOf(demo)

  await expect(host.exec(['wait'], { timeoutMs: 100 })).rejects.toMatchObject({
    name: 'SshError',
    message: expect.stringContaining('0.1 s'),
  })

  expect((await host.exec(['id', '-u'])).stdout).toBe('0\n')
})

test('given-up commands do not use up the connection', async () => {
  const demo = await startDemo()
  demo.override = never
  const { host } = await hostOf(demo)

  for (let round = 0; round < 3; round += 1) {
    const waits = Array.from({ length: 8 }, () => host.exec(['wait'], { timeoutMs: 50 }))
    for (const { status } of await Promise.allSettled(waits)) expect(status).toBe('rejected')
  }

  expect((await host.exec(['id', '-u'])).code).toBe(0)
  expect(demo.connections).toBeLessThanOrEqual(4)
})

test('a cut connection fails its commands, and the next command reconnects', async () => {
  const demo = await startDemo()
  demo.override = never
  const { host } = await hostOf(demo)
  const waiting = Array.from({ length: 3 }, () => host.exec(['wait']))
  await expect.poll(() => demo.commands.filter(([name]) => name === 'wait').length).toBe(3)

  demo.cut()

  for (const result of await Promise.allSettled(waiting)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'SshError', reason: 'lost' } })
  }
  expect((await host.exec(['id', '-u'])).stdout).toBe('0\n')
})

test('a wrong service password is an SshError, and further calls do not try it again', async () => {
  const demo = await startDemo({ wrongMs: 1_000 })
  const { host } = await hostOf(demo, { password: 'wrong' })

  const results = await Promise.allSettled(Array.from({ length: 20 }, () => host.exec(['true'])))

  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'SshError', reason: 'bad_credentials' } })
  }
  const started = performance.now()
  await expect(host.exec(['true'])).rejects.toBeInstanceOf(SshError)
  expect(performance.now() - started).toBeLessThan(900)
  expect(demo.commands).toEqual([])
})

const ACCOUNTS: Record<string, Account> = {
  asks: { password: 'pw-of-asks', uid: 1200, groups: ['asks', 'sudo'], sudo: 'password' },
  free: { password: 'pw-of-free', uid: 1201, groups: ['free', 'sudo'], sudo: 'nopasswd' },
  rule: { password: 'pw-of-rule', uid: 1202, groups: ['rule'], sudo: 'rule' },
  none: { password: 'pw-of-none', uid: 1203, groups: ['none'] },
}

test.each([
  ['asks', 'password'],
  ['free', 'sudo'],
  ['rule', 'rule'],
])('the account %s lists containers by way of %s, and its password is in no command line', async (username, mode) => {
  const demo = await startDemo({ users: ACCOUNTS })
  const password = `pw-of-${username}`
  const { host, lines } = await hostOf(demo, { username, password })

  expect(await host.elevation()).toBe(mode)
  const { code, stdout } = await host.exec(LIST, { rights: 'command' })

  expect(code).toBe(0)
  expect(stdout).toContain('101')
  expect(JSON.stringify(demo.commands)).not.toContain(password)
  expect(lines().join()).not.toContain(password)
  expect((await host.exec(['id', '-u'])).stdout).toBe(`${ACCOUNTS[username]?.uid}\n`)
})

test('root uses no sudo, and an account without rights gets none', async () => {
  const demo = await startDemo({ users: ACCOUNTS })
  const { host: root } = await hostOf(demo)
  const { host: none } = await hostOf(demo, { username: 'none', password: 'pw-of-none' })

  expect(await root.elevation()).toBe('root')
  expect((await root.exec(LIST, { rights: 'command' })).code).toBe(0)
  expect(demo.commands.flat()).not.toContain('sudo')
  expect(await none.elevation()).toBe('rule')
  expect(await none.exec(LIST, { rights: 'command' })).toMatchObject({ stdout: '', code: 1 })
})

test('a script is elevated as a whole, unless a rule allows only single commands', async () => {
  const demo = await startDemo({ users: ACCOUNTS })
  const whoami = script(IDENTIFY, 'x', 'mark')
  const uid = async (username: string) => {
    const { host } = await hostOf(demo, { username, password: `pw-of-${username}` })
    return (await host.exec(whoami, { rights: 'script' })).stdout.split('\0')[2]
  }

  expect([await uid('asks'), await uid('free'), await uid('rule')]).toEqual(['0', '0', '1202'])
})

test('the elevation is determined once', async () => {
  const demo = await startDemo({ users: ACCOUNTS })
  const { host } = await hostOf(demo, { username: 'free', password: 'pw-of-free' })

  await Promise.all(Array.from({ length: 5 }, () => host.exec(LIST, { rights: 'command' })))
  await host.exec(LIST, { rights: 'command' })

  expect(demo.commands.filter((words) => words[3] === 'ops-panel-elevation')).toHaveLength(1)
})

test('the first key is pinned; a host with another key is refused from then on', async () => {
  const demo = await startDemo()
  const { host, settings } = await hostOf(demo)
  await host.exec(['true'])
  expect((await settings.sshServer()).hostKey).toBe(demo.hostKey)

  const { port } = demo
  await demo.close()
  const other = await startDemo({ port })

  await expect(host.exec(['true'])).rejects.toMatchObject({ name: 'SshError', reason: 'host_key_changed' })
  await expect(host.signIn('demo', 'demo')).rejects.toMatchObject({ reason: 'host_key_changed' })
  expect(other.commands).toEqual([])
  expect((await settings.sshServer()).hostKey).toBe(demo.hostKey)
})

test('a login check identifies the account, and leaves no connection behind', async () => {
  const users = { nologin: { password: 'pw', uid: 1300, groups: ['nologin'], shell: 'nologin' as const } }
  const demo = await startDemo({ users })
  const { host } = await hostOf(demo)

  expect(await host.signIn('demo', 'demo')).toEqual({
    claim: { identity: { name: 'demo', uid: 1000, groups: ['demo', 'sudo'] }, runs: true },
  })
  expect(await host.signIn('nologin', 'pw')).toEqual({ claim: { identity: null, runs: false } })
  await expect(host.signIn('demo', 'wrong')).rejects.toMatchObject({ reason: 'bad_credentials' })
  await expect(host.signIn('nobody', '')).rejects.toMatchObject({ reason: 'bad_credentials' })

  await expect.poll(() => demo.connections).toBe(0)
})

test('a login check needs only the host, not the service account', async () => {
  const demo = await startDemo()
  const { host } = await hostOf(demo, { username: '', password: '' })

  expect(await host.signIn('guest', 'guest')).toEqual({
    claim: { identity: { name: 'guest', uid: 1001, groups: ['guest'] }, runs: true },
  })
  await expect(host.exec(['true'])).rejects.toMatchObject({ name: 'Failure', code: 'ssh_incomplete' })
})

test('few login checks run at once, and a full queue refuses others without a try', async () => {
  const demo = await startDemo({ wrongMs: 100 })
  const { host } = await hostOf(demo)
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, demo.connections)
  }, 2)

  const checks = Array.from({ length: 35 }, () => host.signIn('demo', 'wrong'))
  const results = await Promise.allSettled(checks)
  clearInterval(watch)

  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(30)
  expect(results.slice(30)).toEqual(Array(5).fill({ status: 'fulfilled', value: undefined }))
  expect(most).toBeLessThanOrEqual(8)
  expect(await host.signIn('demo', 'demo')).toMatchObject({ claim: { identity: { uid: 1000 } } })
})

test('another account is identified, whatever its name is', async () => {
  const demo = await startDemo()
  const { host } = await hostOf(demo)

  expect(await host.inspect('demo')).toEqual({
    name: 'demo',
    uid: 1000,
    groups: ['demo', 'sudo'],
    shell: '/bin/bash',
    sudo: undefined,
    localPassword: true,
    overdue: undefined,
  })
  for (const name of ['nobody-here', '-u', '$(id)', '']) expect(await host.inspect(name)).toBe('gone')
})

test('closing a stream in the middle ends the command, and frees its slot', async () => {
  const demo = await startDemo()
  let running = 0
  let settled = 0
  demo.override = (words, { signal, stdout }) => {
    if (words[0] !== 'tick') return undefined
    running += 1
    signal.addEventListener('abort', () => {
      running -= 1
    })
    return stdout('tick\n').then(() => new Promise(() => {}))
  }
  const { host } = await hostOf(demo)

  for (let round = 0; round < 30; round += 1) {
    const { read, end, close } = await host.stream(['tick'])
    end.catch(() => (settled += 1))
    await read((chunk) => {
      expect(chunk.toString()).toBe('tick\n')
      close()
      return undefined
    })
  }

  await expect.poll(() => running).toBe(0)
  await expect.poll(() => settled).toBe(30)
  const before = demo.connections
  const again = await Promise.all(Array.from({ length: 8 }, () => host.stream(['tick'])))
  expect(demo.connections).toBe(before)
  for (const { close, end } of again) {
    end.catch(() => {})
    close()
  }
})

test('a stream that is closed without being read rejects as lost', async () => {
  const demo = await startDemo()
  demo.override = never
  const { host } = await hostOf(demo)
  const { end, close } = await host.stream(['wait'])

  close()

  await expect(end).rejects.toBeInstanceOf(SshError)
})

test('a stream that is closed twice during a read ends', async () => {
  const demo = await startDemo()
  demo.override = (words, { signal, stdout }) => {
    if (words[0] !== 'tick') return undefined
    return (async () => {
      while (!signal.aborted) {
        await stdout('tick\n')
        await pause(2)
      }
      return 0
    })()
  }
  const { host } = await hostOf(demo)
  const { read, end, close } = await host.stream(['tick'])
  end.catch(() => {})

  let pieces = 0
  await read((): Promise<void> | undefined => {
    pieces += 1
    if (pieces !== 5) return undefined
    close()
    // Nothing of the first one is in progress any more.
    return pause(0).then(close)
  })

  expect(pieces).toBe(5)
})

test('a flood on stderr does not delay stdout', async () => {
  const demo = await startDemo()
  demo.override = (words, { stdout, stderr }) => {
    if (words[0] !== 'loud') return undefined
    return (async () => {
      for (let round = 0; round < 64; round += 1) await stderr('e'.repeat(64 * 1024))
      await stdout('done\n')
      return 0
    })()
  }
  const { host } = await hostOf(demo)
  const { read, end } = await host.stream(['loud'])

  expect(await textOf(read)).toBe('done\n')
  expect((await end).stderr).toHaveLength(4 * 1024 * 1024)
})

test('after a close nothing begins, running commands fail, and the connection ends', async () => {
  const demo = await startDemo()
  demo.override = never
  const { host } = await hostOf(demo)
  const waiting = host.exec(['wait'])
  await expect.poll(() => demo.commands.length).toBe(1)

  host.close()

  await expect(waiting).rejects.toBeInstanceOf(SshError)
  await expect(host.exec(['true'])).rejects.toBeInstanceOf(SshError)
  await expect.poll(() => demo.connections).toBe(0)
})

test('overlong answers free their slots', async () => {
  const demo = await startDemo()
  const block = Buffer.alloc(1024 * 1024, 'x')
  demo.override = (words, { stdout }) => {
    if (words[0] !== 'flood') return undefined
    return (async () => {
      for (let round = 0; round < 20; round += 1) await stdout(block)
      return 0
    })()
  }
  const { host } = await hostOf(demo)

  for (let round = 0; round < 12; round += 1) await expect(host.exec(['flood'])).rejects.toThrow(SshError)

  expect(await host.exec(['true'])).toMatchObject({ code: 0 })
  expect(demo.connections).toBe(1)
})
