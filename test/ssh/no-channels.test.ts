import { once } from 'node:events'
import ssh2, { type Session } from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { newHostKey } from '../../demo/host-key.ts'
import login from '../../functions/auth/login.post.ts'
import packages from '../../functions/updates/packages.get.ts'
import { createHost } from '../../ssh/host.ts'
import { mount, testApp } from '../app.ts'
import { answered, auditedActions, refused, rows } from '../functions/answers.ts'

/** The ways in which a host accepts logins and allows nothing. */
const WAYS = {
  'refuses channels': (reject: () => void) => reject(),
  'refuses commands': (_: () => void, accept: () => Session) => {
    accept().on('exec', (_accept, rejectCommand) => rejectCommand())
  },
} as const

type Way = keyof typeof WAYS
const ways: Way[] = ['refuses channels', 'refuses commands']

/** The service before a host that accepts the password `right`, and then refuses channels. */
async function start(way: Way) {
  const state = { connections: 0, asked: 0 }
  const server = new ssh2.Server({ hostKeys: [newHostKey()] }, (connection) => {
    state.connections += 1
    connection.on('close', () => {
      state.connections -= 1
    })
    connection.on('error', () => {})
    connection.on('authentication', (context) => {
      if (context.method === 'password' && context.password === 'right') context.accept()
      else context.reject(['password'])
    })
    connection.on('session', (accept, reject) => {
      state.asked += 1
      WAYS[way](reject, accept)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const app = await testApp([], { ssh: { host: `127.0.0.1:${port}`, password: 'right' } })
  const host = createHost(app.services)
  onTestFinished(() => host.close())
  return { ...app, state, host, front: mount([login, packages], { ...app.services, host }) }
}

test.each(ways)('the right password at a host that %s signs in, without administrator rights', async (way) => {
  const { front, db, state, lines } = await start(way)

  const body = JSON.stringify({ username: 'bob', password: 'right' })
  const answer = await answered(await front.request('/api/auth/login', { method: 'POST', body }), 200)

  expect(answer).toMatchObject({ user: { username: 'bob', is_admin: false } })
  expect(await auditedActions(db)).toEqual(['login_success'])
  expect(await rows(db, 'SELECT username, is_admin FROM users WHERE id > 0')).toEqual([
    { username: 'bob', is_admin: 0 },
  ])
  expect(lines().join('\n')).not.toContain('right')
  // The connection of the service account, which was asked about the account; that of the login check has ended.
  await expect.poll(() => state.connections).toBe(1)
})

test.each(ways)('a wrong password is still refused by a host that %s', async (way) => {
  const { front, db } = await start(way)

  const body = JSON.stringify({ username: 'bob', password: 'wrong' })
  await refused(await front.request('/api/auth/login', { method: 'POST', body }), 401, 'bad_credentials')

  expect(await auditedActions(db)).toEqual(['login_failed'])
  expect(await rows(db, 'SELECT * FROM sessions')).toEqual([])
})

test.each(ways)('commands at a host that %s fail as refused, single or many', async (way) => {
  const { host, state } = await start(way)

  await expect(host.exec(['true'])).rejects.toMatchObject({ name: 'SshError', reason: 'refused' })
  const before = state.asked
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => host.exec(['true'])))

  for (const result of results)
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'SshError', reason: 'refused' } })
  expect(state.asked - before).toBeGreaterThanOrEqual(20)
  expect(state.connections).toBeLessThanOrEqual(8)
})

test.each(ways)('every user request to a host that %s fails as refused too', async (way) => {
  const { front, tokenFor } = await start(way)

  const headers = { authorization: `Bearer ${await tokenFor('user')}` }
  const { error } = await refused(
    await front.request('/api/updates/packages?target=host', { headers }),
    502,
    'ssh_failed',
  )

  expect(error).toMatch(/^Erreur SSH : l’hôte refuse d’exécuter une commande/)
})
