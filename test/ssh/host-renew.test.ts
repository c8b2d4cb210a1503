import { expect, onTestFinished, test } from 'vitest'
import type { DemoHost } from '../../demo/host.ts'
import { createHost } from '../../ssh/host.ts'
import type { SshError } from '../../ssh/connection.ts'
import { hostOf, startDemo, textOf } from '../runtime/demo.ts'

const asked = ({ commands }: DemoHost) => commands.filter((words) => words[3] === 'ops-panel-elevation').length
const namesOf = ({ commands }: DemoHost) => commands.map(([name]) => name)

/** The connected host over its settings; it applies each change of them, as in the service. */
async function connected(demo: DemoHost) {
  const place = await hostOf(demo)
  place.settings.onChange(() => place.host.renew())
  await place.host.exec(['before'])
  expect(demo.connections).toBe(1)
  return place
}

const settingsFor = ({ port, service }: DemoHost) => ({
  ssh_host: `127.0.0.1:${port}`,
  ssh_username: service.username,
  ssh_password: service.password,
  ssh_host_key: '',
})

test('another host is used at once: the idle connection to the previous one ends', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { host, settings } = await connected(one)

  await settings.change(settingsFor(two))

  await expect.poll(() => one.connections).toBe(0)
  await host.exec(['after'])
  expect(namesOf(two)).toContain('after')
  expect(namesOf(one)).not.toContain('after')
  expect((await settings.sshServer()).hostKey).toBe(two.hostKey)
})

test('the elevation of a new account is determined at once, before a command needs it', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { settings } = await connected(one)

  await settings.change(settingsFor(two))

  await expect.poll(() => asked(two)).toBe(1)
  expect(asked(one)).toBe(0)
})

test('the elevation is determined again even with the same settings, because it may have changed', async () => {
  const demo = await startDemo()
  const { host } = await connected(demo)
  await host.elevation()
  await host.elevation()
  expect(asked(demo)).toBe(1)

  host.renew()

  await expect.poll(() => asked(demo)).toBe(2)
})

test('a command right after a renewal works, even with the same settings', async () => {
  const demo = await startDemo()
  const { host } = await hostOf(demo, { hostKey: demo.hostKey })
  await host.exec(['before'])

  host.renew()

  expect((await host.exec(['id', '-u'])).stdout).toBe('0\n')
})

test('a refused password does not block the new one', async () => {
  const demo = await startDemo()
  const { host, settings } = await hostOf(demo, { password: 'wrong' })
  settings.onChange(() => host.renew())
  await expect(host.exec(['before'])).rejects.toMatchObject({ reason: 'bad_credentials' })

  await settings.change({ ssh_password: demo.service.password })

  expect((await host.exec(['id', '-u'])).stdout).toBe('0\n')
  expect(namesOf(demo)).not.toContain('before')
})

test('a refused password does not block the same one either, after a renewal', async () => {
  const account = (password: string) => ({ late: { password, uid: 0, groups: ['root'] } })
  const before = await startDemo({ users: account('not yet') })
  const { host } = await hostOf(before, { username: 'late', password: 'agreed' })
  await expect(host.exec(['true'])).rejects.toMatchObject({ reason: 'bad_credentials' })
  const { port, privateKey } = before
  await before.close()
  await startDemo({ port, privateKey, users: account('agreed') })
  await expect(host.exec(['true'])).rejects.toMatchObject({ reason: 'bad_credentials' })

  host.renew()

  expect((await host.exec(['id', '-u'])).stdout).toBe('0\n')
})

test('running commands continue over their connection, to their end', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  one.override = (words, { stdout }) =>
    words[0] === 'long'
      ? stdout('begun\n')
          .then(() => released)
          .then(() => stdout('done\n'))
          .then(() => 0)
      : undefined
  const { host, settings } = await connected(one)
  const running = host.exec(['long'])
  const stream = await host.stream(['long'])
  await expect.poll(() => namesOf(one).filter((name) => name === 'long').length).toBe(2)

  await settings.change(settingsFor(two))
  await host.exec(['after'])
  expect(namesOf(two)).toContain('after')
  await expect.poll(() => one.connections).toBe(2)
  release()

  expect(await running).toEqual({ code: 0, stdout: 'begun\ndone\n', stderr: '' })
  expect({ text: await textOf(stream.read), ...(await stream.end) }).toMatchObject({ text: 'begun\ndone\n', code: 0 })
})

test('an unusable account is logged, without its password', async () => {
  const demo = await startDemo()
  const { settings, lines } = await connected(demo)

  await settings.change({ ssh_password: 'not-this-one' })

  const warned = () => lines().find((line) => line.includes('the service account cannot be used with these settings'))
  await expect.poll(warned).toContain('"level":"warn"')
  expect(warned()).toContain('authentification refusée')
  expect(lines().join()).not.toContain('not-this-one')
})

