import { expect, test } from 'vitest'
import type { Database } from '../../../db/libsql/database.ts'
import { claimSecurityData, saveSecurityData } from '../../../db/security-data.ts'
import { BrokenList } from '../../../functions/vulnerabilities/debsecan.ts'
import { branchOf, MAX_SECDB, readSecdb } from '../../../functions/vulnerabilities/secdb.ts'
import { vulnerabilitiesFor } from '../../../functions/vulnerabilities/vulnerabilities.ts'
import { NOW, openMigrated } from '../../db/database.ts'
import { exploitedList, secdbList } from './lists.ts'
import { storedExploited } from '../../../functions/vulnerabilities/exploited.ts'

async function stored(db: Database, name: string, body: Uint8Array) {
  await claimSecurityData(db, name, { now: NOW, fetchedBefore: NOW, triedBefore: NOW, ahead: NOW })
  await saveSecurityData(db, name, { body, etag: null, at: NOW })
}

const MAIN = secdbList({
  openssl: {
    '0': ['CVE-2019-0190'],
    '3.3.0-r2': ['CVE-2024-4603 GHSA-abcd-ef01'],
    '3.3.1-r1': ['CVE-2024-5535', 'CVE-2024-0001 (+ regression)'],
    '3.3.2-r0': ['CVE-2024-0001'],
  },
})

test('an upgrade fixes the vulnerabilities whose fix lies between its versions', async () => {
  const db = await openMigrated()
  await stored(db, 'cve:alpine:v3.20/main', MAIN)
  await stored(db, 'cve:alpine:v3.20/community', secdbList({ curl: { '8.9.0-r0': ['CVE-2024-6197'] } }))
  await stored(db, 'kev', storedExploited(Buffer.from(exploitedList(['CVE-2024-5535']))) ?? Buffer.alloc(0))
  const found = await vulnerabilitiesFor(db, 'alpine:v3.20', new Set(['openssl', 'curl']))
  const idsOf = (from: string, to: string, source = 'openssl') =>
    found?.fixedBy({ source, from, to }).map(({ id }) => id)

  expect(idsOf('3.3.0-r1', '3.3.0-r2')).toEqual(['GHSA-abcd-ef01', 'CVE-2024-4603'])
  // The known exploited one first, and one that came back once.
  expect(idsOf('3.3.0-r3', '3.3.2-r0')).toEqual(['CVE-2024-5535', 'CVE-2024-0001'])
  expect(idsOf('3.3.1-r1', '3.3.2-r0')).toEqual(['CVE-2024-0001'])
  expect(idsOf('3.3.2-r0', '3.3.2-r4')).toEqual([])
  expect(idsOf('8.8.0-r0', '8.9.0-r0', 'curl')).toEqual(['CVE-2024-6197'])
  // Without an order nothing is known.
  expect(idsOf('3.3.0-r1', 'git')).toEqual([])
})

test('a branch of which one list is missing or damaged is not known', async () => {
  const db = await openMigrated()
  await stored(db, 'cve:alpine:v3.20/main', MAIN)
  expect(await vulnerabilitiesFor(db, 'alpine:v3.20', new Set(['openssl']))).toBeUndefined()

  await stored(db, 'cve:alpine:v3.20/community', MAIN.subarray(0, 40))
  expect(await vulnerabilitiesFor(db, 'alpine:v3.20', new Set(['openssl']))).toBeUndefined()
})

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a page', Buffer.from('<html>404</html>')],
  ['half of a list', MAIN.subarray(0, MAIN.length / 2)],
  ['no packages', Buffer.from('{"packages":[]}')],
  ['packages in another form', Buffer.from('{"packages":{"openssl":{}}}')],
  ['a package without a name', Buffer.from('{"packages":[{"pkg":{"secfixes":{"1-r0":["CVE-2024-0001"]}}}]}')],
  ['a package without fixes', Buffer.from('{"packages":[{"pkg":{"name":"a"}}]}')],
  ['fixes in another form', Buffer.from('{"packages":[{"pkg":{"name":"a","secfixes":{"1-r0":"CVE-2024-0001"}}}]}')],
  ['a fix in another form', Buffer.from('{"packages":[{"pkg":{"name":"a","secfixes":{"1-r0":[1]}}}]}')],
  ['a fix that has no end', secdbList({ a: { '1-r0': ['CVE-2024-0001 '.repeat(200)] } })],
  ['no vulnerability', secdbList({ a: { '1-r0': ['none'] } })],
  ['more packages than any', Buffer.from(`{"packages":[${'0,'.repeat(50_000)}0]}`)],
  ['more bytes than any', Buffer.alloc(MAX_SECDB + 1, ' ')],
  [
    'more fixes of a package than any',
    secdbList({ a: { '1-r0': Array.from({ length: 10_001 }, (_, n) => `CVE-2024-${10_000 + n}`) } }),
  ],
])('a list with %s is refused whole', async (_, bytes) => {
  await expect(readSecdb(bytes, new Set(['a', 'openssl']))).rejects.toThrow(BrokenList)
})

test('a version without fixes is null in some lists', async () => {
  const list = Buffer.from('{"packages":[{"pkg":{"name":"a","secfixes":{"1-r0":null,"2-r0":["CVE-2024-0001"]}}}]}')

  expect((await readSecdb(list, new Set(['a']))).get('a')).toMatchObject([{ id: 'CVE-2024-0001', fixedIn: '2-r0' }])
})

test.each([
  ['3.20.3', 'v3.20'],
  ['3.20', 'v3.20'],
  ['3.23.0_alpha20250612', 'edge'],
  ['edge', 'edge'],
  ['../3.20', undefined],
  ['3', undefined],
  ['3.20.3/x', undefined],
])('the release %s has the lists of %s', (version, branch) => {
  expect(branchOf(version)).toBe(branch)
})
