import { stat, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { FIRST_HASH, linkEntries } from '../../../db/access/audit-chain.ts'
import { addAuditEntry, type AuditEntry } from '../../../db/audit.ts'
import exportAudit from '../../../functions/audit/export.get.ts'
import { START, testApp } from '../../app.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { audited, refused } from '../answers.ts'
import { typeCommand } from '../console.ts'

const NOW = START.toISOString()
const PATH = '/api/audit/export'
const ENTRY: AuditEntry = { action: 'logout', user_id: 1, username: 'bob', target: null, ip: '10.0.0.1', details: null }
const Line = z.strictObject({
  id: z.number(),
  at: z.string(),
  action: z.string(),
  user_id: z.number().nullable(),
  username: z.string().nullable(),
  target: z.string().nullable(),
  ip: z.string(),
  details: z.string().nullable(),
  hash: z.string().nullable(),
})

async function start() {
  const app = await testApp([exportAudit])
  return {
    ...app,
    write: async (...entries: (Partial<AuditEntry> & { at?: string })[]) => {
      for (const { at = NOW, ...entry } of entries) await addAuditEntry(app.db, { ...ENTRY, ...entry }, at)
    },
    text: async (query = '') => {
      const response = await app.request('GET', PATH + query, { as: 'admin' })
      expect(response.status).toBe(200)
      return response.text()
    },
    type: (...words: string[]) => typeCommand({ ...app.services, secrets: app.secrets }, words),
  }
}

const parsed = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => Line.parse(JSON.parse(line)))
const ids = (text: string) => parsed(text).map(({ id }) => id)

/** Reads CSV by RFC 4180. */
function cells(text: string): string[][] {
  expect(text.endsWith('\r\n')).toBe(true)
  const rows: string[][] = [[]]
  for (const [, cell = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^,"\r\n]*)(,|\r\n)/g)) {
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

test('JSON lines give every entry, the oldest first, with which anybody can compute the chain', async () => {
  const app = await start()
  await app.write({ details: '{"by":"password"}' }, { username: 'éva\0', target: 'lxc:101' }, { user_id: null })
  await app.write(...Array.from({ length: 1_200 }, () => ({})))
  await linkEntries(app.db, 1_000, '2099')

  const lines = parsed(await app.text())

  expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: 1_203 }, (_, at) => at + 1))
  let hash = FIRST_HASH
  for (const { id, at, action, user_id, username, target, ip, details, hash: told } of lines.slice(0, 1_000)) {
    const name = username?.includes('\0') ? { hex: Buffer.from(username).toString('hex') } : username
    const entry = JSON.stringify([id, at, action, user_id, name, target, ip, details])
    hash = createHash('sha256').update(`${hash}\n${entry}`).digest('hex')
    expect(told).toBe(hash)
  }
  expect(lines.slice(1_000).every((line) => line.hash === null)).toBe(true)
})

test('the export is an entry, which it does not contain, and entries that come meanwhile are not in it', async () => {
  const app = await start()
  await app.write({}, {})

  const response = await app.request('GET', `${PATH}?format=csv&user=bob`, { as: 'admin' })
  await app.write({})

  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit-2.csv"')
  expect(cells(await response.text())).toHaveLength(3)
  expect((await audited(app.db))[2]).toMatchObject({
    action: 'audit_exported',
    username: 'alice',
    details: { format: 'csv', last: 2, user: 'bob' },
  })
})

test('CSV keeps every text whole', async () => {
  const app = await start()
  const odd = 'a "quoted", text\r\nof two lines; é\ttab'
  await app.write({ username: odd, details: JSON.stringify({ note: odd }) })

  const [head, row] = cells(await app.text('?format=csv'))

  expect(head).toEqual(['id', 'at', 'action', 'user_id', 'username', 'target', 'ip', 'details', 'hash'])
  expect(row).toEqual(['1', NOW, 'logout', '1', odd, '', '10.0.0.1', JSON.stringify({ note: odd }), ''])
})

