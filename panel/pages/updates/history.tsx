import { useSignal } from '@preact/signals'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { history, jobsError, readJobs } from '../../wire/jobs.ts'
import { words } from '../../words/words.ts'
import { byRun, JobTable } from './job-table.tsx'

const FIRST = 10

/** The upgrades and the updates of applications, newest first; several that were started together are one row. */
export function History() {
  const { updates: say } = words()
  const showsAll = useSignal(false)
  const all = history.value && byRun(history.value)
  const shown = showsAll.value ? all : all?.slice(0, FIRST)
  return (
    <section class="history" aria-label={say.history}>
      <Problem error={jobsError.value} retry={readJobs} />
      {!all && jobsError.value === undefined && <Placeholder rows={4} />}
      {all?.length === 0 && <p class="empty">{say.noHistory}</p>}
      {shown && shown.length > 0 && <JobTable rows={shown} />}
      {all && shown && all.length > shown.length && (
        <button type="button" class="button small more-jobs" onClick={() => (showsAll.value = true)}>
          {say.more}
        </button>
      )}
    </section>
  )
}
