/** The things that requests of one caller can name: a target, and stored things of that target. */
export interface Named {
  target: string
  vmid: string
  /** A job of the caller. */
  job: string
  /** A job that starts the container. */
  task: string
  plan: string
  run: string
}

/** The parts of a request that name its target. */
export interface Input {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: unknown
}

const DIGEST = 'b'.repeat(64)
const APPLICATION = 'community_script:app'

const job = ({ job: id }: Named): Input => ({ params: { id } })
const plan = ({ plan: id }: Named): Input => ({ params: { id } })
const query = ({ target }: Named): Input => ({ query: { target } })
const param = ({ target }: Named): Input => ({ params: { target } })
const body = ({ target }: Named): Input => ({ body: { target } })

/** A valid request of each operation whose request names its targets. */
export const INPUTS: Readonly<Record<string, (named: Named) => Input>> = {
  'DELETE /api/updates/jobs/:id/snapshot': job,
  'DELETE /api/updates/protection/:target': param,
  'GET /api/hypervisor/host': () => ({}),
  'GET /api/hypervisor/tasks/:task': ({ task }) => ({ params: { task } }),
  'GET /api/updates/applications': query,
  'GET /api/updates/changelog': ({ target }) => ({ query: { target, package: 'curl', from: '1', to: '2' } }),
  'GET /api/updates/checks/:target': param,
  'GET /api/updates/jobs/:id': job,
  'GET /api/updates/jobs/:id/output': job,
  'GET /api/updates/packages': query,
  'GET /api/updates/plans/:id': plan,
  'GET /api/updates/runs/:id': ({ run: id }) => ({ params: { id } }),
  'GET /ws/terminal': query,
  'GET /ws/updates/:jobId': ({ job: jobId }) => ({ params: { jobId } }),
  'POST /api/hypervisor/containers/:vmid/:action': ({ vmid }) => ({ params: { vmid, action: 'start' } }),
  'POST /api/hypervisor/host/reboot': () => ({ body: { confirm: 'another' } }),
  'POST /api/updates/applications/run': ({ target }) => ({ body: { target, id: APPLICATION, digest: DIGEST } }),
  'POST /api/updates/applications/source': ({ target }) => ({ body: { target, id: APPLICATION } }),
  'POST /api/updates/checks': body,
  'POST /api/updates/jobs/:id/cancel': job,
  'POST /api/updates/jobs/:id/keep': job,
  'POST /api/updates/jobs/:id/rollback': job,
  'POST /api/updates/plans': body,
  'POST /api/updates/plans/:id/conffiles': plan,
  'POST /api/updates/remedies': ({ target }) => ({ body: { target, action: 'repair_dpkg' } }),
  'POST /api/updates/restarts': ({ target }) => ({ body: { target, services: ['ssh'] } }),
  'POST /api/updates/run': body,
  'POST /api/updates/runs': ({ plan: id }) => ({ body: { plans: [id] } }),
  'PUT /api/updates/holds': ({ target }) => ({ body: { target, packages: ['curl'], held: true } }),
  'PUT /api/updates/plans/:id/conffiles': ({ plan: id }) => ({
    params: { id },
    body: { choices: [{ file: '/etc/rig.conf', choice: 'keep' }] },
  }),
  'PUT /api/updates/protection/:target': ({ target }) => ({
    params: { target },
    body: { before: 'none', backup_storage: null, keep: 3, on_failure: 'ask', settle_seconds: 5, probes: [] },
  }),
}

/** The operations of which the host is the one target. */
export const OF_HOST: readonly string[] = ['GET /api/hypervisor/host', 'POST /api/hypervisor/host/reboot']

/** A request of each operation whose answer leaves out what the caller may not see. */
export const LISTS: Readonly<Record<string, string>> = {
  'GET /api/hypervisor/containers': '',
  'GET /api/updates/checks': '',
  'GET /api/updates/history': '?output=none',
  'GET /api/updates/jobs': '',
  'GET /api/updates/protection': '',
  'GET /api/updates/search': '?q=curl',
  'GET /api/updates/targets': '',
}
