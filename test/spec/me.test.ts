import { expect, test } from 'vitest'
import { answered, refused } from '../functions/answers.ts'
import { later, newAddress, RFC_3339, startPanel } from './client.ts'

const panel = await startPanel()

const me = (token?: string) => panel.send('GET', '/api/auth/me', token === undefined ? {} : { token })

test('me, response 200: id, username, is_admin, lang, theme, sidebar_position and last_login_at; updates.md: and role; and nothing else', async () => {
  const { id, username, token } = await panel.login(panel.freshName())

  expect(await answered(await me(token), 200)).toEqual({
    id,
    username,
    is_admin: false,
    role: 'operator',
    lang: 'fr',
    theme: 'dark',
    sidebar_position: 'left',
    last_login_at: expect.stringMatching(RFC_3339),
  })
})

test('me: id, username and is_admin come from the token’s claims, whatever is stored meanwhile', async () => {
  const { id, username, token } = await panel.login(panel.freshName())
  await panel.db.run(`UPDATE users SET username = ?, is_admin = 1 WHERE id = ?`, [`${username}-renamed`, id])

  expect(await answered(await me(token), 200)).toMatchObject({ id, username, is_admin: false })
})

test('me: is_admin is true for an administrator', async () => {
  const { token } = await panel.login('demo')

  expect(await answered(await me(token), 200)).toMatchObject({ username: 'demo', is_admin: true })
})

test('me: lang, theme and sidebar_position come from storage', async () => {
  const { id, token } = await panel.login(panel.freshName())
  await panel.db.run(`UPDATE users SET lang = 'en', theme = 'light', sidebar_position = 'right' WHERE id = ?`, [id])

  expect(await answered(await me(token), 200)).toMatchObject({
    lang: 'en',
    theme: 'light',
    sidebar_position: 'right',
  })
})

test('me: last_login_at comes from storage, and is absent when never set', async () => {
  const { id, token } = await panel.login(panel.freshName())

  await panel.db.run(`UPDATE users SET last_login_at = '2026-01-02T03:04:05.678Z' WHERE id = ?`, [id])
  expect(await answered(await me(token), 200)).toMatchObject({ last_login_at: '2026-01-02T03:04:05.678Z' })

  await panel.db.run('UPDATE users SET last_login_at = NULL WHERE id = ?', [id])
  expect(await answered(await me(token), 200)).not.toHaveProperty('last_login_at')
})

test('me: a last_login_at stored as YYYY-MM-DD HH:MM:SS is read', async () => {
  const { id, token } = await panel.login(panel.freshName())
  await panel.db.run(`UPDATE users SET last_login_at = '2026-01-02 03:04:05' WHERE id = ?`, [id])

  expect(await answered(await me(token), 200)).toMatchObject({
    last_login_at: expect.stringMatching(/^2026-01-02[ T]03:04:05/),
  })
})

test('me: without a token the answer is 401, even with the refresh cookie', async () => {
  const { cookie } = await panel.login(panel.freshName())

  const { error } = await refused(await me(), 401, 'unauthenticated')
  await refused(await panel.send('GET', '/api/auth/me', { cookie }), 401, 'unauthenticated')

  expect(error).toBe('Vous devez être connecté.')
})

test.each(['Bearer', 'Bearer ', 'Bearer rubbish', 'Bearer a.b.c', 'Basic Z3Vlc3Q6Z3Vlc3Q='])(
  'me: with the Authorization header %j the answer is 401',
  async (authorization) => {
    await refused(await panel.send('GET', '/api/auth/me', { headers: { authorization } }), 401, 'unauthenticated')
  },
)

test('me: a token in the address is ignored', async () => {
  const { token } = await panel.login(panel.freshName())

  await refused(await panel.send('GET', `/api/auth/me?token=${token}&access_token=${token}`), 401, 'unauthenticated')
})

test('me: a token after its 15 minutes gives 401, one just before does not', async () => {
  const { token } = await panel.login(panel.freshName())

  expect(await later(898_000, async () => (await me(token)).status)).toBe(200)
  await later(901_000, async () => refused(await me(token), 401, 'unauthenticated'))
})

test('me: when the stored profile is missing the answer is 404', async () => {
  const { username, token } = await panel.login(panel.freshName())
  await panel.db.run('DELETE FROM users WHERE username = ?', [username])

  const { error } = await refused(await me(token), 404, 'profile_missing')

  expect(error).toBe('Ce profil n’existe plus.')
  expect(await panel.userOf(username)).toBeUndefined()
})

test('me: a database that does not answer gives 500, and reveals nothing of the cause', async () => {
  const { token } = await panel.login(panel.freshName())

  await panel.without('users', async () => {
    const { error } = await refused(await me(token), 500, 'storage_failed')
    expect(error).not.toContain('users')
  })
})

test('me changes and audits nothing', async () => {
  const { username, token } = await panel.login(panel.freshName())
  const from = newAddress()
  const before = [await panel.userOf(username), await panel.sessionsOf(username)]

  await panel.send('GET', '/api/auth/me', { token, from })

  expect([await panel.userOf(username), await panel.sessionsOf(username)]).toEqual(before)
  expect(await panel.auditOf(from)).toEqual([])
})
