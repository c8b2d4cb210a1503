import type { Page } from 'playwright-core'
import type { Answer, Panel } from '../../../client/index.ts'

type Application = Answer<'GET /api/updates/applications'>['applications'][number]
export type Told = Answer<'GET /api/updates/checks'>
type Check = Told['checks'][number]
type Finding = Check['findings'][number]
type Package = Answer<'GET /api/updates/checks/{target}'>['packages'][number]

/** Four minutes before now. */
const recently = () => new Date(Date.now() - 4 * 60_000).toISOString()

/** The result of a check: in order, unless something else is said. */
export function told(target: string, name: string, rest: Partial<Check> = {}): Check {
  return {
    target,
    name,
    manager: 'apt',
    os: null,
    state: 'up_to_date',
    checked_at: recently(),
    lists_at: recently(),
    job_id: null,
    counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
    exploited: 0,
    download_bytes: null,
    disk_bytes: null,
    findings: [],
    reboot: { required: null, reasons: [] },
    services: [],
    services_unseen: false,
    checking: false,
    changed_at: null,
    last_upgrade: null,
    ...rest,
  }
}

/** A finding with a sentence of its own. */
export function finding(code: Finding['code'], rest: Partial<Finding> = {}): Finding {
  return {
    code,
    severity: 'warning',
    message: `Phrase de ${code}.`,
    packages: [],
    repository: null,
    remedy: null,
    ...rest,
  }
}

/** Counts with updates, of which some are about security. */
export function counted(upgrade: number, security = 0, rest: Partial<Check['counts']> = {}): Pick<Check, 'counts'> {
  return { counts: { upgrade, security, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0, ...rest } }
}

/** A target with two updates, one of them of security. */
export function ready(target: string, name: string): Check {
  return told(target, name, { state: 'ready', ...counted(2, 1), download_bytes: 2_000_000 })
}

/** An upgrade of a package, unless another change is said. */
export function change(name: string, rest: Partial<Package> = {}): Package {
  return {
    name,
    arch: 'amd64',
    from: '1.0-1',
    to: '1.0-2',
    action: 'upgrade',
    origin: 'Debian',
    security: false,
    size: 1024,
    source: name,
    cves: [],
    status: 'planned',
    reason: null,
    ...rest,
  }
}

/** Answers the page’s requests with these results, which a test may change, and keeps what the page asks for. */
export async function answered(page: Page, checks: Check[], packages: readonly Package[] = []) {
  const state: Told & { applications: readonly Application[] } = {
    applications: [],
    checks,
    automatic: true,
    vulnerabilities: { cve: null, kev: null },
    schedules_paused: null,
  }
  const asked: { method: string; path: string; body: unknown }[] = []
  await page.route(/\/api\/updates\/(applications|checks|remedies|holds|changelog|search)/, async (route) => {
    const request = route.request()
    const { pathname, searchParams } = new URL(request.url())
    const method = request.method()
    if (method !== 'GET') {
      asked.push({ method, path: pathname, body: request.postDataJSON() })
      return route.fulfill({ status: 202, json: { job_id: '1772366400-aaaaaaaa', message: '' } })
    }
    if (pathname.endsWith('/applications')) return route.fulfill({ json: { applications: state.applications } })
    if (pathname.endsWith('/search')) {
      const wanted = searchParams.get('q') ?? ''
      const has = packages.some(({ name, cves }) => [name, ...cves.map(({ id }) => id.toLowerCase())].includes(wanted))
      return route.fulfill({ json: { targets: has ? ['lxc:101'] : [] } })
    }
    if (pathname.endsWith('/checks')) return route.fulfill({ json: { ...state, applications: undefined } })
    if (pathname.includes('/checks/')) return route.fulfill({ json: { ...checks[0], packages } })
    return route.fallback()
  })
  return { state, asked }
}

/** Turns automatic checks on, as they are outside of tests, so that the page starts those that are due. */
export async function checkingByItself(panel: Panel): Promise<void> {
  await panel.api('PATCH /api/settings', { body: { checks_automatic: 'on' } })
}
