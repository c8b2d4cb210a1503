import type { Page, Route } from 'playwright-core'
import type { Answer } from '../../../client/index.ts'
import { change, type finding } from './update-states.ts'

export { change } from './update-states.ts'

type Plan = Answer<'POST /api/updates/plans'>
type Change = Plan['actions'][number]

interface Asked {
  target: string
  only: 'all' | 'security'
  exclude: string[]
  allow_remove: boolean
}

/** Changes of an upgrade: a kernel of the host apart, 1,500 packages are as many as a release upgrade has. */
export const CHANGES: readonly Change[] = [
  change('curl'),
  change('openssl', {
    security: true,
    cves: [{ id: 'CVE-2025-9230', urgency: 'high', known_exploited: true }],
  }),
  change('libnew', { action: 'install', from: null }),
]

/** Changes that only a removal lets through. */
export const REMOVAL: readonly Change[] = [change('exim4'), change('exim4-old', { action: 'remove', to: null })]

const id = (n: number) => n.toString(16).padStart(24, '0')

/** A plan of these changes, made now. */
export function planOf(n: number, target: string, actions: readonly Change[], rest: Partial<Plan> = {}): Plan {
  const now = Date.now()
  const of = (action: Change['action']) => actions.filter((one) => one.action === action).length
  return {
    id: id(n),
    target,
    manager: 'apt',
    hash: '9f3c81d0'.repeat(8),
    made_at: new Date(now).toISOString(),
    made_by: 'demo',
    expires_at: new Date(now + 3_600_000).toISOString(),
    only: 'all',
    packages: null,
    exclude: [],
    allow_remove: false,
    actions: [...actions],
    counts: {
      upgrade: of('upgrade'),
      install: of('install'),
      remove: of('remove'),
      security: actions.filter(({ security }) => security).length,
      held: 0,
      phased: 0,
      kept_back: 0,
    },
    download_bytes: 2_000_000,
    disk_bytes: -12_000,
    findings: [],
    conffiles: [],
    protection: null,
    state: 'current',
    job_id: null,
    ...rest,
  }
}

/** Answers the page’s requests for plans with what their selection takes, and keeps them. */
export async function planning(page: Page, options: { changes?: readonly Change[]; rest?: Partial<Plan> } = {}) {
  const asked: Asked[] = []
  const started: unknown[] = []
  const state = {
    changes: options.changes ?? CHANGES,
    rest: options.rest ?? {},
    /** Answers instead of the plan. */
    refusal: undefined as { status: number; json: object } | undefined,
    /** Answers instead of the start. */
    startRefusal: undefined as { status: number; json: object } | undefined,
  }
  await page.route('**/api/updates/plans', (route) => {
    const body: Asked = route.request().postDataJSON()
    asked.push(body)
    if (state.refusal) return route.fulfill(state.refusal)
    const all = [...state.changes, ...(body.allow_remove ? REMOVAL : [])]
    const taken = all.filter(({ name, security }) => !body.exclude.includes(name) && (body.only === 'all' || security))
    if (taken.length === 0) return route.fulfill({ status: 409, json: { error: 'x', code: 'plan_empty' } })
    return route.fulfill({ status: 201, json: planOf(asked.length, body.target, taken, state.rest) })
  })
  const starts = (route: Route) => {
    started.push(route.request().postDataJSON())
    if (state.startRefusal) return route.fulfill(state.startRefusal)
    const json = { job_id: '1772366400-aaaaaaaa', run_id: id(0), jobs: [], message: '' }
    return route.fulfill({ status: 202, json })
  }
  await page.route('**/api/updates/run', starts)
  await page.route('**/api/updates/runs', starts)
  return { state, asked, started }
}

/** The answer that says why there is no plan. */
export function impossible(...findings: ReturnType<typeof finding>[]) {
  return { status: 422, json: { error: 'x', code: 'plan_impossible', findings } }
}

/** The part of a record that only a protected upgrade fills. */
export const UNPROTECTED = {
  phase: 'done',
  outcome: 'upgraded',
  snapshot: null,
  regressions: [],
  protection: null,
  unprotected: null,
  reason: null,
  outage_seconds: null,
  decided: null,
  phases: [],
  comparison: null,
  application: null,
}

/** An upgrade that changed nothing, because its plan did not fit any more. */
export const CHANGED_JOB = {
  ...UNPROTECTED,
  outcome: 'plan_changed',
  job_id: '1772366400-aaaaaaaa',
  target: 'lxc:101',
  status: 'error',
  output_size: 0,
  started_at: '2026-03-01T12:00:00.000Z',
  finished_at: '2026-03-01T12:00:05.000Z',
  started_by_name: 'demo',
  exit_code: null,
  error_code: 'plan_changed',
  containers: null,
  warnings: [],
  run_id: null,
  plan_id: id(1),
  plan_difference: [
    { name: 'curl:amd64', planned: 'upgrade 1.0-1 1.0-2', found: 'upgrade 1.0-1 1.0-3' },
    { name: 'libnew:amd64', planned: null, found: 'install - 2.0' },
  ],
}
