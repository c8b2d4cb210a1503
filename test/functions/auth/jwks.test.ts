import { createLocalJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { revokeOtherSigningKeys } from '../../../db/signing-keys.ts'
import jwks from '../../../functions/auth/jwks.get.ts'
import { rotateSigningKey } from '../../../sessions/signing-keys.ts'
import { START, testApp } from '../../app.ts'
import { answered, audited, decoded, refused, rows } from '../answers.ts'

const PATH = '/.well-known/jwks.json'
const KeySet = z.object({
  keys: z.array(z.object({ kty: z.string(), n: z.string(), e: z.string(), kid: z.string(), alg: z.string() })),
})

const start = () => testApp([jwks])
type App = Awaited<ReturnType<typeof start>>

const keySet = async (app: App) => KeySet.parse(await answered(await app.request('GET', PATH), 200))
const kids = async (app: App) => (await keySet(app)).keys.map(({ kid }) => kid)
const rotate = async ({ db, secrets, services: { clock } }: App) => (await rotateSigningKey({ db, secrets, clock })).kid

test('anybody can read the public half of the signing key, and no private part of it', async () => {
  const app = await start()

  const answer = await answered(await app.request('GET', PATH), 200)

  const [stored] = await rows(app.db, 'SELECT kid FROM signing_keys')
  expect(answer).toEqual({
    keys: [
      {
        kty: 'RSA',
        n: expect.stringMatching(/^[\w-]{342}$/),
        e: 'AQAB',
        kid: stored?.kid,
        alg: 'RS256',
        use: 'sig',
      },
    ],
  })
  expect(await audited(app.db)).toEqual([])
})

test('with the key set a client can verify an access token, and detect a changed one', async () => {
  const app = await start()
  const token = await app.tokenFor('user')
  const verify = createLocalJWKSet(await keySet(app))
  const options = { issuer: 'ops-panel', audience: 'ops-panel', currentDate: START }

  const { payload } = await jwtVerify(token, verify, options)

  expect(payload).toMatchObject({ username: 'bob', is_admin: false })
  const [head = '', claims = '', signature = ''] = token.split('.')
  const changed = `${head}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  await expect(jwtVerify(changed, verify, options)).rejects.toThrow()
})

test('an added key is published within half a minute, next to the previous one', async () => {
  const app = await start()
  const [before] = await kids(app)
  app.advance(1_000)
  const added = await rotate(app)

  app.advance(30_000)

  expect((await kids(app)).sort()).toEqual([before, added].sort())
  expect(decoded(await app.tokenFor('user')).header).toMatchObject({ kid: added })
})

test('a removed key is no longer published', async () => {
  const app = await start()
  app.advance(1_000)
  const added = await rotate(app)
  await app.db.batch([revokeOtherSigningKeys(added, START.toISOString())])

  app.advance(31_000)

  expect(await kids(app)).toEqual([added])
})

test('a storage failure gives 500 once the keys have to be read again, and not before', async () => {
  const app = await start()
  await app.db.script('ALTER TABLE signing_keys RENAME TO gone')

  expect(await kids(app)).toHaveLength(1)
  app.advance(31_000)
  await refused(await app.request('GET', PATH), 500, 'storage_failed')
})
