import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Upgradable, upgradeAll } from '../nouns/upgrade-all.ts'
import { Action, useAct } from '../parts/action.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { JobOutput, useFollowedJob } from '../parts/job-output.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { targetName } from '../parts/target-name.ts'
import { Ago } from '../parts/time.tsx'
import { mayUpgrade } from '../parts/upgrade-question.ts'
import { running, startUpgrade } from '../wire/jobs.ts'
import { useLoad } from '../wire/load.ts'
import { canBeChecked, check, checked, FRESH_MS, readTargets, type Target, targets } from '../wire/packages.ts'
import { words } from '../words/words.ts'
import { History } from './updates/history.tsx'
import { TargetRow } from './updates/target-row.tsx'

/** What can be upgraded where, the upgrade that runs, and those that ran. */
export function UpdatesPage() {
  const say = words().updates
  const load = useLoad(async (signal) => {
    const found = await readTargets(signal)
    void check(idsOf(found), { ifOlderMs: FRESH_MS })
    return found
  })
  const chosen = useSignal<string>()
  const shown = chosen.value ?? running.value[0]?.job_id
  useEffect(() => {
    // What has begun to be read stays when it has ended.
    chosen.value ??= shown
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
    // Where there is no room beside the targets, it is below them. At once: nobody has to wait for a page that glides.
    outputs.current?.scrollIntoView({ block: top < 0 || top > innerHeight / 2 ? 'start' : 'nearest' })
    outputs.current?.querySelector<HTMLElement>('.log')?.focus({ preventScroll: true })
  }
  const start = useAct(async (target: string) => {
    if (await mayUpgrade(target)) show(await startUpgrade(target))
  })
  const known = targets.value ?? []
  const { jobs, touched } = upgradeAll(upgradableIn(known))
  const all = useAct(async () => {
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
  const again = useAct(() => check(idsOf(known)))
  return (
    <>
      <Heading title={say.title} note={<Summary />}>
        <Action act={again}>{again.busy.value ? say.checking : say.check}</Action>
        {jobs.length > 0 && (
          <Action act={all} class="primary">
            {say.upgradeAll}
          </Action>
        )}
      </Heading>
      <Problem error={all.error.value} />
      <Problem error={start.error.value} />
      <div class="updates">
        <section>
          <h2>{say.targets}</h2>
          <Loaded of={load} rows={4}>
            {(found) => (
              <ul class="list targets">
                {found.map((target) => (
                  <TargetRow key={target.id} target={target} onUpgrade={() => start.run(target.id)} onShow={show} />
                ))}
              </ul>
            )}
          </Loaded>
        </section>
        <section class="outputs" ref={outputs}>
          <Choice shown={shown} choose={(id) => (chosen.value = id)} />
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

function idsOf(found: readonly Target[]): string[] {
  return found.filter(canBeChecked).map(({ id }) => id)
}

/** What can be upgraded and is not already, with how much of that is known. */
function upgradableIn(found: readonly Target[]): Upgradable[] {
  const busy = new Set(running.value.map(({ target }) => target))
  const isFree = ({ id }: Target) => !busy.has(id) && !(busy.has('all') && id !== 'host')
  return found
    .filter((target) => canBeChecked(target) && isFree(target))
    .map(({ id, name }) => ({
      id,
      name: id === 'host' ? targetName(id) : name,
      packages: checked.value.get(id)?.packages?.length,
    }))
}

/** An output; once it is there it is shown to who has asked for it. */
function Followed({ id, onSeen }: { id: string; onSeen: (() => void) | undefined }) {
  const job = useFollowedJob(id)
  const isThere = job.record.value !== undefined || job.error.value !== undefined
  useEffect(() => {
    if (isThere) onSeen?.()
  }, [isThere, onSeen !== undefined])
  return <JobOutput job={job} />
}

/** Which of several upgrades is shown. */
function Choice({ shown, choose }: { shown: string | undefined; choose(id: string): void }) {
  const say = words().updates
  if (running.value.length < 2) return null
  return (
    <fieldset class="choice" aria-label={say.outputs}>
      {running.value.map(({ job_id, target }) => (
        <button
          key={job_id}
          type="button"
          class="button small"
          aria-pressed={job_id === shown}
          onClick={() => choose(job_id)}
        >
          {targetName(target)}
        </button>
      ))}
    </fieldset>
  )
}

/** How much waits where, and how old that is. */
function Summary() {
  const say = words().updates
  const there = (targets.value ?? []).map(({ id }) => checked.value.get(id))
  const counts = there.map((each) => each?.packages?.length ?? 0).filter((count) => count > 0)
  const times = there.flatMap((each) => (each?.at === undefined ? [] : [each.at]))
  if (there.some((each) => each?.checking)) return <span role="status">{say.checking}</span>
  if (times.length === 0) return null
  return (
    <>
      {say.summary(
        counts.reduce((sum, count) => sum + count, 0),
        counts.length,
      )}
      , <Ago at={Math.min(...times)} say={say.checked} />
    </>
  )
}
