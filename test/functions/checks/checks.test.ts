import { expect, test } from 'vitest'
import * as z from 'zod'
import check from '../../../functions/checks/check.get.ts'
import { CHECK } from '../../../functions/checks/check-script.ts'
import checks from '../../../functions/checks/checks.get.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import history from '../../../functions/jobs/history.get.ts'
import job from '../../../functions/jobs/job.get.ts'
import remedies from '../../../functions/checks/remedies.post.ts'
import run from '../../../functions/runs/run.post.ts'
import targets from '../../../functions/updates/targets.get.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'

const PATH = '/api/updates/checks'
const DAY = 24 * 60 * 60_000
const LIST = `VMID       Status     Lock         Name
101        running                 web
102        stopped                 db
`

const FUNCTIONS = [startChecks, checks, check, remedies, history, job, run, targets]

interface Looks {
  /** The output of a look at each target, by name. */
  [target: string]: string
}

/** A host that answers checks with these looks, and runs upgrades that exit with that code. */
function checkHost({ looks = {}, list = LIST, away = false, code = 0 }: CheckHost) {
  const host = { looks, list, away, code }
  let mark = ''
  return {
    host,
    exec(command: readonly string[]) {
      if (host.away) throw new SshError('unreachable', 'connexion refusée')
      if (command[1] === 'list') return { stdout: host.list }
      const at = command.indexOf(CHECK)
      if (command[2] === START) mark = at > 0 ? (command[at + 2] ?? '') : ''
      if (command[2] !== FOLLOW) return {}
      const frames = Object.entries(host.looks).map(([name, text]) => frame(mark, `${name} 0`, text))
      const text = mark === '' ? 'upgraded\n' : frame(mark, 'list 0', host.list) + frames.join('')
      const end = `ops-panel exit ${mark === '' ? host.code : 0} ${Buffer.byteLength(text)}\n`
      return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: end }
    },
  }
}

interface CheckHost {
  looks?: Looks
  list?: string
  away?: boolean
  code?: number
}

function frame(mark: string, name: string, text: string): string {
  return `${mark} ${name}\n${text.replace(/^/gm, ' ')}\n${mark} end ${name.split(' ')[0]}\n`
}

/** Returns a look in the script's format, with some sections of a healthy target replaced. */
function look(sections: Record<string, string> = {}): string {
  const all = { update: 'code 0', lists: '2', unfinished: '', check: 'code 0', held: '', planned: '', ...sections }
  const planned = /^code /m.test(all.planned) ? all.planned : `${all.planned}\ncode 0`
  const reported = Object.entries({ upgradable: 'Listing...\ncode 0', ...all, planned })
  const lines = reported.map(([name, text]) => `${name}\n${text.replace(/^/gm, ' ')}\n`)
  return `os\n ID=debian\n VERSION_ID="12"\n\nmanager apt-get\n${lines.join('')}end\n`
}

const PLANNED = 'Inst curl [1.0] (2.0 Debian:12.1/stable, Debian-Security:12/stable-security [amd64])'

async function checkApp(given: CheckHost) {
  const { host, exec } = checkHost(given)
  const app = await testApp(FUNCTIONS, { fake: { exec } })
  const read = async (target?: string) => {
    const path = target === undefined ? PATH : `${PATH}/${target}`
    return answered(await app.request('GET', path, { as: 'user' }), 200)
  }
  const one = async (target: string) => Check.parse(await read(target))
  const all = async () => z.object({ checks: z.array(Check) }).parse(await read()).checks
  const start = async (target: string) =>
    Started.parse(await answered(await app.request('POST', PATH, { as: 'user', body: { target } }), 202)).job_id
  const ended = async (id: string) => {
    const state = async () => answered(await app.request('GET', `/api/updates/jobs/${id}`, { as: 'user' }), 200)
    await expect.poll(async () => Job.parse(await state()).status).not.toBe('running')
    return Job.parse(await state())
  }
  const look = async (target: string) => ended(await start(target))
  const upgrade = async (target: string) => {
    const answer = await app.request('POST', '/api/updates/run', { as: 'user', body: { target } })
    return ended(Started.parse(await answered(answer, 202)).job_id)
  }
  return { app, host, one, all, start, ended, look, upgrade }
}

