import { type ContainerResult, OUTCOME_STATUS, type Outcome, resultsOf } from '../nouns/outcome.ts'
import { missingOf } from '../nouns/reboot.ts'
import type { JobRecord } from '../wire/job.ts'
import { fromService, words } from '../words/words.ts'
import { PlanDifference } from './plan/difference.tsx'
import { Status } from './status.tsx'
import { targetName } from './target-name.ts'

interface JobEndingProps {
  record: JobRecord
  outcome: Outcome
  /** The service's own message. */
  reason: string | undefined
}

const SAYS_ALL = /^(plan_|application_|source_changed$|not_agreed$)/

/** The reason of a failed job, its warnings, and the results by container of a job over all containers. */
export function JobEnding({ record, outcome, reason }: JobEndingProps) {
  const { job: say } = words()
  const { failed, leftOut, waiting } = resultsOf(record.containers ?? [])
  const { unchecked = [] } = record
  // The page of a reboot lists the containers that did not come back.
  const warnings = record.warnings.filter((each) => record.kind !== 'reboot' || missingOf(each) === undefined)
  return (
    <>
      {(outcome === 'failed' || outcome === 'unfit') && record.error_code !== null && (
        // The sentences about plans and applications say all that the service’s own do.
        <Reason
          is={OUTCOME_STATUS[outcome]}
          code={record.error_code}
          reason={SAYS_ALL.test(record.error_code) ? undefined : reason}
        />
      )}
      {outcome === 'failed' && record.kind === 'restart' && record.error_code === null && (
        <Ended sentence={endSaid(record.exit_code)} />
      )}
      {outcome === 'unfit' && <PlanDifference record={record} />}
      {warnings.length > 0 && (
        <ul class="job-results" aria-label={say.warnings}>
          {warnings.map((warning) => (
            <li key={warning}>
              <Status is="warn" hidden />
              <span>{fromService(warning)}</span>
            </li>
          ))}
        </ul>
      )}
      {failed.length + leftOut.length + waiting.length + unchecked.length > 0 && (
        <ul class="job-results" aria-label={unchecked.length > 0 ? say.unchecked : say.results}>
          {unchecked.length > 0 && (
            <li>
              <Status is="unknown" hidden />
              <span>{notChecked(unchecked)}</span>
            </li>
          )}
          {failed.length > 0 && (
            <li>
              <Status is="err" hidden />
              <span>{say.failedIn(namesOf(failed))}</span>
            </li>
          )}
          {leftOut.length > 0 && (
            <li>
              <Status is="off" hidden />
              <span>{say.leftOut(namesOf(leftOut))}</span>
            </li>
          )}
          {waiting.length > 0 && (
            <li>
              <Status is="unknown" hidden />
              <span>{say.notReached(namesOf(waiting))}</span>
            </li>
          )}
        </ul>
      )}
    </>
  )
}

/** The same results for screen readers. */
export function resultsSaid({ containers, unchecked = [], warnings }: JobRecord): string[] {
  const { job: say } = words()
  const { failed, leftOut, waiting } = resultsOf(containers ?? [])
  return [
    ...warnings.map(fromService),
    ...(unchecked.length > 0 ? [notChecked(unchecked)] : []),
    ...(failed.length > 0 ? [say.failedIn(namesOf(failed))] : []),
    ...(leftOut.length > 0 ? [say.leftOut(namesOf(leftOut))] : []),
    ...(waiting.length > 0 ? [say.notReached(namesOf(waiting))] : []),
  ]
}

/** For a check: the number and names of the targets that did not answer. */
function notChecked(unchecked: readonly string[]): string {
  return words().job.notChecked(unchecked.length, unchecked.map((target) => targetName(target)).join(', '))
}

/** The meaning of an exit code of the script that restarts services; undefined for one that is not its own. */
function endSaid(code: number | null): string | undefined {
  return Object.entries(words().restarts.ends).find(([known]) => known === `${code}`)?.[1]
}

function Ended({ sentence }: { sentence: string | undefined }) {
  if (sentence === undefined) return null
  return (
    <div class="problem">
      <Status is="err" hidden />
      <p class="grow">{sentence}</p>
    </div>
  )
}

function Reason({ is, code, reason }: { is: 'err' | 'warn'; code: string; reason: string | undefined }) {
  const { errors, shell } = words()
  const sentence = Object.entries(errors).find(([known]) => known === code)?.[1] ?? shell.unexpected
  return (
    <div class="problem">
      <Status is={is} hidden />
      <div class="grow">
        <p>{sentence}</p>
        {reason && <p class="dim">{fromService(reason)}</p>}
      </div>
    </div>
  )
}

/** The container names, each with its exit code or the reason why it was left out. */
function namesOf(containers: readonly ContainerResult[]): string {
  const say = words().job
  return containers
    .map(({ vmid, name, state, exit_code }) => {
      const called = name || `${vmid}`
      if (state === 'failed' && exit_code !== null) return `${called} (${say.exitCode(exit_code)})`
      return state === 'stopped' || state === 'template' || state === 'locked'
        ? `${called} (${say.withState[state]})`
        : called
    })
    .join(', ')
}
