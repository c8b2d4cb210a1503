import { OUTCOME_STATUS } from '../../nouns/outcome.ts'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { jobName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { history, jobsError, otherPerson, outcomeOfJob, readJobs, running } from '../../wire/jobs.ts'
import { words } from '../../words/words.ts'

const SHOWN = 5

/** Running jobs and recent upgrades. */
export function JobsCard() {
  const { dashboard: say, job: states } = words()
  const past = history.value
  const found = past && [...running.value.filter((job) => !past.includes(job)), ...past]
  return (
    <>
      <Problem error={jobsError.value} retry={readJobs} />
      {!found && jobsError.value === undefined && <Placeholder rows={3} />}
      {found?.length === 0 && <p class="empty">{say.noJobs}</p>}
      {found && found.length > 0 && (
        <ul class="list">
          {found.slice(0, SHOWN).map((job) => {
            const { job_id, started_at } = job
            const name = jobName(job)
            const outcome = outcomeOfJob(job)
            const by = otherPerson(job)
            return (
              <li key={job_id}>
                <Status is={OUTCOME_STATUS[outcome]} hidden />
                <a class="grow cut" href={`/updates/${job_id}`} title={name}>
                  {name}
                </a>
                <span aria-hidden="true">{outcome === 'warned' ? states.warnedBriefly : states[outcome]}</span>
                <span class="dim">
                  <Ago at={started_at} />
                  {by !== undefined && ` · ${by || states.automatic}`}
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </>
  )
}
