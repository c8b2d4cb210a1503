import { useEffect } from 'preact/hooks'
import { Heading } from '../parts/heading.tsx'
import { JobOutput, useFollowedJob } from '../parts/job-output.tsx'
import { targetName } from '../parts/target-name.ts'
import { Ago } from '../parts/time.tsx'
import { route } from '../router.ts'
import { otherPerson } from '../wire/jobs.ts'
import { readTargets, targets } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** One job at its own address: live while it runs, kept for later reading. */
export function JobPage() {
  const say = words().job
  const job = useFollowedJob(route.value?.params.job ?? '')
  const record = job.record.value
  const by = record && otherPerson(record)
  const kind = record?.kind ?? 'upgrade'
  useEffect(() => {
    // Loads container names; the number is a fallback.
    if (!targets.peek()) readTargets().catch(() => {})
  }, [])
  return (
    <>
      <Heading
        title={say.titles[kind]}
        note={
          record && (
            <>
              {targetName(record.target, record.kind)} · <Ago at={record.started_at} />
              {by !== undefined && <> · {say.startedBy(by)}</>}
            </>
          )
        }
      >
        <a class="button" href="/updates">
          {say.back}
        </a>
      </Heading>
      <JobOutput job={job} />
    </>
  )
}
