import { expect, test } from 'vitest'
import { CommandError, UsageError } from '../../../runtime/command.ts'
import { audited, rows } from '../answers.ts'
import { OPERATOR as CONSOLE, typeCommand } from '../console.ts'
import { expectRefused, OPERATOR, startWithOwners, WEB } from './owner.ts'

async function start() {
  const app = await startWithOwners()
  const type = async (...words: string[]) => {
    const { config, clock, log } = app.services
    return (await typeCommand({ db: app.db, secrets: app.secrets, config, clock, log }, words)).text
  }
  return { ...app, type }
}

test('tokens says that there are none', async () => {
  const { type } = await start()
  expect(await type('tokens')).toBe('Il n’y a aucun jeton d’API.')
})

test('tokens list is tokens, and no other word is', async () => {
  const { type, signedIn } = await start()
  await (await signedIn('alice')).make()

  expect(await type('tokens', 'list')).toBe(await type('tokens'))
  expect(await type('tokens', 'list')).toContain('Supervision')
  await expect(type('tokens', 'lists')).rejects.toThrow(UsageError)
  await expect(type('tokens', 'list', 'alice')).rejects.toThrow(UsageError)
  await expect(type('tokens', 'list', '--all')).rejects.toThrow(UsageError)
})

test('tokens lists everybody’s, newest first, with the role that is left, and shows no control characters', async () => {
  const { type, signedIn, say, db } = await start()
  await (await signedIn('alice')).make({ role: 'admin', targets: ['host', 'lxc:101'] })
  await (await signedIn('bob')).make({ name: 'Sauvegarde', expires_at: null })
  say('alice', OPERATOR)
  await signedIn('alice', OPERATOR)
  await db.run(`UPDATE api_tokens SET name = 'a' || char(27) || '[2J', last_used_at = ?, last_ip = ? WHERE id = 1`, [
    '2026-03-01T11:00:00.000Z',
    '192.0.2.1',
  ])
  await db.run(`UPDATE users SET barred_at = created_at WHERE username = 'bob'`)

  const lines = (await type('tokens')).split('\n')

  expect(lines).toHaveLength(2)
  expect(lines[0]?.split(/ {2,}/)).toEqual([
    '2',
    'bob',
    'Sauvegarde',
    'viewer (refusé)',
    'toutes les cibles',
    'expire : jamais',
    'utilisé : jamais',
  ])
  expect(lines[1]?.split(/ {2,}/).slice(3)).toEqual([
    'operator',
    'host,lxc:101',
    'expire : 2026-05-30T12:00:00.000Z',
    'utilisé : 2026-03-01T11:00:00.000Z',
  ])
  expect(lines.join('')).not.toContain('\u001b')
})

test('tokens revoke ends a token, audited as the console’s', async () => {
  const { type, signedIn, use, advance, db } = await start()
  const { id, token } = await (await signedIn('alice')).make()
  expect((await use(token)).status).toBe(200)

  expect(await type('tokens', 'revoke', String(id))).toBe(
    'Jeton révoqué : Supervision (alice). Les services en marche l’appliquent en moins d’une minute.',
  )

  advance(10_000)
  await expectRefused(await use(token))
  expect((await audited(db)).at(-1)).toMatchObject({
    action: 'token_revoked',
    username: CONSOLE,
    target: 'Supervision',
    ip: 'console',
    details: { id, owner: 'alice', role: 'viewer' },
  })
  for (const typed of [String(id), '0', 'x', '1.0', '-1', '9'.repeat(16)])
    await expect(type('tokens', 'revoke', '--', typed)).rejects.toThrow(CommandError)
})

test('tokens create prints a working token alone, with at most the rights of its owner', async () => {
  const { type, signedIn, meOf, db } = await start()
  await signedIn('alice')
  await signedIn('webmaster', WEB)

  const token = await type('tokens', 'create', 'webmaster', 'operator', 'Déploiement', 'lxc:101,lxc:102')

  expect(token).toMatch(/^opt_[\w-]{43}$/)
  expect(await meOf(token)).toEqual({ username: 'webmaster', role: 'operator', operates: ['lxc:101', 'lxc:102'] })
  expect((await audited(db)).at(-1)).toMatchObject({
    action: 'token_created',
    username: CONSOLE,
    target: 'Déploiement',
    ip: 'console',
    details: { owner: 'webmaster', role: 'operator', targets: 'lxc:101,lxc:102' },
  })
  await type('tokens', 'create', 'alice', 'admin', 'Toujours', '--never-expires')
  expect(await rows(db, 'SELECT role, targets, expires_at FROM api_tokens ORDER BY id')).toEqual([
    { role: 'operator', targets: '["lxc:101","lxc:102"]', expires_at: '2026-05-30T12:00:00.000Z' },
    { role: 'admin', targets: '"all"', expires_at: null },
  ])
})

test.each([
  [['nobody', 'viewer', 'x'], 'jamais connecté'],
  [['webmaster', 'root', 'x'], 'viewer, operator ou admin'],
  [['webmaster', 'viewer', ' '], '1 à 64 caractères'],
  [['webmaster', 'viewer', 'x', 'lxc/101'], 'host,lxc:101'],
  [['webmaster', 'admin', 'x'], 'plus de droits que webmaster'],
  [['webmaster', 'operator', 'x'], 'plus de droits que webmaster'],
  [['webmaster', 'operator', 'x', 'lxc:103'], 'plus de droits que webmaster'],
])('tokens create %j is refused', async (words, message) => {
  const { type, signedIn, db } = await start()
  await signedIn('webmaster', WEB)

  await expect(type('tokens', 'create', ...words)).rejects.toThrow(message)

  expect(await rows(db, 'SELECT id FROM api_tokens')).toEqual([])
})

test('tokens create stops at 50 tokens of one user', async () => {
  const { type, signedIn } = await start()
  const bob = await signedIn('bob')
  for (let n = 0; n < 50; n += 1) await bob.make()

  await expect(type('tokens', 'create', 'bob', 'viewer', 'x')).rejects.toThrow('déjà 50 jetons')
})
