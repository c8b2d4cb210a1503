import { randomBytes } from 'node:crypto'
import { readCheck, readCheckedPackages, upgradesOfAll } from '../../db/checks.ts'
import { addPlan, type PlanRow, removeExpiredPlans } from '../../db/plans.ts'
import { timestamp } from '../../platform/clock.ts'
import type { User } from '../../runtime/context.ts'
import type { Output } from '../../ssh/ssh.ts'
import { checkOf } from '../checks/check.ts'
import { type Finding, findingOf } from '../findings/finding.ts'
import { stateOfContainer } from '../hypervisor/pct.ts'
import { readStanding, standingAt } from '../restarts/standing.ts'
import { missingManager } from '../managers/no-manager.ts'
import type { Services } from '../services.ts'
import { LASTS_MS, LeftAlone, NONE_LEFT, planHash, planLines, storedFindings } from './plan.ts'
import { leftAlone, listedOf, planFindings, withKnownVulnerabilities } from './plan-findings.ts'
import type { Selection } from './plan-command.ts'
import { plannedBy, readPlanReport } from './plan-report.ts'
import { inSlot, simulate } from './simulation.ts'

/** Expired plans can be read for this long. */
const KEPT_MS = 24 * 60 * 60_000

const UNREADABLE = 'Le plan n’a pas pu être lu : la réponse de la cible n’est pas celle attendue.'

/** A plan to make. `place` is `host`, or the id of the container. */
export interface Wanted {
  target: string
  place: string
  selection: Selection
  user: Pick<User, 'id' | 'username'>
  signal: AbortSignal
}

/** The result of a simulation: a stored plan, or why there is none. Of a `failed` one, the command has failed. */
export type Making =
  | { kind: 'made'; plan: PlanRow }
  | { kind: 'empty' | 'impossible'; findings: Finding[] }
  | { kind: 'failed'; output: Output }

/** Simulates an upgrade of a target and stores its plan. Throws `plans_busy`, and rejects with an SshError. */
export async function makePlan(
  { db, host, clock }: Pick<Services, 'db' | 'host' | 'clock'>,
  { target, place, selection, user, signal }: Wanted,
): Promise<Making> {
  const row = await readCheck(db, target)
  const check = row && checkOf(row, await upgradesOfAll(db), clock())
  const known = check?.manager ?? 'apt'
  const output = await inSlot(db, { user: user.id, target, signal }, async () => {
    const first = await simulate(host, place, { ...selection, manager: known }, user.id)
    // The target tells which manager it has, but only the functions of one were there.
    const manager = plannedBy(first.stdout) ?? known
    return manager === known ? first : simulate(host, place, { ...selection, manager }, user.id)
  })
  const report = await readPlanReport(output.stdout, selection)
  if (!report) {
    const lacking = missingManager(output.stdout, check?.os?.name)
    const asleep = check?.findings.find(({ code }) => code === 'container_stopped' || code === 'container_template')
    if (output.code !== 0 && !asleep && !lacking) {
      // It may have been stopped since the last check, and the container tool's own words say so in English.
      if (place === 'host' || (await stateOfContainer(host, place)) !== 'stopped') return { kind: 'failed', output }
      return { kind: 'impossible', findings: [findingOf('container_stopped', { severity: 'blocking' })] }
    }
    const finding = lacking ?? asleep ?? findingOf('manager_missing', { message: UNREADABLE })
    return { kind: 'impossible', findings: [{ ...finding, severity: 'blocking' }] }
  }
  const standing = standingAt(await readStanding(db), place === 'host' ? 'host' : `lxc:${Number(place)}`)
  const findings = planFindings(report, check, selection.exclude, standing)
  if (findings.some(({ severity }) => severity === 'blocking')) return { kind: 'impossible', findings }
  if (report.actions.length === 0) return { kind: 'empty', findings }

  const listed = await listedOf(await readCheckedPackages(db, target))
  const actions = withKnownVulnerabilities(report.actions, listed)
  const left = listed ? leftAlone(listed, actions) : LeftAlone.parse(check?.counts ?? NONE_LEFT)
  const now = clock()
  const { download_bytes, disk_bytes } = report
  const plan = {
    id: randomBytes(12).toString('hex'),
    target,
    hash: planHash(planLines(actions)),
    made_at: timestamp(now),
    made_by: user.username,
    expires_at: timestamp(new Date(now.getTime() + LASTS_MS)),
    selection: JSON.stringify({ ...selection, manager: report.manager }),
    actions: JSON.stringify(actions),
    download_bytes,
    disk_bytes,
    findings: storedFindings(findings, left),
    conffiles: JSON.stringify(report.conffiles),
    job_id: null,
  }
  await addPlan(db, plan)
  await removeExpiredPlans(db, timestamp(new Date(now.getTime() - KEPT_MS)))
  return { kind: 'made', plan }
}
