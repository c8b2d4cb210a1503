import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { onlyIf } from '../../db/audit.ts'
import { readCheckedPackages } from '../../db/checks.ts'
import type { Statement } from '../../db/libsql/database.ts'
import {
  type FormerCheck,
  hasEnded,
  hasFound,
  lastLaunchedJob,
  readFormerChecks,
} from '../../db/notifications/former-checks.ts'
import { CHECKS_GROUP } from '../../db/notifications/events.ts'
import type { EndedJob } from '../../jobs/jobs.ts'
import { type EventName, eventStatement, type PanelEvent } from '../../notifications/notifications.ts'

/** The part of a check's findings that people are told of. */
const Findings = z.object({
  counts: z.object({ upgrade: z.int(), security: z.int() }),
  findings: z.array(z.object({ code: z.string(), severity: z.string(), message: z.string() })),
  reboot: z.object({ required: z.boolean().nullable(), reasons: z.array(z.string()) }),
})
type Findings = z.infer<typeof Findings>

const Update = z.object({
  name: z.string(),
  arch: z.string(),
  to: z.string().nullable(),
  action: z.string(),
  status: z.string(),
  security: z.boolean(),
})
type Update = z.infer<typeof Update>

/** A check that has ended: what it found of each target, and the targets without a result. */
export interface EndedCheck {
  target: string
  found: ReadonlyMap<string, { summary: Findings; packages: readonly Update[] }>
  silent: readonly string[]
  /** The names of the containers in the newest list, by target. */
  names: ReadonlyMap<string, string>
  /** Whether the host could not be asked. */
  isAway: boolean
}

/**
 * Makes the events of an ended check: only what its targets have not told in their former check, so that a check every six
 * hours tells a thing once. The key of an event names the former check, so two checks that end together tell it once, too.
 * To be executed before the statements that store the findings.
 */
export async function checkEvents(ended: EndedJob, check: EndedCheck): Promise<Statement[]> {
  const { db, row, at, failure } = ended
  if (check.isAway && failure) {
    const since = (await lastLaunchedJob(db)) ?? ''
    const details = { name: '', message: failure.message }
    const key = `host_unreachable:${since}`
    // It concerns every target, so it has none.
    return [onlyIf(eventStatement({ key, at, event: 'host_unreachable', target: null, details }), hasEnded(row))]
  }
  // The checks of single targets end at any time. Their group is closed by its age.
  const run = check.target === 'all' ? row.id : CHECKS_GROUP
  const targets = [...check.found.keys(), ...check.silent]
  const known = new Map((await readFormerChecks(db, targets)).map((each) => [each.target, each]))
  const statements: Statement[] = []
  const tell = <name extends EventName>(event: Omit<PanelEvent<name>, 'at' | 'run' | 'key'>, about: string) => {
    const { event: name, target } = event
    const former = known.get(target ?? '')?.checked_at ?? ''
    const statement = eventStatement({ ...event, key: `${name}:${target}:${former}:${about}`, at, run })
    statements.push(onlyIf(statement, hasFound(row, target ?? '')))
  }
  const nameOf = (target: string) => check.names.get(target) ?? known.get(target)?.name ?? ''

  for (const [target, { summary, packages }] of check.found) {
    const name = nameOf(target)
    const former = formerFindings(known.get(target))
    const planned = packages.filter(isPlanned)
    const fresh = planned.length === 0 ? [] : await freshOf(planned, await readCheckedPackages(db, target))
    const { upgrade: upgrades, security } = summary.counts
    for (const isSecurity of [true, false]) {
      const some = fresh.filter((each) => each.security === isSecurity)
      if (some.length === 0) continue
      const event = isSecurity ? 'security_updates_available' : 'updates_available'
      const details = { name, upgrades, security, news: some.length, packages: some.map((each) => each.name) }
      tell({ event, target, details }, digest(some.map(idOf)))
    }
    const { required, reasons } = summary.reboot
    const isNews = former?.reboot.required !== true || reasons.some((each) => !former.reboot.reasons.includes(each))
    if (required && isNews) tell({ event: 'reboot_required', target, details: { name, reasons } }, digest(reasons))
    const [lack, before] = [worstLack(summary), former && worstLack(former)]
    if (lack && (!before || (lack.severity === 'blocking' && before.severity !== 'blocking')))
      tell({ event: 'disk_low', target, details: { name, message: lack.message } }, lack.severity)
  }
  // The former check is the last that succeeded, so a series of failures has one key.
  for (const target of check.silent)
    tell({ event: 'check_failed', target, details: { name: nameOf(target), message: failure?.message ?? null } }, '')
  return statements
}

function formerFindings(former: FormerCheck | undefined): Findings | undefined {
  return former?.summary ? Findings.safeParse(JSON.parse(former.summary)).data : undefined
}

function isPlanned({ status, action }: Update): boolean {
  return status === 'planned' && action === 'upgrade'
}

/** A security update that was an ordinary one is another update. */
function idOf({ name, arch, to, security }: Update): string {
  return `${name}:${arch} ${to ?? ''} ${security ? 'security' : ''}`
}

/** Returns the updates that a former list, as JSON, does not have. */
async function freshOf(planned: readonly Update[], former: string | undefined): Promise<Update[]> {
  // A list may be megabytes long.
  await nextTurn()
  if (former === undefined) return [...planned]
  const before = z.array(Update).safeParse(JSON.parse(former)).data ?? []
  const known = new Set(before.filter(isPlanned).map(idOf))
  return planned.filter((each) => !known.has(idOf(each)))
}

function worstLack({ findings }: Findings): Findings['findings'][number] | undefined {
  const lacks = findings.filter(({ code }) => code === 'disk_low')
  return lacks.find(({ severity }) => severity === 'blocking') ?? lacks[0]
}

function digest(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts.toSorted())).digest('hex').slice(0, 16)
}
