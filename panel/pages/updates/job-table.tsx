import { duration, instant } from '../../nouns/format.ts'
import { OUTCOME_STATUS, type Outcome } from '../../nouns/outcome.ts'
import { Status } from '../../parts/status.tsx'
import { jobName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { type Job, otherPerson, outcomeOfJob } from '../../wire/jobs.ts'
import { protectionWords } from '../../parts/protection/words.ts'
import { words } from '../../words/words.ts'

/** Upgrades and updates of applications, one in each row; the jobs of one run share a row. */
export function JobTable({ rows }: { rows: readonly (readonly Job[])[] }) {
  const { updates: say } = words()
  return (
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
        <tbody>{rows.map((jobs) => jobs[0] && <JobRow key={jobs[0].job_id} first={jobs[0]} jobs={jobs} />)}</tbody>
      </table>
    </div>
  )
}

/** The worst first: a run is shown as its worst job. */
const WORST = [
  'broken',
  'stuck',
  'running',
  'failed',
  'back',
  'kept',
  'flawed',
  'unfit',
  'cancelled',
  'unknown',
  'warned',
  'done',
] as const

function worstOf(jobs: readonly Job[]): Outcome {
  const outcomes = new Set(jobs.map(outcomeOfJob))
  return WORST.find((outcome) => outcomes.has(outcome)) ?? 'unknown'
}

function JobRow({ first, jobs }: { first: Job; jobs: readonly Job[] }) {
  const { updates: say, job: states, shell } = words()
  const outcome = worstOf(jobs)
  const isRun = jobs.length > 1
  // A run has a phase for each of its targets.
  const phase = outcome === 'running' && !isRun ? phaseOf(first) : undefined
  const isWaiting = outcome === 'running' && !isRun && first.phase === 'waiting'
  const names = jobs.map(jobName).join(', ')
  const name = isRun ? say.runOf(jobs.length, names) : names
  const from = instant(first.started_at)
  const ends = jobs.map(({ finished_at }) => instant(finished_at))
  const to = ends.some((end) => end === undefined) ? undefined : Math.max(...ends.map((end) => end ?? 0))
  const by = otherPerson(first)
  return (
    <tr>
      <td>
        <Status is={isWaiting ? 'unknown' : OUTCOME_STATUS[outcome]}>{phase ?? states[outcome]}</Status>
      </td>
      <td>
        <a
          href={isRun ? `/runs/${first.run_id}` : `/updates/${first.job_id}`}
          aria-label={isRun ? say.openRun(names) : say.open(name)}
          title={name}
        >
          <span class="cut">{name}</span>
        </a>
      </td>
      <td class="nowrap">
        <Ago at={first.started_at} />
        {by !== undefined && <span class="dim"> · {by}</span>}
      </td>
      <td class="end nowrap duration">
        {from !== undefined && to !== undefined ? duration((to - from) / 1000, shell.units) : '—'}
      </td>
    </tr>
  )
}

/** The word of the phase of a running job, if it is known. */
function phaseOf({ phase, kind }: Job): string | undefined {
  return phase === null || (kind !== undefined && kind !== 'application') ? undefined : protectionWords().phases[phase]
}

/** Puts the jobs of each run together, at the place of its newest one. */
export function byRun(jobs: readonly Job[]): Job[][] {
  const rows = new Map<string, Job[]>()
  for (const job of jobs) {
    const key = job.run_id ?? job.job_id
    const row = rows.get(key)
    // The list has the newest first; a run is told from its beginning.
    if (row) row.unshift(job)
    else rows.set(key, [job])
  }
  return [...rows.values()]
}