const Started = z.looseObject({ job_id: z.string() })
const Job = z.looseObject({
  job_id: z.string(),
  status: z.string(),
  exit_code: z.number().nullable(),
  output: z.string(),
})
const Check = z.looseObject({
  target: z.string(),
  state: z.string(),
  counts: z.record(z.string(), z.number()),
  findings: z.array(z.looseObject({ code: z.string() })),
})

test('the findings of a check are stored when its job ends, for the host and for each running container', async () => {
  const {
    app,
    all,
    one,
    look: lookAt,
  } = await checkApp({
    looks: { host: look(), 'lxc:101': look({ planned: PLANNED }) },
  })

  await lookAt('all')

  expect(await all()).toMatchObject([
    { target: 'host', name: 'Hôte', state: 'up_to_date', checked_at: NOW.toISOString(), lists_at: NOW.toISOString() },
    { target: 'lxc:101', name: 'web', state: 'ready', counts: { upgrade: 1, security: 1 }, findings: [] },
    { target: 'lxc:102', name: 'db', state: 'stopped', checked_at: null, findings: [{ code: 'container_stopped' }] },
  ])
  expect(await one('lxc:101')).toMatchObject({
    packages: [{ name: 'curl', arch: 'amd64', from: '1.0', to: '2.0', action: 'upgrade', security: true }],
  })
  expect(await audited(app.db)).toMatchObject([{ action: 'check_start', target: 'all' }])
  expect(await answered(await app.request('GET', '/api/updates/history', { as: 'user' }), 200)).toBeNull()
})

test('no name, version or list of origins is longer than the limit, whatever a target reports', async () => {
  const long = 'x'.repeat(600)
  const planned = `Inst ${long} [${long}] (${long} ${long} [${long}])`
  const listed = `y${long}/${long} ${long} ${long} [upgradable from: ${long}]`
  const { one, look: lookAt } = await checkApp({
    looks: { host: look({ planned, upgradable: `Listing...\n${listed}\ncode 0` }) },
  })

  await lookAt('host')

  const { packages } = await one('host')
  expect(packages).toHaveLength(2)
  for (const { name, arch, from, to, origin } of z.array(z.record(z.string(), z.unknown())).parse(packages))
    for (const text of [name, arch, from, to, origin]) expect(text).toHaveLength(256)
})

test('package lists older than a day are stale', async () => {
  const { app, one, look: lookAt } = await checkApp({ looks: { host: look() } })
  await lookAt('host')

  app.advance(DAY)
  expect(await one('host')).toMatchObject({ state: 'up_to_date', findings: [] })
  app.advance(1)
  expect(await one('host')).toMatchObject({ state: 'attention', findings: [{ code: 'lists_stale' }] })
})

test('findings dated by a fast clock are discarded once the clock is corrected', async () => {
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks: { host: look() } })
  app.advance(365 * DAY)
  await lookAt('host')
  expect(await one('host')).toMatchObject({ state: 'up_to_date' })

  app.advance(-365 * DAY)
  expect(await one('host')).toMatchObject({ state: 'unknown' })
  host.looks = { host: look({ planned: PLANNED }) }
  await lookAt('host')
  expect(await one('host')).toMatchObject({ state: 'ready', checked_at: NOW.toISOString() })
  app.advance(60_000)
  await upgrade('host')
  expect(await one('host')).toMatchObject({ state: 'unknown' })
})

