import { expect, test, vi } from 'vitest'
import type { Account } from '../../../demo/account.ts'
import { createSettings } from '../../../functions/services.ts'
import { createLog } from '../../../platform/log.ts'
import { readConfig } from '../../../platform/config.ts'
import { openStorage } from '../../../db/storage.ts'
import { authorizedLine, newSshKey } from '../../../ssh/key.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { startDemo } from '../../runtime/demo.ts'
import { startProgram } from '../../serve/program.ts'
import { answering, typeCommand } from '../console.ts'

const svc: Account = { password: 'pw', uid: 1300, groups: ['svc'], sudo: 'nopasswd', authorizedKeys: '' }

/** The data of a service with this account, as its commands find them. */
async function prepare(demo: { port: number } | undefined, values: Record<string, string> = {}) {
  const folder = await temporaryFolder()
  const clock = () => new Date()
  const config = readConfig({ PANEL_DATA_DIR: folder })
  const { log } = createLog({ level: 'silent', write: () => {} })
  const { db, secrets } = await openStorage(config, clock)
  const settings = createSettings({ db, secrets, clock, log })
  if (demo) await settings.install({ ssh_host: `127.0.0.1:${demo.port}`, ssh_username: 'svc', ...values })
  const type = (words: string[], ...answers: string[]) =>
    typeCommand({ db, secrets, config, clock, log }, words, answering(...answers))
  return { folder, db, settings, type }
}

test('setup makes a key where no password is typed, shows its line, and installs it', { timeout: 60_000 }, async () => {
  const demo = await startDemo({ method: 'publickey', users: { svc } })
  const { folder, db } = await prepare(undefined)
  await db.close()
  const program = startProgram({ PANEL_DATA_DIR: folder }, 'setup')
  program.type(`127.0.0.1:${demo.port}\noui\nsvc\n\n`)
  const user = demo.users.get('svc')
  await vi.waitUntil(() => program.stderr().includes('La ligne est-elle ajoutée ?'), { timeout: 30_000 })
  const line = /^restrict,pty ssh-ed25519 \S+ ops-panel$/m.exec(program.stderr())?.[0] ?? ''
  if (user) user.authorizedKeys = `${line}\n`
  program.type('oui\n')
  program.endInput()

  expect(await program.ended).toBe(0)

  expect(program.stdout()).toContain('svc s’est connecté.')
  expect(program.stdout()).toContain('Installation terminée')
  expect(program.stdout() + program.stderr()).not.toContain('PRIVATE KEY')
  const { settings } = await prepareAgain(folder)
  expect(await settings.sshAccount()).toMatchObject({ username: 'svc', password: '' })
})

async function prepareAgain(folder: string) {
  const clock = () => new Date()
  const { log } = createLog({ level: 'silent', write: () => {} })
  const storage = await openStorage(readConfig({ PANEL_DATA_DIR: folder }), clock)
  return { settings: createSettings({ ...storage, clock, log }) }
}

test('settings set takes a key on one line, and shows none', async () => {
  const key = newSshKey()
  const { type, settings } = await prepare({ port: 1 }, { ssh_password: 'pw' })

  await expect(type(['settings', 'set', 'ssh_key', 'in-an-argument'])).rejects.toThrow('ssh_key est un secret')
  await expect(type(['settings', 'set', 'ssh_key_next'])).rejects.toThrow('réglage inconnu')
  await expect(type(['settings', 'set', 'ssh_key'], 'no key')).rejects.toThrow('une clé privée ed25519')
  const { text } = await type(['settings', 'set', 'ssh_key'], key.privateKey.replaceAll('\n', '\\n'))

  expect(text).toContain('Enregistré : ssh_key.')
  expect(await settings.sshAccount()).toMatchObject({ key: key.privateKey })
  expect((await settings.sshKeys()).current?.publicKey).toBe(key.publicKey)
  expect((await type(['settings', 'get', 'ssh_key'])).text).toBe('(défini)')
})

test('doctor tells a refused key behind a password, a waiting key and keys that were left behind', async () => {
  const demo = await startDemo({ users: { svc } })
  const key = newSshKey()
  const { type, settings } = await prepare(demo, { ssh_password: 'pw', ssh_key: key.privateKey })
  const user = demo.users.get('svc')

  const refused = (await type(['doctor'])).text
  expect(refused).toContain('✗ L’hôte refuse la clé de svc ; seul son mot de passe sert.')

  if (user) user.authorizedKeys = authorizedLine(key)
  await settings.nextSshKey()
  const [kept, gone] = [newSshKey(), newSshKey()]
  if (user) user.authorizedKeys = `${authorizedLine(key)}\n${authorizedLine(kept)}\n`
  await settings.setRetiredSshKeys([kept.publicKey, gone.publicKey])
  const accepted = (await type(['doctor'])).text
  expect(accepted).toContain('✓ L’hôte accepte la clé de svc.')
  expect(accepted).toContain('• Une nouvelle clé du compte de service attend d’être confirmée')
  expect(accepted).toContain(
    `✗ L’hôte accepte encore une ancienne clé du panneau : retirez-la de authorized_keys (${kept.publicKey}).`,
  )
  expect(accepted).not.toContain(gone.publicKey)
})
