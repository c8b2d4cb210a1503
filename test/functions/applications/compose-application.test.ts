import { expect, test } from 'vitest'
import * as z from 'zod'
import agreement from '../../../functions/applications/agreement.put.ts'
import applications from '../../../functions/applications/applications.get.ts'
import { composeReport } from '../../../functions/applications/compose-report.ts'
import runApplication from '../../../functions/applications/run.post.ts'
import applicationSource from '../../../functions/applications/source.post.ts'
import { HELPER_VERSION } from '../../../functions/elevation/installed-helper.ts'
import { Summary } from '../../../functions/checks/check.ts'
import job from '../../../functions/jobs/job.get.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import type { Command, Elevation } from '../../../ssh/command.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { config, sha, stacks } from './compose-stand-in.ts'

const TARGET = 'lxc:101'
const ID = 'compose:web'
const [OLD, NEW] = [sha('1'), sha('2')]

const Source = z.object({
  digest: z.string(),
  files: z.array(z.object({ address: z.string(), text: z.string() })),
  agreed: z.boolean(),
})
const Started = z.object({ job_id: z.string() })
const Ended = z.looseObject({ status: z.string(), output: z.string(), warnings: z.array(z.string()) })

/** The service, after a check of the container 101 that has found a stack with a newer image. */
async function world({ elevation = 'root' as Elevation } = {}) {
  const place = await stacks({
    containers: [{ service: 'app', image: OLD }],
    images: { [OLD]: [`nginx@${sha('a')}`] },
    tags: { 'nginx:latest': OLD },
    registry: { 'nginx:latest': sha('b') },
    pullable: { [sha('b')]: NEW },
    configs: { web: config('web', { app: 'nginx:latest' }) },
  })
  let ended: ReturnType<typeof place.inPlace> | undefined
  const app = await testApp([applications, applicationSource, agreement, runApplication, job], {
    fake: {
      elevation,
      exec(command: Command) {
        if (command[1] === 'version') return { stdout: `${HELPER_VERSION}\n` }
        const at = command.indexOf('exec')
        const inPlace = () => {
          expect(command.slice(at, at + 5)).toEqual(['exec', '101', '--', 'sh', '-c'])
          const [text = '', , ...args] = command.slice(at + 5)
          return place.inPlace(text, ...args)
        }
        if (command[2] === START) ended = inPlace()
        else if (command[2] === FOLLOW && ended) {
          const end = `ops-panel exit ${ended.code} ${Buffer.byteLength(ended.stdout)}\n`
          return { stdout: `${OUTPUT_MARK}\n${ended.stdout}`, stderr: end }
        } else if (at >= 0) return inPlace()
        return {}
      },
    },
  })
  const summary = Summary.parse({
    ...{ manager: 'apt', os: null, download_bytes: null, disk_bytes: null, findings: [], services: [] },
    counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
    reboot: { required: null, reasons: [] },
    applications: composeReport(await place.look())?.applications,
  })
  const before = new Date(NOW.getTime() - 60_000).toISOString()
  await app.db.run(
    `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages)
     VALUES (?, 101, 'web', 'running', ?, ?, ?, '[]')`,
    [TARGET, before, before, JSON.stringify(summary)],
  )
  const ask = (method: string, path: string, body?: object) =>
    app.request(method, `/api/updates/applications${path}`, { as: 'admin', ...(body && { body }) })
  return {
    place,
    app,
    list: async () => answered(await ask('GET', `?target=${TARGET}`), 200),
    askSource: () => ask('POST', '/source', { target: TARGET, id: ID }),
    source: async () => Source.parse(await answered(await ask('POST', '/source', { target: TARGET, id: ID }), 200)),
    agree: (digest: string) => ask('PUT', '/agreement', { target: TARGET, id: ID, digest }),
    run: (digest: string) =>
      ask('POST', '/run', { target: TARGET, id: ID, digest, protection: { ...DEFAULT_PROTECTION, before: 'none' } }),
    ending: async (started: Response) => {
      const { job_id } = Started.parse(await answered(started, 202))
      const read = async () =>
        Ended.parse(await (await app.request('GET', `/api/updates/jobs/${job_id}`, { as: 'user' })).json())
      await expect.poll(async () => (await read()).status).not.toBe('running')
      return read()
    },
  }
}