test.each([
  ['there are none', { lists: '0' }, ['lists_stale']],
  ['apt-get exited with a code and without output', { update: 'code 100' }, ['lists_stale']],
  ['sudo refused', { update: 'sudo: a password is required\ncode 1' }, ['lists_stale']],
  [
    'a repository did not answer and the code is 0',
    { update: 'W: Failed to fetch http://u:secret@m/d/dists/x/InRelease  Could not connect\ncode 0' },
    ['repository_unreachable', 'lists_stale'],
  ],
  [
    'a repository is not signed',
    { update: `E: The repository 'http://m/d x InRelease' is not signed.\ncode 100` },
    ['repository_unsigned', 'lists_stale'],
  ],
])('where %s the lists are not fresh, and nothing is up to date', async (_, sections, codes) => {
  const { one, look: lookAt } = await checkApp({ looks: { host: look(sections) } })

  await lookAt('host')

  const found = await one('host')
  expect(found).toMatchObject({ state: 'attention', lists_at: null })
  expect(found.findings.map(({ code }) => code)).toEqual(codes)
  expect(JSON.stringify(found)).not.toContain('secret')
})

test('a notice of apt about settings does not count as a failed list', async () => {
  const update = `W: Target Packages (main/binary-amd64/Packages) is configured multiple times in /etc/apt/sources.list:1
W: http://m/dists/x/InRelease: Key is stored in legacy trusted.gpg keyring (/etc/apt/trusted.gpg), see the DEPRECATION section
code 0`
  const { one, look: lookAt } = await checkApp({ looks: { host: look({ update }) } })

  await lookAt('host')

  expect(await one('host')).toMatchObject({ state: 'up_to_date', findings: [] })
})

test('a file that the service account may not read is named, and nothing is up to date', async () => {
  const unread = 'W: Unable to read /etc/apt/sources.list.d/x.list - open (13: Permission denied)'
  const settings = 'W: Unable to read /etc/apt/apt.conf.d/90proxy - open (13: Permission denied)'
  const { one, look: lookAt } = await checkApp({
    looks: { host: look({ unread: `${unread}\n${unread}\n${settings}` }) },
  })

  await lookAt('host')

  expect(await one('host')).toMatchObject({
    state: 'attention',
    lists_at: NOW.toISOString(),
    findings: [{ code: 'lists_stale', repository: '/etc/apt/sources.list.d/x.list' }],
  })
})

test.each([
  ['half configured', look({ unfinished: 'half-configured ok curl' }), 'attention', 'dpkg_interrupted'],
  ['an interrupted journal', `journal\n${look()}`, 'attention', 'dpkg_interrupted'],
  ['unmet dependencies', look({ check: ' curl : Depends: gone\ncode 100' }), 'blocked', 'dependencies_broken'],
  ['apt at work', `locked dpkg\n${look({ unfinished: 'unpacked ok curl' })}`, 'attention', 'manager_locked'],
])('%s is reported as such', async (_, text, state, code) => {
  const { one, look: lookAt } = await checkApp({ looks: { host: text } })

  await lookAt('host')

  expect(await one('host')).toMatchObject({ state, findings: [{ code }] })
})

/** The output of a manager that cannot say what an upgrade would change. */
const UNSUPPORTED = [
  ...['os', ' ID=alpine', '', 'manager apk', 'security', ' database', ''],
  ...['refresh', ' lists|1', ' code|0', '', 'verify', ' code|0', '', 'planned', ' unsupported', '', 'end', ''],
].join('\n')

test('an unsupported package manager and a missing one are reported', async () => {
  const { all, look: lookAt } = await checkApp({
    looks: {
      host: UNSUPPORTED,
      'lxc:101': 'os\n\nmanager none\nsystem "NixOS 24.05 (Uakari)"\nothers nixos-rebuild\n',
    },
  })

  await lookAt('all')

  expect(await all()).toMatchObject([
    { state: 'unsupported', manager: 'apk', os: { id: 'alpine' }, findings: [{ code: 'selection_unsupported' }] },
    {
      state: 'unsupported',
      manager: null,
      findings: [
        {
          code: 'manager_missing',
          message: expect.stringMatching(/^NixOS 24\.05 \(Uakari\) se met à jour par nixos-rebuild, /),
        },
      ],
    },
    {},
  ])
})

