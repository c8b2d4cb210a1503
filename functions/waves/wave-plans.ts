import { setTimeout as pause } from 'node:timers/promises'
import { readCheck, readChecks, upgradesOfAll } from '../../db/checks.ts'
import { findHostAccount, type HostAccount } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import { LEFT_OUT, type WaveJob } from '../../schedules/schedules.ts'
import { commandFailure, SshError } from '../../ssh/ssh.ts'
import { recheckAbsent } from '../auth/host-account.ts'
import { checkOf } from '../checks/check.ts'
import { isOpen } from '../checks/last-upgrade.ts'
import type { Finding } from '../findings/finding.ts'
import { makePlan } from '../plans/plan-making.ts'
import type { Services } from '../services.ts'
import { refreshLists } from './run-checks.ts'
import type { HeldRun } from './held-run.ts'
import { coveredBy } from './wave-targets.ts'

/**
 * The preparation of a wave. `ready`: the targets to check, or the plans to run by target, and the entries of those that
 * are done with. `kept_out`: the schedule's owner may not do this any more, in French. `away`: the host does not answer, for the log.
 * `broken`: an error of the service itself, which the log has.
 */
export type Prepared =
  | {
      kind: 'ready'
      targets: readonly string[]
      plans: ReadonlyMap<string, string>
      left: readonly WaveJob[]
      owner: HostAccount
    }
  | { kind: 'kept_out'; why: string }
  | { kind: 'away'; message: string }
  | { kind: 'broken' }

/** Asks for the rights of a run's owner again, finds the targets of a wave, refreshes their lists, and makes their plans. */
export async function prepareWave(
  services: Services,
  run: HeldRun,
  at: number,
  signal: AbortSignal,
): Promise<Prepared> {
  await services.settings.sshAccount()
  const owner = await findHostAccount(services.db, run.created_by)
  const why = await keptOut(services, owner)
  if (why === undefined) return { kind: 'away', message: 'the host tells nothing about the account of the owner' }
  if (!owner || why !== null) return { kind: 'kept_out', why: why ?? '' }
  const { waves } = run.settings
  const former = run.progress.waves.slice(0, at)
  const { targets, left } = await coveredBy(services, { waves, at, former, user: owner.id })
  if (run.settings.action === 'check') return { kind: 'ready', targets, plans: new Map(), left, owner }
  const refreshed = await refreshLists(services, run, targets, signal)
  if ('away' in refreshed) return { kind: 'away', message: refreshed.away }
  const { failed } = refreshed
  const broken = await stillBroken(services, targets)
  const plans = new Map<string, string>()
  const without = [...failed].map(
    ([target, reason]): WaveJob => ({ target, job_id: null, outcome: 'impossible', reason }),
  )
  // The wave starts nothing then.
  if (broken.length > 0) return { kind: 'ready', targets, plans, left: [...left, ...broken], owner }
  const rest = targets.filter((target) => !failed.has(target))
  const make = async () => {
    for (let target = rest.shift(); target !== undefined; target = rest.shift()) {
      signal.throwIfAborted()
      const plan = await planOf(services, { target, only: run.settings.only, owner, signal })
      if (typeof plan === 'string') plans.set(target, plan)
      else without.push(plan)
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, make))
  } finally {
    // After a failure the others stop, too.
    rest.length = 0
  }
  return {
    kind: 'ready',
    targets: targets.filter((each) => plans.has(each)),
    plans,
    left: [...left, ...without],
    owner,
  }
}

const STILL_BROKEN =
  'Ce que sa dernière mise à jour a cassé ne fonctionne toujours pas, et personne n’a décidé : revenez en arrière ou gardez-la.'

/**
 * Returns an entry for each target that an earlier upgrade has broken, about which nobody has decided. It has nothing left to
 * upgrade, and would let the waves pass that were to come after it.
 */
async function stillBroken({ db, clock }: Services, targets: readonly string[]): Promise<WaveJob[]> {
  const [ofAll, now] = [await upgradesOfAll(db), clock()]
  return (await readChecks(db)).flatMap((row) => {
    if (!targets.includes(row.target)) return []
    const { last_upgrade: last, checked_at } = checkOf(row, ofAll, now)
    if (!last || !isOpen(last, checked_at ?? '')) return []
    return [{ target: row.target, job_id: null, outcome: last.outcome, reason: STILL_BROKEN }]
  })
}

