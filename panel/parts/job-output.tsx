import { useEffect, useMemo } from 'preact/hooks'
import { ApiError } from '../../client/index.ts'
import { type AptReading, progressOfAll } from '../nouns/apt-progress.ts'
import { bytes, duration, instant } from '../nouns/format.ts'
import { OUTCOME_STATUS, type Outcome } from '../nouns/outcome.ts'
import { type FollowedJob, followJob, type JobRecord, wholeOutput } from '../wire/job.ts'
import { jobsError, mayCancel } from '../wire/jobs.ts'
import { api } from '../wire/panel.ts'
import type { Words } from '../words/fr.ts'
import { protectionWords } from './protection/words.ts'
import { language, words } from '../words/words.ts'
import { Action, useAct } from './action.tsx'
import { confirm } from './dialog.tsx'
import { JobEnding, resultsSaid } from './job-ending.tsx'
import { Output } from './output.tsx'
import { Problem } from './problem.tsx'
import { useAskedReboot } from './reboot/progress.tsx'
import { Status } from './status.tsx'
import { targetName } from './target-name.ts'

/** Follows a job while the component is mounted. */
export function useFollowedJob(id: string): FollowedJob {
  const job = useMemo(() => followJob(id), [id])
  useEffect(() => () => job.stop(), [job])
  return job
}

/** A job's output and progress, live until it ends. */
export function JobOutput({ job }: { job: FollowedJob }) {
  const say = words().job
  const outcome = job.outcome.value
  const record = job.record.value
  const ended = outcome !== 'running'
  const isTooLate = useAskedReboot(job)
  const { progress } = job.reading.value
  const overall = record?.containers && progressOfAll(progress, record.containers)
  const cancel = useAct(async () => {
    const asked = say.cancelling[record?.kind ?? 'upgrade']
    if (await confirm({ ...asked, keep: say.keep, danger: true }))
      await api('POST /api/updates/jobs/{id}/cancel', { params: { id: job.id } })
  })
  const word = outcomeSaid(record?.kind, outcome)
  const state = (
    <>
      <Status is={OUTCOME_STATUS[outcome]} hidden={!ended}>
        {word}
      </Status>
      <strong>{record && targetName(record.target, record.kind)}</strong>
      {!!record?.exit_code && <span class="dim">{say.exitCode(record.exit_code)}</span>}
    </>
  )
  const step = ended ? endOf(job, words()) : (phaseOf(job) ?? stepIn(record?.kind, progress, overall))
  if (!record) return <Problem error={job.error.value} retry={job.retry} />
  return (
    <>
      <Problem error={job.error.value} retry={job.retry} />
      <Problem error={cancel.error.value} />
      {ended && <JobEnding record={record} outcome={outcome} reason={job.reason.value} />}
      <Output
        lines={job.lines}
        version={job.version}
        title={state}
        step={step}
        said={ended ? [word, step, ...resultsSaid(record)].filter(Boolean).join(' ') : step}
        progress={ended ? null : overall ? overall.fraction : progress.fraction}
        notice={noticeOf(job, ended)}
        ended={ended}
        fileName={`${record.target.replace(':', '-')}-${job.id}.log`}
        whole={() => wholeOutput(job.id)}
        isPart={job.omitted.value > 0}
      >
        {!ended && !isTooLate && mayCancel(record.started_by_name) && (
          <Action act={cancel} class="small">
            {say.cancel}
          </Action>
        )}
      </Output>
    </>
  )
}

/** The word of an outcome. A reboot of the host upgrades nothing. */
function outcomeSaid(kind: JobRecord['kind'], outcome: Outcome): string {
  const { job, reboot } = words()
  return kind === 'reboot' && (outcome === 'done' || outcome === 'warned') ? reboot[outcome] : job[outcome]
}

/** Notices about the connection and about omitted output; empty when all is well. */
function noticeOf(job: FollowedJob, ended: boolean): string {
  const omitted = job.omitted.value
  const size = bytes(omitted, words().shell.units.bytes, language())
  return [connectionNotice(job, ended), omitted > 0 && words().output.omitted(size)].filter(Boolean).join(' ')
}

function connectionNotice(job: FollowedJob, ended: boolean): string | undefined {
  const say = words().output
  const state = job.connection.value
  if (job.isResumed.value) return say.resumed
  if (ended) return undefined
  if (isStorageAway(job)) return say.storageAway
  if (state === 'waiting') return say.waiting
  return state === 'polling' ? say.polling : undefined
}

/** Whether the service cannot store output: then none arrives, although the connection is open. */
function isStorageAway({ trouble }: FollowedJob): boolean {
  const error = jobsError.value
  return trouble.value === 'storage_failed' || (error instanceof ApiError && error.code === 'storage_failed')
}

/** The current step of apt, and the container for a job over all containers. */
export function stepOf(
  { step, package: name, done, total, container }: AptReading['progress'],
  words: Words,
  overall?: ReturnType<typeof progressOfAll> | null,
): string {
  const say = words.job
  const steps = {
    lists: say.lists,
    download: say.download,
    unpack: say.unpack(name ?? ''),
    configure: say.configure(name ?? '', done, total),
    triggers: say.triggers,
    done: '',
  }
  const said = steps[step]
  if (overall) {
    const which = overall.at > 0 ? say.oneOfAll(overall.at, overall.of, overall.name) : ''
    return [which, said].filter(Boolean).join(' · ')
  }
  return container && said ? say.inContainer(container, said) : said
}

/** The step of a job without phases. A job that refreshes no lists tells none until apt prints something. */
function stepIn(
  kind: JobRecord['kind'],
  progress: AptReading['progress'],
  overall: ReturnType<typeof progressOfAll> | null | undefined,
): string {
  const refreshes = kind === undefined || kind === 'check'
  return progress.step === 'lists' && !refreshes ? '' : stepOf(progress, words(), overall)
}

/** The phase of a job while its package manager does not work. */
function phaseOf({ phases }: FollowedJob): string | undefined {
  const phase = phases.value.at(-1)?.phase
  if (phase === 'upgrading') return undefined
  return Object.entries(protectionWords().phases).find(([name]) => name === phase)?.[1]
}

/** The duration of an ended job. */
function endOf(job: FollowedJob, { job: say, shell }: Words): string {
  const { started_at, finished_at } = job.record.value ?? {}
  const [from, to] = [instant(started_at), instant(finished_at)]
  if (from === undefined || to === undefined) return ''
  return say.ended(duration((to - from) / 1000, shell.units))
}