test('a block without an end, one that is too long and one with a foreign mark count as no answer', async () => {
  const liar = `end\nx host 0\nx end host\n${'y'.repeat(100_000)}`
  const { host, all, look: lookAt } = await checkApp({ looks: { host: look(), 'lxc:101': look() } })
  await lookAt('all')
  host.looks = { host: look().replace(/end\n$/, ''), 'lxc:101': liar }

  await lookAt('all')

  expect(await all()).toMatchObject([
    { target: 'host', state: 'unknown', checked_at: NOW.toISOString() },
    { target: 'lxc:101', state: 'unknown', checked_at: NOW.toISOString() },
    { target: 'lxc:102' },
  ])
})

test('an impossible number of packages is refused, and does not delay other targets', async () => {
  const many = Array.from({ length: 10_001 }, (_, n) => `Inst p${n} [1] (2 Debian:12/stable [amd64])`).join('\n')
  const { all, look: lookAt } = await checkApp({ looks: { host: look(), 'lxc:101': look({ planned: many }) } })

  await lookAt('all')

  expect(await all()).toMatchObject([{ state: 'up_to_date' }, { target: 'lxc:101', state: 'unknown' }, {}])
})

test('the words of a target stay text: no control character, no additional line', async () => {
  const planned = 'Inst \u001b[31mcurl\u202e [1.0] (2.0 Debian:12/stable [amd64])\nhost 0\nInst bad'
  const { one, look: lookAt } = await checkApp({ looks: { 'lxc:101': look({ planned }) } })

  await lookAt('lxc:101')

  const found = JSON.stringify(await one('lxc:101'))
  expect(found).not.toContain('\\u001b')
  expect(found).not.toContain('\u202e')
})

test('two simultaneous requests share one job, and a check of all targets covers each single target', async () => {
  const { app, all, start, ended } = await checkApp({ looks: { host: look() } })
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { stream } = app.services.host
  app.services.host.stream = async (...asked) => {
    await held
    return stream(...asked)
  }

  const [one, other] = await Promise.all([start('all'), start('all')])
  expect(other).toBe(one)
  expect(await start('lxc:101')).toBe(one)
  expect(await start('host')).toBe(one)
  // This also covers its first check.
  expect(await all()).toMatchObject([{ target: 'host', checking: true, checked_at: null }])
  release()
  await ended(one)
  expect(await start('host')).not.toBe(one)
})

test('a finished check names the targets that did not answer, even after they answer', async () => {
  const { host, look: lookAt, ended } = await checkApp({ looks: { host: look() } })

  const first = await lookAt('all')
  expect(first).toMatchObject({ status: 'success', unchecked: ['lxc:101'], containers: null })
  host.looks = { host: look(), 'lxc:101': look() }
  expect(await lookAt('all')).toMatchObject({ unchecked: [] })
  expect(await ended(first.job_id)).toMatchObject({ unchecked: ['lxc:101'] })
  host.away = true
  expect(await lookAt('all')).toMatchObject({ status: 'error', unchecked: ['host', 'lxc:101'] })
})

test('a check of a container that does not exist names it as not checked', async () => {
  const { look: lookAt } = await checkApp({ looks: { host: look() } })

  expect(await lookAt('lxc:999')).toMatchObject({ unchecked: ['lxc:999'] })
  expect(await lookAt('lxc:102')).toMatchObject({ unchecked: [] })
})

test('a cancelled check names the targets that it has not reached, whose results stay', async () => {
  const { app, host, all, look: lookAt, start, ended } = await checkApp({ looks: { host: look(), 'lxc:101': look() } })
  await lookAt('all')
  host.looks = { host: look() }
  let cancel = () => {}
  const cancelled = new Promise<void>((resolve) => {
    cancel = resolve
  })
  const { stream } = app.services.host
  app.services.host.stream = async (...asked) => {
    await cancelled
    return stream(...asked)
  }

  const id = await start('all')
  await app.services.jobs.cancel(id, 'alice')
  cancel()

  expect(await ended(id)).toMatchObject({ status: 'error', error_code: 'cancelled', unchecked: ['lxc:101'] })
  expect((await all()).map(({ state }) => state)).toEqual(['up_to_date', 'up_to_date', 'stopped'])
})

