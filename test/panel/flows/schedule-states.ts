import type { Page } from 'playwright-core'
import type { Answer } from '../../../client/index.ts'
import { listOf } from './schedule-list.ts'

export type Schedule = Answer<'GET /api/schedules'>['schedules'][number]
export type Run = Answer<'GET /api/schedules/runs/{id}'>
type Wave = Run['waves'][number]
export type Upgrade = Answer<'GET /api/updates/runs/{id}'>['jobs'][number]
type Target = Wave['jobs'][number]

const HOUR_MS = 3_600_000
const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()

export const RUN = '7c6b5a4938271605f4e3d2c1'
export const SCHEDULE = '3b2a1c0d9e8f70615243a4b5'
export const LONG_NAME = 'customer-portal-staging-eu-west-backend-worker-with-legacy-cron'

/** A target of a wave with what became of it. */
export function targetOf(target: string, outcome: string | null, rest: Partial<Target> = {}): Target {
  return { target, job_id: outcome === null ? null : '1772366400-k3x9q2pa', outcome, reason: null, ...rest }
}

/** A wave that has ended, unless another state is said. */
export function waveOf(targets: Wave['targets'], jobs: Target[], rest: Partial<Wave> = {}): Wave {
  return {
    targets,
    pause_minutes: 30,
    state: 'ended',
    run_id: 'aaaaaaaaaaaaaaaaaaaaaaaa',
    started_at: at(-9),
    finished_at: at(-8.9),
    jobs,
    ...rest,
  }
}

/** The record of an upgrade that went well for `minutes` from `begun` hours before now, unless something else is said. */
export function upgradeOf(target: string, begun: number, minutes: number, rest: Partial<Upgrade> = {}): Upgrade {
  return {
    job_id: `1772366400-${target.replace(':', '')}`,
    target,
    status: 'success',
    started_at: at(-begun),
    finished_at: at(-begun + minutes / 60),
    begun_at: at(-begun),
    packages: 12,
    exit_code: 0,
    error_code: null,
    started_by_name: 'demo',
    containers: null,
    warnings: [],
    run_id: 'aaaaaaaaaaaaaaaaaaaaaaaa',
    plan_id: '5f0c1e2d3b4a59687766554f',
    plan_difference: null,
    phase: 'done',
    outcome: 'upgraded',
    snapshot: null,
    regressions: [],
    protection: null,
    unprotected: null,
    reason: null,
    outage_seconds: null,
    decided: null,
    ...rest,
  }
}

const NOT_BEGUN = { state: 'waiting', run_id: null, started_at: null, finished_at: null } as const

/** A run that stopped because its first wave broke something, unless something else is said. */
export function runOf(rest: Partial<Run> = {}): Run {
  return {
    id: RUN,
    schedule_id: SCHEDULE,
    schedule_name: 'Nightly upgrades',
    action: 'upgrade',
    due_at: at(-9),
    closes_at: at(-7),
    started_at: at(-9),
    finished_at: at(-8.5),
    started_by: null,
    state: 'stopped',
    reason: 'regressed',
    missed: 0,
    cancelled_by: null,
    ping_error: null,
    schedule_revision: 3,
    waves: [
      waveOf(['lxc:101', 'lxc:102'], [targetOf('lxc:101', 'regressed'), targetOf('lxc:102', 'upgraded')]),
      waveOf('rest', [], NOT_BEGUN),
      waveOf(['host'], [], { ...NOT_BEGUN, pause_minutes: 0 }),
    ],
    reboot: null,
    ...rest,
  }
}

/** A run whose second wave upgrades one target while another waits. */
export function runningRun(rest: Partial<Run> = {}): Run {
  return runOf({
    state: 'running',
    reason: null,
    due_at: at(-0.5),
    closes_at: at(1.5),
    started_at: at(-0.5),
    finished_at: null,
    waves: [
      waveOf(['lxc:101'], [targetOf('lxc:101', 'upgraded')]),
      waveOf(
        'rest',
        [
          targetOf('lxc:102', null, { job_id: '1772366400-k3x9q2pa' }),
          targetOf('lxc:103', null),
          targetOf('lxc:104', 'impossible', { job_id: null, reason: 'Des paquets figés bloquent la mise à jour.' }),
        ],
        { state: 'running', finished_at: null },
      ),
      waveOf(['host'], [], { ...NOT_BEGUN, pause_minutes: 0 }),
    ],
    ...rest,
  })
}

const STATES = [
  'done',
  'done',
  'missed',
  'done',
  'done',
  'window_closed',
  'done',
  'cancelled',
  'done',
  'done',
  'done',
  'done',
  'done',
] as const

/** The last runs of a schedule, the newest with this state. */
export function recentOf(newest: Run['state']): Schedule['recent'] {
  return [...STATES, newest].map((state, n, all) => ({
    id: n === all.length - 1 ? RUN : `7c6b5a4938271605f4e3d2${`${n}`.padStart(2, '0')}`,
    due_at: at(-9 - 24 * (all.length - 1 - n)),
    state,
  }))
}

/** A schedule that runs every night and did well, unless something else is said. */
export function scheduleOf(rest: Partial<Schedule> = {}): Schedule {
  return {
    id: SCHEDULE,
    name: 'Nightly upgrades',
    enabled: true,
    cron: '30 2 * * *',
    timezone: 'UTC',
    window_minutes: 120,
    action: 'upgrade',
    only: 'all',
    waves: [
      { targets: ['lxc:101', 'lxc:102'], pause_minutes: 30 },
      { targets: 'rest', pause_minutes: 15 },
      { targets: ['host'], pause_minutes: 0 },
    ],
    on_failure: 'stop',
    reboot: 'never',
    created_by: 'demo',
    next: [at(15), at(39), at(63)],
    last_run: runOf({
      state: 'done',
      reason: null,
      waves: [waveOf(['lxc:101', 'lxc:102'], [targetOf('lxc:101', 'upgraded')])],
    }),
    recent: recentOf('done'),
    paused_reason: null,
    ping_url_set: false,
    revision: 3,
    ...rest,
  }
}

