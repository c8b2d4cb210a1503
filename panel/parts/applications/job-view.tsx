import { versionsIn } from '../../nouns/application.ts'
import { go } from '../../router.ts'
import { Action, useAct } from '../action.tsx'
import { Problem } from '../problem.tsx'
import { keepUpgrade } from '../../wire/protection.ts'
import type { FollowedJob, JobRecord } from '../../wire/job.ts'
import { isAdmin } from '../../wire/panel.ts'
import { endingOf } from '../../nouns/ending.ts'
import { targetName } from '../target-name.ts'
import { reviewApplication } from './open.ts'
import './style.ts'
import { ApplicationVersions } from './versions.tsx'
import { applicationWords } from './words.ts'

/** The heading of the update of an application; undefined for any other job. */
export function applicationTitle({ application }: JobRecord): string | undefined {
  return application ? applicationWords().job.title(application.name) : undefined
}

/** After the update of an application: its versions, and what to do where it did not end well. */
export function ApplicationEnding({ job, record }: { job: FollowedJob; record: JobRecord }) {
  const { application, status } = record
  if (!application || status === 'running') return null
  return (
    <>
      <ToldVersions job={job} />
      {endingOf(record) === undefined && record.outcome !== 'upgraded' && record.outcome !== 'cancelled' && (
        <NextSteps job={job} record={record} application={application} />
      )}
    </>
  )
}

/** Lines at the end of an output among which that with the versions is; a protected run adds some. */
const LAST_LINES = 200

function ToldVersions({ job: { lines, version } }: { job: FollowedJob }) {
  const say = applicationWords().job
  void version.value
  const count = lines.count()
  for (let at = count - 1; at >= Math.max(0, count - LAST_LINES); at -= 1) {
    const found = versionsIn(lines.at(at).text)
    if (found)
      return (
        <p class="told-version">
          <b>{say.version}</b>{' '}
          {found.from === null && found.to === null ? (
            <span class="dim">{say.noVersion}</span>
          ) : (
            <>
              <ApplicationVersions from={found.from} to={found.to} /> <span class="dim small">{say.told}</span>
            </>
          )}
        </p>
      )
  }
  return null
}

const READ_AGAIN: ReadonlySet<string | null> = new Set(['source_changed', 'not_agreed'])
/** Ends without a change: the next try begins where this one began. */
const UNBEGUN: ReadonlySet<string | null> = new Set([...READ_AGAIN, 'application_not_begun'])

interface NextStepsProps {
  job: FollowedJob
  record: JobRecord
  application: NonNullable<JobRecord['application']>
}

function NextSteps({ job, record, application }: NextStepsProps) {
  const say = applicationWords().job
  const { target, error_code: code } = record
  const review = async () => {
    const job = await reviewApplication({ target, id: application.id })
    if (job !== undefined) go(`/updates/${job}`)
  }
  // Only a person can tell that a failure is over: no check of packages sees an application.
  const settle = useAct(async () => {
    await keepUpgrade(record.job_id)
    // The button disappears.
    document.querySelector<HTMLElement>('h1')?.focus()
    await job.reread()
  })
  const isOpen =
    record.outcome === 'failed' && !record.decided && !UNBEGUN.has(code) && code !== 'protection_unavailable'
  const steps = stepsOf(record) ?? (isOpen ? say.steps.other : undefined)
  if (steps === undefined) return null
  return (
    <section class="choice-card next-steps" aria-labelledby="next-steps">
      <h2 id="next-steps">{say.next}</h2>
      <p>{steps}</p>
      <Problem error={settle.error.value} />
      <p class="buttons">
        <a class="button" href={`/updates?open=${target}`}>
          {say.seeAll(targetName(target))}
        </a>
        {isAdmin.value && UNBEGUN.has(code) && (
          <button type="button" class="button" onClick={() => void review()}>
            {READ_AGAIN.has(code) ? say.readAgain : say.retry}
          </button>
        )}
        {isAdmin.value && !READ_AGAIN.has(code) && (
          <a class="button" href={`/terminal?target=${target}`}>
            {say.terminal}
          </a>
        )}
        {isAdmin.value && isOpen && <Action act={settle}>{say.settled}</Action>}
      </p>
    </section>
  )
}

/** Undefined for an error that is about the host or the protection: its own sentence says all. */
function stepsOf({ error_code: code, exit_code: exit }: JobRecord): string | undefined {
  const { other, ...known } = applicationWords().job.steps
  if (code === null) return exit === 0 ? undefined : other
  return Object.entries(known).find(([each]) => each === code)?.[1]
}