test('while the host is away, findings stay with their age, and count as not current', async () => {
  const {
    app,
    host,
    all,
    look: lookAt,
  } = await checkApp({
    looks: { host: look({ planned: PLANNED }), 'lxc:101': look() },
  })
  await lookAt('all')
  app.advance(DAY / 2)
  host.away = true

  expect(await lookAt('all')).toMatchObject({ status: 'error' })

  expect(await all()).toMatchObject([
    { target: 'host', state: 'unknown', checked_at: NOW.toISOString(), counts: { upgrade: 1 } },
    { target: 'lxc:101', state: 'unknown', checked_at: NOW.toISOString() },
    { target: 'lxc:102', state: 'stopped' },
  ])
  expect(await answered(await app.request('GET', '/api/updates/targets', { as: 'user' }), 200)).toHaveLength(1)
  expect(await all()).toHaveLength(3)
})

test('after an upgrade nothing is known until the next look; a failed look does not show as green either', async () => {
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks: { host: look({ planned: PLANNED }) } })
  await lookAt('host')
  app.advance(60_000)
  host.code = 100

  await upgrade('host')

  const at = new Date(NOW.getTime() + 60_000).toISOString()
  const failed = { outcome: 'failed', exit_code: 100, finished_at: at }
  expect(await one('host')).toMatchObject({ state: 'unknown', changed_at: at, last_upgrade: failed })
  app.advance(60_000)
  await lookAt('host')
  expect(await one('host')).toMatchObject({ state: 'attention', changed_at: null, last_upgrade: failed, findings: [] })
  host.code = 0
  app.advance(60_000)
  await upgrade('host')
  host.looks = { host: look() }
  app.advance(60_000)
  await lookAt('host')
  expect(await one('host')).toMatchObject({ state: 'up_to_date', last_upgrade: { outcome: 'done' } })
})

test('a repair after a failed upgrade ends the attention, even where packages still wait', async () => {
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks: { host: look({ planned: PLANNED }) } })
  host.code = 100
  const failed = await upgrade('host')
  app.advance(60_000)
  await app.db.run(
    `INSERT INTO jobs (id, kind, args, queue, target, status, started_at, finished_at, exit_code, launched, started_by)
     SELECT 'repair', 'remedy', '{}', '', target, 'success', ?1, ?1, 0, 1, started_by FROM jobs WHERE id = ?2`,
    [new Date(NOW.getTime() + 60_000).toISOString(), String(failed.job_id)],
  )
  app.advance(60_000)

  await lookAt('host')

  expect(await one('host')).toMatchObject({ state: 'ready', last_upgrade: { outcome: 'failed' } })
})

test('the end of an upgrade that a fast clock has dated does not count once the clock is corrected', async () => {
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks: { host: look() } })
  app.advance(365 * DAY)
  host.code = 100
  await upgrade('host')
  app.advance(-365 * DAY)

  await lookAt('host')

  expect(await one('host')).toMatchObject({ state: 'up_to_date', changed_at: null })
})

test('a later check that finds nothing left to upgrade ends the attention for a failed upgrade, which stays told', async () => {
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks: { host: look() } })
  host.code = 100
  await upgrade('host')
  app.advance(60_000)

  await lookAt('host')

  expect(await one('host')).toMatchObject({ state: 'up_to_date', last_upgrade: { outcome: 'failed', exit_code: 100 } })
})

test.each(['check', 'planned', 'upgradable'])(
  'a look in which apt was killed at “%s” is no answer, and nothing is green',
  async (name) => {
    const { one, look: lookAt } = await checkApp({ looks: { host: look({ [name]: 'code 137' }) } })

    await lookAt('host')

    expect(await one('host')).toMatchObject({ state: 'unknown', checked_at: null })
  },
)