test('a stack is listed with its newer image, shown without its secrets, agreed to, and brought exactly there', async () => {
  const { place, app, list, source, agree, run, ending } = await world()

  const shown = await source()
  expect(await list()).toMatchObject({
    applications: [
      {
        id: ID,
        version: 'nginx:latest aaaaaaaaaaaa',
        available: 'nginx:latest bbbbbbbbbbbb',
        source: { digest: shown.digest, agreed: false },
        updatable: true,
      },
    ],
  })
  expect(shown).toMatchObject({
    files: [{ address: place.place, text: `app: nginx:latest\n  ${sha('a')} -> ${sha('b')}\n` }],
    agreed: false,
  })
  await refused(await run(shown.digest), 422, 'not_agreed')
  await answered(await agree(shown.digest), 200)

  const ended = await ending(await run(shown.digest))

  expect(ended).toMatchObject({
    kind: 'application',
    status: 'success',
    exit_code: 0,
    outcome: 'upgraded',
    warnings: [],
  })
  expect(ended.output).toContain('ops-panel: version nginx:latest aaaaaaaaaaaa -> nginx:latest bbbbbbbbbbbb\n')
  expect(await place.file('containers')).toContain(NEW)
  expect((await audited(app.db)).map(({ action }) => action)).toEqual(['application_agree', 'application_start'])
})

test('a stack whose registry gives another image since the agreement is not run', async () => {
  const { place, app, source, agree, run } = await world()
  const { digest } = await source()
  await answered(await agree(digest), 200)
  await place.write('registry', `nginx:latest|${sha('c')}\n`)

  await refused(await run(digest), 409, 'source_changed')

  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(await place.file('calls')).not.toMatch(/^(pull|tag)| up /m)
})

test.each([
  ['pullable', 'registry-images', 'application_not_begun'],
  ['the same', 'before-pull', 'application_not_begun'],
])('a run that finds an image no more %s ends with an error, and changes nothing', async (_, file, code) => {
  const { place, source, agree, run, ending } = await world()
  const { digest } = await source()
  await answered(await agree(digest), 200)
  await place.write(file, file === 'before-pull' ? 'sed -i s/secret/other/ config.web' : '')
  const before = await place.file('containers')

  const ended = await ending(await run(digest))

  expect(ended).toMatchObject({ status: 'error', error_code: code, outcome: 'failed' })
  expect(await place.file('containers')).toBe(before)
})

test.each([
  ['has nothing newer', 'registry', `nginx:latest|${sha('a')}\n`, 'there is nothing newer'],
  ['cannot be read', 'config.web', 'services:\n', 'its configuration has no services'],
  ['is gone', 'containers', '', 'it is not there any more'],
])('of a stack that %s meanwhile, there is nothing to agree to', async (_, file, text, reason) => {
  const { place, askSource } = await world()
  await place.write(file, text)

  const { error } = await refused(await askSource(), 502, 'source_unavailable')

  expect(error).toContain(reason)
})

test('a file whose name would turn the answer round is named without that', async () => {
  const { place, askSource } = await world()
  const line = [
    'c'.repeat(64),
    OLD,
    'running',
    'nginx:latest',
    'web',
    'app',
    '/srv',
    '/srv/\u202egpj.yml',
    '',
    '',
    'False',
  ]
  await place.write('containers', `${line.join('|')}\n`)

  const { error } = await refused(await askSource(), 502, 'source_unavailable')

  expect(error).toContain('/srv/ gpj.yml is not there')
  expect(error).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('where sudo allows only the host helper, no stack can be looked at or brought further', async () => {
  const { app, askSource } = await world({ elevation: 'helper' })

  const answer = await askSource()
  expect(await answer.json()).toMatchObject({ code: 'host_helper_lacks' })
  expect(app.ran.map(({ command }) => command[1])).toEqual(['version'])
})
