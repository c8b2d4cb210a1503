import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import withdraw from '../../../functions/applications/agreement.delete.ts'
import agreement from '../../../functions/applications/agreement.put.ts'
import applications from '../../../functions/applications/applications.get.ts'
import { communityScript } from '../../../functions/applications/community-look.ts'
import runApplication from '../../../functions/applications/run.post.ts'
import applicationSource from '../../../functions/applications/source.post.ts'
import { Summary } from '../../../functions/checks/check.ts'
import checkOfTarget from '../../../functions/checks/check.get.ts'
import job from '../../../functions/jobs/job.get.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import type { Command, Elevation } from '../../../ssh/command.ts'
import { HELPER_VERSION } from '../../../functions/elevation/installed-helper.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { told } from '../notifications/told.ts'
import { scriptPlace } from './script-place.ts'

const ID = 'community_script:app'
/** Another application of the same container, whose update runs the same texts. */
const SECOND = 'community_script:second'
const BEFORE = new Date(NOW.getTime() - 60_000).toISOString()
const UNPROTECTED = { ...DEFAULT_PROTECTION, before: 'none' }

const Source = z.object({
  address: z.string(),
  digest: z.string(),
  files: z.array(z.object({ address: z.string(), digest: z.string(), size: z.number(), text: z.string() })),
  refused: z.array(z.string()),
  agreed: z.boolean(),
})
const Listed = z.object({ applications: z.array(z.looseObject({ source: z.looseObject({}).nullable() })) })
const Started = z.object({ job_id: z.string(), message: z.string() })
const Record = z.looseObject({
  status: z.string(),
  error_code: z.string().nullable(),
  outcome: z.string().nullable(),
  output: z.string(),
})

const APP = 'source <(curl -fsSL @/tools.func)\nupdate_it\n'
const TOOLS = 'update_it() { echo "updating"; echo 2.0 >"$HOME/.app"; }\n'

/** The service, and the container 101 in whose place its scripts really run; 102 is stopped. */
async function world({ app: text = APP, tools = TOOLS, elevation = 'root' as Elevation } = {}) {
  const place = await scriptPlace({ '/app.sh': text, '/tools.func': tools })
  place.put('root/.app', '1.0\n')
  /** Runs the script of a command for the container; whatever comes before its shell is the way there. */
  const inPlace = (command: readonly string[]) => {
    if (command[0] === 'sh') return place.shell(command[2] ?? '')
    const at = command.indexOf('exec')
    expect(command.slice(at, at + 5)).toEqual(['exec', '101', '--', 'sh', '-c'])
    const [script = '', , ...args] = command.slice(at + 5)
    return place.shell(script, ...args)
  }
  let ended: ReturnType<typeof inPlace> | undefined
  const app = await testApp(
    [applications, applicationSource, agreement, withdraw, runApplication, job, checkOfTarget],
    {
      fake: {
        elevation,
        exec(command: Command) {
          if (command[1] === 'version') return { stdout: `${HELPER_VERSION}\n` }
          if (command[2] === START) ended = inPlace(command.slice(8))
          if (command[2] === FOLLOW && ended) {
            const { stdout, status } = ended
            const end = `ops-panel exit ${status} ${Buffer.byteLength(stdout)}\n`
            return { stdout: `${OUTPUT_MARK}\n${stdout}`, stderr: end }
          }
          if (command.includes('exec')) return { ...inPlace(command), code: 0 }
          return {}
        },
      },
    },
  )
  const found = communityScript(`community_script|app|1.0|${place.base}/app.sh|whole`)
  const second = communityScript(`community_script|second|-|${place.base}/app.sh|whole`)
  const changed = communityScript(`community_script|other|-|${place.base}/other.sh|changed`)
  for (const [target, vmid] of [
    ['host', null],
    ['lxc:101', 101],
    ['lxc:102', 102],
  ] as const) {
    const summary = Summary.parse({
      ...{ manager: 'apt', os: null, download_bytes: null, disk_bytes: null, findings: [], services: [] },
      counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
      reboot: { required: null, reasons: [] },
      applications: vmid === null ? [] : [found, changed, second],
    })
    await app.db.run(
      `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages)
       VALUES (?, ?, 'web', 'running', ?, ?, ?, '[]')`,
      [target, vmid, BEFORE, BEFORE, JSON.stringify(summary)],
    )
  }
  const ask = (method: string, path: string, body?: object, as: 'user' | 'admin' = 'admin') =>
    app.request(method, `/api/updates/applications${path}`, { as, ...(body && { body }) })
  const fetch = async (target = 'lxc:101') =>
    Source.parse(await answered(await ask('POST', '/source', { target, id: ID }, 'user'), 200))
  const agree = (digest: string, target = 'lxc:101') => ask('PUT', '/agreement', { target, id: ID, digest })
  const drop = (digest: string, target = 'lxc:101', as: 'user' | 'admin' = 'admin') =>
    ask('DELETE', '/agreement', { target, id: ID, digest }, as)
  const run = (digest: string, more = {}) =>
    ask('POST', '/run', { target: 'lxc:101', id: ID, digest, protection: UNPROTECTED, ...more })
  const list = async (target = 'lxc:101') =>
    Listed.parse(await answered(await ask('GET', `?target=${target}`, undefined, 'user'), 200)).applications
  const ending = async (started: Response) => {
    const { job_id } = Started.parse(await answered(started, 202))
    const read = async () =>
      Record.parse(await (await app.request('GET', `/api/updates/jobs/${job_id}`, { as: 'user' })).json())
    await expect.poll(async () => (await read()).status).not.toBe('running')
    return { job_id, ...(await read()) }
  }
  return { place, app, ask, fetch, agree, drop, run, list, ending }
}

