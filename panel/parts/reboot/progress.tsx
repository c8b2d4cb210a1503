import { useComputed } from '@preact/signals'
import { Check, House, Play, Power, RotateCw, TriangleAlert } from 'lucide'
import { duration } from '../../nouns/format.ts'
import { missingIn, type Reached, type Ran, reachedIn, type RebootStop, rebootStops } from '../../nouns/reboot.ts'
import { connected } from '../../wire/connection.ts'
import { containers, containersAway, useContainers } from '../../wire/containers.ts'
import { hostAway } from '../../wire/host.ts'
import type { FollowedJob, JobRecord } from '../../wire/job.ts'
import { isAdmin } from '../../wire/panel.ts'
import { act, asked, isUnderWay } from '../../wire/tasks.ts'
import { words } from '../../words/words.ts'
import { BlockableButton } from '../blockable-button.tsx'
import { describeError } from '../../nouns/failure.ts'
import { Icon } from '../icon.tsx'
import { Status } from '../status.tsx'
import { useSeconds } from '../time.tsx'

/** How far the reboot of the host has come, and then the containers that did not come back; nothing for other jobs. */
export function RebootProgress({ job, record }: { job: FollowedJob; record: JobRecord }) {
  if (record.kind !== 'reboot') return null
  const missing = missingIn(record.warnings)
  return (
    <>
      <Steps job={job} record={record} missing={missing.length} />
      {missing.length > 0 && <NotBack missing={missing} />}
    </>
  )
}

const ICONS = { asked: Power, away: RotateCw, back: House, containers: Play } as const

/** Whether the host was asked to reboot: nothing takes that back. False for every other job. */
export function useAskedReboot(job: FollowedJob): boolean {
  return useComputed(() => {
    if (job.record.value?.kind !== 'reboot') return false
    void job.version.value
    return reachedIn(linesOf(job)).asked
  }).value
}

function Steps({ job, record, missing }: { job: FollowedJob; record: JobRecord; missing: number }) {
  const { reboot: say } = words()
  const reached = useComputed(() => {
    void job.version.value
    return reachedIn(linesOf(job))
  }).value
  return (
    <div class="stepper">
      <ol class="steps" aria-label={say.steps}>
        {rebootStops(record, reached).map((stop) => (
          <li key={stop.name} class={stop.state} aria-current={stop.state === 'now' ? 'step' : undefined}>
            <Stop of={stop} />
            <b>{say.stops[stop.name]}</b>
            <span class="unseen">{` (${say.states[stop.state]})`}</span>
            <small>{noteOf(stop, missing)}</small>
          </li>
        ))}
      </ol>
      {record.status === 'running' && <Told reached={reached} since={Date.parse(record.started_at)} />}
    </div>
  )
}

function* linesOf({ lines }: FollowedJob): Iterable<string> {
  for (let n = 0; n < lines.count(); n += 1) yield lines.at(n).text
}

function Stop({ of: { name, state } }: { of: RebootStop }) {
  if (state === 'fail')
    return (
      <span class="stop">
        <Status is="err" hidden />
      </span>
    )
  const icon = state === 'done' ? Check : state === 'warn' ? TriangleAlert : ICONS[name]
  return <span class="stop">{state !== 'now' && <Icon of={icon} />}</span>
}

/** Whether nothing of the host is heard: neither the service nor the host behind it answers. */
const isSilent = () => !connected.value || hostAway.value

function noteOf({ name, state }: RebootStop, missing: number): string {
  const { notes } = words().reboot
  if (name === 'asked') return state === 'now' ? notes.queued : ''
  if (name === 'away') return state === 'now' ? (isSilent() ? notes.silent : notes.answers) : ''
  if (name === 'back') return state === 'done' ? notes.back : ''
  if (state === 'now') return notes.starting
  if (state === 'warn') return missing > 0 ? notes.missing(missing) : ''
  return state === 'done' ? notes.all : ''
}

/** The present phase in one sentence, and for how long the reboot has lasted. */
function Told({ reached, since }: { reached: Reached; since: number }) {
  const { reboot: say, shell } = words()
  const phase = reached.back ? 'containers' : !reached.asked ? 'queued' : isSilent() ? 'silent' : 'answers'
  const seconds = Math.max(0, (useSeconds() - since) / 1000)
  return (
    <p class="small">
      <span role="status">{say.told[phase]}</span>{' '}
      <span class="dim num">({say.since(duration(seconds, shell.units))})</span>
    </p>
  )
}

/** The containers that ran before the reboot and did not come back, each with its start. */
function NotBack({ missing }: { missing: readonly Ran[] }) {
  const { reboot: say } = words()
  useContainers()
  return (
    <section class="not-back" aria-label={say.notBack(missing.length)}>
      <div class="changes-bar">
        <h2 class="grow">{say.notBack(missing.length)}</h2>
        <a class="button" href="/containers">
          {say.toContainers}
        </a>
      </div>
      <ul class="list">
        {missing.map((each) => (
          <Missing key={each.vmid} of={each} />
        ))}
      </ul>
    </section>
  )
}

function Missing({ of: { vmid, name } }: { of: Ran }) {
  const { containers: all, reboot: say, updates, errors, shell } = words()
  const known = containers.value?.find((each) => each.vmid === vmid)
  const task = asked.value.get(vmid)
  const isBusy = task !== undefined && isUnderWay(task)
  const runs = known?.status === 'running'
  const away = containersAway.value || hostAway.value
  const reason =
    task?.error !== undefined ? describeError(task.error, errors, shell.unexpected).sentence : task?.task?.exit_status
  const hasFailed = !runs && task !== undefined && !isBusy && reason != null && reason !== 'OK'
  return (
    <li>
      <Status is={runs ? 'ok' : isBusy ? 'run' : 'warn'} hidden />
      <span class="grow">
        <span class="named">
          <span class="cut" title={name}>
            {name}
          </span>
          <span class="dim num">{vmid}</span>
        </span>
        {hasFailed && <span class="small warn-text">{all.failed(reason)}</span>}
      </span>
      {runs ? (
        <span class="dim">{say.runsAgain}</span>
      ) : (
        isAdmin.value && (
          <BlockableButton
            class="small"
            label={all.verbOf.start(name)}
            blocked={away ? updates.awayBlocks : isBusy ? all.underWay.start : undefined}
            press={() => void act(vmid, 'start')}
          >
            {isBusy ? all.underWay.start : all.verb.start}
          </BlockableButton>
        )
      )}
    </li>
  )
}
