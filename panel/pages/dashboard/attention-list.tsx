import { attentionOf } from '../../nouns/attention.ts'
import { isUncertain, oldestOf } from '../../nouns/checked.ts'
import { isHostKeyChanged } from '../../nouns/failure.ts'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { Ago } from '../../parts/time.tsx'
import { checks, checksError, checkWhatIsDue, isChecking } from '../../wire/checks.ts'
import { containers, containersAt, containersError, stoppedSince } from '../../wire/containers.ts'
import { hostAway, readHost } from '../../wire/host.ts'
import { jobs, jobsError, outcomeOfJob } from '../../wire/jobs.ts'
import { type Load, useLoad } from '../../wire/load.ts'
import { readTargets } from '../../wire/packages.ts'
import { api, isAdmin } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { AttentionRow } from './attention-row.tsx'

const HOST_MS = 30_000

/** Lists the problems with their actions, or says that there are none. */
export function AttentionList() {
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
    host: host.data.value,
    containers: containers.value ?? [],
    stoppedSince: stoppedSince.value,
    jobs: (jobs.value ?? []).map((job) => ({ ...job, outcome: outcomeOfJob(job) })),
    checks: found,
    modules: modules.data.value ?? [],
  })
  const waits =
    [host, targets, modules].some(isWaiting) ||
    (checks.value === undefined && checksError.value === undefined) ||
    (jobs.value === undefined && jobsError.value === undefined) ||
    (containers.value === undefined && containersError.value === undefined)
  const failures = [host, targets, modules].map(({ error }) => error.value)
  failures.push(jobsError.value, containersError.value, checksError.value)
  // A target that was never checked, or changed since its last check, is not known to be up to date.
  const hasFailed = failures.some((each) => each !== undefined)
  const knowsAll = !hasFailed && !found.some(isUncertain)
  const checksFirst = isChecking.value && !items.some(({ kind }) => kind === 'packages')
  return (
    <section class="attention" aria-label={say.attention}>
      <h2>{say.attention}</h2>
      {!hasOtherKey && <Problem error={host.error.value} retry={host.reload} />}
      {host.error.value === undefined && <Problem error={targets.error.value} retry={targets.reload} />}
      {hostAway.value && found.some(({ checked_at }) => checked_at !== null) && (
        <p class="dim aged">
          <Ago at={oldestOf(found).checked} say={words().updates.lastKnown} />
        </p>
      )}
      <Problem error={checksError.value} />
      <Problem error={modules.error.value} retry={modules.reload} />
      {waits && items.length === 0 ? (
        <Placeholder rows={1} />
      ) : (
        <ul class="list">
          {items.map((item) => (
            <AttentionRow key={JSON.stringify(item)} item={item} />
          ))}
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

function isWaiting({ data, error }: Load<unknown>): boolean {
  return data.value === undefined && error.value === undefined
}

/** The time of the oldest known result. */
function oldest(): number | undefined {
  return oldestOf(checks.value ?? []).checked ?? containersAt.value
}