test('every key other than the pinned one causes one call, and nothing else does', async () => {
  const demo = await startDemo()
  const { settings, log } = await hostOf(demo)
  const reported: SshError[] = []
  const host = createHost({ settings, log, onHostKeyChanged: (error) => reported.push(error) })
  onTestFinished(() => host.close())
  await host.exec(['true'])
  await expect(host.signIn('demo', 'wrong')).rejects.toMatchObject({ reason: 'bad_credentials' })
  const { port, hostKey } = demo
  await demo.close()
  await expect(host.signIn('demo', 'demo')).rejects.toMatchObject({ reason: 'unreachable' })
  expect(reported).toEqual([])
  const other = await startDemo({ port })

  await expect(host.signIn('demo', 'demo')).rejects.toMatchObject({ reason: 'host_key_changed' })
  await expect(host.exec(['true'])).rejects.toMatchObject({ reason: 'host_key_changed' })
  await expect(host.stream(['true'])).rejects.toMatchObject({ reason: 'host_key_changed' })
  await expect(host.elevation()).rejects.toMatchObject({ reason: 'host_key_changed' })

  expect(reported).toHaveLength(4)
  for (const { message } of reported) {
    expect(message).toContain(hostKey)
    expect(message).toContain(other.hostKey)
  }
  expect(other.commands).toEqual([])
})

test('each new connection reports the presented key', async () => {
  const demo = await startDemo()
  const { settings, log } = await hostOf(demo, { hostKey: demo.hostKey })
  const keys: string[] = []
  const host = createHost({ settings, log, onConnect: (hostKey) => keys.push(hostKey) })
  onTestFinished(() => host.close())

  await host.exec(['true'])
  await host.exec(['true'])
  await host.signIn('demo', 'demo')

  expect(keys).toEqual([demo.hostKey, demo.hostKey])
})

test('a connection to the previous host, made while the settings change, does not pin its key for the new host', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { settings, log } = await hostOf(one)
  const pinHostKey = async (hostKey: string, address: string) => {
    // Between the host's answer and the pinning of its key an administrator sets another host.
    await settings.change(settingsFor(two))
    return settings.pinHostKey(hostKey, address)
  }
  const host = createHost({ settings: { ...settings, pinHostKey }, log })
  onTestFinished(() => host.close())

  await host.signIn('demo', 'demo').catch(() => {})

  expect((await settings.sshServer()).hostKey).not.toBe(one.hostKey)
})

test('a connection in the making is not used after a change of the settings: another one is made', async () => {
  const demo = await startDemo()
  const { host, settings } = await hostOf(demo)
  const asked = host.exec(['before'])
  await expect.poll(() => demo.connections, { interval: 1 }).toBe(1)

  host.renew()

  expect((await asked).code).toBe(127)
  expect(namesOf(demo).filter((name) => name === 'before')).toHaveLength(1)
  expect(demo.signIns.length).toBeGreaterThan(1)
  // The other connection is for account lookups, which a renewal makes.
  await expect.poll(() => demo.connections).toBe(2)
  expect((await settings.sshServer()).hostKey).toBe(demo.hostKey)
})

test('a busy connection continues, takes no new channels, and ends with its last one', async () => {
  const demo = await startDemo()
  const { host } = await connected(demo)
  let finish = () => {}
  const running = new Promise<void>((resolve) => {
    finish = resolve
  })
  demo.override = (words) => (words[0] === 'long' ? running.then(() => 0) : undefined)
  const long = host.exec(['long'])
  await expect.poll(() => namesOf(demo)).toContain('long')

  host.renew()

  await host.exec(['after'])
  // The third connection is for account lookups, which a renewal makes.
  await expect.poll(() => demo.connections).toBe(3)
  finish()
  expect((await long).code).toBe(0)
  await expect.poll(() => demo.connections).toBe(2)
})

test('the first key seen matches a pin of the same key without its type', async () => {
  const demo = await startDemo()
  const { host, settings } = await hostOf(demo)
  const first = host.exec(['first'])
  await settings.change({ ssh_host_key: demo.hostKey.split(' ')[1] ?? '' })

  expect((await first).code).toBe(127)
})

test('the connection of a job ends with its settings, as soon as it is idle', async () => {
  const [one, two] = [await startDemo(), await startDemo()]
  const { host, settings } = await hostOf(one)
  settings.onChange(() => host.renew())
  const { read, end } = await host.stream(['id', '-u'])
  expect(await textOf(read)).toBe('0\n')
  await end
  expect(one.connections).toBe(1)

  await settings.change(settingsFor(two))

  await expect.poll(() => one.connections).toBe(0)
})
