import { START as NOW } from '../../app.ts'
import type { planApp } from './plan-host.ts'

/** The lines of the sections of `PLAN`, and apt's exit code. `native` is the word line. */
interface Simulated {
  planned?: readonly string[]
  offered?: readonly string[]
  installed?: readonly string[]
  conffiles?: readonly string[]
  disk?: readonly string[]
  cached?: readonly string[]
  wanted?: readonly string[]
  native?: string
  code?: number
}

/** The output of `PLAN` with these sections; an older one has no `native`, `cached` and `wanted`. */
export function simulation({ planned = [], code = 0, native, cached, wanted, ...given }: Simulated): string {
  const { offered = [], installed = [], conffiles = [], disk = [] } = given
  const sections = {
    unfinished: [],
    planned: [...planned, `code ${code}`],
    ...(wanted && { wanted }),
    offered,
    installed,
    conffiles,
    ...(cached && { cached }),
    disk,
  }
  const texts = Object.entries(sections).map(
    ([name, lines]) => `${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`,
  )
  return `manager apt-get\n${native === undefined ? '' : `native ${native}\n`}${texts.join('')}end\n`
}

export const APP = 'Inst app [1.0] (2.0 Debian:12.15/oldstable [amd64])'
export const ONE = simulation({
  planned: [APP],
  offered: ['app amd64 2.0 1000 40 app'],
  installed: ['app amd64 36 app 1.0'],
})

const COUNTS = { upgrade: 1, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 }

interface Checked {
  target?: string
  findings?: object[]
  packages?: object[]
  status?: string
  counts?: Partial<typeof COUNTS>
  /** Whether a check has ended; the target is listed all the same. */
  hasEnded?: boolean
}

/** Stores a check of a target with these findings and packages. */
export async function checked({ app }: Awaited<ReturnType<typeof planApp>>, given: Checked = {}): Promise<void> {
  const { target = 'host', findings = [], packages = [], status = 'running', hasEnded = true } = given
  const sizes = { download_bytes: null, disk_bytes: null }
  const rest = { reboot: { required: null, reasons: [] }, services: [] }
  const counts = { ...COUNTS, ...given.counts }
  const summary = { manager: 'apt', os: null, counts, ...sizes, findings, ...rest }
  const at = hasEnded ? NOW.toISOString() : null
  await app.db.run(
    `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages) VALUES (?, ?, '', ?, ?, ?, ?, ?)`,
    [
      target,
      target === 'host' ? null : Number(target.slice(4)),
      status,
      at,
      at,
      hasEnded ? JSON.stringify(summary) : null,
      JSON.stringify(packages),
    ],
  )
}
