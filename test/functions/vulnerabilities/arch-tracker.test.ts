import { expect, test } from 'vitest'
import { claimSecurityData, saveSecurityData } from '../../../db/security-data.ts'
import { MAX_TRACKER, readTracker } from '../../../functions/vulnerabilities/arch-tracker.ts'
import { BrokenList } from '../../../functions/vulnerabilities/debsecan.ts'
import { releaseOf } from '../../../functions/vulnerabilities/releases.ts'
import { vulnerabilitiesFor } from '../../../functions/vulnerabilities/vulnerabilities.ts'
import { NOW, openMigrated } from '../../db/database.ts'
import { trackerList } from './lists.ts'

const LIST = trackerList([
  { packages: ['curl', 'lib32-curl'], fixed: '8.9.0-1', severity: 'Critical', issues: ['CVE-2024-6197'] },
  { packages: ['curl'], fixed: '8.10.0-1', status: 'Testing', severity: 'Low', issues: ['CVE-2024-8096', '?'] },
  { packages: ['curl'], fixed: null, status: 'Vulnerable', issues: ['CVE-2024-0009'] },
  { packages: ['curl'], fixed: '8.9.0-1', status: 'Not affected', issues: ['CVE-2024-0010'] },
  { packages: ['curl'], fixed: '8.9.0-1', status: 'Unknown', issues: ['CVE-2024-0011'] },
])

test('an upgrade fixes the vulnerabilities whose fix lies between its versions', async () => {
  const db = await openMigrated()
  await claimSecurityData(db, 'cve:arch:rolling', { now: NOW, fetchedBefore: NOW, triedBefore: NOW, ahead: NOW })
  await saveSecurityData(db, 'cve:arch:rolling', { body: LIST, etag: null, at: NOW })
  const release = releaseOf({ id: 'arch' }) ?? ''
  const known = await vulnerabilitiesFor(db, release, new Set(['curl', 'lib32-curl']))
  const fixed = (from: string, to: string, source = 'curl') => known?.fixedBy({ source, from, to })

  expect(fixed('8.8.0-2', '8.9.0-1')).toEqual([{ id: 'CVE-2024-6197', urgency: 'high', known_exploited: false }])
  expect(fixed('8.8.0-2', '1:1.0-1')?.map(({ id }) => id)).toEqual(['CVE-2024-6197', 'CVE-2024-8096'])
  expect(fixed('8.9.0-1', '8.9.1-1')).toEqual([])
  expect(fixed('8.8.0-2', '8.9.0-1', 'lib32-curl')).toHaveLength(1)
})

test('other distributions have another list, or none', () => {
  expect(releaseOf({ id: 'arch', version_id: '20260101', codename: 'bookworm' })).toBe('arch:rolling')
  expect(releaseOf({ id: 'manjaro', version_id: null, codename: null })).toBeUndefined()
  expect(releaseOf({ id: 'debian', codename: 'arch:rolling' })).toBeUndefined()
})

test.each([
  ['nothing', ''],
  ['a page', '<html>404</html>'],
  ['half of a list', LIST.toString().slice(0, 200)],
  ['no group', '[]'],
  ['an object', '{"name":"AVG-1"}'],
  ['groups in another form', '[["AVG-1"]]'],
  [
    'a group without packages',
    trackerList([{ packages: ['a'], fixed: null, issues: [] }])
      .toString()
      .replace('packages', 'x'),
  ],
  ['another status', trackerList([{ packages: ['a'], fixed: null, status: 'Perhaps', issues: [] }]).toString()],
  [
    'a version of another kind',
    trackerList([{ packages: ['a'], fixed: '1', issues: [] }])
      .toString()
      .replace('"1"', '1'),
  ],
  ['too long a version', trackerList([{ packages: ['a'], fixed: '1'.repeat(257), issues: [] }]).toString()],
  ['too many packages', trackerList([{ packages: Array(2_001).fill('a'), fixed: '1', issues: [] }]).toString()],
  ['too many groups', `[${'0,'.repeat(50_000)}0]`],
  ['too many bytes', ' '.repeat(MAX_TRACKER + 1)],
])('%s is no such list', async (_, text) => {
  await expect(readTracker(Buffer.from(text), new Set(['a']))).rejects.toThrow(BrokenList)
})

test('too many vulnerabilities of one package are no such list', async () => {
  const issues = Array.from({ length: 2_000 }, (_, at) => `CVE-2024-${1_000 + at}`)
  const groups = Array.from({ length: 11 }, () => ({ packages: ['a', 'b'], fixed: '2-1', issues }))

  await expect(readTracker(trackerList(groups), new Set(['a']))).rejects.toThrow(BrokenList)
  expect((await readTracker(trackerList(groups.slice(0, 10)), new Set(['a']))).get('a')).toHaveLength(20_000)
  expect(await readTracker(trackerList(groups), new Set())).toEqual(new Map())
})
