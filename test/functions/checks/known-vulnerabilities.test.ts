import { expect, test } from 'vitest'
import { readReport, type Report } from '../../../functions/checks/check-report.ts'
import { withVulnerabilities } from '../../../functions/checks/known-vulnerabilities.ts'
import { openMigrated } from '../../db/database.ts'
import { debsecanList } from '../vulnerabilities/lists.ts'

/** The report of a target with these planned packages, each `name from to source`. */
async function reportOf(id: string, packages: readonly string[]): Promise<Report> {
  const fields = packages.map((text) => text.split(' '))
  const section = (name: string, lines: readonly string[]) => `${name}\n${lines.map((each) => ` ${each}\n`).join('')}\n`
  const text = [
    `os\n ID=${id}\n VERSION_ID="12"\n VERSION_CODENAME=bookworm\n\nmanager apt-get\n`,
    section('update', ['code 0']),
    section('lists', ['2']),
    section('check', ['code 0']),
    section('planned', [
      ...fields.map(([name, from, to]) => `Inst ${name} [${from}] (${to} Debian:12/stable [amd64])`),
      'code 0',
    ]),
    section('upgradable', ['Listing...', 'code 0']),
    section(
      'offered',
      fields.map(([name, , to, source]) => `${name} amd64 ${to} 100 ${source}`),
    ),
    section(
      'installed',
      fields.map(([name, from, , source]) => `${name} amd64 ${source} ${from}`),
    ),
    'end',
  ].join('')
  const report = await readReport(text.split('\n'), 'container')
  if (!report) throw new Error('the report was refused')
  return report
}

/** A report of packages that wait for dependencies, as `apt list --upgradable` shows them. */
async function waiting(...lines: readonly string[]): Promise<Report> {
  const section = (name: string, told: readonly string[]) =>
    `${name}\n${[...told, 'code 0'].map((each) => ` ${each}\n`).join('')}\n`
  const sections = ['update', 'check', 'planned', 'full', 'phased'].map((name) => section(name, []))
  const text = `os\n ID=debian\n VERSION_CODENAME=bookworm\n\nmanager apt-get\n${sections.join('')}lists\n 2\n\n${section('upgradable', lines)}end\n`
  const report = await readReport(text.split('\n'), 'container')
  if (!report) throw new Error('the report was refused')
  return report
}

async function databaseWith(list: Buffer, exploited: string) {
  const db = await openMigrated()
  for (const [name, body] of [
    ['cve:bookworm', list],
    ['kev', Buffer.from(exploited)],
  ] as const)
    await db.run(
      `INSERT INTO security_data (name, body, fetched_at, tried_at) VALUES (?, ?, '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.000Z')`,
      [name, body],
    )
  return db
}

const LIST = debsecanList(
  ['CVE-2026-0001', 'CVE-2026-0002', 'CVE-2026-0003'],
  ['openssl,0,S HRF,3.0.2,', 'curl,1,S L F,8.0,', 'zlib,2,S M F,9.9,'],
)

test('a package is a security update for the vulnerabilities that its change fixes, known exploited ones first', async () => {
  const db = await databaseWith(LIST, '["CVE-2026-0001"]')
  const packages = ['tzdata 1 2 tzdata', 'curl 7.0 8.0 curl', 'libssl3 3.0.1 3.0.2 openssl', 'zlib1g 9.0 9.1 zlib']
  const reports = new Map([['lxc:101', await reportOf('debian', packages)]])

  const marked = (await withVulnerabilities(db, reports)).get('lxc:101')

  expect(marked?.packages.map(({ name, security, cves }) => [name, security, cves])).toEqual([
    ['libssl3', true, [{ id: 'CVE-2026-0001', urgency: 'high', known_exploited: true }]],
    ['curl', true, [{ id: 'CVE-2026-0002', urgency: 'low', known_exploited: false }]],
    ['tzdata', false, []],
    // The offered version still has the flaw.
    ['zlib1g', false, []],
  ])
  expect(marked?.summary).toMatchObject({ counts: { upgrade: 4, security: 2 }, exploited: 1 })
})

test('the list of a Debian release says nothing about another distribution with that code name', async () => {
  const db = await databaseWith(LIST, '["CVE-2026-0001"]')
  const reports = new Map([['lxc:101', await reportOf('raspbian', ['libssl3 3.0.1 3.0.2 openssl'])]])

  const marked = (await withVulnerabilities(db, reports)).get('lxc:101')

  expect(marked?.packages).toMatchObject([{ security: false, cves: [] }])
  expect(marked?.summary.exploited).toBe(0)
})

test('a security update that waits for dependencies is a warning; another package that does is a remark', async () => {
  const db = await databaseWith(LIST, '[]')
  const fix = 'libssl3/stable-security 3.0.2 amd64 [upgradable from: 3.0.1]'
  const other = 'tzdata/stable 2 all [upgradable from: 1]'
  const reports = new Map([
    ['lxc:101', await waiting(other, fix)],
    ['lxc:102', await waiting(other)],
  ])

  const marked = await withVulnerabilities(db, reports)
  const found = (target: string) =>
    marked.get(target)?.summary.findings.map(({ code, severity, packages }) => [code, severity, packages])

  expect(found('lxc:101')).toEqual([['kept_back_dependencies', 'warning', ['libssl3', 'tzdata']]])
  expect(found('lxc:102')).toEqual([['kept_back_dependencies', 'info', ['tzdata']]])
  expect(marked.get('lxc:101')?.summary.counts).toMatchObject({ upgrade: 0, security: 0, kept_back: 2 })
})
