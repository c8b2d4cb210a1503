import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { Database } from '../../../db/libsql/database.ts'
import { claimSecurityData, saveSecurityData } from '../../../db/security-data.ts'
import { BrokenList, readDebsecan } from '../../../functions/vulnerabilities/debsecan.ts'
import { storedExploited } from '../../../functions/vulnerabilities/exploited.ts'
import { vulnerabilitiesFor } from '../../../functions/vulnerabilities/vulnerabilities.ts'
import { NOW, openMigrated } from '../../db/database.ts'
import { debsecanList, exploitedList } from './lists.ts'

async function stored(db: Database, name: string, body: Uint8Array) {
  await claimSecurityData(db, name, { now: NOW, fetchedBefore: NOW, triedBefore: NOW, ahead: NOW })
  await saveSecurityData(db, name, { body, etag: null, at: NOW })
}

const NAMES = ['CVE-2024-0001', 'CVE-2024-0002', 'CVE-2024-0010', 'CVE-2023-9999', 'TEMP-0000001-ABCDEF']
const PACKAGES = [
  'openssl,0,SH F,3.0.15-1,3.0.11-1~deb12u2',
  'openssl,1,S  F,3.0.12-1,',
  'openssl,2,S ?F,3.0.12-1,',
  'openssl,3,SMRF,3.0.12-1,',
  'openssl,4,SL  ,,3.0.13-1',
  'libssl3,1,BH F,3.0.12-1,',
  'curl,1,SH F,9.0-1,',
]

test('an upgrade fixes what its old version has and its new version has not', async () => {
  const db = await openMigrated()
  await stored(db, 'cve:bookworm', debsecanList(NAMES, PACKAGES))
  const found = await vulnerabilitiesFor(db, 'bookworm', new Set(['openssl', 'libssl3']))
  const idsOf = (from: string, to: string, source = 'openssl') =>
    found?.fixedBy({ source, from, to }).map(({ id }) => id)

  // Unstable has a newer fix than the release, whose version is listed as another fixed one.
  expect(idsOf('3.0.11-1~deb12u1', '3.0.11-1~deb12u2')).toEqual(['CVE-2024-0001'])
  expect(idsOf('3.0.11-1~deb12u2', '3.0.12-1')).toEqual(['CVE-2023-9999', 'CVE-2024-0010', 'CVE-2024-0002'])
  // A flaw without a fix in unstable has one in the listed versions alone.
  expect(idsOf('3.0.12-1', '3.0.13-1')).toEqual(['TEMP-0000001-ABCDEF'])
  expect(idsOf('3.0.15-1', '3.0.16-1')).toEqual([])
  // A binary package has its own versions, and the other packages were not asked for.
  expect(idsOf('3.0.11-1', '3.0.12-1', 'libssl3')).toEqual([])
  expect(idsOf('1.0', '9.0-1', 'curl')).toEqual([])
})

test('the known exploited vulnerabilities come first, then the urgent ones, then the newest, at most 50', async () => {
  const db = await openMigrated()
  const many = Array.from({ length: 60 }, (_, n) => `CVE-2022-${1000 + n}`)
  const lines = [...NAMES, ...many].map((_, n) => `openssl,${n},S${n === 0 ? 'H' : n === 3 ? 'L' : ' '} F,2-1,`)
  await stored(db, 'cve:bookworm', debsecanList([...NAMES, ...many], lines))
  const exploited = storedExploited(Buffer.from(exploitedList(['CVE-2022-1005', 'CVE-2020-1111'])))
  await stored(db, 'kev', exploited ?? Buffer.alloc(0))

  const found = await vulnerabilitiesFor(db, 'bookworm', new Set(['openssl']))
  const fixed = found?.fixedBy({ source: 'openssl', from: '1-1', to: '2-1' })

  expect(fixed).toHaveLength(50)
  expect(fixed?.slice(0, 6)).toEqual([
    { id: 'CVE-2022-1005', urgency: null, known_exploited: true },
    { id: 'CVE-2024-0001', urgency: 'high', known_exploited: false },
    { id: 'CVE-2023-9999', urgency: 'low', known_exploited: false },
    { id: 'TEMP-0000001-ABCDEF', urgency: null, known_exploited: false },
    { id: 'CVE-2024-0010', urgency: null, known_exploited: false },
    { id: 'CVE-2024-0002', urgency: null, known_exploited: false },
  ])
})

test('without a list of the release, or with a damaged one, nothing is known', async () => {
  const db = await openMigrated()
  await stored(db, 'cve:trixie', debsecanList(NAMES, PACKAGES).subarray(0, 40))

  expect(await vulnerabilitiesFor(db, 'bookworm', new Set(['openssl']))).toBeUndefined()
  expect(await vulnerabilitiesFor(db, 'trixie', new Set(['openssl']))).toBeUndefined()
})

const GOOD = debsecanList(NAMES, PACKAGES)
const deflated = (text: string) => deflateSync(text)

test.each([
  ['nothing', Buffer.alloc(0)],
  ['a page', Buffer.from('<html>404</html>')],
  ['half of a list', GOOD.subarray(0, GOOD.length / 2)],
  ['a changed byte', Buffer.concat([GOOD.subarray(0, -3), Buffer.from('xyz')])],
  ['another version', deflated('VERSION 2\nCVE-2024-1,,\n\n\nopenssl,\n\n')],
  ['no vulnerabilities', deflated('VERSION 1\n\n\n\n')],
  ['a part too few', deflated('VERSION 1\nCVE-2024-0001,,x\n\nopenssl,0,SH F,1,\n')],
  ['no end of the last line', deflated('VERSION 1\nCVE-2024-0001,,x\n\nopenssl,0,SH F,1,\n\nopen')],
  ['lines after the end', deflated('VERSION 1\nCVE-2024-0001,,x\n\n\nopenssl,\n\nmore\n')],
  ['an unknown vulnerability', deflated('VERSION 1\nCVE-2024-0001,,x\n\nopenssl,7,SH F,1,\n\n')],
  ['other flags', deflated('VERSION 1\nCVE-2024-0001,,x\n\nopenssl,0,XHRF,1,\n\n')],
  ['a line without end', deflated(`VERSION 1\n${'a'.repeat(1024 * 1024)}`)],
  ['more than 128 MiB', deflated(`VERSION 1\n${`CVE-2024-0001,,${'a'.repeat(60_000)}\n`.repeat(2_300)}\n\n`)],
])('a list with %s is refused whole', async (_, bytes) => {
  await expect(readDebsecan(bytes, new Set(['openssl']))).rejects.toThrow(BrokenList)
})

test('the event loop has its turns while a long list is read', async () => {
  const names = Array.from({ length: 50_000 }, (_, n) => `CVE-2024-${10_000 + n}`)
  const list = debsecanList(
    names,
    names.map((_, n) => `source${n % 1_000},${n},S  F,1.0,`),
  )
  let turns = 0
  const turn = setInterval(() => (turns += 1), 1)

  const found = await readDebsecan(list, new Set(['source7']))

  clearInterval(turn)
  expect(found.get('source7')).toHaveLength(50)
  expect(found.size).toBe(1)
  expect(turns).toBeGreaterThan(3)
})

test.each([
  ['no JSON', 'x'],
  ['no list', '{}'],
  ['an empty list', exploitedList([])],
  ['another id', exploitedList(['CVE-2024-0001', 'x'])],
])('known exploited vulnerabilities with %s are refused whole', (_, text) => {
  expect(storedExploited(Buffer.from(text))).toBeUndefined()
})
