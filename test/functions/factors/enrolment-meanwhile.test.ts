import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Database, StorageError } from '../../../db/libsql/database.ts'
import login from '../../../functions/auth/login.post.ts'
import factors from '../../../functions/factors/factors.get.ts'
import { recoveryHash } from '../../../functions/factors/recovery-codes.ts'
import confirmTotp from '../../../functions/factors/totp-confirm.post.ts'
import beginTotp from '../../../functions/factors/totp.post.ts'
import { createSessions } from '../../../sessions/sessions.ts'
import { mount, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { codeNow, enrolTotp, PASSWORD, signedBy, signIn } from './person.ts'

const ALL = [login, beginTotp, confirmTotp, factors]
const PATH = '/api/auth/factors'
const Begun = z.object({ secret: z.string(), challenge: z.string() })
const Added = z.object({ factor: z.looseObject({ id: z.number() }), recovery_codes: z.array(z.string()) })
const REQUIRED = { env: { PANEL_REQUIRE_FACTOR: 'all' } }

/** A database in which something happens just before the first transaction with such a statement. */
function interrupted(db: Database, sql: string, meanwhile: () => Promise<unknown>): Database {
  let isOver = false
  return {
    ...db,
    async batch(statements) {
      if (!isOver && statements.some((each) => each.sql.includes(sql))) {
        isOver = true
        await meanwhile()
      }
      return db.batch(statements)
    },
  }
}

test('a sign-in that has seen no factor opens no session once there is one', async () => {
  const app = await testApp(ALL, REQUIRED)
  const own = await signIn(app)
  const db = interrupted(app.db, 'INSERT INTO sessions', () => enrolTotp(app, own))
  const late = mount([login], { ...app.services, db })
  const body = JSON.stringify({ username: 'bob', password: PASSWORD })

  const asked = await late.request('/api/auth/login', { method: 'POST', body })

  expect(asked.headers.get('set-cookie')).toBeNull()
  expect(await asked.json()).toMatchObject({ code: 'factor_required', factors: ['totp', 'recovery'] })
  expect(await rows(app.db, 'SELECT id FROM sessions')).toHaveLength(1)
  expect((await audited(app.db)).filter(({ action }) => action === 'login_success')).toHaveLength(1)
})

test('the recovery codes of a first factor arrive although the ends of other sessions cannot be read', async () => {
  const app = await testApp(ALL, REQUIRED)
  const [stolen, own] = [await signIn(app), await signIn(app)]
  const begun = await app.request('POST', `${PATH}/totp`, { headers: signedBy(own), body: { name: 'Téléphone' } })
  const { secret, challenge } = Begun.parse(await answered(begun, 200))
  let isAway = false
  const db: Database = {
    ...app.db,
    query: (row, sql, args) =>
      isAway && sql.includes('FROM ended_sessions')
        ? Promise.reject(new StorageError('away'))
        : app.db.query(row, sql, args),
  }
  const { config, ...services } = app.services
  const sessions = await createSessions({ ...services, db, jwtKey: undefined, refreshDays: config.refreshDays })
  const { request } = mount(ALL, { ...app.services, sessions })
  isAway = true

  const response = await request(`${PATH}/totp/confirm`, {
    method: 'POST',
    headers: signedBy(own),
    body: JSON.stringify({ challenge, code: codeNow(app, secret, -1) }),
  })

  expect(await answered(response, 200)).toMatchObject({ recovery_codes: { length: 10 } })
  isAway = false
  await refused(await request(PATH, { headers: signedBy(stolen) }), 401, 'unauthenticated')
  await answered(await request(PATH, { headers: signedBy(own) }), 200)
})

test('the recovery codes of a first factor arrive although nothing can be read after the factor is stored', async () => {
  const app = await testApp(ALL)
  const own = await signIn(app)
  const begun = await app.request('POST', `${PATH}/totp`, { headers: signedBy(own), body: { name: 'Téléphone' } })
  const { secret, challenge } = Begun.parse(await answered(begun, 200))
  let isAway = false
  const db: Database = {
    ...app.db,
    query: (row, sql, args) =>
      isAway && /FROM (factors|sqlite_sequence)/.test(sql)
        ? Promise.reject(new StorageError('away'))
        : app.db.query(row, sql, args),
    async batch(statements) {
      const changed = await app.db.batch(statements)
      isAway = statements.some(({ sql }) => sql.includes('INSERT INTO factors'))
      return changed
    },
  }
  const { request } = mount(ALL, { ...app.services, db })
  const body = JSON.stringify({ challenge, code: codeNow(app, secret, -1) })

  const response = await request(`${PATH}/totp/confirm`, { method: 'POST', headers: signedBy(own), body })

  const { factor, recovery_codes } = Added.parse(await answered(response, 200))
  expect(recovery_codes).toHaveLength(10)
  const listed = await answered(await app.request('GET', PATH, { headers: signedBy(own) }), 200)
  expect(listed).toMatchObject({ factors: [factor] })
})

test('a factor that somebody else adds in the same moment changes nothing but the number', async () => {
  const app = await testApp(ALL)
  const [own, other] = [await signIn(app), await signIn(app, 'carol')]
  const begun = await app.request('POST', `${PATH}/totp`, { headers: signedBy(own), body: { name: 'Téléphone' } })
  const { secret, challenge } = Begun.parse(await answered(begun, 200))
  const db = interrupted(app.db, 'INSERT INTO factors', () => enrolTotp(app, other))
  const { request } = mount(ALL, { ...app.services, db })
  const body = JSON.stringify({ challenge, code: codeNow(app, secret, -1) })

  const response = await request(`${PATH}/totp/confirm`, { method: 'POST', headers: signedBy(own), body })

  const { factor } = Added.parse(await answered(response, 200))
  const listed = await answered(await app.request('GET', PATH, { headers: signedBy(own) }), 200)
  expect(listed).toMatchObject({ factors: [factor] })
  expect((await audited(app.db)).filter(({ action }) => action === 'factor_add')).toHaveLength(2)
})

test.each(['off', 'all'])(
  'with PANEL_REQUIRE_FACTOR=%s, of two first factors at the same time one is added, and its recovery codes count',
  async (required) => {
    const app = await testApp(ALL, { env: { PANEL_REQUIRE_FACTOR: required } })
    const both = await Promise.all(
      [await signIn(app), await signIn(app)].map(async (token) => {
        const begun = await app.request('POST', `${PATH}/totp`, {
          headers: signedBy(token),
          body: { name: 'Téléphone' },
        })
        return { token, ...Begun.parse(await answered(begun, 200)) }
      }),
    )

    const responses = await Promise.all(
      both.map(({ token, secret, challenge }) =>
        app.request('POST', `${PATH}/totp/confirm`, {
          headers: signedBy(token),
          body: { challenge, code: codeNow(app, secret, -1) },
        }),
      ),
    )

    expect(responses.map(({ status }) => status).sort()).toEqual([200, 410])
    const won = responses.find(({ status }) => status === 200)
    const { recovery_codes } = Added.parse(await won?.json())
    const hashes = recovery_codes.map(recoveryHash).sort()
    expect(await rows(app.db, 'SELECT hash FROM recovery_codes ORDER BY hash')).toEqual(
      hashes.map((hash) => ({ hash })),
    )
  },
)
