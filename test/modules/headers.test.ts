import { expect, test } from 'vitest'
import { ANSWER_HEADERS } from '../../runtime/answer.ts'
import { record, withModules } from '../functions/modules/module.ts'
import { refused } from '../functions/answers.ts'

/** A module whose endpoint sets the header of the request's query, and one that answers with a page. */
const CODE = `export default ({ z, defineFunction }) => [
  defineFunction({
    method: 'GET', path: '/api/modules/probe/set', auth: 'none', rateLimit: false,
    request: { query: z.object({ name: z.string(), value: z.string() }) }, response: z.object({}),
    handler({ query: { name, value } }, { header }) { header(name, value); return {} },
  }),
  defineFunction({
    method: 'GET', path: '/api/modules/probe/page', auth: 'none', rateLimit: false, response: z.string(),
    contentType: 'text/html', handler: () => '<script>alert(1)</script>',
  }),
]`

const start = () => withModules([record('probe', { backend: 'backend.mjs' })], { files: { 'probe/backend.mjs': CODE } })

const address = (name: string, value: string) => `/api/modules/probe/set?${new URLSearchParams({ name, value })}`

test.each([
  ['cache-control', 'private, max-age=60'],
  ['Content-Disposition', 'attachment; filename="a.csv"'],
  ['content-language', 'fr'],
  ['ETag', '"1"'],
  ['last-modified', 'Sun, 01 Mar 2026 12:00:00 GMT'],
  ['retry-after', '5'],
  ['vary', 'accept-language'],
  ['X-Total-Count', '7'],
])('a module may set %s', async (name, value) => {
  const { request } = await start()

  const response = await request('GET', address(name, value))
  expect([response.status, response.headers.get(name)]).toEqual([200, value])
})

test.each([
  'access-control-allow-credentials',
  'access-control-allow-origin',
  'clear-site-data',
  'connection',
  'content-encoding',
  'Content-Security-Policy',
  'content-security-policy-report-only',
  'content-type',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'link',
  'location',
  'referrer-policy',
  'refresh',
  'service-worker-allowed',
  'Set-Cookie',
  'sourcemap',
  'strict-transport-security',
  'transfer-encoding',
  'www-authenticate',
  'X-Accel-Redirect',
  'x-content-type-options',
  'x-forwarded-host',
  'X-Frame-Options',
  'x-request-id',
  'x-sendfile',
  'x-\r\nset-cookie',
])(
  'a module that sets %s fails with a line in the log, and its answer keeps the headers of the service',
  async (name) => {
    const { request, lines } = await start()

    const response = await request('GET', address(name, 'x'))
    const headers = Object.fromEntries(response.headers)
    await refused(response, 500, 'internal')
    expect(headers).toMatchObject(ANSWER_HEADERS)
    expect(headers).not.toHaveProperty('set-cookie')
    const said = `the module probe may not set the header ${JSON.stringify(name.toLowerCase())}`
    expect(
      lines().filter(
        (line) => JSON.parse(line).err?.message === said || line.includes(JSON.stringify(said).slice(1, -1)),
      ),
    ).toHaveLength(1)
  },
)

test('the page of a module that a tab opens directly has no origin and runs no script', async () => {
  const { request } = await start()

  const response = await request('GET', '/api/modules/probe/page')
  const headers = Object.fromEntries(response.headers)
  expect(headers['content-type']).toBe('text/html')
  expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' })
  expect(headers['content-security-policy']?.split('; ')).toEqual([
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    'sandbox',
  ])
})
