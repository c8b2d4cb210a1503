import { expect, test } from 'vitest'
import { readSettings, writeSettings } from '../../db/settings.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets } from '../../platform/secrets.ts'
import type { SettingKey } from '../../settings/keys.ts'
import { createSettings } from '../../settings/settings.ts'
import { NOW, openMigrated } from '../db/database.ts'

const KEY = 'ssh-ed25519 SHA256:x'
const FIRST = { ssh_host: 'pve', ssh_username: 'panel', ssh_password: 'secret', ssh_host_key: KEY }

/** Settings over a database in memory, and what they told of changes. */
async function place() {
  const db = await openMigrated()
  const { log, lines } = createLog({ level: 'debug', pretty: false, write: () => {} })
  const secrets = createSecrets(Buffer.alloc(32, 7))
  const settings = createSettings({ db, secrets, clock: () => new Date(NOW), log })
  const told: SettingKey[][] = []
  settings.onChange((keys) => told.push([...keys].sort()))
  const stored = async () => Object.fromEntries(await readSettings(db))
  /** From now on the database refuses one key: what was before it in the same write must not stay. */
  const refuse = (key: SettingKey) =>
    db.script(`CREATE TRIGGER refuse BEFORE INSERT ON settings WHEN NEW.key = '${key}'
               BEGIN SELECT raise(ABORT, 'refused'); END`)
  return { db, settings, secrets, lines, told, stored, refuse }
}

test('the first settings are stored, shown without secrets, and told once', async () => {
  const { settings, told, lines } = await place()

  expect(await settings.install({ ...FIRST, hypervisor_token: 'token' })).toBe(true)

  expect(await settings.sshAccount()).toEqual({
    address: 'pve',
    host: 'pve',
    port: 22,
    hostKey: KEY,
    username: 'panel',
    password: 'secret',
  })
  expect(await settings.show()).toEqual({
    ssh_host: 'pve',
    ssh_username: 'panel',
    ssh_password_set: true,
    ssh_host_key: KEY,
    hypervisor_url: '',
    hypervisor_token_set: true,
    hypervisor_fingerprint: '',
    dashboard_shortcuts: '[]',
  })
  expect(told).toEqual([['hypervisor_token', ...Object.keys(FIRST).sort()]])
  expect(lines().join()).not.toContain('secret')
})

test('a second installation changes nothing, and tells nothing', async () => {
  const { settings, told, stored } = await place()
  await settings.install(FIRST)
  const before = await stored()

  expect(await settings.install({ ssh_host: 'other', ssh_password: 'else' })).toBe(false)

  expect(await stored()).toEqual(before)
  expect(told).toHaveLength(1)
})

test('a crash in the middle of an installation leaves nothing', async () => {
  const { settings, told, stored, refuse } = await place()
  await refuse('ssh_host_key')

  await expect(settings.install(FIRST)).rejects.toThrow()

  expect(await stored()).toEqual({})
  expect(await settings.hasSshHost()).toBe(false)
  expect(told).toEqual([])
})

test('a change says what has become another value, and tells each listener once', async () => {
  const { settings, told } = await place()
  await settings.install(FIRST)
  const also: SettingKey[][] = []
  settings.onChange((keys) => also.push([...keys]))

  const changed = await settings.change({ ...FIRST, ssh_username: 'root', hypervisor_url: 'https://pve' })

  expect(changed.sort()).toEqual(['hypervisor_url', 'ssh_username'])
  expect(told.slice(1)).toEqual([['hypervisor_url', 'ssh_username']])
  expect(also).toHaveLength(1)
})

test('listeners find the new values already there', async () => {
  const { settings } = await place()
  await settings.install(FIRST)
  const seen: Promise<string>[] = []
  settings.onChange(() => seen.push(settings.sshAccount().then(({ password }) => password)))

  await settings.change({ ssh_password: 'new' })

  expect(await Promise.all(seen)).toEqual(['new'])
})

test.each([
  ['nothing', {}],
  ['empty secrets', { ssh_password: '', hypervisor_token: '' }],
  ['what is there', FIRST],
  ['an empty value where none is', { hypervisor_url: '' }],
])('%s is no change: all stays as it is, and nobody is told', async (_, values) => {
  const { settings, told } = await place()
  await settings.install(FIRST)
  const all = async () => [await settings.show(), await settings.sshAccount()]
  const before = await all()

  expect(await settings.change(values)).toEqual([])

  expect(await all()).toEqual(before)
  expect(told).toHaveLength(1)
})

