import { expect, test } from 'vitest'
import login from '../../../functions/auth/login.post.ts'
import { testApp } from '../../app.ts'
import { audited, refused, rows } from '../answers.ts'

const BODY = { username: 'bob', password: 'right horse' }
const attempt = { body: BODY, headers: { 'content-type': 'text/plain' } }

test.each(['https://evil.example', 'http://localhost:9999', 'null', ''])(
  'a page of %j cannot sign its visitors in as somebody else, even by a form',
  async (origin) => {
    const app = await testApp([login])

    const response = await app.request('POST', '/api/auth/login', {
      ...attempt,
      headers: { origin, host: 'localhost' },
    })

    await refused(response, 403, 'origin_forbidden')
    expect(app.signIns).toEqual([])
    expect(await rows(app.db, 'SELECT * FROM sessions')).toEqual([])
    expect(await audited(app.db)).toEqual([])
  },
)

test('a page of another origin uses up none of its visitors’ attempts, and its own are limited', async () => {
  const app = await testApp([login])
  const foreign = { ...attempt, headers: { origin: 'https://evil.example', host: 'localhost' }, from: '203.0.113.9' }

  const statuses: number[] = []
  for (let n = 0; n < 7; n += 1) statuses.push((await app.request('POST', '/api/auth/login', foreign)).status)

  expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
  for (let n = 0; n < 5; n += 1)
    expect((await app.request('POST', '/api/auth/login', { ...attempt, from: '203.0.113.9' })).status).toBe(200)
})

test('a client without an Origin gains no attempts by forged browser headers', async () => {
  const app = await testApp([login])
  const embedded = { headers: { 'sec-fetch-site': 'cross-site' }, body: BODY, from: '203.0.113.9' }

  const statuses: number[] = []
  for (let n = 0; n < 6; n += 1)
    statuses.push(
      (await app.request('POST', '/api/auth/login', n % 2 ? embedded : { ...embedded, headers: {} })).status,
    )

  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
})

test('pages of the service and of PANEL_ORIGINS can sign in, and so can a client that is no browser', async () => {
  const app = await testApp([login], { env: { PANEL_ORIGINS: 'https://panel.example' } })
  const own = { host: 'pve.test:8080', origin: 'http://pve.test:8080' }

  for (const headers of [own, { origin: 'https://panel.example' }, {}])
    expect((await app.request('POST', '/api/auth/login', { ...attempt, headers })).status).toBe(200)
})
