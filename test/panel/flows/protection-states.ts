import type { Page } from 'playwright-core'
import type { Answer } from '../../../client/index.ts'

type JobRecord = Answer<'GET /api/updates/jobs/{id}'>
type Protections = Answer<'GET /api/updates/protection'>
type Protection = Protections['default']

export const JOB = '1772366400-k3x9q2pa'
export const ROLLBACK = '1772366900-b4ckb4ck'
export const REMOVAL = '1772366950-d3l3t3d0'

/** The policy that a container has until somebody sets another one. */
export const POLICY: Protection = {
  before: 'auto',
  backup_storage: null,
  keep: 3,
  on_failure: 'ask',
  settle_seconds: 60,
  probes: [],
}

const ago = (minutes: number, seconds = 0) => new Date(Date.now() - minutes * 60_000 + seconds * 1000).toISOString()

/** A protected upgrade that began some minutes ago, and is over without harm unless something else is said. */
export function protectedJob(rest: Partial<JobRecord> = {}, minutes = 347): JobRecord {
  const at = (seconds: number) => ago(minutes, seconds)
  return {
    job_id: JOB,
    target: 'lxc:101',
    status: 'success',
    output_size: 0,
    started_at: at(0),
    finished_at: at(190),
    started_by_name: 'demo',
    exit_code: 0,
    error_code: null,
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: '000000000000000000000001',
    plan_difference: null,
    phase: 'done',
    outcome: 'upgraded',
    snapshot: { name: `panel-${JOB}`, made_at: at(3), kind: 'snapshot', present: true },
    regressions: [],
    protection: POLICY,
    unprotected: null,
    reason: null,
    outage_seconds: null,
    decided: null,
    phases: [
      { phase: 'protecting', at: at(1) },
      { phase: 'measuring', at: at(5) },
      { phase: 'upgrading', at: at(7) },
      { phase: 'settling', at: at(119) },
      { phase: 'comparing', at: at(179) },
      { phase: 'pruning', at: at(188) },
      { phase: 'done', at: at(190) },
    ],
    comparison: [],
    application: null,
    ...rest,
  }
}

/** An upgrade after which four things do not work. */
export function brokenJob(rest: Partial<JobRecord> = {}): JobRecord {
  return protectedJob({
    outcome: 'regressed',
    regressions: [
      { kind: 'socket', name: 'tcp/443', message: 'Le port tcp/443 n’écoute plus (nginx).' },
      {
        kind: 'docker',
        name: 'nextcloud-redis',
        message: 'Le conteneur Docker nextcloud-redis ne tourne plus (exited 139).',
      },
      { kind: 'probe', name: 'http https://cloud.example/status.php', message: 'x' },
      { kind: 'unit', name: 'nginx.service', message: 'Le service nginx.service est en échec (failed).' },
    ],
    comparison: [
      { kind: 'socket', name: 'tcp/443', before: 'nginx', after: null, state: 'worse' },
      { kind: 'docker', name: 'nextcloud-redis', before: 'running', after: 'exited 139', state: 'worse' },
      { kind: 'probe', name: 'http https://cloud.example/status.php', before: '200', after: 'refused', state: 'worse' },
      { kind: 'unit', name: 'nginx.service', before: 'active running', after: 'failed', state: 'worse' },
      { kind: 'unit', name: 'cron.service', before: 'active running', after: 'active running', state: 'unsteady' },
      { kind: 'socket', name: 'tcp/8443', before: null, after: 'nginx', state: 'new' },
      { kind: 'socket', name: 'tcp/22', before: 'sshd', after: 'sshd', state: 'same' },
      { kind: 'docker', name: 'nextcloud-db', before: 'running', after: 'running', state: 'same' },
      { kind: 'unit', name: 'old.service', before: 'failed', after: 'failed', state: 'same' },
    ],
    ...rest,
  })
}

/** Three containers: one with snapshots, one whose storage can take none, one with a policy of its own that cannot be kept. */
export function protections(): Protections {
  const made = ago(60 * 24 * 3)
  return {
    default: POLICY,
    targets: [
      {
        target: 'lxc:101',
        name: 'web',
        protection: POLICY,
        own: false,
        can: { snapshot: true, backup: true, why: null },
        snapshots: [
          { name: `panel-${JOB}`, made_at: made, kind: 'snapshot', job_id: JOB, ours: true, present: true },
          { name: 'before-migration', made_at: made, kind: 'snapshot', job_id: null, ours: false, present: true },
        ],
      },
      {
        target: 'lxc:102',
        name: 'db',
        protection: POLICY,
        own: false,
        can: {
          snapshot: false,
          backup: true,
          why: 'le stockage local (dir) ne sait pas faire d’instantané',
        },
        snapshots: [],
      },
      {
        target: 'lxc:103',
        name: 'mail',
        protection: {
          ...POLICY,
          before: 'backup',
          on_failure: 'rollback',
          probes: [
            { kind: 'http', url: 'https://mail.example/', status: 200 },
            { kind: 'command', command: ['nc', '-z', 'a b', '25'] },
          ],
        },
        own: true,
        can: { snapshot: true, backup: false, why: 'aucun stockage de l’hôte n’accepte de sauvegardes' },
        snapshots: [],
      },
    ],
    storages: ['local', 'backups'],
  }
}

/** Answers the page’s requests about one job and about protection with this state, which a test may change, and keeps what it asks for. */
export async function guarding(page: Page, record: JobRecord = protectedJob()) {
  const state = {
    record,
    /** The job that a decision starts. */
    started: protectedJob({ job_id: ROLLBACK, kind: 'rollback', status: 'running', outcome: null, protection: null }),
    told: protections(),
    /** Answers instead of the next change. */
    refusal: undefined as { status: number; json: object } | undefined,
  }
  const asked: { method: string; path: string; body: unknown }[] = []
  await page.route(/\/api\/updates\/(jobs|protection)(\/|\?|$)/, (route) => {
    const request = route.request()
    const { pathname: path } = new URL(request.url())
    const method = request.method()
    if (method !== 'GET') {
      asked.push({ method, path: decodeURIComponent(path.replace('/api/updates', '')), body: request.postDataJSON() })
      if (state.refusal) return route.fulfill(state.refusal)
      if (/rollback$|snapshot$/.test(path))
        return route.fulfill({ status: 202, json: { job_id: state.started.job_id, message: '' } })
      return route.fulfill({ json: { message: '' } })
    }
    if (path.endsWith('/protection')) return route.fulfill({ json: state.told })
    if (path.endsWith('/output'))
      return route.fulfill({
        json: { offset: 0, next_offset: 0, ended: state.record.status !== 'running', chunk: '' },
      })
    if (path.endsWith(JOB)) return route.fulfill({ json: state.record })
    if (path.endsWith(state.started.job_id)) return route.fulfill({ json: state.started })
    const { comparison: _, phases: __, output_size: ___, ...listed } = state.record
    return route.fulfill({ json: { jobs: [listed], version: 'x' } })
  })
  return { state, asked }
}
