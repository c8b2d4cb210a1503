import { expect } from 'vitest'
import * as z from 'zod'
import { addPlan, type PlanRow } from '../../../db/plans.ts'
import { HELPER_VERSION } from '../../../functions/elevation/installed-helper.ts'
import job from '../../../functions/jobs/job.get.ts'
import history from '../../../functions/jobs/history.get.ts'
import jobs from '../../../functions/jobs/jobs.get.ts'
import { COMPARE } from '../../../functions/plans/conffile-scripts.ts'
import comparison from '../../../functions/plans/conffiles.post.ts'
import choice from '../../../functions/plans/conffiles.put.ts'
import { planHash } from '../../../functions/plans/plan.ts'
import { DIFFERS_END, DIFFERS_MARK } from '../../../functions/managers/agreement.ts'
import { MANAGED_PLAN } from '../../../functions/plans/plan-command.ts'
import { PLAN } from '../../../functions/plans/plan-script.ts'
import plan from '../../../functions/plans/plan.get.ts'
import plans from '../../../functions/plans/plans.post.ts'
import runOfPlans from '../../../functions/runs/run.get.ts'
import runs from '../../../functions/runs/runs.post.ts'
import run from '../../../functions/runs/run.post.ts'
import { FOLLOW, OUTPUT_MARK } from '../../../jobs/script.ts'
import type { Output } from '../../../ssh/channel.ts'
import type { Command, Elevation } from '../../../ssh/command.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered } from '../answers.ts'

const FUNCTIONS = [plans, plan, comparison, choice, run, runs, runOfPlans, job, jobs, history]

export const HOUR = 60 * 60_000

/** The changes of the plans that tests store, and the lines of their hash. */
export const ACTIONS = [known({ name: 'app' }), known({ name: 'libnew', from: null, to: '1.1', action: 'install' })]
export const LINES = ['install libnew:amd64 - 1.1', 'upgrade app:amd64 1.0 2.0']
export const HASH = planHash(LINES)
export const SELECTION = { only: 'all', packages: null, exclude: [], allow_remove: false } as const

/** A package of a plan or of a check. */
export function known(own: object) {
  const details = { origin: null, security: false, size: null, source: null, cves: [], status: 'planned', reason: null }
  return { arch: 'amd64', from: '1.0', to: '2.0', action: 'upgrade', ...details, ...own }
}

/** The output of a job that found these lines instead of its plan. */
export function differing(...lines: string[]): string {
  return ['Reading package lists...', DIFFERS_MARK, ...lines.map((line) => ` ${line}`), DIFFERS_END, ''].join('\n')
}

interface Given {
  elevation?: Elevation
  /** The answer to `PLAN`. */
  simulated?: Partial<Output>
  /** The answer to a plan by another manager than apt. */
  managed?: Partial<Output>
  /** The answer to `COMPARE`. */
  compared?: Partial<Output>
  /** The output and the exit code of every job. */
  text?: string
  code?: number
  /** The notes of every job, in JSON. */
  notes?: readonly string[]
  /** The state of every container, as the container tool tells it. */
  state?: 'running' | 'stopped'
  /** Jobs never get an answer. */
  isBusy?: boolean
}

/** The app with a host that simulates plans, and whose jobs end at once. */
export async function planApp({ elevation = 'root', isBusy = false, ...own }: Given = {}) {
  const given = { simulated: {}, managed: {}, compared: {}, state: 'running', text: '', code: 0, notes: [], ...own }
  const app = await testApp(FUNCTIONS, {
    fake: {
      elevation,
      exec(command: Command): Partial<Output> {
        if (command.some((word) => word.endsWith(MANAGED_PLAN))) return given.managed
        if (command.includes(PLAN) || command.includes('plan')) return given.simulated
        if (command.includes(COMPARE)) return given.compared
        if (command[1] === 'status') return { stdout: `status: ${given.state}\n` }
        if (command.at(-1) === 'version') return { stdout: `${HELPER_VERSION}\n` }
        if (command[2] !== FOLLOW) return {}
        const end = `ops-panel exit ${given.code} ${Buffer.byteLength(given.text)}\n`
        const notes = given.notes.map((note) => `ops-panel note ${note}\n`)
        return { stdout: `${OUTPUT_MARK}\n${given.text}`, stderr: `${end}${notes.join('')}` }
      },
    },
  })
  if (isBusy) app.services.host.exec = () => new Promise(() => {})
  await app.tokenFor('user')

  /** Stores a plan as it is made. */
  const store = async (id: string, { target = 'host', ...own }: Partial<PlanRow> = {}): Promise<string> => {
    await addPlan(app.db, {
      id,
      target,
      hash: HASH,
      made_at: NOW.toISOString(),
      made_by: 'bob',
      expires_at: new Date(NOW.getTime() + HOUR).toISOString(),
      selection: JSON.stringify(SELECTION),
      actions: JSON.stringify(ACTIONS),
      download_bytes: null,
      disk_bytes: null,
      findings: '[]',
      conffiles: '[]',
      job_id: null,
      ...own,
    })
    return id
  }
  const send = (method: string, path: string, body?: object) => app.request(method, path, { as: 'user', body })
  const start = async (body: object) =>
    z.looseObject({ job_id: z.string() }).parse(await answered(await send('POST', '/api/updates/run', body), 202))
      .job_id
  const read = async (path: string) => z.looseObject({}).parse(await answered(await send('GET', path), 200))
  const ended = async (id: string) => {
    const record = () => read(`/api/updates/jobs/${id}`)
    await expect.poll(async () => (await record()).status).not.toBe('running')
    return record()
  }
  return { app, given, store, send, start, read, ended }
}
