import { type ContainerResult, type Outcome, resultsOf } from '../nouns/outcome.ts'
import type { JobRecord } from '../wire/job.ts'
import { fromService, words } from '../words/words.ts'
import { Status } from './status.tsx'
import { targetName } from './target-name.ts'

interface JobEndingProps {
  record: JobRecord
  outcome: Outcome
  /** In the service's own words. */
  reason: string | undefined
}

/** Why a job has failed, and what became of each container of one over all of them. */
export function JobEnding({ record, outcome, reason }: JobEndingProps) {
  const { job: say } = words()
  const { failed, leftOut, waiting } = resultsOf(record.containers ?? [])
  const { unchecked = [] } = record
  return (
    <>
      {outcome === 'failed' && record.error_code !== null && <Reason code={record.error_code} reason={reason} />}
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

/** The same, to be spoken. */
export function resultsSaid({ containers, unchecked = [] }: JobRecord): string[] {
  const { job: say } = words()
  const { failed, leftOut, waiting } = resultsOf(containers ?? [])
  return [
    ...(unchecked.length > 0 ? [notChecked(unchecked)] : []),
    ...(failed.length > 0 ? [say.failedIn(namesOf(failed))] : []),
    ...(leftOut.length > 0 ? [say.leftOut(namesOf(leftOut))] : []),
    ...(waiting.length > 0 ? [say.notReached(namesOf(waiting))] : []),
  ]
}

/** Of a check: how many targets did not answer, and which. */
function notChecked(unchecked: readonly string[]): string {
  return words().job.notChecked(unchecked.length, unchecked.map((target) => targetName(target)).join(', '))
}

function Reason({ code, reason }: { code: string | null; reason: string | undefined }) {
  const { errors, shell } = words()
  const sentence = Object.entries(errors).find(([known]) => known === code)?.[1] ?? shell.unexpected
  return (
    <div class="problem">
      <Status is="err" hidden />
      <div class="grow">
        <p>{sentence}</p>
        {reason && <p class="dim">{fromService(reason)}</p>}
      </div>
    </div>
  )
}

/** By name, each with its exit code, or why it was left out. */
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