test('a script is listed, fetched with what it loads, agreed to, run and audited', async () => {
  const { place, app, fetch, agree, run, list, ending } = await world()

  expect(await list()).toMatchObject([
    {
      id: ID,
      kind: 'community_script',
      name: 'app',
      version: '1.0',
      available: null,
      source: { address: `${place.base}/app.sh`, digest: null, agreed: false, agreed_by: null, agreed_at: null },
      updatable: true,
    },
    { id: 'community_script:other', updatable: false },
    { id: SECOND, updatable: true },
  ])
  const source = await fetch()
  expect(source).toMatchObject({ address: `${place.base}/app.sh`, refused: [], agreed: false })
  expect(source.files.map(({ address, text }) => [address, text])).toEqual([
    [`${place.base}/app.sh`, APP.replaceAll('@', place.base)],
    [`${place.base}/tools.func`, TOOLS],
  ])
  expect(existsSync(join(place.root, 'opt/ran'))).toBe(false)
  await answered(await agree(source.digest), 200)
  expect((await fetch()).agreed).toBe(true)
  expect((await list())[0]?.source).toEqual({
    ...{ address: `${place.base}/app.sh`, digest: source.digest },
    ...{ agreed: true, agreed_by: 'alice', agreed_at: NOW.toISOString() },
  })

  const { job_id, ...record } = await ending(await run(source.digest))
  expect(record).toMatchObject({
    kind: 'application',
    status: 'success',
    exit_code: 0,
    outcome: 'upgraded',
    warnings: [],
    output: 'updating\n\nops-panel: version 1.0 -> 2.0\n',
  })
  const details = { application: ID, digest: source.digest }
  expect(await audited(app.db)).toMatchObject([
    {
      action: 'application_agree',
      username: 'alice',
      target: 'lxc:101',
      details: { ...details, address: source.address },
    },
    { action: 'application_start', username: 'alice', target: 'lxc:101', details: { ...details, job_id } },
  ])
  expect(await told(app.db)).toMatchObject([
    { event: 'upgrade_done', target: 'lxc:101', details: { by: 'alice', application: 'app' } },
  ])
  const checked = await app.request('GET', '/api/updates/checks/lxc:101', { as: 'user' })
  expect(await answered(checked, 200)).toMatchObject({ changed_at: expect.any(String) })
})

