import type { Check, Finding, LastUpgrade } from '../../../panel/nouns/checked.ts'

interface Of
  extends Partial<
    Pick<Check, 'state' | 'checked_at' | 'lists_at' | 'changed_at' | 'checking' | 'exploited' | 'job_id' | 'used'>
  > {
  last_upgrade?: Ended
  waits?: number
  findings?: readonly Finding['code'][]
}

/** The last upgrade; nothing was compared unless it says so. */
type Ended = Pick<LastUpgrade, 'job_id' | 'outcome' | 'exit_code' | 'finished_at'> & Partial<LastUpgrade>

/** An upgrade without a regression. */
export const UNHARMED = { application: null, regressions: 0, on_failure: null, decided: null } as const

export const AT = '2026-03-01T12:00:00.000Z'

/** A target as the service tells of it: in order, unless something else is said. */
export function check(target: string, { waits = 0, findings = [], last_upgrade, ...rest }: Of = {}): Check {
  return {
    target,
    name: target,
    manager: 'apt',
    os: null,
    state: findings.length > 0 ? 'attention' : waits > 0 ? 'ready' : 'up_to_date',
    checked_at: AT,
    lists_at: AT,
    job_id: null,
    counts: { upgrade: waits, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
    exploited: 0,
    download_bytes: null,
    disk_bytes: null,
    findings: findings.map((code) => ({
      code,
      severity: 'warning',
      message: code,
      packages: [],
      repository: null,
      remedy: code === 'dpkg_interrupted' ? { action: 'repair_dpkg', label: 'Réparer' } : null,
    })),
    reboot: { required: null, reasons: [] },
    services: [],
    services_unseen: false,
    checking: false,
    changed_at: null,
    last_upgrade: last_upgrade ? { ...UNHARMED, ...last_upgrade } : null,
    ...rest,
  }
}
