import { join } from 'node:path'
import type Docker from 'dockerode'
import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { inspectIfThere, lastLogLines, runInside } from '../../modules/deploy/docker/engine.ts'
import { lastJournal } from '../../modules/deploy/docker/swap.ts'
import { issue } from '../serve/service.ts'
import { isHealthy } from '../host/service.ts'

const Health = z.object({ boot_id: z.string() })
const Deployment = z.object({ state: z.string(), log: z.array(z.string()), error: z.string().nullable() })
const Begun = z.object({ deployment: z.string() })

/** The socket of this worker's engine; run.sh starts an engine for each worker. */
export const ENGINE_SOCKET = join(
  process.env.TEST_DOCKER_DATA ?? '/var/tmp/ops-panel-docker',
  process.env.VITEST_POOL_ID ?? '1',
  'docker.sock',
)

/** Patience for work that the helper may have to try several times. */
const LONG = 60_000

/**
 * Returns the service in the container `name`, as a client at `url` and the engine see it; `data` is the folder of its
 * data. The end of the test removes the container and its replacements.
 */
export function containerAt(engine: Docker, { name, url, data }: { name: string; url: string; data: string }) {
  const family = async () => {
    const all = await engine.listContainers({ all: true })
    return all.filter(({ Names }) => Names.some((each) => each.startsWith(`/${name}`)))
  }
  onTestFinished(async () => {
    for (const { Id } of await family())
      await engine
        .getContainer(Id)
        .remove({ force: true, v: true })
        .catch(() => {})
  })
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const { Id, Names, State } of await family()) {
      const lines = await lastLogLines(engine, await engine.getContainer(Id).inspect())
      console.error(`${Names} ${State}\n${lines.join('\n')}`)
    }
  })
  let token: Promise<string> | undefined
  const ask = async (method: string, path: string) => {
    token ??= adminToken(data)
    return fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${await token}` } })
  }
  const get = async (path: string) => {
    const answer = await ask('GET', path)
    return { status: answer.status, body: await answer.json() }
  }
  return {
    engine,
    name,
    data,
    get,
    ask,
    /** Waits until the service is healthy; before that, the process that owns the port answers. */
    served: () => expect.poll(() => isHealthy(url), { timeout: LONG }).toBe(true),
    inspect: () => engine.getContainer(name).inspect(),
    /** Runs a command in the container and returns its output. */
    type: (...words: string[]) => runInside(engine, name, ['ops-panel', ...words]),
    /** Returns the suffixes of the names of all containers of this service; '' is the service itself. */
    family: async () => (await family()).map(({ Names }) => Names.join().replace(`/${name}`, '')).sort(),
    /** Returns the last lines of the service's log. */
    lines: async () => lastLogLines(engine, await engine.getContainer(name).inspect()),
    /** Returns the step that the helper has printed last; undefined without a helper. */
    async step() {
      const helper = await inspectIfThere(engine, `${name}.helper`)
      return helper && lastJournal(await lastLogLines(engine, helper))?.step
    },
    helper: () => engine.getContainer(`${name}.helper`).inspect(),
    boot: async () => Health.parse((await get('/api/health')).body).boot_id,
    /** Begins the installation of a module from the forge; returns the id of the deployment. */
    async begin(id: string) {
      const answer = await ask('POST', `/api/registry/modules/${id}/install`)
      const text = await answer.text()
      expect({ status: answer.status, text }).toEqual({ status: 202, text })
      return Begun.parse(JSON.parse(text)).deployment
    },
    async install(id: string) {
      return this.end(await this.begin(id))
    },
    async end(deployment: string) {
      let last: z.infer<typeof Deployment> | undefined
      const look = async () => {
        last = Deployment.parse((await get(`/api/registry/deployments/${deployment}`)).body)
        return last.state
      }
      await expect
        .poll(() => look().catch(String), { timeout: LONG, interval: 200 })
        .toMatch(/^(done|failed|rolled_back)$/)
      return last
    },
    /** Waits until only the container of the service is left. */
    quiet: () => expect.poll(async () => (await family()).length, { timeout: LONG, interval: 200 }).toBe(1),
  }
}

const adminToken = async (folder: string) => (await issue(folder, 900, { isAdmin: true })).token
