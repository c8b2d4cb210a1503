import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  type Check,
  canBeUpgraded,
  isUncertain,
  notUpgradable,
  oldestOf,
  shownOf,
  type Upgradable,
  updatesIn,
  upgradeAll,
} from '../nouns/checked.ts'
import { Action, useAct } from '../parts/action.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { JobOutput, useFollowedJob } from '../parts/job-output.tsx'
import { Placeholder } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { jobName, targetName } from '../parts/target-name.ts'
import { Ago } from '../parts/time.tsx'
import { confirmUpgrade } from '../parts/upgrade-question.ts'
import {
  checks,
  checksError,
  checkUnderWay,
  checkWhatIsDue,
  isChecking,
  readChecks,
  startCheck,
  startRepair,
  useChecks,
} from '../wire/checks.ts'
import { hostAway, readHost } from '../wire/host.ts'
import { otherPerson, running, startUpgrade } from '../wire/jobs.ts'
import { useLoad } from '../wire/load.ts'
import { readTargets } from '../wire/packages.ts'
import { words } from '../words/words.ts'
import { History } from './updates/history.tsx'
import { TargetRow } from './updates/target-row.tsx'

const HOST_MS = 30_000

/** The targets with their updates, the running jobs, and the history. */
export function UpdatesPage() {
  const say = words().updates
  useChecks()
  const host = useLoad(readHost, [], { everyMs: HOST_MS })
  // Known results appear at once; the list of containers is then read again.
  const load = useLoad(async (signal) => {
    const found = await readTargets(signal)
    await checkWhatIsDue()
    return found
  })
  const chosen = useSignal<string>()
  const seen = useSignal<string>()
  const [first] = running.value
  const shown = chosen.value ?? first?.job_id ?? seen.value
  useEffect(() => {
    // A shown output stays after its end, but a check that the user did not ask for gives way to the next job.
    if (first?.kind === 'check') seen.value = shown
    else chosen.value ??= shown
  }, [shown])
  const outputs = useRef<HTMLElement>(null)
  const sought = useSignal<string>()
  const show = (id: string) => {
    chosen.value = id
    sought.value = id
  }
  const reveal = () => {
    sought.value = undefined
    const top = outputs.current?.getBoundingClientRect().top ?? 0
    // In a narrow window the output is below the targets. The page jumps there without an animation.
    outputs.current?.scrollIntoView({ block: top < 0 || top > innerHeight / 2 ? 'start' : 'nearest' })
    outputs.current?.querySelector<HTMLElement>('.log')?.focus({ preventScroll: true })
  }
  const start = useAct(async (target: string) => {
    if (await confirmUpgrade(target)) show(await startUpgrade(target))
  })
  const repair = useAct(async (target: string) => {
    chosen.value = await startRepair(target)
  })
  const known = checks.value ?? []
  const blocked = hostAway.value ? say.awayBlocks : undefined
  const { jobs, touched } = upgradeAll(upgradableIn(known))
  const all = useAct(async () => {
    const vain = jobs.includes('all') ? notUpgradable(known) : []
    const text = (
      <>
        <p>{say.upgradeAllText}</p>
        <ul class="touched">
          {touched.map(({ id, name, packages }) => (
            <li key={id}>
              {name}
              {packages !== undefined && (
                <span class="dim"> · {packages === 0 ? say.upToDate : say.packages(packages)}</span>
              )}
            </li>
          ))}
        </ul>
        {vain.length > 0 && <p class="dim">{say.alsoTried(vain.join(', '))}</p>}
      </>
    )
    if (!(await confirm({ title: say.upgradeAllTitle, text, verb: say.upgradeAll }))) return
    let first: string | undefined
    for (const id of jobs) {
      const started = await startUpgrade(id)
      first ??= started
    }
    if (first) show(first)
  })
  const again = useAct((target: string) => startCheck(target))
  const checkAll = useAct(() => startCheck('all'))
  return (
    <>
      <Heading title={say.title} note={<Summary />}>
        <Action act={checkAll} blocked={blocked}>
          {checkAll.busy.value || isChecking.value ? say.checking : say.checkAll}
        </Action>
        {jobs.length > 0 && (
          <Action act={all} class="primary" blocked={blocked}>
            {say.upgradeAll}
          </Action>
        )}
      </Heading>
      <Problem error={all.error.value} />
      <Problem error={host.error.value} retry={host.reload} />
      {hostAway.value && (
        <p class="dim aged">
          <Ago at={oldestOf(known).checked} say={say.lastKnown} /> {say.awayBlocks}
        </p>
      )}
      {host.error.value === undefined && <Problem error={load.error.value} retry={load.reload} />}
      <Problem error={checksError.value} retry={readChecks} />
      <Problem error={checkAll.error.value ?? again.error.value} />
      <Problem error={start.error.value} />
      <Problem error={repair.error.value} />
      <div class="updates">
        <section>
          <h2>{say.targets}</h2>
          {!checks.value && checksError.value === undefined && <Placeholder rows={4} />}
          {known.length > 0 && (
            <ul class="list targets">
              {known.map((check) => (
                <TargetRow
                  key={check.target}
                  check={check}
                  blocked={blocked}
                  onUpgrade={() => void start.run(check.target)}
                  onRepair={() => void repair.run(check.target)}
                  onCheck={() => void again.run(check.target)}
                  onShow={show}
                />
              ))}
            </ul>
          )}
        </section>
        <section class="outputs" ref={outputs}>
          <Choice shown={shown} choose={(id) => (chosen.value = id)} show={show} />
          {shown ? (
            <Followed key={shown} id={shown} onSeen={sought.value === shown ? reveal : undefined} />
          ) : (
            <p class="empty">{say.noJob}</p>
          )}
        </section>
      </div>
      <History />
    </>
  )
}

