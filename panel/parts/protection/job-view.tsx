import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { applicationWords } from '../applications/words.ts'
import { endingOf } from '../../nouns/ending.ts'
import { instant, clock } from '../../nouns/format.ts'
import { foreseenLack } from '../../nouns/protection.ts'
import type { FollowedJob, JobRecord } from '../../wire/job.ts'
import { useLoad } from '../../wire/load.ts'
import { isAdmin } from '../../wire/panel.ts'
import { readPlan } from '../../wire/plans.ts'
import { protections, readProtections } from '../../wire/protection.ts'
import { lackSaid, protectionWords } from './words.ts'
import { language } from '../../words/words.ts'
import { now } from '../time.tsx'
import { Comparison } from './comparison.tsx'
import { Decision } from './decision.tsx'
import { Ended, OwnSnapshot } from './ended.tsx'
import { ChangedPackages } from './packages.tsx'
import { RollBack } from './roll-back.tsx'
import { Stepper } from './stepper.tsx'

/** Whether an upgrade has a snapshot or a comparison of health around it. */
export function isProtected({ protection }: Pick<JobRecord, 'protection'>): boolean {
  return protection !== null && protection.before !== 'none'
}

/** Whether a job upgrades packages or updates an application. */
function isUpgrade({ kind }: JobRecord): boolean {
  return kind === undefined || kind === 'application'
}

/** The stations of a protected upgrade, and what follows when it breaks; for another upgrade, that nothing protects it. */
export function Progress({ job, record }: { job: FollowedJob; record: JobRecord }) {
  const say = protectionWords()
  if (!isUpgrade(record)) return null
  if (!isProtected(record))
    return <p class="dim guard-note">{record.target === 'host' ? say.unprotectedHost : say.unprotected}</p>
  return <Steps job={job} record={record} />
}

function Steps({ job, record }: { job: FollowedJob; record: JobRecord }) {
  const say = protectionWords()
  const isRunning = record.status === 'running'
  useEffect(() => {
    if (isRunning) void readProtections()
  }, [isRunning])
  const why = record.unprotected ?? (isRunning ? foreseenLack(record, protections.value) : null)
  return (
    <div class="stepper">
      <Stepper job={job} record={{ ...record, unprotected: why }} />
      {why !== null && <p class="small warn-text">{say.guard.without(lackSaid(why))}</p>}
      {isRunning && (
        <p class="small dim">
          {why === null ? say.ifBroken[record.protection?.on_failure ?? 'ask'] : say.ifBroken.nothing} {say.leave}
        </p>
      )}
    </div>
  )
}

/** After the end of a protected upgrade or of a rollback: the decision or what came of it, the comparison, and the snapshot. */
export function Aftermath({ job, record }: { job: FollowedJob; record: JobRecord }) {
  const plan = useLoad(
    async (signal) => (record.plan_id === null ? undefined : readPlan(record.plan_id, signal)),
    [record.plan_id],
  )
  if (record.status === 'running') return null
  const ending = endingOf(record)
  const actions = plan.data.value?.actions
  const isOwn = isUpgrade(record) && record.snapshot?.present === true
  if (ending === undefined && !isOwn && !record.comparison) return null
  const isDecided = ending !== 'broken' && ending !== 'back'
  return (
    <div class="aftermath">
      {ending === 'broken' && <Decision job={job} record={record} changes={actions?.length} />}
      {ending !== undefined && ending !== 'broken' && <Ended record={record} ending={ending} />}
      {ending !== undefined && record.comparison && (
        <div class="evidence">
          <Comparison job={job} record={record} />
          {actions && <ChangedPackages changes={actions} />}
        </div>
      )}
      {isDecided && isOwn && <WayBack record={record} changes={actions?.length} isOpen={ending !== undefined} />}
      {ending === undefined && record.comparison && <Comparison job={job} record={record} />}
    </div>
  )
}

interface WayBackProps {
  record: JobRecord
  changes: number | undefined
  /** Whether the way back is likely to be wanted. */
  isOpen: boolean
}

/** The snapshot that an upgrade has left, and the way back to it: one press further away after an upgrade that did no harm. */
function WayBack({ record, changes, isOpen }: WayBackProps) {
  const { rollBack: say } = protectionWords()
  const isShown = useSignal(isOpen)
  const { snapshot } = record
  if (!snapshot) return null
  const at = clock(Date.parse(snapshot.made_at), now.value, language())
  return (
    <div class="choices">
      <OwnSnapshot record={record}>
        {!isShown.value && isAdmin.value && (
          <button type="button" class="button" onClick={() => (isShown.value = true)}>
            {say.title(at)}
          </button>
        )}
      </OwnSnapshot>
      {isShown.value && <RollBack record={record} snapshot={snapshot} changes={changes} />}
    </div>
  )
}

/** The heading of a job after which something did not work; undefined for every other job. */
export function titleOf(record: JobRecord, name: string): string | undefined {
  const say = protectionWords()
  const ending = endingOf(record)
  if (ending === 'broken') return say.broke(name)
  if (ending === 'stuck') return say.stuckTitle(name)
  return ending === 'back' ? say.wentBack(name) : undefined
}

/** The number of things that an upgrade broke, and how its package manager ended; undefined when it broke nothing. */
export function noteOf(job: FollowedJob, record: JobRecord): string | undefined {
  const say = protectionWords()
  const { regressions, exit_code: code } = record
  if (regressions.length === 0) return undefined
  if (endingOf(record) === 'back') return say.brokeThen(regressions.length)
  const own = record.application ? applicationWords().job : { failed: say.managerFailed, ended: say.managerEnded }
  const end = instant(job.phases.value.find(({ phase }) => phase === 'settling')?.at)
  const manager = code ? own.failed(code) : end === undefined ? '' : own.ended(clock(end, now.value, language()))
  return `${say.worked(regressions.length)} ${manager}`
}
