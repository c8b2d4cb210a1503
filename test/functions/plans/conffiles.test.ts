import { expect, test } from 'vitest'
import { COMPARE, DIFF_BYTES, MOST_COMPARED } from '../../../functions/plans/conffile-scripts.ts'
import type { Output } from '../../../ssh/channel.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { Conffiles, CONFLICT, planned, stored, told, UNCOMPARED } from './changed-files.ts'
import { known, planApp } from './plan-host.ts'
import { APP, simulation } from './simulated.ts'

test('a plan names the changed files, none of them compared, and what is no path is left out', async () => {
  const files = ['/etc/a.conf', '/etc/with space', 'etc/b', `/etc/${'x'.repeat(400)}`, '/etc/\u202etxt']
  const all = await planApp({
    simulated: { stdout: simulation({ planned: [APP], conffiles: files.map((file) => `app ${file}`) }) },
  })

  const plan = Conffiles.parse(await answered(await all.send('POST', '/api/updates/plans', { target: 'host' }), 201))

  const left = ['/etc/a.conf', '/etc/with space', '/etc/ txt']
  expect(plan.conffiles).toEqual(left.map((file) => ({ file, ...UNCOMPARED })))
})

test.each([
  ['root', 'lxc:101', 'command', ['/usr/sbin/pct', 'exec', '101', '--', 'sh', '-c', COMPARE]],
  ['root', 'host', 'command', ['sh', '-c', COMPARE]],
  ['rule', 'host', 'none', ['sh', '-c', COMPARE]],
] as const)(
  'under %s the comparison of %s asks for the packages with changed files',
  async (elevation, target, rights, begins) => {
    const all = await planned([], 'end\n', { elevation })
    const actions = [
      known({ name: 'app' }),
      known({ name: 'tool', arch: 'all' }),
      known({ name: 'app', arch: 'i386' }),
      known({ name: 'other' }),
      known({ name: 'fresh', from: null, action: 'install' }),
      known({ name: 'gone', to: null, action: 'remove' }),
    ]
    const files = ['app', 'tool', 'fresh', 'gone'].map((name) => stored(`/etc/${name}`, { package: name }))
    await all.store('q', { target, conffiles: JSON.stringify(files), actions: JSON.stringify(actions) })

    await answered(await all.send('POST', '/api/updates/plans/q/conffiles', {}), 200)

    const ran = all.app.ran.filter(({ command }) => command.includes(COMPARE))
    expect(ran).toEqual([
      { rights, command: [...begins, 'ops-panel-compare', 'all', 'app:amd64=2.0', 'tool=2.0', 'app:i386=2.0'] },
    ])
    expect(await audited(all.app.db)).toEqual([])
  },
)

test('a comparison tells how each file differs, and the plan keeps it', async () => {
  const files = ['/etc/text', '/etc/cut', '/etc/blob', '/etc/hidden', '/etc/same', '/etc/away', '/etc/mended']
  const all = await planned(
    files.map((file) => stored(file)),
    [
      told('/etc/text', { diff: '@@ -1 +1 @@\n-a\tb\n+é' }),
      told('/etc/cut', { note: 'cut', diff: '-long' }),
      told('/etc/blob', { note: 'binary' }),
      told('/etc/hidden', { note: 'hidden', access: 'private' }),
      told('/etc/same', { state: 'same', access: 'private' }),
      told('/etc/away', { state: 'unavailable' }),
      'end\n',
    ].join(''),
  )

  const compared = await all.compare()

  const none = { diff: null, diff_cut: false, diff_missing: null }
  const of = (file: string, own: object) => ({
    file,
    package: 'app',
    state: 'conflict',
    choice: 'keep',
    ...none,
    ...own,
  })
  expect(compared.conffiles).toEqual([
    of('/etc/text', { diff: '@@ -1 +1 @@\n-a    b\n+é' }),
    of('/etc/cut', { diff: '-long', diff_cut: true }),
    of('/etc/blob', { diff_missing: 'binary' }),
    of('/etc/hidden', { diff_missing: 'hidden' }),
    of('/etc/same', { state: 'same' }),
    of('/etc/away', { state: 'unavailable' }),
  ])
  expect(await all.now()).toEqual(compared)
})

test('any user may compare; the content of a private file is for administrators', async () => {
  const all = await planned(
    [stored('/etc/open'), stored('/etc/secret')],
    `${told('/etc/open', { diff: '+open' })}${told('/etc/secret', { access: 'private', note: 'cut', diff: '+password' })}end\n`,
  )

  const forUser = await answered(await all.request('POST', {}, 'user'), 200)
  const forAdmin = await all.now()

  const secret = { file: '/etc/secret', diff: null, diff_cut: false, diff_missing: 'private' }
  expect(forUser).toMatchObject({ conffiles: [{ file: '/etc/open', diff: '+open', diff_missing: null }, secret] })
  expect(await all.read('/api/updates/plans/p')).toEqual(forUser)
  expect(JSON.stringify(forUser)).not.toMatch(/password|public/)
  expect(forAdmin.conffiles[1]).toMatchObject({ diff: '+password', diff_cut: true, diff_missing: null })
})

