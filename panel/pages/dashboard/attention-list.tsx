import type { ComponentChildren } from 'preact'
import { percent } from '../../nouns/amount.ts'
import { type Attention, attentionOf } from '../../nouns/attention.ts'
import { Action, useAct } from '../../parts/action.tsx'
import { Placeholder } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { Ago } from '../../parts/time.tsx'
import { go } from '../../router.ts'
import { containers, containersAt, stoppedSince } from '../../wire/containers.ts'
import { readHost } from '../../wire/host.ts'
import { jobs, outcomeOfJob, startUpgrade } from '../../wire/jobs.ts'
import { type Load, useLoad } from '../../wire/load.ts'
import { canBeChecked, check, checked, FRESH_MS, readTargets } from '../../wire/packages.ts'
import { api, isAdmin } from '../../wire/panel.ts'
import { language, words } from '../../words/words.ts'

const HOST_MS = 30_000

/** What needs attention, each with what to do about it; or that nothing does. */
export function AttentionList() {
  const say = words().dashboard
  const host = useLoad(readHost, [], { everyMs: HOST_MS })
  const targets = useLoad(async (signal) => {
    const found = await readTargets(signal)
    void check(
      found.filter(canBeChecked).map(({ id }) => id),
      { ifOlderMs: FRESH_MS },
    )
    return found
  })
  const modules = useLoad(async (signal) => {
    if (!isAdmin.value) return []
    const found = await api('GET /api/repair/modules', { signal })
    return found.filter(({ problem, is_enabled }) => problem && is_enabled).map(({ name }) => name)
  })
  const items = attentionOf({
    host: host.data.value,
    containers: containers.value ?? [],
    stoppedSince: stoppedSince.value,
    jobs: (jobs.value ?? []).map((job) => ({ ...job, outcome: outcomeOfJob(job) })),
    waiting: new Map([...checked.value].map(([id, { packages }]) => [id, packages?.length ?? 0])),
    modules: modules.data.value ?? [],
  })
  const waits = [host, targets, modules].some(isWaiting) || jobs.value === undefined
  const checks = [...checked.value.values()].some((each) => each.checking)
  const checksFirst = checks && !items.some(({ kind }) => kind === 'packages')
  return (
    <section class="attention" aria-label={say.attention}>
      <h2>{say.attention}</h2>
      <Problem error={host.error.value} retry={host.reload} />
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
          {items.length === 0 && !checks && (
            <li>
              <Status is={host.error.value === undefined ? 'ok' : 'unknown'} hidden />
              <Ago at={oldest()} say={say.nothing} />
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

/** When the oldest of what is known was found. */
function oldest(): number | undefined {
  const times = [...checked.value.values()].flatMap(({ at }) => at ?? [])
  return times.length > 0 ? Math.min(...times) : containersAt.value
}

function AttentionRow({ item }: { item: Attention }) {
  const { sentence, action } = shownAs(item)
  return (
    <li>
      <Status is={item.level} hidden />
      <span class="grow">{sentence}</span>
      {action}
    </li>
  )
}

function shownAs(item: Attention): { sentence: ComponentChildren; action: ComponentChildren } {
  const say = words().dashboard
  switch (item.kind) {
    case 'dpkg':
      return { sentence: say.dpkg, action: <UpgradeHost verb={say.repair} /> }
    case 'job': {
      const name = targetName(item.target)
      const sentence = (
        <>
          {item.level === 'err' ? say.job(name) : say.flawed(name)}, <Ago at={item.at} />
        </>
      )
      return { sentence, action: <To href={`/updates/${item.job}`}>{say.see}</To> }
    }
    case 'disk':
      return {
        sentence: say.disk(item.name ?? say.theHost, percent(item.used, language())),
        action: isAdmin.value && <To href="/terminal">{say.openTerminal}</To>,
      }
    case 'module':
      return { sentence: say.module(item.name), action: <To href="/modules">{say.see}</To> }
    case 'stopped': {
      const sentence = (
        <>
          {say.stopped(item.name)}, <Ago at={item.at} />
        </>
      )
      return { sentence, action: <To href="/containers">{isAdmin.value ? say.start : say.see}</To> }
    }
    case 'reboot':
      return { sentence: say.reboot, action: isAdmin.value && <To href="/terminal?target=host">{say.openTerminal}</To> }
    case 'packages':
      return {
        sentence: say.packages(say.packageCount(item.count), say.targetCount(item.targets)),
        action: <To href="/updates">{say.update}</To>,
      }
  }
}

function To({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="button small" href={href}>
      {children}
    </a>
  )
}

function UpgradeHost({ verb }: { verb: string }) {
  const start = useAct(async () => go(`/updates/${await startUpgrade('host')}`))
  return (
    <>
      <Action act={start} class="small">
        {verb}
      </Action>
      <Problem error={start.error.value} />
    </>
  )
}
