import { expect, test } from 'vitest'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../db/libsql/database.ts'
import { createSettings } from '../../functions/services.ts'
import { authorizedLine, newSshKey } from '../../ssh/key.ts'
import { connect } from '../../ssh/connection.ts'
import type { SshAccount } from '../../ssh/settings.ts'
import { temporaryFolder } from '../db/folder.ts'
import { hostOf, startDemo } from '../runtime/demo.ts'
import { FIRST, place } from '../settings/place.ts'

const KEY = newSshKey()
const account = { password: 'right', uid: 1300, groups: ['keyed', 'sudo'] }
const ofKeyed = ({ port }: { port: number }, more: Partial<SshAccount> = {}): SshAccount => ({
  ...{ address: '', host: '127.0.0.1', port, username: 'keyed', password: '', hostKey: '', key: KEY.privateKey },
  ...more,
})
const start = (
  authorizedKeys: string | undefined,
  method: 'password' | 'keyboard-interactive' | 'publickey' = 'password',
) => startDemo({ method, users: { keyed: { ...account, ...(authorizedKeys !== undefined && { authorizedKeys }) } } })

test('the key lets the account in, and the password is not sent', async () => {
  const demo = await start(`${authorizedLine(KEY)}\n`)

  const connection = await connect(ofKeyed(demo, { password: 'right' }))

  expect(connection.hostKey).toBe(demo.hostKey)
  expect(demo.signIns).toEqual([])
  connection.end()
})

test.each(['password', 'keyboard-interactive'] as const)(
  'where the host refuses the key, the password is sent once, by %s',
  async (method) => {
    const demo = await start('', method)

    const connection = await connect(ofKeyed(demo, { password: 'right' }))
    connection.end()
    await expect(connect(ofKeyed(demo, { password: 'wrong' }))).rejects.toMatchObject({
      reason: 'bad_credentials',
      message: 'l’hôte refuse la clé et le mot de passe de keyed',
    })

    expect(demo.signIns).toEqual(['keyed', 'keyed'])
  },
)

test('without a password, a refused key is told, and whether the host takes keys at all', async () => {
  const [refusing, without, another] = [
    await start(''),
    await start(undefined),
    await start(`${authorizedLine(newSshKey())}\n`, 'publickey'),
  ]

  for (const demo of [refusing, another])
    await expect(connect(ofKeyed(demo))).rejects.toMatchObject({
      reason: 'bad_credentials',
      message: 'l’hôte refuse la clé de keyed',
    })
  await expect(connect(ofKeyed(without))).rejects.toMatchObject({
    reason: 'bad_credentials',
    message: 'l’hôte n’accepte aucune clé de keyed (PubkeyAuthentication)',
  })
  expect([...refusing.signIns, ...without.signIns, ...another.signIns]).toEqual([])
})

test('another host key than the pinned one gets neither the key’s signature nor the password', async () => {
  const demo = await start(`${authorizedLine(KEY)}\n`)

  const wrong = connect(ofKeyed(demo, { password: 'right', hostKey: `ssh-ed25519 SHA256:${'A'.repeat(43)}` }))

  await expect(wrong).rejects.toMatchObject({ reason: 'host_key_changed' })
  expect(demo.signIns).toEqual([])
})

test.each([
  ['nopasswd', 'sudo'],
  ['password', 'rule'],
  ['rule', 'rule'],
] as const)('with a key alone, sudo is never given a password: %s is %s', async (sudo, expected) => {
  const users = { keyed: { ...account, sudo, authorizedKeys: `${authorizedLine(KEY)}\n` } }
  const demo = await startDemo({ users })
  const { host, settings } = await hostOf(demo, { username: 'keyed', password: '', keyFile: await keyFile() })
  expect(await settings.hasSshAccount()).toBe(true)

  expect(await host.elevation()).toBe(expected)

  expect(demo.commands.flat()).not.toContain('-S')
})

test('with a key beside it, the stored password still serves sudo', async () => {
  const users = { keyed: { ...account, sudo: 'password' as const, authorizedKeys: `${authorizedLine(KEY)}\n` } }
  const demo = await startDemo({ users })
  const { host } = await hostOf(demo, { username: 'keyed', password: 'right', keyFile: await keyFile() })

  expect(await host.elevation()).toBe('password')
  expect((await host.exec(['id', '-u'], { rights: 'command' })).stdout).toBe('0\n')
  expect(demo.signIns).toEqual([])
})