test('nothing runs that nobody has agreed to, and an agreement is to what was fetched last', async () => {
  const { place, app, fetch, agree, run } = await world()
  const { digest } = await fetch()

  await refused(await run(digest), 422, 'not_agreed')
  await refused(await agree('0'.repeat(64)), 409, 'source_changed')
  place.serve('/tools.func', `${TOOLS}# another one\n`)
  const next = await fetch()
  expect(next.digest).not.toBe(digest)
  await refused(await agree(digest), 409, 'source_changed')
  await answered(await agree(next.digest), 200)
  await refused(await run(digest), 422, 'not_agreed')
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(await rows(app.db, 'SELECT digest FROM application_agreements')).toEqual([{ digest: next.digest }])
})

test('what has changed since the agreement is not run, and has to be read again', async () => {
  const { place, app, fetch, agree, run, list } = await world()
  const { digest } = await fetch()
  await answered(await agree(digest), 200)
  place.serve('/tools.func', 'update_it() { touch "$HOME/../opt/taken"; }\n')

  await refused(await run(digest), 409, 'source_changed')
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(existsSync(join(place.root, 'opt/taken'))).toBe(false)
  expect((await list())[0]?.source).toMatchObject({ digest: expect.not.stringContaining(digest), agreed: false })
  expect(await rows(app.db, `SELECT action FROM audit WHERE action = 'application_start'`)).toEqual([])
})

test('an agreement is for the digest: once, and for every container', async () => {
  const { app, fetch, agree } = await world()
  const { digest } = await fetch()
  await answered(await agree(digest), 200)
  await answered(await agree(digest), 200)

  const actions = (await audited(app.db)).map(({ action }) => action)
  expect(actions).toEqual(['application_agree'])
})

test('a withdrawn agreement is none, for every container, until somebody agrees again', async () => {
  const { app, fetch, agree, drop, run, list } = await world()
  const { digest } = await fetch()
  await answered(await agree(digest), 200)

  await refused(await drop(digest, 'lxc:101', 'user'), 403, 'forbidden')
  await refused(await drop(digest, 'all'), 400, 'target_invalid')
  expect((await list())[0]?.source).toMatchObject({ agreed: true })
  await answered(await drop('0'.repeat(64)), 200)
  expect((await list())[0]?.source).toMatchObject({ agreed: true })
  // The container from which it is withdrawn need not be the one for which it was given.
  await answered(await drop(digest, 'lxc:102'), 200)
  await answered(await drop(digest, 'lxc:102'), 200)

  expect((await list())[0]?.source).toMatchObject({ digest, agreed: false, agreed_by: null, agreed_at: null })
  await refused(await run(digest), 422, 'not_agreed')
  expect(await audited(app.db)).toMatchObject([
    { action: 'application_agree' },
    {
      action: 'application_withdraw',
      username: 'alice',
      target: 'lxc:102',
      details: { application: ID, digest, agreed_by: 'alice', agreed_at: NOW.toISOString() },
    },
  ])
  await answered(await agree(digest), 200)
  expect((await list())[0]?.source).toMatchObject({ digest, agreed: true })
})

test.each([
  ['without protection', UNPROTECTED],
  ['with protection', DEFAULT_PROTECTION],
])(
  'an update %s whose agreement is withdrawn while it waits runs nothing, and one at work goes on',
  async (_, protection) => {
    const { place, app, ask, fetch, agree, drop, run, ending } = await world({
      app: 'echo ran >>"$HOME/../opt/ran"\n',
    })
    const { digest } = await fetch()
    await answered(await agree(digest), 200)
    await answered(await ask('POST', '/source', { target: 'lxc:101', id: SECOND }), 200)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const { stream } = app.services.host
    let isFollowed = false
    app.services.host.stream = async (...of) => {
      isFollowed = true
      await released
      return stream(...of)
    }
    const first = await run(digest)
    await expect.poll(() => isFollowed).toBe(true)
    const waiting = await run(digest, { id: SECOND, protection })

    await answered(await drop(digest), 200)
    release()

    expect(await ending(first)).toMatchObject({ status: 'success', outcome: 'upgraded' })
    const { output, ...record } = await ending(waiting)
    expect(record).toMatchObject({ status: 'error', error_code: 'not_agreed', outcome: 'failed', snapshot: null })
    expect(output).toContain('Nothing was run.')
    expect(readFileSync(join(place.root, 'opt/ran'), 'utf8')).toBe('ran\n')
    const words = app.ran.flatMap(({ command }) => command)
    expect(words.filter((word) => word.startsWith('perl'))).toEqual([])
  },
)