/** One schedule for each way in which it may stand. */
export function everyStanding(): Schedule[] {
  const named = (n: number, name: string, rest: Partial<Schedule>) =>
    scheduleOf({ id: `${SCHEDULE.slice(0, -2)}${`${n}`.padStart(2, '0')}`, name, ...rest })
  return [
    named(1, 'Check all', {
      cron: '0 */6 * * *',
      action: 'check',
      waves: [{ targets: 'rest', pause_minutes: 0 }],
      next: [at(2), at(8), at(14)],
    }),
    named(2, 'Nightly upgrades', { recent: recentOf('stopped'), last_run: runOf() }),
    named(3, 'Host, security only', {
      cron: '0 5 * * sun',
      timezone: 'America/New_York',
      only: 'security',
      waves: [{ targets: ['host'], pause_minutes: 0 }],
      reboot: 'if_required',
      next: [at(24 * 4), at(24 * 11), at(24 * 18)],
      recent: recentOf('running'),
      last_run: runningRun({ waves: [waveOf(['host'], [targetOf('host', null)], { state: 'running' })] }),
    }),
    named(4, 'Monthly', { cron: '0 4 1 * *', enabled: false, next: [], recent: [], last_run: null }),
    named(5, LONG_NAME, {
      cron: '7,37 1-3 * * 1-5',
      enabled: false,
      next: [],
      paused_reason: 'Le compte alice, à qui elle est, n’est plus administrateur.',
      recent: recentOf('stopped'),
      last_run: runOf({ reason: 'creator_kept_out' }),
    }),
    named(6, 'Weekend', { cron: '0 3 * * 6,0', recent: recentOf('missed'), last_run: null }),
    named(7, 'Not used yet', { recent: [], last_run: null }),
  ]
}

interface State {
  schedules: Schedule[]
  paused: { by: string; at: string } | null
  run: Run
  /** All runs of a schedule, newest first. */
  runs: Run[]
  upgrades: Upgrade[]
  /** Answers every change while it is set. */
  refusal: { status: number; json: object } | undefined
  /** Answers the list while it is set. */
  unread: { status: number; json: object } | undefined
}

/** Answers the page's requests about schedules with this state, which a test may change, and keeps the changes that the page asks for, and the queries of the list. */
export async function scheduling(page: Page, schedules = everyStanding()) {
  const nothing = { refusal: undefined, unread: undefined }
  const state: State = { schedules, paused: null, run: runOf(), runs: [], upgrades: [], ...nothing }
  const lists: string[] = []
  const asked: { method: string; path: string; body: unknown }[] = []
  await page.route(/\/api\/updates\/runs\//, (route) =>
    route.fulfill({
      json: { id: 'a', started_at: at(-9), started_by_name: 'demo', jobs: state.upgrades },
    }),
  )
  await page.route(/\/api\/schedules/, async (route) => {
    const request = route.request()
    const { pathname, searchParams } = new URL(request.url())
    const method = request.method()
    const path = pathname.replace('/api/schedules', '')
    if (method === 'GET') {
      if (path === '/preview') return route.fulfill(previewed(searchParams.get('cron') ?? ''))
      if (path === '') {
        lists.push(`${searchParams}`)
        return route.fulfill(state.unread ?? { json: listOf(state, searchParams) })
      }
      if (path.endsWith('/runs')) {
        const before = state.runs.findIndex(({ id }) => id === searchParams.get('before'))
        const to = before + 1 + Number(searchParams.get('limit'))
        const runs = state.runs.slice(before + 1, to)
        return route.fulfill({ json: { runs, next: to < state.runs.length ? runs.at(-1)?.id : null } })
      }
      if (path.startsWith('/runs/')) return route.fulfill({ json: state.run })
      return route.fulfill({ json: state.schedules.find(({ id }) => path === `/${id}`) ?? state.schedules[0] })
    }
    asked.push({ method, path, body: request.postDataJSON() })
    if (state.refusal) return route.fulfill(state.refusal)
    if (method === 'PUT') {
      state.paused = request.postDataJSON().paused ? { by: 'demo', at: at(0) } : null
      return route.fulfill({ json: { paused: state.paused } })
    }
    if (path.endsWith('/run')) return route.fulfill({ status: 202, json: { run_id: RUN, message: '' } })
    if (path.endsWith('/cancel')) return route.fulfill({ status: 202, json: { message: '' } })
    if (method === 'DELETE') {
      state.schedules = state.schedules.filter(({ id }) => path !== `/${id}`)
      return route.fulfill({ json: { message: '' } })
    }
    const changed = {
      ...(state.schedules.find(({ id }) => path === `/${id}`) ?? scheduleOf()),
      ...request.postDataJSON(),
    }
    state.schedules =
      method === 'POST'
        ? [...state.schedules, changed]
        : state.schedules.map((each) => (each.id === changed.id ? changed : each))
    return route.fulfill({ status: method === 'POST' ? 201 : 200, json: changed })
  })
  return { state, asked, lists }
}

function previewed(cron: string) {
  if (cron.split(/\s+/).length !== 5)
    return {
      status: 400,
      json: {
        error: 'x',
        code: 'invalid_request',
        details: [{ field: 'cron', message: 'cinq champs séparés par des espaces sont attendus' }],
      },
    }
  return { json: { next: [15, 39, 63, 87, 111].map(at) } }
}
