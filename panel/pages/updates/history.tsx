import { useSignal } from '@preact/signals'
import { duration, instant } from '../../nouns/format.ts'
import { OUTCOME_STATUS } from '../../nouns/outcome.ts'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { type Job, jobs, jobsError, otherPerson, outcomeOfJob, readJobs } from '../../wire/jobs.ts'
import { words } from '../../words/words.ts'

const FIRST = 10

/** The upgrades, newest first. */
export function History() {
  const { updates: say } = words()
  const showsAll = useSignal(false)
  const all = jobs.value
  const shown = showsAll.value ? all : all?.slice(0, FIRST)
  return (
    <section class="history" aria-label={say.history}>
      <Problem error={jobsError.value} retry={readJobs} />
      {!all && jobsError.value === undefined && <Placeholder rows={4} />}
      {all?.length === 0 && <p class="empty">{say.noHistory}</p>}
      {shown && shown.length > 0 && (
        <div class="scroll">
          <table aria-label={say.history}>
            <thead>
              <tr>
                <th scope="col" class="outcome">
                  {say.state}
                </th>
                <th scope="col">{say.target}</th>
                <th scope="col" class="began">
                  {say.when}
                </th>
                <th scope="col" class="end duration">
                  {say.duration}
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((job) => (
                <HistoryRow key={job.job_id} job={job} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {all && shown && all.length > shown.length && (
        <button type="button" class="button small more-jobs" onClick={() => (showsAll.value = true)}>
          {say.more}
        </button>
      )}
    </section>
  )
}

function HistoryRow({ job }: { job: Job }) {
  const { job_id, target, started_at, finished_at } = job
  const { updates: say, job: states, shell } = words()
  const outcome = outcomeOfJob(job)
  const [from, to] = [instant(started_at), instant(finished_at)]
  const name = targetName(target)
  const by = otherPerson(job)
  return (
    <tr>
      <td>
        <Status is={OUTCOME_STATUS[outcome]}>{states[outcome]}</Status>
      </td>
      <td>
        <a href={`/updates/${job_id}`} aria-label={say.open(name)} title={name}>
          <span class="cut">{name}</span>
        </a>
      </td>
      <td class="nowrap">
        <Ago at={started_at} />
        {by !== undefined && <span class="dim"> · {by}</span>}
      </td>
      <td class="end nowrap duration">
        {from !== undefined && to !== undefined ? duration((to - from) / 1000, shell.units) : '—'}
      </td>
    </tr>
  )
}
