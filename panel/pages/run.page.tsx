import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { instant } from '../nouns/format.ts'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Ago } from '../parts/time.tsx'
import { route } from '../router.ts'
import { otherPerson, outcomeOfJob } from '../wire/jobs.ts'
import { useLoad } from '../wire/load.ts'
import { readRun } from '../wire/plans.ts'
import { words } from '../words/words.ts'
import { JobTable } from './updates/job-table.tsx'

const EVERY_MS = 2_000

/** The upgrades of several targets that were started together, each with its result. */
export function RunPage() {
  const { run: say, job } = words()
  const id = route.value?.params.run ?? ''
  const isOver = useSignal(false)
  const load = useLoad((signal) => readRun(id, signal), [id], isOver.value ? {} : { everyMs: EVERY_MS })
  const run = load.data.value
  const by = run && otherPerson(run)
  const ended = run?.jobs.filter((each) => outcomeOfJob(each) !== 'running').length ?? 0
  const broken = run?.jobs.filter((each) => outcomeOfJob(each) === 'broken').length ?? 0
  useEffect(() => {
    isOver.value = run !== undefined && ended === run.jobs.length
  }, [run, ended])
  return (
    <div class="updates-page">
      <Heading
        title={say.title}
        note={
          run && (
            <>
              {say.ended(ended, run.jobs.length)}
              {broken > 0 && <b class="warn-text"> · {say.decide(broken)}</b>} · <Ago at={instant(run.started_at)} />
              {by !== undefined && <> · {job.startedBy(by)}</>}
            </>
          )
        }
      >
        <a class="button" href="/updates?tab=runs">
          {job.toAll}
        </a>
      </Heading>
      <Loaded of={load}>
        {({ jobs }) => (
          <section class="history" aria-label={say.title}>
            <JobTable rows={jobs.map((each) => [each])} />
          </section>
        )}
      </Loaded>
    </div>
  )
}