test('an application has one update at a time, and another one of the container may wait', async () => {
  const { app, ask, fetch, agree, run, ending } = await world()
  const { digest } = await fetch()
  await answered(await agree(digest), 200)
  await answered(await ask('POST', '/source', { target: 'lxc:101', id: SECOND }), 200)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { stream } = app.services.host
  app.services.host.stream = async (...of) => {
    await released
    return stream(...of)
  }

  const first = Started.parse(await answered((await run(digest)).clone(), 202))
  expect(await refused(await run(digest), 409, 'application_queued')).toMatchObject({ job_id: first.job_id })
  const other = await run(digest, { id: SECOND })
  release()

  await ending(other)
  expect(await rows(app.db, 'SELECT id FROM jobs')).toHaveLength(2)
  expect(await rows(app.db, `SELECT id FROM audit WHERE action = 'application_start'`)).toHaveLength(2)
  await ending(await run(digest))
})

test.each([
  ['exit 3\n', { status: 'success', exit_code: 3, outcome: 'failed', error_code: null }],
  ['whiptail --yesno "Go on?" 8 40\n', { status: 'error', outcome: 'failed', error_code: 'application_asks' }],
  [
    'source <(curl -fsSL "$(echo @/tools).func2.sh")\n',
    { status: 'error', outcome: 'failed', error_code: 'application_refused' },
  ],
  [
    'echo -e "\\e[01;31mNo App Installation Found!\\e[m"\nexit\n',
    { status: 'error', outcome: 'failed', error_code: 'application_not_installed' },
  ],
  [
    'echo "up to date"\n',
    {
      status: 'success',
      outcome: 'upgraded',
      warnings: ['La version est toujours 1.0 : il n’y avait peut-être rien à mettre à jour.'],
    },
  ],
  [
    'rm "$HOME/.app"\n',
    {
      status: 'success',
      outcome: 'upgraded',
      warnings: ['Le script n’a pas noté de version : rien ne dit ce que la mise à jour a changé.'],
    },
  ],
])('a script %j ends its job so that nobody takes it for more than it was', async (text, end) => {
  const { fetch, agree, run, ending } = await world({ app: text })
  const { digest } = await fetch()
  await answered(await agree(digest), 200)

  expect(await ending(await run(digest))).toMatchObject({ kind: 'application', ...end })
})

test('a run has the protection of its container where none is given, and as an application', async () => {
  const { app, fetch, agree, ask } = await world()
  const { digest } = await fetch()
  await answered(await agree(digest), 200)
  const words: (readonly string[])[] = []
  const { exec } = app.services.host
  app.services.host.exec = async (command, options) => {
    if (command[2] === START) words.push(command.slice(8))
    return command[2] === START ? { code: 0, stdout: '', stderr: '' } : exec(command, options)
  }
  const { job_id } = Started.parse(
    await answered(await ask('POST', '/run', { target: 'lxc:101', id: ID, digest }), 202),
  )

  await expect.poll(() => words.length).toBe(1)
  const { before, keep, on_failure, settle_seconds } = DEFAULT_PROTECTION
  const policy = [before, '-', String(keep), on_failure, String(settle_seconds), '0']
  // Before it comes the shell that gives the program its notes.
  const run = words[0]?.slice(words[0].indexOf('perl')) ?? []
  expect(run.slice(0, 13)).toEqual(['perl', 'application', 'root', '101', `panel-${job_id}`, '6', ...policy, '0'])
  expect(run.slice(13, 17)).toEqual(['/usr/sbin/pct', 'exec', '101', '--'])
})

