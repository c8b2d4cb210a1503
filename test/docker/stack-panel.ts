import { expect } from 'vitest'
import * as z from 'zod'
import agreement from '../../functions/applications/agreement.put.ts'
import { composeReport } from '../../functions/applications/compose-report.ts'
import runApplication from '../../functions/applications/run.post.ts'
import applicationSource from '../../functions/applications/source.post.ts'
import { Summary } from '../../functions/checks/check.ts'
import job from '../../functions/jobs/job.get.ts'
import { DEFAULT_PROTECTION } from '../../functions/protection/protection.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../jobs/script.ts'
import type { Command } from '../../ssh/command.ts'
import { START as NOW, testApp } from '../app.ts'
import { answered } from '../functions/answers.ts'
import { imageRegistry } from './image-registry.ts'
import { type Ended, type StackPlace, stackPlace } from './stack-place.ts'

/** The engine has no network, and nobody waits for a program that ignores signals. */
const QUIET = 'network_mode: none\n    stop_grace_period: 0s'

/** A service for the files of a stack; `more` are lines of its own. */
export const service = (name: string, image: string, more = '') =>
  `  ${name}:\n    image: ${image}\n    ${QUIET}\n${more}`
export const services = (...all: readonly string[]) => `services:\n${all.join('')}`

export const applicationsOf = (lines: readonly string[]) => composeReport(lines)?.applications ?? []
/** The problems that a look tells, as `stack: reason`. */
export const reasons = (lines: readonly string[]) =>
  composeReport(lines)?.problems.map(({ name, message }) => `${name}: ${message}`)
/** The beginning of a digest, by which versions name an image. */
export const short = (digest: string) => digest.slice(7, 19)

/** The image of a container: engines name it by its own id, or by its digest. */
export const imageOf = ({ id, digest }: { id: string; digest: string }) =>
  expect.stringMatching(new RegExp(`^(${id}|${digest})$`))

/** A stack `web` whose `app` has a newer image in the registry since it was started, and whose `db` has not. */
export async function startedStack() {
  const [registry, place] = [await imageRegistry(), await stackPlace()]
  const [old, db] = [registry.publish('app', { version: '1' }), registry.publish('db:16', { version: 'db' })]
  const [app, data] = [registry.name('app'), registry.name('db:16')]
  const file = await place.write(
    'web/compose.yaml',
    services(service('app', app, `    environment:\n      TOKEN: \${TOKEN}\n`), service('db', data)),
  )
  await place.write('web/.env', 'TOKEN=secret of the stack\n')
  await place.compose('web', ['up', '-d'])
  const newer = registry.publish('app', { version: '2' })
  registry.requests.length = 0
  return { registry, place, file, app, data, old, newer, db }
}

const Source = z.object({ digest: z.string(), files: z.array(z.object({ address: z.string(), text: z.string() })) })
const Started = z.object({ job_id: z.string() })
const JobRecord = z.looseObject({ status: z.string(), output: z.string() })

/** The service, after a check of the container 101, which is this place. */
export async function panelOf(place: StackPlace, project = 'web') {
  let ended: Promise<Ended> | undefined
  const app = await testApp([applicationSource, agreement, runApplication, job], {
    fake: {
      async exec(command: Command) {
        const at = command.indexOf('exec')
        const inPlace = () => place.run(command.slice(at + 3))
        if (command[2] === START) ended = inPlace()
        else if (command[2] === FOLLOW && ended) {
          const { code, stdout } = await ended
          return {
            stdout: `${OUTPUT_MARK}\n${stdout}`,
            stderr: `ops-panel exit ${code} ${Buffer.byteLength(stdout)}\n`,
          }
        } else if (at >= 0) {
          const { code, ...rest } = await inPlace()
          return { code: code ?? -1, ...rest }
        }
        return {}
      },
    },
  })
  const summary = Summary.parse({
    ...{ manager: 'apt', os: null, download_bytes: null, disk_bytes: null, findings: [], services: [] },
    counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
    reboot: { required: null, reasons: [] },
    applications: applicationsOf((await place.look()).lines),
  })
  const at = new Date(NOW.getTime() - 60_000).toISOString()
  await app.db.run(
    `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages)
     VALUES ('lxc:101', 101, 'web', 'running', ?, ?, ?, '[]')`,
    [at, at, JSON.stringify(summary)],
  )
  const ask = (method: string, path: string, more: object = {}) =>
    app.request(method, `/api/updates/applications/${path}`, {
      as: 'admin',
      body: { target: 'lxc:101', id: `compose:${project}`, ...more },
    })
  const protection = { ...DEFAULT_PROTECTION, before: 'none' }
  const panel = {
    askSource: () => ask('POST', 'source'),
    source: async () => Source.parse(await answered(await ask('POST', 'source'), 200)),
    run: (digest: string) => ask('POST', 'run', { digest, protection }),
    agree: async (digest: string) => void (await answered(await ask('PUT', 'agreement', { digest }), 200)),
    ending: async (started: Response) => {
      const { job_id } = Started.parse(await answered(started, 202))
      const read = async () =>
        JobRecord.parse(await (await app.request('GET', `/api/updates/jobs/${job_id}`, { as: 'user' })).json())
      await expect.poll(async () => (await read()).status, { timeout: 180_000, interval: 1_000 }).not.toBe('running')
      return read()
    },
    /** Asks for the source, agrees to it, and runs it to its end. */
    async update(meanwhile: () => Promise<unknown> = async () => {}) {
      const { digest } = await panel.source()
      await panel.agree(digest)
      const started = await panel.run(digest)
      await meanwhile()
      return panel.ending(started)
    },
  }
  return panel
}