/** The targets that can be upgraded and are not being upgraded, with the known number of updates. */
function upgradableIn(found: readonly Check[]): Upgradable[] {
  const busy = new Set(running.value.flatMap(({ kind, target }) => (kind === undefined ? [target] : [])))
  const isFree = ({ target }: Check) => !busy.has(target) && !(busy.has('all') && target !== 'host')
  return found
    .filter((check) => canBeUpgraded(check) && isFree(check))
    .map((check) => ({
      id: check.target,
      name: check.target === 'host' ? targetName('host') : check.name,
      packages: updatesIn(check) || (shownOf(check).text === 'upToDate' ? 0 : undefined),
    }))
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
      <JobOutput job={job} />
    </>
  )
}

interface ChoiceProps {
  shown: string | undefined
  choose(id: string): void
  /** Also scrolls to the output, because the pressed button disappears. */
  show(id: string): void
}

/** Selects the shown job. A job that has ended stays shown while another one runs. */
function Choice({ shown, choose, show }: ChoiceProps) {
  const say = words().updates
  const [first, second] = running.value
  if (!first || (!second && first.job_id === shown)) return null
  return (
    <fieldset class="choice" aria-label={say.outputs}>
      {running.value.map((job) => (
        <button
          key={job.job_id}
          type="button"
          class="button small"
          aria-pressed={job.job_id === shown}
          onClick={() => (second ? choose(job.job_id) : show(job.job_id))}
        >
          <span class="cut" title={jobName(job)}>
            {jobName(job)}
          </span>
        </button>
      ))}
    </fieldset>
  )
}

/** The number of updates, and the age of the check and of the package lists. */
function Summary() {
  const say = words().updates
  const there = checks.value ?? []
  const counts = there.map(updatesIn).filter((count) => count > 0)
  const { checked, lists } = oldestOf(there)
  const unsure = there.filter(isUncertain).length
  const waiting = counts.reduce((sum, count) => sum + count, 0)
  const checking = isChecking.value && (
    <>
      <span role="status">{say.checking}</span>
      {checkUnderWay.value && (
        <>
          {' '}
          <a href={`/updates/${checkUnderWay.value}`}>{say.seeCheck}</a>
        </>
      )}
    </>
  )
  if (there.every(({ checked_at }) => checked_at === null)) return checking || null
  return (
    <>
      {checking && <>{checking} · </>}
      {unsure > 0 && waiting === 0 ? say.uncertain(unsure) : say.summary(waiting, counts.length)},{' '}
      <Ago at={checked} say={say.checked} />
      {lists !== undefined && (
        <>
          , <Ago at={lists} say={say.lists} />
        </>
      )}
      {unsure > 0 && waiting > 0 && ` · ${say.uncertain(unsure)}`}
    </>
  )
}
