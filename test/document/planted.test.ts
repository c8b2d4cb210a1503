import { expect, test } from 'vitest'
import { createDriver, type Reached, refused, succeeded } from './driver.ts'
import { isRecord } from './json-schema.ts'
import { readOpenApi } from './openapi.ts'
import { refusal, type Spoil, startToy, TOY_DOCUMENT } from './toy.ts'

const runs = { valid: 20, broken: 1, seed: 7, shrink: false }
const given = {
  tokens: { user: ['user'], admin: ['admin'] },
  cookies: {},
  values: {},
  address: (n: number) => [['X-Address', String(n)] as const],
}

/** Drives every operation of a document, and stops at the first that does not match it. */
async function driveAll(toy: Awaited<ReturnType<typeof startToy>>, document: unknown = TOY_DOCUMENT) {
  const openapi = readOpenApi(document)
  const driver = createDriver(toy, openapi, { given })
  await driver.explore(runs)
  const reached: [string, Reached][] = []
  for (const operation of openapi.operations) {
    await driver.prepare(operation, runs)
    reached.push([operation.name, await driver.drive(operation, runs)])
  }
  return reached
}

/** The complete message of the failure. */
async function complaint(driven: Promise<unknown>): Promise<string> {
  const error = await driven.then(
    () => new Error('nothing was found'),
    (reason: unknown) => reason,
  )
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  return `${error instanceof Error ? error.message : error}\n${cause}`
}

test('a service that matches its document passes, and each operation succeeds and refuses', async () => {
  const reached = await driveAll(await startToy())

  expect(reached.map(([name]) => name)).toEqual(['GET /items', 'POST /items', 'GET /items/{id}', 'DELETE /items/{id}'])
  expect(reached.filter(([, each]) => !succeeded(each) || !refused(each))).toEqual([])
})

test('values of a component are taken from the answers: an id that nobody could guess', async () => {
  const reached = new Map(await driveAll(await startToy()))

  expect(reached.get('GET /items/{id}')?.valid.get(200)).toBeGreaterThan(5)
  expect(reached.get('DELETE /items/{id}')?.valid.get(200)).toBeGreaterThan(5)
})

/** Changes the answers of one operation that have this status. */
const spoiling =
  (name: string, status: number, change: Partial<Parameters<Spoil>[1]> | ((body: unknown) => unknown)): Spoil =>
  (asked, answer) => {
    if (asked !== name || answer.status !== status) return answer
    return typeof change === 'function' ? { ...answer, body: change(answer.body) } : { ...answer, ...change }
  }
const withMore = (more: object) => (body: unknown) => ({ ...(isRecord(body) ? body : {}), ...more })
const { 'X-Request-Id': _, ...UNNUMBERED } = refusal(200, '').headers