test.each(['constructor', '__proto__', 'toString'])(
  'a container with the package manager %s does not prevent the list',
  async (word) => {
    const hostile = look().replace('manager apt-get', `manager ${word}`)
    const { all, one, look: lookAt } = await checkApp({ looks: { host: look(), 'lxc:101': hostile } })

    await lookAt('all')

    expect((await all()).map(({ state }) => state)).toEqual(['up_to_date', 'unknown', 'stopped'])
    expect(await one('lxc:101')).toMatchObject({ state: 'unknown', manager: null })
  },
)

test('the stored report of a target is limited to what a page requests', async () => {
  const unfinished = Array.from({ length: 5_000 }, (_, n) => `half-configured ok ${'x'.repeat(500)}${n}`).join('\n')
  const { all, look: lookAt } = await checkApp({ looks: { 'lxc:101': look({ unfinished }) } })

  await lookAt('lxc:101')

  const found = (await all()).find(({ target }) => target === 'lxc:101')
  expect(found?.findings).toMatchObject([{ code: 'dpkg_interrupted' }])
  expect(JSON.stringify(found).length).toBeLessThan(25_000)
})

test('the noted result of each container counts after an upgrade of all; a skipped one keeps its own', async () => {
  const looks = { host: look(), 'lxc:101': look({ planned: PLANNED }) }
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks })
  host.code = 100
  const own = await upgrade('lxc:101')
  host.code = 0
  app.advance(60_000)
  const { job_id: all } = await upgrade('all')
  const note = (state: string, code: number | null) =>
    app.db.run('UPDATE jobs SET launched = 1, parts = ? WHERE id = ?', [
      JSON.stringify([{ id: '101', name: 'web', state, code }]),
      String(all),
    ])
  app.advance(60_000)
  await lookAt('lxc:101')

  await note('failed', 100)
  expect(await one('lxc:101')).toMatchObject({
    state: 'attention',
    last_upgrade: { job_id: all, outcome: 'failed', exit_code: 100 },
  })
  await note('stopped', 255)
  expect(await one('lxc:101')).toMatchObject({
    state: 'attention',
    last_upgrade: { job_id: own.job_id, outcome: 'failed', exit_code: 100 },
  })
  await note('done', 0)
  expect(await one('lxc:101')).toMatchObject({ state: 'ready', last_upgrade: { job_id: all, outcome: 'done' } })
})

/** Three running containers that are up to date, and the result of later upgrades of all of them. */
async function upgradedTogether() {
  const list = `VMID       Status     Lock         Name\n${[101, 102, 103].map((id) => `${id} running ct-${id}`).join('\n')}\n`
  const looks = { host: look(), 'lxc:101': look(), 'lxc:102': look(), 'lxc:103': look() }
  const world = await checkApp({ list, looks })
  const { app } = world
  await world.look('all')
  /** Without states: it never began. */
  const upgradeAll = async (states: string[] | null, code: string | null = null) => {
    app.advance(60_000)
    const { job_id } = await world.upgrade('all')
    const parts = states?.map((state, n) => ({ id: `10${n + 1}`, name: '', state, code: state === 'done' ? 0 : 100 }))
    await app.db.run('UPDATE jobs SET launched = ?, status = ?, error_code = ?, parts = ? WHERE id = ?', [
      parts ? 1 : 0,
      code === null ? 'success' : 'error',
      code,
      parts ? JSON.stringify(parts) : null,
      String(job_id),
    ])
    app.advance(60_000)
  }
  const containers = async () => (await world.all()).slice(1)
  return { ...world, upgradeAll, containers }
}

test.each([
  ['job_killed', 'failed'],
  ['cancelled', 'cancelled'],
])(
  'where an upgrade of all stops midway (%s), nothing is known of the container in progress',
  async (code, outcome) => {
    const { containers, upgradeAll } = await upgradedTogether()

    await upgradeAll(['done', 'waiting', 'waiting'], code)

    expect(await containers()).toMatchObject([
      { state: 'unknown', last_upgrade: { outcome: 'done' } },
      { state: 'unknown', last_upgrade: { outcome } },
      // The upgrade never reached it.
      { state: 'up_to_date', changed_at: null, last_upgrade: null },
    ])
  },
)

