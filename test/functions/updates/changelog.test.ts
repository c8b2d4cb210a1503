import { expect, test } from 'vitest'
import * as z from 'zod'
import changelog from '../../../functions/updates/changelog.get.ts'
import { entriesBetween, parseChangelog } from '../../../functions/updates/changelog.ts'
import { CHANGELOG, CHANGELOG_FAILED, CHANGELOG_MISSING } from '../../../functions/updates/changelog-script.ts'
import { SshError } from '../../../ssh/connection.ts'
import { type FakeHost, testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'

const entry = (version: string, urgency = 'medium', text = `  * Version ${version}.`) =>
  `rig (${version}) stable-security; urgency=${urgency}\n\n${text}\n\n -- A B <a@b.example>  Fri, 30 May 2025 18:44:10 +0200\n\n`

const TEXT = ['1:2.0-3', '1:2.0-2', '1:2.0-1', '1.9-1'].map((version) => entry(version)).join('')

const QUERY = { target: 'lxc:101', package: 'rig', from: '1:2.0-1', to: '1:2.0-3' }

const address = (query: Record<string, string>) =>
  `/api/updates/changelog?${new URLSearchParams({ ...QUERY, ...query }).toString()}`

async function asked(
  query: Record<string, string> = {},
  exec: FakeHost['exec'] = () => ({ stdout: `repository\n${TEXT}` }),
) {
  const app = await testApp([changelog], { fake: { exec } })
  return { app, response: await app.request('GET', address(query), { as: 'user' }) }
}

const Answer = z.object({ entries: z.array(z.object({ version: z.string() })) })
const versionsIn = async (response: Response) =>
  Answer.parse(await answered(response, 200)).entries.map(({ version }) => version)

test('the entries between the installed and the offered version are read inside the container, newest first', async () => {
  const { app, response } = await asked()

  const date = '2025-05-30T16:44:10.000Z'
  expect(await answered(response, 200)).toEqual({
    package: 'rig',
    entries: [
      { version: '1:2.0-3', urgency: 'medium', date, text: '  * Version 1:2.0-3.' },
      { version: '1:2.0-2', urgency: 'medium', date, text: '  * Version 1:2.0-2.' },
    ],
    source: 'repository',
  })
  const command = ['/usr/sbin/pct', 'exec', '101', '--', 'sh', '-c', CHANGELOG, 'ops-panel-changelog', 'rig', '1:2.0-3']
  expect(app.ran).toEqual([{ command, rights: 'command' }])
  expect(await audited(app.db)).toEqual([])
})

test('on the host the changelog is read without special rights', async () => {
  const { app, response } = await asked({ target: 'host', to: '1:2.0-2' })

  expect(await versionsIn(response)).toEqual(['1:2.0-2'])
  expect(app.ran).toEqual([
    { command: ['sh', '-c', CHANGELOG, 'ops-panel-changelog', 'rig', '1:2.0-2'], rights: 'none' },
  ])
})

test('a package that is not installed has its newest 20 entries', async () => {
  const all = Array.from({ length: 40 }, (_, n) => entry(`${40 - n}`)).join('')

  const { response } = await asked({ from: '', to: '38' }, () => ({ stdout: `package\n${all}` }))

  expect(await versionsIn(response)).toEqual(Array.from({ length: 20 }, (_, n) => `${38 - n}`))
})

test('a rebuild has no entry, and a package with its own version has the newest one', async () => {
  const entries = await parseChangelog(TEXT)
  const between = (from: string, to: string) => entriesBetween(entries, from, to).map(({ version }) => version)

  expect(between('1:2.0-3', '1:2.0-3+b1')).toEqual([])
  expect(between('1:2.0-2+b1', '1:2.0-3')).toEqual(['1:2.0-3'])
  expect(between('4:12.2.0-2', '4:12.2.0-3')).toEqual(['1:2.0-3'])
  expect(between('0.1', '0.2')).toEqual(['1:2.0-3'])
})

test('headings, urgencies, dates and text are read as deb-changelog(5) has them', async () => {
  const text = `rig (2.0) a b; urgency=HIGH, binary-only=yes\r
\r
  [ A. Person ]\r
  * One, with a tab\tand \u202Eothers.\r

 -- A B <a@b.example>  nonsense
Old Changelog:
rig (1.5) stable; urgency=low (a reason)

  * Two.
rig (1.0) stable

  * Three.

 -- A B <a@b.example>  Sat,  1 Mar 2025 00:00:00 +0000`

  expect(await parseChangelog(text)).toEqual([
    { version: '2.0', urgency: 'high', date: null, text: '  [ A. Person ]\n  * One, with a tab and  others.' },
    { version: '1.5', urgency: 'low', date: null, text: '  * Two.' },
    { version: '1.0', urgency: null, date: '2025-03-01T00:00:00.000Z', text: '  * Three.' },
  ])
})

test('a hostile changelog is cut, and read in little time', async () => {
  const many = `rig (1) a; urgency=low\n`.repeat(40_000)
  const long = `rig (2) a; urgency=low\n${'  * more\n'.repeat(100_000)}`
  const wide = `rig (${'1'.repeat(900_000)}) ${' '.repeat(90_000)}`
  const began = performance.now()

  expect((await parseChangelog(many)).length).toBeLessThanOrEqual(2_001)
  expect((await parseChangelog(long))[0]?.text.length).toBeLessThanOrEqual(64 * 1024)
  expect(await parseChangelog(wide)).toEqual([])

  expect(performance.now() - began).toBeLessThan(2_000)
})

test.each([
  ['no text', 'repository\n'],
  ['no source', TEXT],
  ['no entry', 'package\nUpstream changes\n\n* One\n'],
  ['nothing', ''],
])('an output with %s is 404', async (_, stdout) => {
  const { response } = await asked({}, () => ({ stdout }))

  await refused(response, 404, 'changelog_missing')
})

test('a missing changelog is 404, one that cannot be had is 502 with the reason, and another end is a failure of the host', async () => {
  await refused((await asked({}, () => ({ code: CHANGELOG_MISSING }))).response, 404, 'changelog_missing')
  const failed = { code: CHANGELOG_FAILED, stderr: 'W: other\nE: Could not resolve \u001b[1m‘deb.example’\n' }
  const { error } = await refused((await asked({}, () => failed)).response, 502, 'changelog_unavailable')
  expect(error).toBe('Le journal des modifications n’a pas pu être obtenu : E: Could not resolve  [1m‘deb.example’')
  const silent = await refused(
    (await asked({}, () => ({ code: CHANGELOG_FAILED }))).response,
    502,
    'changelog_unavailable',
  )
  expect(silent.error).toContain('aucune réponse à temps')
  const stopped = () => ({ code: 255, stderr: 'container not running\n' })
  await refused((await asked({}, stopped)).response, 502, 'ssh_failed')
  const lost = () => {
    throw new SshError('lost', 'gone')
  }
  await refused((await asked({}, lost)).response, 502, 'ssh_failed')
})

test.each([
  ['target', ''],
  ['package', ''],
  ['package', '-oDebug=1'],
  ['package', 'rig é'],
  ['package', 'rig;id'],
  ['package', '../rig'],
  ['package', 'rig=1'],
  ['package', 'a'.repeat(200)],
  ['to', ''],
  ['to', '-1'],
  ['to', '1 2'],
  ['to', '1\n2'],
  ['from', '$(id)'],
])('%s %j is refused, and nothing runs', async (name, value) => {
  const { app, response } = await asked({ [name]: value })

  const { details } = await refused(response, 400, 'invalid_request')
  expect(details?.map(({ field }) => field)).toEqual([name])
  expect(app.ran).toEqual([])
})

test.each(['all', 'vm:1', 'lxc:'])('%j is no target with packages', async (target) => {
  const { app, response } = await asked({ target })

  await refused(response, 400, 'target_invalid')
  expect(app.ran).toEqual([])
})

test('the changelog needs a signed-in user and the settings of the host', async () => {
  const app = await testApp([changelog], { ssh: { host: '' } })

  await refused(await app.request('GET', address({})), 401, 'unauthenticated')
  await refused(await app.request('GET', address({}), { as: 'user' }), 503, 'ssh_incomplete')
})