test.each<[what: string, spoil: Spoil, complaint: string | RegExp]>([
  ['an undeclared field', spoiling('GET /items/{id}', 200, withMore({ secret: 1 })), '"additionalProperty":"secret"'],
  ['a field of another type', spoiling('GET /items/{id}', 200, withMore({ name: 1 })), '/name must be string'],
  ['a field that is missing', spoiling('POST /items', 201, () => ({})), "must have required property 'id'"],
  ['an id of another form', spoiling('POST /items', 201, () => ({ id: '7' })), '/id must match pattern'],
  [
    'an undeclared field deep in a list',
    spoiling('GET /items', 200, () => [{ id: 'item-100000001', name: 'a', x: 1 }]),
    '"additionalProperty":"x"',
  ],
  ['a list for an object', spoiling('GET /items/{id}', 200, () => []), 'the whole must be object'],
  ['an answer that is no JSON', spoiling('GET /items/{id}', 200, () => '{'), 'the whole must be object'],
  ['a status that is not declared', spoiling('GET /items/{id}', 200, { status: 203 }), 'status 203 is not declared'],
  ['another success than declared', spoiling('POST /items', 201, { status: 200 }), 'status 200 is not declared'],
  ['a failure', spoiling('GET /items', 200, refusal(500, 'internal')), 'status 500 is not declared'],
  [
    'an undeclared code',
    spoiling('GET /items/{id}', 404, refusal(404, 'gone')),
    '/code must be equal to one of the allowed values',
  ],
  ['the code of another operation', spoiling('GET /items', 401, refusal(401, 'missing')), '/code must be equal'],
  [
    'a code that is declared with another status only',
    spoiling('DELETE /items/{id}', 403, refusal(403, 'missing')),
    '/code must be equal',
  ],
  [
    'another content type',
    spoiling('GET /items', 200, { headers: { ...refusal(200, '').headers, 'Content-Type': 'text/html' } }),
    'text/html is not declared for status 200',
  ],
  ['a header that is missing', spoiling('GET /items', 200, { headers: UNNUMBERED }), 'no X-Request-Id header'],
  [
    'a header in another format',
    spoiling('GET /items', 200, { headers: { ...UNNUMBERED, 'X-Request-Id': '7' } }),
    'header X-Request-Id: the whole must match format "uuid"',
  ],
  ['a limit that does not say when', spoiling('POST /items', 429, refusal(429, 'too_often')), 'no Retry-After header'],
  [
    'an undeclared cookie',
    spoiling('GET /items', 200, { headers: { ...refusal(200, '').headers, 'Set-Cookie': 'a=b' } }),
    'a cookie is set that is not declared',
  ],
  [
    'an invalid body that is accepted',
    spoiling('POST /items', 400, { status: 201, body: { id: 'item-100000001' } }),
    'a wrong request succeeded with 201',
  ],
  [
    'an invalid body that is refused for another reason',
    spoiling('POST /items', 400, refusal(401, 'unauthenticated')),
    'refused with 401 rather than 400',
  ],
  [
    'an invalid query that is accepted',
    spoiling('GET /items', 400, { status: 200, body: [] }),
    'limit in the query is "": ',
  ],
  [
    'an anonymous client that is admitted',
    spoiling('GET /items', 401, { status: 200, body: [] }),
    'GET /items, when nobody asks: ',
  ],
  [
    'a user without administrator rights who is admitted',
    spoiling('DELETE /items/{id}', 403, { status: 200, body: {} }),
    'when no administrator asks: ',
  ],
  [
    'a valid request that is refused as invalid',
    spoiling('POST /items', 201, refusal(400, 'invalid')),
    'a right request was refused as a wrong one with 400',
  ],
  [
    'a valid token that is refused',
    spoiling('GET /items/{id}', 200, refusal(401, 'unauthenticated')),
    'a right request was refused as a wrong one with 401',
  ],
  [
    'an invalid request that makes the service fail',
    spoiling('POST /items', 400, refusal(500, 'internal')),
    'a wrong request was a failure, 500',
  ],
])('%s is found', async (_, spoil, expected) => {
  const toy = await startToy(spoil)

  const found = await complaint(driveAll(toy))

  expect(found).toMatch(/^.*Property failed after \d+ tests?|requests from one address|no Retry-After/)
  expect(found).toContain(expected)
})

test('a rate limit that is never applied is found', async () => {
  const { paths, ...rest } = TOY_DOCUMENT
  const { '/items': items, ...others } = paths
  const post = { ...items.post, 'x-rate-limit': { limit: 3, seconds: 60, by: 'address' } }

  const found = await complaint(
    driveAll(await startToy(), { ...rest, paths: { ...others, '/items': { ...items, post } } }),
  )

  expect(found).toContain('of 4 requests from one address')
})

test('a missing operation is found', async () => {
  const { paths, ...rest } = TOY_DOCUMENT
  const { get: put } = paths['/items']

  const found = await complaint(driveAll(await startToy(), { ...rest, paths: { ...paths, '/elsewhere': { put } } }))

  expect(found).toContain('status 404 is not declared')
})

test('the same seed gives the same requests', async () => {
  const spoil = spoiling('POST /items', 201, () => ({}))

  const first = await complaint(driveAll(await startToy(spoil)))
  const again = await complaint(driveAll(await startToy(spoil)))

  expect(first.split('Counterexample')[0]).toBe(again.split('Counterexample')[0])
  expect(first).toContain('{ seed: 7, path: "')
})
