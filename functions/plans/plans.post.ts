import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { readCheck, readCheckedPackages, upgradesOfAll } from '../../db/checks.ts'
import { addPlan, removeExpiredPlans } from '../../db/plans.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { succeeded } from '../../ssh/ssh.ts'
import { requireWorker, WORKER_ERRORS } from '../auth/job-owner.ts'
import { checkOf } from '../checks/check.ts'
import { findingOf } from '../findings/finding.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { readStanding, standingAt } from '../restarts/standing.ts'
import { defineFunction } from '../services.ts'
import {
  EXAMPLE_PLAN,
  LASTS_MS,
  LeftAlone,
  MOST_NAMES,
  NAMES_LENGTH,
  NONE_LEFT,
  PackageName,
  Plan,
  planHash,
  planLines,
  PlanSelection,
  storedFindings,
} from './plan.ts'
import { planAnswer } from './plan-answer.ts'
import { leftAlone, listedOf, planFindings, withKnownVulnerabilities } from './plan-findings.ts'
import { readPlanReport } from './plan-report.ts'
import { inSlot, simulate } from './simulation.ts'

/** Expired plans can be read for this long. */
const KEPT_MS = 24 * 60 * 60_000

const UNREADABLE = 'Le plan n’a pas pu être lu : cette cible n’a pas apt, ou sa réponse n’est pas celle attendue.'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/plans',
  summary: 'Make a plan of an upgrade',
  description:
    'Simulates an upgrade of the host or of one container, and stores exactly which packages would change. Changes nothing, and does not refresh the package lists. `only: security` takes what security updates offer and what those need. `packages` takes these packages alone, `exclude` leaves some out; removals are planned with `allow_remove` alone. A plan can be run once, within an hour. With `plan_impossible`, `findings` says what forbids it.',
  auth: 'user',
  rateLimit: WRITES,
  audit: false,
  request: {
    body: z
      .object({
        target: Target,
        only: PlanSelection.shape.only.default('all'),
        packages: z.array(PackageName).min(1).max(MOST_NAMES).optional(),
        exclude: z.array(PackageName).max(MOST_NAMES).default([]),
        allow_remove: z.boolean().default(false),
      })
      .refine(({ packages = [], exclude }) => [...packages, ...exclude].join('').length <= NAMES_LENGTH, {
        path: ['exclude'],
      }),
  },
  status: 201,
  response: Plan,
  example: { body: { target: 'lxc:101' }, response: EXAMPLE_PLAN },
  errors: [
    'target_invalid',
    ...WORKER_ERRORS,
    'ssh_failed',
    'host_answer_too_long',
    'host_helper_old',
    'plan_empty',
    'plan_impossible',
    'plans_busy',
  ],

  async handler({ body: { target, ...asked } }, { db, user, host, settings, clock, signal, fail }) {
    const parsed = parseTarget(target)
    if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
    await requireWorker({ db, settings, user })
    const exclude = [...new Set(asked.exclude)]
    const packages = asked.packages ? [...new Set(asked.packages)].filter((name) => !exclude.includes(name)) : null
    if (packages?.length === 0) throw fail('plan_empty', { more: { findings: [] } })
    const selection = { only: asked.only, packages, exclude, allow_remove: asked.allow_remove }

    const kind = parsed.kind
    const place = kind === 'host' ? 'host' : parsed.id
    const output = await inSlot(db, { user: user.id, target, signal }, () => simulate(host, place, selection, user.id))
    const row = await readCheck(db, target)
    const check = row && checkOf(row, await upgradesOfAll(db), clock())
    const report = await readPlanReport(output.stdout)
    if (!report) {
      const asleep = check?.findings.find(({ code }) => code === 'container_stopped' || code === 'container_template')
      if (output.code !== 0 && !asleep) succeeded(output)
      const finding = asleep ?? findingOf('manager_missing', { message: UNREADABLE })
      throw fail('plan_impossible', { more: { findings: [{ ...finding, severity: 'blocking' }] } })
    }
    const standing = standingAt(await readStanding(db), kind === 'host' ? 'host' : `lxc:${Number(parsed.id)}`)
    const findings = planFindings(report, check, exclude, standing)
    if (findings.some(({ severity }) => severity === 'blocking')) throw fail('plan_impossible', { more: { findings } })
    if (report.actions.length === 0) throw fail('plan_empty', { more: { findings } })

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
      selection: JSON.stringify(selection),
      actions: JSON.stringify(actions),
      download_bytes,
      disk_bytes,
      findings: storedFindings(findings, left),
      conffiles: JSON.stringify(report.conffiles),
      job_id: null,
    }
    await addPlan(db, plan)
    await removeExpiredPlans(db, timestamp(new Date(now.getTime() - KEPT_MS)))
    return planAnswer(db, user, plan, now)
  },
})