test.each([
  '=HYPERLINK("http://evil.example")',
  '+1+1',
  '-2+3',
  '@SUM(A1)',
  '\t=1',
  ' =1',
  '\r=1',
  '\n@x',
  '＝1+1',
  '－1',
])('a text that a spreadsheet would take for a formula is harmless in CSV: %j', async (text) => {
  const app = await start()
  await app.write({ username: text, target: text })

  const [, row] = cells(await app.text('?format=csv'))

  expect([row?.[4], row?.[5]]).toEqual([`'${text}`, `'${text}`])
  expect(parsed(await app.text())[0]).toMatchObject({ username: text })
})

test.each([
  ['x;=1+1;y', "x;'=1+1;y"],
  ['x;"=1+1"', 'x;\'"=1+1"'],
  ['x\t@A1', "x\t'@A1"],
  ['x\n -2', "x\n' -2"],
  ['=1;=2', "'=1;'=2"],
  ['a;b=c', 'a;b=c'],
])(
  'a formula behind a semicolon, where spreadsheets of many countries part cells, is harmless: %j',
  async (text, harmless) => {
    const app = await start()
    await app.write({ username: text, target: text })

    const [, row] = cells(await app.text('?format=csv'))

    expect([row?.[4], row?.[5]]).toEqual([harmless, harmless])
    expect(parsed(await app.text())[0]).toMatchObject({ username: text })
  },
)

test('the filters choose by action, user, target and time', async () => {
  const app = await start()
  await app.write(
    { target: 'host', at: '2026-03-01T10:00:00.000Z' },
    { action: 'login_success', at: '2026-03-01T11:00:00.000Z' },
    { username: 'eve', at: '2026-03-01T12:00:00.000Z' },
    { target: 'host', username: 'eve', at: '2026-03-01T13:00:00.000Z' },
  )
  const chosen = async (query: string) => (await app.text(query).then(ids)).filter((id) => id <= 4)

  expect(await chosen('?action=login_success')).toEqual([2])
  expect(await chosen('?user=eve')).toEqual([3, 4])
  expect(await chosen('?target=host')).toEqual([1, 4])
  expect(await chosen('?target=host&user=eve')).toEqual([4])
  expect(await chosen('?from=2026-03-01T11:00:00Z&until=2026-03-01T13:00:00.000Z')).toEqual([2, 3])
  expect(await chosen('?from=2026-03-01T13:00:00%2B02:00&until=2026-03-01T12:00:00Z')).toEqual([2])
})

test.each(['?format=xml', '?action=none', '?from=yesterday', '?until=2026-03-01', `?target=${'x'.repeat(257)}`])(
  '%s is refused, without an entry',
  async (query) => {
    const app = await start()

    await refused(await app.request('GET', PATH + query, { as: 'admin' }), 400, 'invalid_request')

    expect(await audited(app.db)).toEqual([])
  },
)

test('an export is for administrators, two at a time', async () => {
  const app = await start()
  await app.write({})

  expect((await app.request('GET', PATH, { as: 'user' })).status).toBe(403)
  expect((await app.request('GET', PATH)).status).toBe(401)
  const open = [await app.request('GET', PATH, { as: 'admin' }), await app.request('GET', PATH, { as: 'admin' })]
  await refused(await app.request('GET', PATH, { as: 'admin' }), 429, 'rate_limited')
  for (const response of open) await response.body?.cancel()
  expect((await app.request('GET', PATH, { as: 'admin' })).status).toBe(200)
})

test('the console writes a new file that only its owner may read, and never replaces one', async () => {
  const app = await start()
  await app.write({}, {})
  const folder = await temporaryFolder()
  const file = join(folder, 'audit.jsonl')

  const { text } = await app.type('audit', 'export', file)

  expect(text).toBe(`Journal d’audit : ${file} (jusqu’à l’entrée 2).`)
  expect(ids(await readFile(file, 'utf8'))).toEqual([1, 2])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  await expect(app.type('audit', 'export', file)).rejects.toThrow(/rien n’a été écrasé/)
  await expect(app.type('audit', 'export', join(folder, 'audit.xml'))).rejects.toThrow(/\.jsonl ou \.csv/)
  await writeFile(join(folder, 'x'), '')
  await expect(app.type('audit', 'export', join(folder, 'none', 'a.csv'))).rejects.toThrow(/dossier/)
  expect((await audited(app.db)).filter(({ action }) => action === 'audit_exported')).toMatchObject([
    { username: 'operator', ip: 'console', details: { format: 'jsonl', last: 2 } },
  ])
})