test('a finished upgrade of all without results has changed every container', async () => {
  const { containers, upgradeAll } = await upgradedTogether()

  await upgradeAll(['waiting', 'waiting', 'waiting'])

  expect((await containers()).map(({ state }) => state)).toEqual(['unknown', 'unknown', 'unknown'])
})

test('the next upgrade of all does not hide the result of a container that it skips', async () => {
  const { containers, upgradeAll } = await upgradedTogether()
  await upgradeAll(['failed', 'done', 'waiting'], 'job_killed')

  await upgradeAll(['stopped', 'waiting', 'waiting'], 'cancelled')

  expect(await containers()).toMatchObject([
    { state: 'unknown', last_upgrade: { outcome: 'failed', exit_code: 100 } },
    { state: 'unknown', last_upgrade: { outcome: 'cancelled' } },
    { state: 'unknown', last_upgrade: { outcome: 'failed', exit_code: null } },
  ])
})

test('an upgrade of all that never began does not hide the changes of the previous one', async () => {
  const { upgrade, containers, upgradeAll } = await upgradedTogether()
  await upgrade('lxc:101')
  await upgradeAll(['done', 'done', 'done'])

  await upgradeAll(null, 'ssh_unreachable')

  expect(await containers()).toMatchObject([
    { state: 'unknown', last_upgrade: { outcome: 'done' } },
    { state: 'unknown', last_upgrade: { outcome: 'failed' } },
    { state: 'unknown', last_upgrade: { outcome: 'failed' } },
  ])
})

test('an upgrade that was cancelled before it began hides no failure', async () => {
  const { app, host, one, look: lookAt, upgrade } = await checkApp({ looks: { host: look({ planned: PLANNED }) } })
  host.code = 100
  await upgrade('host')
  app.advance(60_000)
  const { job_id: next } = await upgrade('host')
  await app.db.run(`UPDATE jobs SET status = 'error', error_code = 'cancelled', launched = 0 WHERE id = ?`, [
    String(next),
  ])
  app.advance(60_000)
  await lookAt('host')

  expect(await one('host')).toMatchObject({ state: 'attention', last_upgrade: { outcome: 'failed' } })
})

test('any listing removes missing containers and adds new ones', async () => {
  const { app, host, all, look: lookAt } = await checkApp({ looks: { host: look(), 'lxc:101': look() } })
  await lookAt('all')
  host.list = LIST.replace('101        running                 web', '105        running                 new')

  await answered(await app.request('GET', '/api/updates/targets', { as: 'user' }), 200)

  expect((await all()).map(({ target, state }) => [target, state])).toEqual([
    ['host', 'up_to_date'],
    ['lxc:102', 'stopped'],
    ['lxc:105', 'unknown'],
  ])
})

test('only an administrator can start a repair, and only where a check found something to repair', async () => {
  const {
    app,
    look: lookAt,
    ended,
  } = await checkApp({
    looks: { host: look({ unfinished: 'half-configured ok curl' }), 'lxc:101': look() },
  })
  await lookAt('all')
  const ask = (as: 'user' | 'admin', body: object) => app.request('POST', '/api/updates/remedies', { as, body })

  await refused(await ask('user', { target: 'host', action: 'repair_dpkg' }), 403, 'forbidden')
  await refused(await ask('admin', { target: 'lxc:101', action: 'repair_dpkg' }), 422, 'remedy_unknown')
  await refused(await ask('admin', { target: 'lxc:999', action: 'repair_dpkg' }), 422, 'remedy_unknown')
  await refused(await ask('admin', { target: 'host', action: 'clean_cache' }), 422, 'remedy_unknown')
  await refused(await ask('admin', { target: 'all', action: 'repair_dpkg' }), 400, 'target_invalid')
  await refused(await ask('admin', { target: 'host', action: 'rm' }), 400, 'invalid_request')
  // Neither limits a repair, so the sender expects something else.
  const limited = [{ packages: ['curl'] }, { repository: 'http://packages.example stable' }]
  for (const limit of limited)
    await refused(await ask('admin', { target: 'host', action: 'repair_dpkg', ...limit }), 422, 'remedy_unknown')
  const { job_id } = Started.parse(await answered(await ask('admin', { target: 'host', action: 'repair_dpkg' }), 202))
  expect(await ended(job_id)).toMatchObject({ kind: 'remedy', status: 'success' })
  expect((await audited(app.db)).map(({ action }) => action)).toEqual(['check_start', 'remedy_start'])
})

