import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createFindings } from './findings.ts'
import { createRegister } from './register.ts'
import { createLine, type Question } from './traffic.ts'
import { createWeather, type Trouble } from './weather.ts'

const ERROR = { error: 'La base de données ne répond pas.', code: 'storage_failed' }

/** Returns the findings for one answer. */
async function judged(
  [status, body]: [number, string],
  { trouble, mayRefuse = [] }: { trouble?: Trouble; mayRefuse?: Question['mayRefuse'] } = {},
) {
  const server = createServer((_request, response) => response.writeHead(status).end(body)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const [findings, weather] = [createFindings(), createWeather()]
  if (trouble) weather.begin(trouble)
  const world = { url: `http://127.0.0.1:${address.port}`, weather, findings, count: () => {} }
  const line = createLine(world, '10.66.0.1')
  await line.ask({ method: 'GET', path: '/', mayRefuse: mayRefuse ?? [] })
  await line.close()
  return { undeclared: findings.count('undeclared'), unexpected: findings.count('unexpected') }
}

const FINE = { undeclared: 0, unexpected: 0 }

test('a success and an expected refusal are no findings', async () => {
  expect(await judged([200, '{}'])).toEqual(FINE)
  expect(await judged([409, JSON.stringify({ error: 'x', code: 'job_ended' })], { mayRefuse: ['job_ended'] })).toEqual(
    FINE,
  )
})

test('only a database lock excuses a database failure', async () => {
  const answer: [number, string] = [500, JSON.stringify(ERROR)]

  expect(await judged(answer, { trouble: 'lock' })).toEqual(FINE)
  expect(await judged(answer, { trouble: 'host' })).toEqual({ ...FINE, unexpected: 1 })
  expect(await judged(answer)).toEqual({ ...FINE, unexpected: 1 })
})

test('no fault excuses an internal error', async () => {
  const answer: [number, string] = [500, JSON.stringify({ error: 'Erreur interne.', code: 'internal' })]

  expect(await judged(answer, { trouble: 'lock' })).toEqual({ ...FINE, unexpected: 1 })
})

test.each([
  [200, '{"half":'],
  [404, '<h1>Not Found</h1>'],
  [500, '{"message":"x"}'],
])('an answer in an undeclared format is a finding: %d %s', async (status, body) => {
  expect((await judged([status, body])).undeclared).toBeGreaterThan(0)
})

test('a read must return the last acknowledged write, or a later one without an answer', () => {
  const findings = createFindings()
  const register = createRegister('it', 'first', findings)

  register.writing('second')
  register.read('first')
  register.read('second')
  expect(findings.none()).toBe(true)

  register.acknowledged('second')
  register.read('second')
  expect(findings.none()).toBe(true)

  register.read('first')
  expect(findings.count('forgotten')).toBe(1)
})
