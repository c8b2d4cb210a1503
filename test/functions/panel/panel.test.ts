import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { functions } from '../../../functions/index.ts'
import { buildPanel } from '../../../packaging/panel.ts'
import { ROUTES } from '../../../panel/routes.ts'
import { PANEL_PAGE } from '../../../platform/asset-files.ts'
import { testApp } from '../../app.ts'
import { refused } from '../answers.ts'

const { files } = await buildPanel()
const page = Buffer.from(files.get(PANEL_PAGE) ?? []).toString()
const scripts = [...files.keys()].filter((name) => name.startsWith('panel/')).map((name) => `/${name}`)
const addresses = ROUTES.map(({ path }) => path.replace(':job', '0f8b1a2c'))

const app = await testApp(functions)
const get = (path: string, headers: Record<string, string> = {}) => app.request('GET', path, { headers })

test.each(addresses)('%s returns the page to anybody', async (path) => {
  const response = await get(path)

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(await response.text()).toBe(page)
})

test('the page may load and connect to its own origin only, cannot be framed, and sends no referrer', async () => {
  const { headers } = await get('/')

  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  )
  expect(headers.get('x-frame-options')).toBe('DENY')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('x-request-id')).not.toBeNull()
})

test('windows that the page opens, and those that open it, are isolated, in browsers with support for that', async () => {
  const opener = async (headers: Record<string, string> = {}) =>
    (await get('/', headers)).headers.get('cross-origin-opener-policy')

  expect(await opener({ 'x-forwarded-proto': 'https' })).toBe('same-origin')
  // Without TLS, each browser would log that it ignores these headers.
  expect(await opener()).toBeNull()
})

test('a browser revalidates the page each time, and downloads it once', async () => {
  const first = await get('/')
  const etag = first.headers.get('etag') ?? ''
  const again = await get('/settings', { 'if-none-match': etag })

  expect(first.headers.get('cache-control')).toBe('no-cache')
  expect(etag).toMatch(/^W\/"[0-9a-f]{12}"$/)
  expect(again.status).toBe(304)
  expect(await again.text()).toBe('')
  // A browser copies these headers to its cached page.
  for (const name of ['etag', 'cache-control', 'content-type', 'content-security-policy', 'vary'])
    expect(again.headers.get(name)).toBe(first.headers.get(name))
  for (const other of ['W/"0123456789ab"', '"', '*x'])
    expect((await get('/', { 'if-none-match': other })).status).toBe(200)
})

test.each(scripts)('%s is served as built, compressed as the client accepts, and cacheable for ever', async (path) => {
  const content = Buffer.from(files.get(path.slice(1)) ?? [])
  const plain = await get(path)
  const zipped = await get(path, { 'accept-encoding': 'gzip' })

  expect(Buffer.from(await plain.arrayBuffer()).equals(content)).toBe(true)
  expect(gunzipSync(Buffer.from(await zipped.arrayBuffer())).equals(content)).toBe(true)
  expect(zipped.headers.get('content-encoding')).toBe('gzip')
  for (const { headers, status } of [plain, zipped]) {
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('vary')).toBe('accept-encoding')
    expect(headers.get('content-type')).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml); charset=utf-8$/)
  }
})

test('the page has scripts, styles and a picture', () => {
  expect([...new Set(scripts.map((name) => name.replace(/^.*\./, '')))].sort()).toEqual(['css', 'js', 'svg'])
})

test.each(['/', ...scripts.slice(0, 1)])('HEAD %s returns only the headers', async (path) => {
  const [asked, head] = [await get(path), await app.request('HEAD', path)]
  const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => name !== 'x-request-id')

  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
  expect(headersOf(head)).toEqual(headersOf(asked))
})

test.each([
  ...['nothing.js', 'main.js', 'panel.html', 'index.html', 'constructor', '..%2fpanel.html', '..%2fdocs.js', '%00'],
  ...['docs.js', 'main.tsx', ''],
])('/panel/%s is neither a file of the panel nor a page', async (name) => {
  await refused(await get(`/panel/${name}`), 404, 'not_found')
})

const NAVIGATION = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'sec-fetch-mode': 'navigate' }

test.each(['/nothing', '/updates/', '/updates/1/2', '/index.html', '/panel', '/Settings', '/favicon.ico', '/%ff'])(
  'the unknown address %s gives 404: the page to a navigating browser, JSON to all others',
  async (path) => {
    const seen = await get(path, NAVIGATION)

    expect(seen.status).toBe(404)
    expect(seen.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(seen.headers.get('cache-control')).toBe('no-store')
    expect(seen.headers.get('etag')).toBeNull()
    expect(seen.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await seen.text()).toBe(page)
    for (const headers of [
      {},
      { accept: '*/*' },
      { accept: 'application/json' },
      { ...NAVIGATION, 'sec-fetch-mode': 'cors' },
      { ...NAVIGATION, accept: 'image/svg+xml,*/*' },
    ])
      await refused(await get(path, headers), 404, 'not_found')
    for (const method of ['POST', 'DELETE', 'OPTIONS'])
      await refused(await app.request(method, path, { headers: NAVIGATION }), 404, 'not_found')
  },
)

test('unknown API addresses, wrong methods and a disabled panel get JSON for everybody', async () => {
  const off = await testApp(functions, { env: { PANEL_UI: 'off' } })

  for (const path of ['/api/nothing', '/api', '/ws/nothing'])
    await refused(await get(path, NAVIGATION), 404, 'not_found')
  await refused(await get('/api/auth/login', NAVIGATION), 405, 'method_not_allowed')
  await refused(await app.request('POST', '/settings', { headers: NAVIGATION }), 405, 'method_not_allowed')
  await refused(await off.request('GET', '/nothing', { headers: NAVIGATION }), 404, 'not_found')
})

test('requests for unknown addresses have the same limit as the page', async () => {
  const busy = await testApp(functions)
  const load = () => busy.request('GET', '/nothing', { headers: NAVIGATION })
  for (let n = 0; n < 600; n += 1) expect((await load()).status).toBe(404)

  expect((await load()).status).toBe(429)
})

test('with PANEL_UI=off no panel address exists, for any method, and the API does', async () => {
  const off = await testApp(functions, { env: { PANEL_UI: 'off' } })

  for (const path of [...addresses, ...scripts])
    for (const method of ['GET', 'POST']) await refused(await off.request(method, path), 404, 'not_found')
  expect((await off.request('GET', '/api/health')).status).toBe(200)
  expect((await off.request('GET', '/api/docs')).status).toBe(200)
})

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

test('over the limit, a browser gets a page that retries in time, and a program gets JSON', async () => {
  const busy = await testApp(functions)
  const load = (headers: Record<string, string>) => busy.request('GET', '/updates', { headers })
  for (let n = 0; n < 600; n += 1) expect((await load({})).status).toBe(200)

  const told = await load(BROWSER)
  const text = await told.text()

  expect(told.status).toBe(429)
  expect(told.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(told.headers.get('retry-after')).toBe('60')
  expect(told.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(text).toContain('Trop de requêtes. Réessayez dans 60 s.')
  expect(text).toContain('<p lang="en">')
  expect(text).toContain('<meta http-equiv="refresh" content="60">')
  await refused(await load({ accept: '*/*' }), 429, 'rate_limited')
  // All addresses are one page, and share one limit.
  await refused(await busy.request('GET', '/'), 429, 'rate_limited')
})

test('the page needs no token, and ignores one', async () => {
  expect((await get('/audit', { authorization: 'Bearer rubbish' })).status).toBe(200)
})