test('three repairs of a target may be queued, like upgrades', async () => {
  const { app, look: lookAt } = await checkApp({ looks: { host: look({ unfinished: 'half-configured ok curl' }) } })
  await lookAt('host')
  app.services.host.stream = () => new Promise(() => {})
  const ask = () =>
    app.request('POST', '/api/updates/remedies', { as: 'admin', body: { target: 'host', action: 'repair_dpkg' } })
  for (let n = 0; n < 3; n += 1) await answered(await ask(), 202)

  await refused(await ask(), 429, 'queue_full')
})

test.each(['', 'nowhere', 'lxc:', 'LXC:101', 'lxc:1', 'lxc:101\n', 'lxc:101"; rm'])(
  '%j is not a target of a check, and nothing runs',
  async (target) => {
    const { app } = await checkApp({})

    await refused(
      await app.request('POST', PATH, { as: 'user', body: { target } }),
      400,
      target === '' ? 'target_missing' : 'target_invalid',
    )
    expect(app.ran).toEqual([])
  },
)

test('an unknown target has no check', async () => {
  const { app } = await checkApp({})

  await refused(await app.request('GET', `${PATH}/lxc:101`, { as: 'user' }), 404, 'check_missing')
})

test('two hundred containers with all their packages are listed by one quick query', async () => {
  const ids = Array.from({ length: 200 }, (_, n) => 200 + n)
  const list = `VMID       Status     Lock         Name\n${ids.map((id) => `${id} running ct-${id}`).join('\n')}\n`
  const planned = Array.from({ length: 100 }, (_, n) => `Inst p${n} [1] (2 Debian:12/stable [amd64])`).join('\n')
  const looks = Object.fromEntries(ids.map((id) => [`lxc:${id}`, look({ planned })]))
  const { app, all, look: lookAt } = await checkApp({ list, looks: { host: look(), ...looks } })
  await lookAt('all')
  let queries = 0
  const { query } = app.services.db
  app.services.db.query = (...asked) => {
    queries += asked[1].includes('FROM checks') ? 1 : 0
    return query(...asked)
  }

  const found = await all()

  expect(found).toHaveLength(201)
  expect(found.at(-1)).toMatchObject({ target: 'lxc:399', state: 'ready', counts: { upgrade: 100 } })
  expect(found.at(-1)).not.toHaveProperty('packages')
  expect(queries).toBe(1)
})

test('of a target with megabytes of packages, two answers at a time are for one user, and an abandoned one gives way', async () => {
  const planned = Array.from({ length: 4_000 }, (_, at) => `Inst p${at}${'x'.repeat(200)} [1.0] (2.0 Rig:12 [all])`)
  const { app, look: lookAt } = await checkApp({ looks: { host: look({ planned: planned.join('\n') }) } })
  await lookAt('host')
  const ask = () => app.request('GET', `${PATH}/host`, { as: 'user' })

  const [one, other] = [await ask(), await ask()]
  expect((await ask()).status).toBe(429)
  expect((await app.request('GET', PATH, { as: 'user' })).status).toBe(200)

  await one?.body?.cancel()
  expect(z.looseObject({ packages: z.array(z.unknown()) }).parse(await other?.json()).packages).toHaveLength(4_000)
  expect((await ask()).status).toBe(200)
})