/** Lets the test decide when the host has compared. */
function held(all: Awaited<ReturnType<typeof planned>>) {
  const { exec } = all.app.services.host
  const waiting: (() => void)[] = []
  all.app.services.host.exec = async (command, options) => {
    if (command.includes(COMPARE)) await new Promise<void>((resolve) => waiting.push(resolve))
    return exec(command, options)
  }
  return waiting
}

test('a choice or a start during a comparison stands, and the comparison is refused', async () => {
  const all = await planned([stored('/etc/a', CONFLICT)], `${told('/etc/a', { diff: '+c' })}end\n`)
  const waiting = held(all)

  const first = all.request('POST', {})
  await expect.poll(() => waiting.length).toBe(1)
  await answered(await all.choose(['/etc/a', 'take']), 200)
  waiting[0]?.()
  await refused(await first, 409, 'conffiles_changed')
  expect(await all.now()).toMatchObject({ conffiles: [{ choice: 'take', diff: '-a\n+b' }] })

  const second = all.request('POST', {})
  await expect.poll(() => waiting.length).toBe(2)
  await all.start({ target: 'lxc:101', plan: 'p' })
  waiting[1]?.()
  await refused(await second, 409, 'plan_used')
})

test('a comparison keeps the choice about a file that is still a conflict', async () => {
  const files = ['/etc/still', '/etc/same', '/etc/away']
  const all = await planned(
    files.map((file) => stored(file, { ...CONFLICT, choice: 'take' })),
    `${told('/etc/still')}${told('/etc/same', { state: 'same' })}${told('/etc/away', { state: 'unavailable' })}end\n`,
  )

  await all.compare()

  expect(await all.choices()).toEqual(['take /etc/still', 'keep /etc/same', 'keep /etc/away'])
})

test.each<[string, Partial<Output>]>([
  ['nothing', { stdout: '' }],
  ['no end', { stdout: told('/etc/a', { diff: '+x' }) }],
  ['a failure', { code: 69, stdout: '' }],
  ['an end with something behind it', { stdout: `${told('/etc/a')}end of it\n` }],
  ['an indented end', { stdout: `${told('/etc/a')} end\n` }],
])('a comparison that tells %s changes nothing', async (_title, compared) => {
  const all = await planned([stored('/etc/a')], '', { compared })

  await refused(await all.request('POST', {}), 502, 'conffiles_unavailable')

  expect(await all.now()).toMatchObject({ conffiles: [{ state: 'changed', diff: null }] })
})

test('a hostile comparison is read within its bounds, about the files of the plan alone', async () => {
  const files = Array.from({ length: MOST_COMPARED }, (_, n) => `/etc/${n}`)
  const long = '+'.padEnd(DIFF_BYTES, 'é')
  const all = await planned(
    files.map((file) => stored(file)),
    [
      told('/etc/unknown', { diff: '+unknown' }),
      told('/etc/0', { diff: `+${'long '.repeat(1_000_000)}` }),
      told('/etc/0', { diff: '+again' }),
      told('/etc/1', { diff: '+\x1b[31m red\n+\u202e turned \u2028 \0 \r' }),
      'file conflict public text app /etc/2\n !!! not base64 ===\n \xff\n',
      `file broken public text app /etc/3\n ${'A'.repeat(1_000_000)}\n`,
      'file conflict nobody text app /etc/3\nfile conflict public text /etc/3\nfile\n',
      ...files.slice(4).map((file) => told(file, { diff: long })),
      'end\n',
      `${'x'.repeat(2_000_000)}\n`.repeat(2),
    ].join(''),
  )

  const { conffiles } = await all.compare()

  expect(conffiles.map(({ file }) => file)).toEqual(files.filter((file) => file !== '/etc/3'))
  const diffs = conffiles.map(({ diff }) => diff ?? '')
  expect(Math.max(...diffs.map((diff) => Buffer.byteLength(diff)))).toBeLessThanOrEqual(DIFF_BYTES + 3)
  expect(diffs.join('').length).toBeLessThanOrEqual(512 * 1024)
  expect(diffs[0]).toMatch(/^\+(long )*/)
  expect(diffs[1]).toBe('+ [31m red\n+  turned      ')
  expect(diffs.join('')).not.toMatch(/unknown|again|[\u202e\u2028\0\r]/)
  expect(conffiles.at(-1)).toMatchObject({ diff: '', diff_cut: true })
  const [row] = await rows(
    all.app.db,
    'SELECT size, length(selection || actions || findings || conffiles) AS n FROM plans',
  )
  expect(row?.size).toBe(row?.n)
})