test('a crash in the middle of a change leaves all as it was, and nobody is told', async () => {
  const { settings, told, stored, refuse } = await place()
  await settings.install(FIRST)
  const before = await stored()
  await refuse('dashboard_shortcuts')

  const values = { ssh_host: 'other', ssh_password: 'new', dashboard_shortcuts: '[]' }
  await expect(settings.change(values)).rejects.toThrow()

  expect(await stored()).toEqual(before)
  expect(told).toHaveLength(1)
})

test('a value may be emptied, but for secrets', async () => {
  const { settings } = await place()
  await settings.install({ ...FIRST, hypervisor_url: 'https://pve', hypervisor_token: 'token' })

  await settings.change({ ssh_host_key: '', hypervisor_url: '', hypervisor_token: '' })

  expect(await settings.show()).toMatchObject({ ssh_host_key: '', hypervisor_url: '', hypervisor_token_set: true })
})

test('the pinned key stays with another host too, unless one comes along', async () => {
  const { settings } = await place()
  await settings.install(FIRST)

  expect(await settings.change({ ssh_host: 'pve', ssh_username: 'root' })).toEqual(['ssh_username'])
  expect(await settings.change({ ssh_host: 'other' })).toEqual(['ssh_host'])
  expect(await settings.sshServer()).toMatchObject({ host: 'other', hostKey: KEY })
  await settings.change({ ssh_host: 'third', ssh_host_key: 'ssh-rsa SHA256:y' })
  expect((await settings.sshServer()).hostKey).toBe('ssh-rsa SHA256:y')
  await settings.change({ ssh_host: 'fourth', ssh_host_key: '' })
  expect((await settings.sshServer()).hostKey).toBe('')
})

test('a password that cannot be decrypted is another one than any that is given', async () => {
  const { db, settings } = await place()
  await settings.install(FIRST)
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal('ssh_password', 'secret')
  await writeSettings(db, { ssh_password: sealed }, NOW)
  await expect(settings.sshAccount()).rejects.toMatchObject({ code: 'ssh_password_unreadable' })

  expect(await settings.change({ ssh_password: 'secret' })).toEqual(['ssh_password'])

  expect((await settings.sshAccount()).password).toBe('secret')
})

test('pinning a key and filling from the environment are no changes that are told', async () => {
  const { settings, told } = await place()

  await settings.fill({ host: 'pve', username: 'panel', password: 'secret', hostKey: '' })
  await settings.pinHostKey(KEY, 'pve')

  expect(await settings.sshAccount()).toMatchObject({ host: 'pve', hostKey: KEY })
  expect(told).toEqual([])
})

test('the hypervisor is told of once it has an address and a token, whatever else is set', async () => {
  const { settings } = await place()
  expect(await settings.hypervisor()).toBeUndefined()

  await settings.change({ hypervisor_token: 'panel@pve!ops=x' })
  expect(await settings.hypervisor()).toBeUndefined()
  await settings.change({ hypervisor_url: 'https://pve:8006' })
  const access = { url: 'https://pve:8006', token: 'panel@pve!ops=x' }
  expect(await settings.hypervisor()).toEqual({ ...access, fingerprint: '' })
  await settings.change({ hypervisor_fingerprint: 'AA:BB' })
  expect(await settings.hypervisor()).toEqual({ ...access, fingerprint: 'AA:BB' })
  await settings.change({ hypervisor_url: '' })
  expect(await settings.hypervisor()).toBeUndefined()
})

test('a token of the hypervisor that cannot be decrypted is an error, and no word of it is logged', async () => {
  const { settings, db, lines } = await place()
  await settings.change({ hypervisor_url: 'https://pve:8006', hypervisor_token: 'panel@pve!ops=x' })
  const sealed = createSecrets(Buffer.alloc(32, 8)).seal('hypervisor_token', 'panel@pve!ops=other')
  await writeSettings(db, { hypervisor_token: sealed }, NOW)

  await expect(settings.hypervisor()).rejects.toMatchObject({ code: 'hypervisor_token_unreadable' })

  expect(lines().join('\n')).toContain('hypervisor_token cannot be decrypted')
  expect(lines().join('\n')).not.toContain('panel@pve')
})
