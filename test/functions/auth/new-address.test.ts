import { expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import { SshError } from '../../../ssh/connection.ts'
import { testApp } from '../../app.ts'
import { answered, refused, rows } from '../answers.ts'
import { told } from '../notifications/told.ts'

async function world() {
  const app = await testApp([login], {
    fake: {
      signIn(username, password) {
        if (password !== 'right') throw new SshError('bad_credentials', `authentification refusée pour ${username}`)
        return { uid: username === 'bob' ? 1000 : 1001, groups: [username] }
      },
    },
  })
  const send = (username: string, from: string, password = 'right') =>
    app.request('POST', '/api/auth/login', { body: { username, password }, from })
  const signIn = async (username: string, from: string) => {
    app.advance(60_000)
    await answered(await send(username, from), 200)
  }
  const addresses = async () => (await told(app.db)).map(({ details }) => `${details.username} ${details.address}`)
  return { app, send, signIn, addresses }
}

test('a sign-in from an address that its user has not used is told once; the first sign-in of a user is not', async () => {
  const { app, signIn, addresses } = await world()

  await signIn('bob', '192.0.2.7')
  await signIn('bob', '192.0.2.7')
  expect(await addresses()).toEqual([])
  await signIn('bob', '203.0.113.9')
  await signIn('bob', '203.0.113.9')
  await signIn('bob', '192.0.2.7')

  expect(await told(app.db)).toEqual([
    {
      event: 'sign_in_from_new_address',
      severity: 'warning',
      target: null,
      run: expect.stringMatching(/^sign_in:\d+$/),
      at: '2026-03-01T12:03:00.000Z',
      details: { username: 'bob', address: '203.0.113.9' },
    },
  ])
})

test('an address that another user has used is new', async () => {
  const { signIn, addresses } = await world()
  await signIn('bob', '192.0.2.7')
  await signIn('carol', '203.0.113.9')

  await signIn('bob', '203.0.113.9')

  expect(await addresses()).toEqual(['bob 203.0.113.9'])
})

test('of IPv6 the network counts, and an IPv4 address is the same in each notation', async () => {
  const { signIn, addresses } = await world()
  await signIn('bob', '2001:db8:1:2::7')
  await signIn('bob', '2001:db8:1:2:aaaa:bbbb:cccc:dddd')
  expect(await addresses()).toEqual([])
  await signIn('bob', '2001:db8:1:3::7')
  await signIn('bob', '192.0.2.7')
  await signIn('bob', '::ffff:192.0.2.7')

  expect(await addresses()).toEqual(['bob 2001:db8:1:3::7', 'bob 192.0.2.7'])
})

test('the addresses of ended sessions stay known', async () => {
  const { app, signIn, addresses } = await world()
  await signIn('bob', '192.0.2.7')
  await signIn('bob', '203.0.113.9')
  await app.db.script('DELETE FROM sessions; DELETE FROM notification_events')

  await signIn('bob', '203.0.113.9')

  expect(await addresses()).toEqual([])
})

test('a refused sign-in tells nothing', async () => {
  const { send, signIn, addresses } = await world()
  await signIn('bob', '192.0.2.7')

  await refused(await send('bob', '203.0.113.9', 'wrong'), 401, 'bad_credentials')

  expect(await addresses()).toEqual([])
})

test('a sign-in whose event cannot be stored fails: no session, no entry', async () => {
  const { app, send, signIn } = await world()
  await signIn('bob', '192.0.2.7')
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON notification_events BEGIN SELECT RAISE(ABORT, 'full'); END`)

  await refused(await send('bob', '203.0.113.9'), 500, 'storage_failed')

  expect(await rows(app.db, 'SELECT ip FROM sessions')).toEqual([{ ip: '192.0.2.7' }])
  expect(await rows(app.db, `SELECT ip FROM audit WHERE action = 'login_success'`)).toEqual([{ ip: '192.0.2.7' }])
})

test('an account that signs in from ever new addresses is told at once, then in one notice every ten minutes', async () => {
  const { app, signIn, addresses } = await world()
  await signIn('bob', '192.0.2.1')
  await signIn('carol', '192.0.2.1')
  const notices = async () => {
    await app.services.notifications.tick()
    return rows(
      app.db,
      `SELECT count(*) AS events FROM notices JOIN notification_events ON notice_id = notices.id GROUP BY notices.id`,
    )
  }

  await signIn('bob', '203.0.113.1')
  expect(await notices()).toEqual([{ events: 1 }])
  for (const host of [2, 3, 4, 5]) {
    await signIn('bob', `203.0.113.${host}`)
    expect(await notices()).toEqual([{ events: 1 }])
  }
  await signIn('carol', '203.0.113.2')
  expect(await notices()).toEqual([{ events: 1 }, { events: 1 }])
  app.advance(10 * 60_000)

  expect(await notices()).toEqual([{ events: 1 }, { events: 1 }, { events: 4 }])
  expect(await addresses()).toHaveLength(6)
})