test('code that cannot be fetched before the run is told, and is no part of the texts', async () => {
  const { place, fetch } = await world({
    app: `source <(curl -fsSL @/tools.func)\nsource <(curl -fsSL @/gone.func)\nbash -c "$(curl -fsSL @/install/\${name}.sh)"\n`,
  })
  const { files, refused: told } = await fetch()

  expect(files.map(({ address }) => address)).toEqual([`${place.base}/app.sh`, `${place.base}/tools.func`])
  expect(told).toEqual([`${place.base}/gone.func`, `${place.base}/install/*.sh`])
})

test('twenty files and a mebibyte are fetched, and the rest is told', async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `source <(curl -fsSL @/${at}.func)`).join('\n')
  const { place, fetch } = await world({ app: lines })
  for (let at = 0; at < 30; at += 1) place.serve(`/${at}.func`, `# ${at}\n${'#'.repeat(at === 0 ? 0 : 100_000)}\n`)
  const { files, refused: told } = await fetch()

  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  expect(files.length).toBe(12)
  expect(bytes).toBeLessThanOrEqual(1024 * 1024)
  expect(files.length + told.length).toBe(31)
  expect((await fetch()).files.map(({ digest }) => digest)).toEqual(files.map(({ digest }) => digest))
})

test('of more code that is refused than a run can be told, nothing is shown, so that nothing of it is forgotten', async () => {
  const lines = Array.from({ length: 101 }, (_, at) => `source <(curl -fsSL "@/$NAME/${at}")`)
  const { place, ask, fetch } = await world({ app: lines.slice(1).join('\n') })
  expect((await fetch()).refused).toHaveLength(100)

  place.serve('/app.sh', lines.join('\n'))

  const answer = await ask('POST', '/source', { target: 'lxc:101', id: ID })
  expect((await refused(answer, 502, 'source_unavailable')).error).toContain('more than 100')
})

test('a script that is away, binary or no longer there is an error, and nothing is stored', async () => {
  const { place, app, ask } = await world({ app: 'a\0b' })
  const fetched = () => ask('POST', '/source', { target: 'lxc:101', id: ID })

  expect((await refused(await fetched(), 502, 'source_unavailable')).error).toContain(`${place.base}/app.sh`)
  expect(await rows(app.db, 'SELECT * FROM application_sources')).toEqual([])
})

test('other targets, other applications, other users and other fields are refused, and the host is not asked', async () => {
  const { app, ask } = await world()
  const digest = 'a'.repeat(64)
  for (const [target, id, status, code] of [
    ['all', ID, 400, 'target_invalid'],
    ['host', ID, 404, 'application_missing'],
    ['lxc:999', ID, 404, 'check_missing'],
    ['lxc:101', 'community_script:none', 404, 'application_missing'],
    ['lxc:101', '$(id)', 400, 'invalid_request'],
  ] as const) {
    await refused(await ask('POST', '/source', { target, id }), status, code)
    await refused(await ask('PUT', '/agreement', { target, id, digest }), status, code)
    await refused(await ask('POST', '/run', { target, id, digest }), status, code)
  }
  await refused(
    await ask('POST', '/source', { target: 'lxc:101', id: 'community_script:other' }),
    422,
    'application_unsupported',
  )
  await refused(await ask('PUT', '/agreement', { target: 'lxc:101', id: ID, digest }, 'user'), 403, 'forbidden')
  await refused(await ask('POST', '/run', { target: 'lxc:101', id: ID, digest }, 'user'), 403, 'forbidden')
  await refused(await ask('POST', '/run', { target: 'lxc:101', id: ID, digest: 'x' }), 400, 'invalid_request')
  expect(app.ran).toEqual([])
  expect(await rows(app.db, 'SELECT * FROM application_sources')).toEqual([])
})

test('where sudo allows only the host helper, nothing of it can be fetched or run', async () => {
  const { app, ask } = await world({ elevation: 'helper' })

  const answer = await ask('POST', '/source', { target: 'lxc:101', id: ID })
  expect(await answer.json()).toMatchObject({ code: 'host_helper_lacks' })
  expect(app.ran.map(({ command }) => command[1])).toEqual(['version'])
})
