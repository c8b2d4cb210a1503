import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Attention, attentionOf, keyOf, thingsIn } from '../../nouns/attention.ts'
import { isUncertain, oldestOf } from '../../nouns/checked.ts'
import { isHostKeyChanged } from '../../nouns/failure.ts'
import { rebootNews } from '../../nouns/reboot.ts'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { useSteady } from '../../parts/steady.ts'
import { Ago, now } from '../../parts/time.tsx'
import { rebooting } from '../../wire/absence.ts'
import { checks, checksError, checkWhatIsDue, isChecking } from '../../wire/checks.ts'
import { containers, containersAt, containersError, stoppedSince } from '../../wire/containers.ts'
import { hostAt, hostAway, host as hostFigures, readHost } from '../../wire/host.ts'
import { jobs, jobsError, newestJobs, outcomeOfJob } from '../../wire/jobs.ts'
import { type Load, useLoad } from '../../wire/load.ts'
import { readTargets } from '../../wire/packages.ts'
import { api, isAdmin, isTheirs } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { AttentionRow } from './attention-row.tsx'

const HOST_MS = 30_000
/** The list waits that long for all figures, so that its rows do not move when they arrive. */
const PATIENCE_MS = 1_000

/** All that needs somebody, with what is not known yet. */
export interface Known {
  items: readonly Attention[]
  /** The answer to the question of the page; undefined until it is known. */
  title: string | undefined
  /** Whether nothing failed and every target is known. */
  knowsAll: boolean
  hasFailed: boolean
  /** Something is still to be read. */
  waits: boolean
  hasOtherKey: boolean
  host: Load<unknown>
  targets: Load<unknown>
  modules: Load<unknown>
}

/** Reads everything that may need somebody. */
export function useAttention(): Known {
  const say = words().dashboard
  const host = useLoad(readHost, [], { everyMs: HOST_MS })
  const targets = useLoad(async (signal) => {
    const found = await readTargets(signal)
    await checkWhatIsDue()
    return found
  })
  const modules = useLoad(async (signal) => {
    if (!isAdmin.value) return []
    const found = await api('GET /api/repair/modules', { signal })
    return found.filter(({ problem, is_enabled }) => problem && is_enabled).map(({ name }) => name)
  })
  const hasOtherKey = isHostKeyChanged(host.error.value)
  const found = checks.value ?? []
  const items = attentionOf({
    hasOtherKey,
    host: hostFigures.value,
    containers: containers.value ?? [],
    isRebooting: rebooting.value !== undefined,
    stoppedSince: stoppedSince.value,
    rebooted: rebootNews(newestJobs.value ?? [], { now: now.value, boot: bootAt() }),
    jobs: (jobs.value ?? []).map((job) => ({ ...job, outcome: outcomeOfJob(job) })),
    checks: found,
    modules: modules.data.value ?? [],
    counts: isTheirs,
  })
  const asked: readonly (readonly [known: ReadonlySignal<unknown>, error: ReadonlySignal<unknown>])[] = [
    [hostFigures, host.error],
    [targets.data, targets.error],
    [modules.data, modules.error],
    [checks, checksError],
    [jobs, jobsError],
    [containers, containersError],
  ]
  const waits = asked.some((both) => both.every(({ value }) => value === undefined))
  const hasFailed = asked.some(([, { value }]) => value !== undefined)
  // A target that was never checked, or changed since its last check, is not known to be up to date.
  const uncertain = found.filter(isUncertain)
  const knowsAll = !hasFailed && uncertain.length === 0
  const things = thingsIn(items, found, isTheirs)
  // Nothing needs an operator of some targets where the list below may still name what others need.
  const needsOthers = thingsIn(items, found) > 0
  const isOpen = waits || hasFailed || uncertain.some(({ target }) => !needsOthers || isTheirs(target))
  const title =
    things > 0 ? say.things(things) : isOpen ? undefined : needsOthers ? say.nothingOfYours : say.nothingNeedsYou
  return { items, title, knowsAll, hasFailed, waits, hasOtherKey, host, targets, modules }
}

/** Lists the problems with their actions, or says that there are none. */
export function AttentionList({ known }: { known: Known }) {
  const say = words().dashboard
  const { items, knowsAll, hasFailed, hasOtherKey, host, targets, modules } = known
  const isPatient = useSignal(true)
  useEffect(() => {
    const timer = setTimeout(() => (isPatient.value = false), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  const lacksFigures = [checks, jobs, containers, hostFigures].some((each) => each.value === undefined)
  const waits = known.waits && (items.length === 0 || (lacksFigures && isPatient.value))
  const byKey = new Map(items.map((item) => [keyOf(item), item]))
  const { rows, hold } = useSteady([{ group: undefined, targets: waits ? [] : [...byKey.keys()] }], '')
  const found = checks.value ?? []
  const checksFirst = isChecking.value && !items.some(({ kind }) => kind === 'packages')
  return (
    <section class="attention" aria-label={say.attention}>
      {!hasOtherKey && <Problem error={host.error.value} retry={host.reload} />}
      {host.error.value === undefined && <Problem error={targets.error.value} retry={targets.reload} />}
      {hostAway.value && found.some(({ checked_at }) => checked_at !== null) && (
        <p class="dim aged">
          <Ago at={oldestOf(found).checked} say={words().updates.lastKnown} />
        </p>
      )}
      <Problem error={checksError.value} />
      <Problem error={modules.error.value} retry={modules.reload} />
      {waits ? (
        <Placeholder rows={1} />
      ) : (
        <ul class="list" {...hold}>
          {rows
            .flatMap((each) => each.targets)
            .map((key) => {
              const item = byKey.get(key)
              return item && <AttentionRow key={key} item={item} />
            })}
          {checksFirst && (
            <li class="dim">
              <Status is="run" hidden />
              {say.checking}
            </li>
          )}
          {items.length === 0 && !isChecking.value && (
            <li>
              <Status is={knowsAll ? 'ok' : 'unknown'} hidden />
              {knowsAll ? <Ago at={oldest()} say={say.nothing} /> : hasFailed ? say.notAll : say.notChecked}
            </li>
          )}
        </ul>
      )}
    </section>
  )
}

/** The time of the host’s present boot by the browser’s clock; undefined until it is known. */
function bootAt(): number | undefined {
  const [known, at] = [hostFigures.value, hostAt.value]
  return known && at !== undefined ? at - known.uptime * 1000 : undefined
}

/** The time of the oldest known result. */
function oldest(): number | undefined {
  return oldestOf(checks.value ?? []).checked ?? containersAt.value
}
