import { X } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'
import { JobOutput, useFollowedJob } from '../../parts/job-output.tsx'
import { endingOf } from '../../nouns/ending.ts'
import { noteOf, Progress } from '../../parts/protection/job-view.tsx'
import { jobName } from '../../parts/target-name.ts'
import { otherPerson, running } from '../../wire/jobs.ts'
import { protectionWords } from '../../parts/protection/words.ts'
import { words } from '../../words/words.ts'

interface OutputsProps {
  shown: string
  /** Whether the output takes the focus and is scrolled to. */
  isSought: boolean
  onSeen(): void
  choose(id: string): void
  onClose(): void
}

/** The output of one job, beside the targets or below them, with the other running jobs to choose from. */
export function Outputs({ shown, isSought, onSeen, choose, onClose }: OutputsProps) {
  const say = words().updates
  const place = useRef<HTMLElement>(null)
  const reveal = () => {
    onSeen()
    const top = place.current?.getBoundingClientRect().top ?? 0
    // In a narrow window the output is below the targets. The page jumps there without an animation.
    place.current?.scrollIntoView({ block: top < 0 || top > innerHeight / 2 ? 'start' : 'nearest' })
    place.current?.querySelector<HTMLElement>('.log')?.focus({ preventScroll: true })
  }
  return (
    <section class="outputs" ref={place} aria-label={say.output}>
      <div class="outputs-bar">
        <Choice shown={shown} choose={choose} />
        <button type="button" class="button plain small close" aria-label={say.closeOutput} onClick={onClose}>
          <Icon of={X} />
        </button>
      </div>
      <Followed key={shown} id={shown} onSeen={isSought ? reveal : undefined} />
    </section>
  )
}

/** A job's output with its owner; `onSeen` runs once it is shown. */
function Followed({ id, onSeen }: { id: string; onSeen: (() => void) | undefined }) {
  const say = words().job
  const job = useFollowedJob(id)
  const record = job.record.value
  const by = record && otherPerson(record)
  const isThere = job.record.value !== undefined || job.error.value !== undefined
  useEffect(() => {
    if (isThere) onSeen?.()
  }, [isThere, onSeen !== undefined])
  return (
    <>
      {record && (record.kind !== undefined || by !== undefined) && (
        <p class="dim cut" title={by}>
          {say.titles[record.kind ?? 'upgrade']}
          {by !== undefined && <> · {say.startedBy(by)}</>}
        </p>
      )}
      {record && <Progress job={job} record={record} />}
      {record && record.status !== 'running' && endingOf(record) !== undefined && (
        <p class="decide-here">
          <span class="grow">{noteOf(job, record)}</span>
          <a class="button small" href={`/updates/${id}`}>
            {endingOf(record) === 'broken' ? protectionWords().decideHere : protectionWords().compareHere}
          </a>
        </p>
      )}
      <JobOutput job={job} />
    </>
  )
}

/** Selects the shown job among the running ones. A job that has ended stays shown. */
function Choice({ shown, choose }: { shown: string; choose(id: string): void }) {
  const others = running.value.filter(({ job_id }) => job_id !== shown)
  if (others.length === 0) return <span class="grow" />
  return (
    <fieldset class="choice grow" aria-label={words().updates.outputs}>
      {running.value.map((job) => (
        <button
          key={job.job_id}
          type="button"
          class="button small"
          aria-pressed={job.job_id === shown}
          onClick={() => choose(job.job_id)}
        >
          <span class="cut" title={jobName(job)}>
            {jobName(job)}
          </span>
        </button>
      ))}
    </fieldset>
  )
}
