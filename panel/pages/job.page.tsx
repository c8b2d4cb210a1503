import { useEffect } from 'preact/hooks'
import { ApplicationEnding, applicationTitle } from '../parts/applications/job-view.tsx'
import { ApplicationSheet } from '../parts/applications/sheet.tsx'
import { Heading } from '../parts/heading.tsx'
import { JobOutput, useFollowedJob } from '../parts/job-output.tsx'
import { Aftermath, noteOf, Progress, titleOf } from '../parts/protection/job-view.tsx'
import { RebootProgress } from '../parts/reboot/progress.tsx'
import { targetName } from '../parts/target-name.ts'
import { Ago } from '../parts/time.tsx'
import { route } from '../router.ts'
import { otherPerson } from '../wire/jobs.ts'
import { readTargets, targets } from '../wire/packages.ts'
import { words } from '../words/words.ts'

/** One job at its own address: live while it runs, kept for later reading. */
export function JobPage() {
  const id = route.value?.params.job ?? ''
  useEffect(() => {
    // Loads container names; the number is a fallback. Before the first listing, only the host is known.
    if (!targets.peek()?.some(({ id: target }) => target !== 'host')) readTargets().catch(() => {})
  }, [])
  return <JobView key={id} id={id} />
}

function JobView({ id }: { id: string }) {
  const { job: say } = words()
  const job = useFollowedJob(id)
  const record = job.record.value
  const by = record && otherPerson(record)
  const kind = record?.kind ?? 'upgrade'
  const name = record ? targetName(record.target, record.kind) : ''
  const title = record && (titleOf(record, name) ?? applicationTitle(record))
  const broke = record && noteOf(job, record)
  return (
    <div class="job-page">
      <Heading
        title={title ?? say.titles[kind]}
        note={
          record && (
            <>
              {broke !== undefined && (
                <>
                  {broke}
                  <br />
                </>
              )}
              {title === undefined || (record.application && broke === undefined) ? name : say.titles[kind]} ·{' '}
              <Ago at={record.started_at} />
              {by !== undefined && <> · {say.startedBy(by)}</>}
            </>
          )
        }
      >
        <a class="button" href={record?.run_id ? `/runs/${record.run_id}` : '/updates'}>
          {record?.run_id ? say.backToRun : say.toAll}
        </a>
      </Heading>
      {record && <Progress job={job} record={record} />}
      {record && <RebootProgress job={job} record={record} />}
      {record && <Aftermath job={job} record={record} />}
      {record && <ApplicationEnding job={job} record={record} />}
      <JobOutput job={job} />
      <ApplicationSheet />
    </div>
  )
}