async function keyFile(text = KEY.privateKey): Promise<string> {
  const file = join(await temporaryFolder(), 'key')
  await writeFile(file, text)
  return file
}

test('the key of the environment is stored sealed at the first start; later the file may be gone', async () => {
  const { settings, stored } = await place()
  const given = { host: 'pve', username: 'panel', password: '', hostKey: '' }

  await settings.fillSsh({ ...given, keyFile: await keyFile() })
  await settings.fillSsh({ ...given, keyFile: '/nonexistent/key' })

  expect((await settings.sshKeys()).current).toEqual(
    KEY.privateKey && expect.objectContaining({ publicKey: KEY.publicKey }),
  )
  expect(JSON.stringify(await stored())).not.toContain('OPENSSH')
  expect(await settings.show()).toMatchObject({ ssh_key_set: true, ssh_password_set: false })
})

test.each([
  ['is missing', undefined, /PANEL_SSH_KEY : ENOENT/],
  ['has no key', 'no key', /PANEL_SSH_KEY : .* n’est pas une clé privée ed25519/],
])('a file of the environment that %s stops the start', async (_, text, message) => {
  const { settings, stored } = await place()
  const file = text === undefined ? '/nonexistent/key' : await keyFile(text)

  const filled = settings.fillSsh({ host: 'pve', username: 'panel', password: '', keyFile: file, hostKey: '' })

  await expect(filled).rejects.toMatchObject({ name: 'ConfigError', message: expect.stringMatching(message) })
  expect(await stored()).toEqual({})
})

test('a key that cannot be decrypted is passed over while there is a password, and told without one', async () => {
  const { settings, db, lines } = await place()
  await settings.install({ ...FIRST, ssh_key: KEY.privateKey })
  expect(await settings.sshAccount()).toMatchObject({ password: 'secret', key: KEY.privateKey })

  await db.run(`UPDATE settings SET value = 'v1.broken' WHERE key = 'ssh_key'`)
  expect(await settings.sshAccount()).toEqual(expect.not.objectContaining({ key: expect.anything() }))
  expect(lines().join('\n')).toContain('ssh_key cannot be decrypted')

  await db.run(`UPDATE settings SET value = '' WHERE key = 'ssh_password'`)
  await expect(settings.sshAccount()).rejects.toMatchObject({ code: 'ssh_password_unreadable' })
})

test('the waiting key is made once, stays sealed, and leaves with the installation', async () => {
  const { settings, stored, db, secrets } = await place()

  const [first, again] = [await settings.nextSshKey(), await settings.nextSshKey()]
  expect(again.publicKey).toBe(first.publicKey)
  expect(JSON.stringify(await stored())).not.toContain('OPENSSH')

  await settings.install({ ssh_host: 'pve', ssh_username: 'panel', ssh_key: first.privateKey })
  expect(await settings.sshKeys()).toMatchObject({ current: { publicKey: first.publicKey }, next: undefined })
  expect(await settings.sshAccount()).toMatchObject({ username: 'panel', password: '' })
  const others = createSettings({ db, secrets, clock: () => new Date(), log: (await place()).log })
  expect((await others.nextSshKey()).publicKey).not.toBe(first.publicKey)
})

test('two instances that make the waiting key at the same moment have the same one', async () => {
  const { db, secrets, log } = await place()
  const clock = () => new Date()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow: Database = {
    ...db,
    run: (sql, args) => held.then(() => db.run(sql, args)),
    batch: (statements) => held.then(() => db.batch(statements)),
  }
  const [one, other] = [db, slow].map((each) => createSettings({ db: each, secrets, clock, log }))

  const late = other?.nextSshKey()
  const first = await one?.nextSshKey()
  release()

  expect((await late)?.publicKey).toBe(first?.publicKey)
  expect((await one?.sshKeys())?.next?.publicKey).toBe(first?.publicKey)
})

test('a waiting key that cannot be decrypted is replaced', async () => {
  const { settings, db } = await place()
  const lost = await settings.nextSshKey()
  await db.run(`UPDATE settings SET value = 'v1.broken' WHERE key = 'ssh_key_next'`)

  const made = await settings.nextSshKey()

  expect(made.publicKey).not.toBe(lost.publicKey)
  expect(await settings.sshKeys()).toMatchObject({ next: { publicKey: made.publicKey } })
})
