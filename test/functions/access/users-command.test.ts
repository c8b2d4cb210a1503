import { expect, test } from 'vitest'
import { addSession } from '../../../db/sessions.ts'
import { saveUser } from '../../../db/users.ts'
import { UsageError } from '../../../runtime/command.ts'
import { testApp } from '../../app.ts'
import { NOW } from '../../db/database.ts'
import { audited, rows } from '../answers.ts'
import { typeCommand } from '../console.ts'

async function start() {
  const app = await testApp([])
  return { ...app, type: (...words: string[]) => typeCommand({ ...app.services, secrets: app.secrets }, words) }
}

test('users reports that nobody has signed in yet', async () => {
  const { type } = await start()

  expect(await type('users')).toEqual({ text: 'Personne ne s’est encore connecté.', ok: true })
})

test('users lists each user with role, last login and the number of unexpired sessions', async () => {
  const { type, db } = await start()
  const session = { user_agent: 'secret-agent', ip: '192.0.2.1', proven_by: 'password' } as const
  const zoe = await saveUser(db, 'zoé', false, NOW)
  const alice = await saveUser(db, 'alice', true, NOW)
  await saveUser(db, 'bob-martin', false, NOW)
  const [past, future] = ['2026-03-01T11:59:59.000Z', '2026-03-02T12:00:00.000Z']
  await addSession(db, { ...session, user_id: alice.id, token_hash: 'a', expires_at: future }, NOW)
  await addSession(db, { ...session, user_id: alice.id, token_hash: 'b', expires_at: future }, NOW)
  await addSession(db, { ...session, user_id: alice.id, token_hash: 'c', expires_at: past }, NOW)
  await addSession(db, { ...session, user_id: zoe.id, token_hash: 'd', expires_at: past }, past)
  const before = await rows(db, 'SELECT * FROM users')

  const { text } = await type('users')

  expect(text.split('\n')).toEqual([
    `alice       admin     ${NOW}  sessions : 2`,
    'bob-martin  operator  jamais  sessions : 0',
    `zoé         operator  ${past}  sessions : 0`,
  ])
  expect(text).not.toContain('secret-agent')
  expect(await rows(db, 'SELECT * FROM users')).toEqual(before)
  expect(await rows(db, 'SELECT * FROM sessions')).toHaveLength(4)
  expect(await audited(db)).toEqual([])
})

test('users and sessions end escape a name that a terminal would obey, on one line', async () => {
  const { type, db } = await start()
  const name = 'bob\n\u001b[2Jroot  administrateur\u202e\u009b'
  await saveUser(db, name, false, NOW)

  const { text } = await type('users')
  const { text: ended } = await type('sessions', 'end', name)

  const shown = 'bob\\u{a}\\u{1b}[2Jroot  administrateur\\u{202e}\\u{9b}'
  expect(text).toBe(`${shown}  operator  jamais  sessions : 0`)
  expect(ended).toBe(`${shown} n’a aucune session.`)
})

test('users shows the targets of an operator, a viewer, and who has barred an account', async () => {
  const { type, db } = await start()
  const own = { kept_out: false, own_word: 'user' } as const
  await saveUser(db, 'carol', false, NOW, { ...own, operates: ['host', 'lxc:101'] })
  const { id } = await saveUser(db, 'dave', false, NOW, { ...own, operates: null })
  await db.run('UPDATE users SET barred_at = ?, barred_by = ? WHERE id = ?', [NOW, 'al\u001bice', id])

  expect((await type('users')).text.split('\n')).toEqual([
    'carol  operator  jamais  sessions : 0  cibles : host, lxc:101',
    `dave   viewer    jamais  sessions : 0  exclu le ${NOW} par al\\u{1b}ice`,
  ])
})

test('users accepts no arguments', async () => {
  const { type } = await start()

  expect(() => type('users', 'alice')).toThrow(UsageError)
})
