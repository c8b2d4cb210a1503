import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { functions } from '../../../functions/index.ts'
import { ASSET_FILES } from '../../../platform/asset-files.ts'
import { testApp } from '../../app.ts'
import { refused } from '../answers.ts'

const app = await testApp(functions)
const page = await app.request('GET', '/api/docs')
const html = await page.text()
/** The paths as a browser resolves them from /api/docs. */
const links = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, link = '']) => link)
const files = links.filter((link) => link.startsWith('docs/')).map((link) => `/api/${link}`)

test('the page loads nothing from elsewhere, and runs no inline script or style', () => {
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
  expect(html).not.toMatch(/<script>|<style|style=| on\w+=|https?:/)
})

test('the page refers only to existing files and documents', async () => {
  expect(links).toEqual(expect.arrayContaining(['openapi.json', 'asyncapi.json']))
  expect(files).toHaveLength(Object.keys(ASSET_FILES).length)
  for (const link of ['/api/openapi.json', '/api/asyncapi.json', ...files])
    expect((await app.request('GET', link)).status).toBe(200)
})

test.each(['https://panel.test/api/docs/', 'https://site.test/panel/api/docs/'])(
  '%s redirects a browser to the page next to it',
  async (address) => {
    const response = await app.request('GET', '/api/docs/')

    expect(response.status).toBe(308)
    expect(new URL(response.headers.get('location') ?? '', address).href).toBe(address.replace(/\/$/, ''))
  },
)

interface SwaggerOptions {
  plugins: {
    statePlugins: { spec: { wrapActions: { updateJsonSpec(update: (spec: object) => object): typeof update } } }
  }[]
}

test.each([
  ['https://panel.test/api/docs', '/'],
  ['https://panel.test/api/docs#/auth/post_api_auth_login', '/'],
  ['https://site.test/panel/api/docs', '/panel'],
  ['https://site.test/a/b/api/docs', '/a/b'],
])('the page at %s sends requests below %s', async (href, url) => {
  const script = await readFile(join(import.meta.dirname, '../../..', ASSET_FILES['docs.js']), 'utf8')
  let given: SwaggerOptions | undefined
  const window = { location: { href }, SwaggerUIBundle: (options: SwaggerOptions) => (given = options) }
  runInNewContext(script, { window, URL })

  const update = given?.plugins[0]?.statePlugins.spec.wrapActions.updateJsonSpec((spec) => spec)

  expect(update?.({ openapi: '3.1.0', servers: [{ url: '/' }] })).toEqual({ openapi: '3.1.0', servers: [{ url }] })
})

const inside = Object.entries(ASSET_FILES)

test.each(inside)('%s is served unchanged from the project, compressed as the client accepts', async (name, path) => {
  const content = await readFile(join(import.meta.dirname, '../../..', path))
  const get = async (accepted?: string) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const response = await app.request('GET', `/api/docs/${name}`, { headers })
    const encoding = response.headers.get('content-encoding')
    const bytes = Buffer.from(await response.arrayBuffer())
    return {
      encoding,
      type: response.headers.get('content-type'),
      bytes: encoding === 'gzip' ? gunzipSync(bytes) : bytes,
    }
  }

  const type = name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8'
  for (const accepted of [undefined, 'identity', 'gzip;q=0', 'deflate, gzip; q=0.0'])
    expect(await get(accepted)).toEqual({ encoding: null, type, bytes: content })
  for (const accepted of ['gzip', 'GZIP', 'deflate, gzip;q=0.5', 'gzip, br;q=0'])
    expect(await get(accepted)).toEqual({ encoding: 'gzip', type, bytes: content })
})

test('a browser may cache a file, whose address changes with its content', async () => {
  for (const file of files) {
    expect(file).toMatch(/^\/api\/docs\/[\w-]+\.(css|js)\?v=[0-9a-f]{12}$/)
    const { headers } = await app.request('GET', file)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('vary')).toBe('accept-encoding')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).not.toBeNull()
  }
  expect(page.headers.get('cache-control')).toBe('no-store')
})

test('a file requested with another version is not cached: another instance may have linked to it', async () => {
  for (const address of ['/api/docs/docs.js', '/api/docs/docs.js?v=', '/api/docs/docs.js?v=0123456789ab'])
    expect((await app.request('GET', address)).headers.get('cache-control')).toBe('no-store')
})

test.each(['nothing.js', '..%2fopenapi.get.ts', 'constructor', 'package.json'])(
  '%s is not a file of the page',
  async (name) => {
    await refused(await app.request('GET', `/api/docs/${name}`), 404, 'not_found')
  },
)
