import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import type { Database } from '../../../db/libsql/database.ts'
import { readSecurityData } from '../../../db/security-data.ts'
import { fetchList, ListError } from '../../../functions/vulnerabilities/list-requests.ts'
import refreshData from '../../../functions/vulnerabilities/refresh-data.task.ts'
import { vulnerabilitiesFor, vulnerabilityState } from '../../../functions/vulnerabilities/vulnerabilities.ts'
import { START, testApp } from '../../app.ts'
import { closeServer } from '../../close-server.ts'
import { closedAtEnd } from '../../closed-at-end.ts'
import { debsecanList, exploitedList, secdbList, trackerList } from './lists.ts'

const HOUR = 60 * 60_000
const LIST = debsecanList(['CVE-2024-0001'], ['openssl,0,SH F,2-1,'])
const CHANGE = { source: 'openssl', from: '1-1', to: '2-1' }

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server on the loopback that answers with these files, and records the requests. */
async function listServer() {
  const requests: { url: string; tag: string | undefined }[] = []
  const answers = new Map<string, Answer>()
  const server = createServer((request, response) => {
    const url = request.url ?? ''
    requests.push({ url, tag: request.headers['if-none-match'] })
    const answer = answers.get(url)
    if (answer) answer(request, response)
    else response.writeHead(404).end('nothing here')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${Object(server.address()).port}`
  return closedAtEnd(Promise.resolve({ origin, requests, answers, close: () => closeServer(server) }))
}

/** Sends a body with a tag, and 304 to who has it. */
function tagged(body: Buffer | string): Answer {
  return (request, response) => {
    const isKnown = request.headers['if-none-match'] === '"one"'
    response.writeHead(isKnown ? 304 : 200, { etag: '"one"' }).end(isKnown ? undefined : body)
  }
}

async function checked(db: Database, target: string, os: object) {
  const sql = `INSERT INTO checks (target, vmid, name, status, summary) VALUES (?, ?, 'x', 'running', ?)`
  await db.run(sql, [target, Number(target.split(':')[1] ?? 100), JSON.stringify({ os })])
}

async function refreshing({ kev = true } = {}) {
  const server = await listServer()
  const app = await testApp([], {
    env: {
      PANEL_CVE_URL: `${server.origin}/debsecan/release/1/`,
      ...(kev && { PANEL_KEV_URL: `${server.origin}/kev.json` }),
    },
  })
  await checked(app.db, 'lxc:101', { id: 'debian', codename: 'bookworm' })
  server.answers.set('/debsecan/release/1/bookworm', tagged(LIST))
  server.answers.set('/kev.json', tagged(exploitedList(['CVE-2024-0001'])))
  return {
    ...app,
    server,
    refresh: () => refreshData.run(app.services),
    state: () => vulnerabilityState(app.db, app.services.config),
    fixed: async () => (await vulnerabilitiesFor(app.db, 'bookworm', new Set(['openssl'])))?.fixedBy(CHANGE),
  }
}

test('the lists of the checked releases of Debian, and the known exploited ones, are fetched and used', async () => {
  const { db, server, refresh, state, fixed } = await refreshing()
  await checked(db, 'lxc:102', { id: 'debian', codename: '../../etc' })
  await checked(db, 'lxc:103', { id: 'ubuntu', codename: 'noble' })
  await checked(db, 'lxc:104', { id: 'debian', codename: null })
  await db.run(`INSERT INTO checks (target, vmid, name, status, summary) VALUES ('lxc:105', 105, 'x', 'running', '{')`)
  expect(await state()).toEqual({ cve: { at: null, error: null }, kev: { at: null, error: null } })

  await refresh()

  expect(server.requests.map(({ url }) => url)).toEqual(['/debsecan/release/1/bookworm', '/kev.json'])
  expect(await fixed()).toEqual([{ id: 'CVE-2024-0001', urgency: 'high', known_exploited: true }])
  const at = START.toISOString()
  expect(await state()).toEqual({ cve: { at, error: null }, kev: { at, error: null } })
})

test('the lists of the checked branches of Alpine are fetched and used', async () => {
  const server = await listServer()
  const env = { PANEL_ALPINE_SECDB_URL: `${server.origin}/secdb` }
  const { db, services } = await testApp([], { env })
  await checked(db, 'lxc:101', { id: 'alpine', version_id: '3.20.3', codename: null })
  await checked(db, 'lxc:102', { id: 'alpine', version_id: '3.20.1', codename: null })
  await checked(db, 'lxc:103', { id: 'alpine', version_id: '../../x', codename: null })
  await checked(db, 'lxc:104', { id: 'debian', version_id: '12', codename: 'bookworm' })
  for (const part of ['main', 'community'])
    server.answers.set(`/secdb/v3.20/${part}.json`, tagged(secdbList({ openssl: { '2-r0': ['CVE-2024-0001'] } })))

  await refreshData.run(services)

  expect(server.requests.map(({ url }) => url)).toEqual(['/secdb/v3.20/main.json', '/secdb/v3.20/community.json'])
  const known = await vulnerabilitiesFor(db, 'alpine:v3.20', new Set(['openssl']))
  expect(known?.fixedBy({ source: 'openssl', from: '1-r0', to: '2-r0' })).toMatchObject([{ id: 'CVE-2024-0001' }])
  const state = { cve: { at: START.toISOString(), error: null }, kev: null }
  expect(await vulnerabilityState(db, services.config)).toEqual(state)
})

test('the list of Arch is fetched where a check has found Arch, and used', async () => {
  const server = await listServer()
  const { db, services } = await testApp([], { env: { PANEL_ARCH_SECURITY_URL: `${server.origin}/` } })
  await refreshData.run(services)
  expect(server.requests).toEqual([])
  await checked(db, 'lxc:101', { id: 'arch', version_id: null, codename: null })
  const group = { packages: ['openssl'], fixed: '2-1', issues: ['CVE-2024-0001'] }
  server.answers.set('/all.json', tagged(trackerList([group])))

  await refreshData.run(services)

  expect(server.requests.map(({ url }) => url)).toEqual(['/all.json'])
  const known = await vulnerabilitiesFor(db, 'arch:rolling', new Set(['openssl']))
  expect(known?.fixedBy(CHANGE)).toMatchObject([{ id: 'CVE-2024-0001', urgency: 'medium' }])
})

test('without sources nothing is fetched, nothing is known, and what was stored goes', async () => {
  const { db, services, server, refresh } = await refreshing()
  await refresh()
  const before = server.requests.length
  const config = { ...services.config, cveUrl: undefined, kevUrl: undefined }

  await refreshData.run({ ...services, config })

  expect(server.requests).toHaveLength(before)
  expect(await vulnerabilityState(db, config)).toEqual({ cve: null, kev: null })
  expect(await readSecurityData(db, 'cve:bookworm')).toBeUndefined()
})

test('a list is asked for again after 12 hours, and a tag spares its transfer', async () => {
  const { server, refresh, advance, state, fixed } = await refreshing({ kev: false })
  await refresh()
  advance(12 * HOUR - 1)
  await refresh()
  expect(server.requests).toHaveLength(1)
  advance(2)

  await refresh()

  expect(server.requests[1]?.tag).toBe('"one"')
  const at = new Date(START.getTime() + 12 * HOUR + 1).toISOString()
  expect(await state()).toEqual({ cve: { at, error: null }, kev: null })
  expect(await fixed()).toHaveLength(1)
})

test('two instances that refresh at the same time ask once', async () => {
  const { server, refresh } = await refreshing({ kev: false })

  await Promise.all([refresh(), refresh(), refresh()])

  expect(server.requests).toHaveLength(1)
})

test.each<[string, Answer, RegExp]>([
  ['a missing list', (_, response) => response.writeHead(404).end('no'), /a répondu HTTP 404\.$/],
  ['a page', (_, response) => response.end('<html>'), /n’est pas la liste attendue\.$/],
  ['half a list', (_, response) => response.end(LIST.subarray(0, 50)), /n’est pas la liste attendue\.$/],
  ['a broken connection', (request) => request.socket.destroy(), /ne répond pas \(/],
  ['an answer that breaks off', brokenOff, /ne répond pas \(/],
  ['a redirect to a file', redirectTo('file:///etc/passwd'), /redirige vers une adresse refusée\.$/],
  ['redirects without end', redirectTo('/debsecan/release/1/bookworm'), /redirige sans fin/],
])('%s never replaces a good one, and is tried again after 30 minutes', async (_, answer, sentence) => {
  const { server, refresh, advance, state, fixed } = await refreshing({ kev: false })
  await refresh()
  const at = START.toISOString()
  server.answers.set('/debsecan/release/1/bookworm', answer)
  advance(13 * HOUR)

  await refresh()

  expect(await state()).toEqual({ cve: { at, error: expect.stringMatching(sentence) }, kev: null })
  expect(await fixed()).toHaveLength(1)
  server.answers.set('/debsecan/release/1/bookworm', tagged(LIST))
  advance(HOUR / 2 - 1)
  await refresh()
  expect((await state()).cve?.error).not.toBeNull()
  advance(2)
  await refresh()
  expect((await state()).cve?.error).toBeNull()
})

function brokenOff(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': 1_000 })
  response.write('some', () => request.socket.destroy())
}

function redirectTo(location: string): Answer {
  return (_, response) => response.writeHead(302, { location }).end()
}

test('a redirect to another server is followed', async () => {
  const { server, refresh, fixed } = await refreshing({ kev: false })
  const mirror = await listServer()
  mirror.answers.set('/there', tagged(LIST))
  server.answers.set('/debsecan/release/1/bookworm', redirectTo(`${mirror.origin}/there`))

  await refresh()

  expect(await fixed()).toHaveLength(1)
})

test('an answer without end is cut off at its time and at its size', async () => {
  const { origin, answers } = await listServer()
  answers.set('/silent', (_, response) => response.write('some'))
  answers.set('/endless', (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
    }
    response.on('drain', more)
    more()
  })
  const bounds = { etag: null, maxBytes: 1024 * 1024, withinMs: 30_000 }

  await expect(fetchList(`${origin}/silent`, { ...bounds, withinMs: 100 })).rejects.toThrow('n’a pas répondu à temps.')
  await expect(fetchList(`${origin}/endless`, bounds)).rejects.toThrow(ListError)
  await expect(fetchList(`${origin}/endless`, bounds)).rejects.toThrow(`La liste de ${origin} dépasse 1 Mio.`)
})