/** Findings by which the lists of a target may lack something. */
const UNREAD: ReadonlySet<string> = new Set([
  'repository_unreachable',
  'repository_changed',
  'repository_unsigned',
  'repository_expired',
  'lists_stale',
])
/** Plans made at once, as many as a user may have: see `inSlot`. */
const AT_ONCE = 2
/** The pause before another attempt: the owner may be making plans, too. */
const BUSY_MS = 5_000
/** A lost command may be the fault of its target, which hangs, or of the host. A host that is away gives another reason next. */
const LOST: readonly SshError['reason'][] = ['lost', 'unanswered']

/** Returns a French sentence about an account that may not start upgrades, null for one that may, undefined if unknown. */
export async function keptOut(services: Services, owner: HostAccount | undefined): Promise<string | null | undefined> {
  if (!owner) return 'Son propriétaire n’a plus de compte dans le panneau.'
  const { username } = owner
  const rights = await recheckAbsent(services, owner, 'host')
  if (rights === undefined) return undefined
  if (typeof rights === 'string') return `Le compte ${username}, à qui elle est, n’est plus admis sur l’hôte.`
  if ((await findHostAccount(services.db, owner.id))?.kept_out)
    return `Le compte ${username}, à qui elle est, ne peut plus travailler sur l’hôte.`
  return rights.role === 'admin' ? null : `Le compte ${username}, à qui elle est, n’est plus administrateur.`
}

interface WantedPlan {
  target: string
  only: 'all' | 'security'
  owner: HostAccount
  signal: AbortSignal
}

/**
 * Returns the entry of a target for which a plan found nothing to upgrade: what the plan and the last check say may forbid
 * to believe that.
 */
async function withoutUpgrades(
  { db, clock }: Services,
  { target, only }: WantedPlan,
  planned: readonly Finding[],
): Promise<WaveJob> {
  const none = (outcome: string, reason: string | null) => ({ target, job_id: null, outcome, reason })
  // A repository that could not be read may offer something.
  const unread = planned.find(({ code }) => UNREAD.has(code))
  if (unread) return none('impossible', unread.message)
  const row = await readCheck(db, target)
  if (!row || row.checked_at === null) return none('nothing_to_do', null)
  const { findings } = checkOf(row, await upgradesOfAll(db), clock())
  const message = (of: Finding['code']) => findings.find(({ code }) => code === of)?.message
  const locked = row.lists_at === row.checked_at ? undefined : message('manager_locked')
  if (locked !== undefined) return none('impossible', `Les listes de paquets n’ont pas été relues : ${locked}`)
  // Where nobody marks security updates, that there are none means nothing.
  const unmarked = only === 'security' ? message('security_unknown') : undefined
  return unmarked === undefined ? none('nothing_to_do', null) : none(LEFT_OUT, unmarked)
}

/** Makes the plan of one target and returns its id, or the entry of a target without one. */
async function planOf(services: Services, wanted: WantedPlan): Promise<string | WaveJob> {
  const { target, only, owner, signal } = wanted
  const place = target === 'host' ? 'host' : target.slice('lxc:'.length)
  const selection = { only, packages: null, exclude: [], allow_remove: false }
  const none = (outcome: string, reason: string | null) => ({ target, job_id: null, outcome, reason })
  for (let losses = 0; ; ) {
    try {
      const making = await makePlan(services, { target, place, selection, user: owner, signal })
      if (making.kind === 'made') return making.plan.id
      if (making.kind === 'empty') return withoutUpgrades(services, wanted, making.findings)
      if (making.kind === 'failed')
        return none('impossible', `Le plan a échoué : ${commandFailure(making.output).message}`)
      // No other run could either: this is no failure, and the other targets go on.
      const unable = making.findings.find(({ code }) => code === 'selection_unsupported')
      if (only === 'security' && unable) return none(LEFT_OUT, unable.message)
      const blocking = making.findings.find(({ severity }) => severity === 'blocking')
      return none('impossible', blocking?.message ?? null)
    } catch (error) {
      signal.throwIfAborted()
      const isBusy = error instanceof Failure && error.code === 'plans_busy'
      const isLost = error instanceof SshError && LOST.includes(error.reason)
      if (!isBusy && !isLost) throw error
      losses += isLost ? 1 : 0
      if (losses > 1) return none('impossible', `Le plan a échoué : ${error.message}`)
      await pause(BUSY_MS, undefined, { signal })
    }
  }
}
