import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Check } from '../../nouns/checked.ts'
import { arrange, isFound, passes, reviewable } from '../../nouns/target-list.ts'
import { needSaid } from '../../parts/access/reach.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useSteady } from '../../parts/steady.ts'
import { targetName } from '../../parts/target-name.ts'
import { keepInQuery, route } from '../../router.ts'
import { readContainers } from '../../wire/containers.ts'
import { jobOn } from '../../wire/jobs.ts'
import { mayOperate } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import type { Deeds } from './deeds.ts'
import { FilterBar, useView } from './filter-bar.tsx'
import { type PackageSearch, usePackageSearch } from './package-search.ts'
import { Selection } from './selection.tsx'
import './style.ts'
import { TargetRow } from './target-row.tsx'

/** All targets with search, filter and order. */
export function TargetList({ checks, deeds }: { checks: readonly Check[]; deeds: Deeds }) {
  const say = words().updates
  /** The targets that a link opens, the first of which it shows. */
  const sought = useRef((route.value?.query.get('open') ?? '').split(',').filter((each) => each !== ''))
  useEffect(() => {
    // A full disk is something to see to as well.
    void readContainers()
    // A row that moves to another group must not be shown again.
    sought.current = []
  }, [])
  const place = useRef<HTMLElement>(null)
  const view = useView()
  const { query, filter, sort } = view
  const open = useSignal<ReadonlySet<string>>(new Set(sought.current))
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  /** Whether a narrow list shows its boxes. */
  const isPicking = useSignal(false)
  const nameOf = ({ target, name }: Check) => (target === 'host' ? targetName('host') : name || targetName(target))
  const jobOf = ({ target }: Check) => jobOn(target)
  const search = usePackageSearch(query.value, checks.map(({ checked_at }) => checked_at).join())
  const shown = checks.filter(
    (check) => passes(check, filter) && isFound(check, nameOf(check), query.value, search.found),
  )
  const busy = new Set(checks.filter((check) => jobOf(check)).map(({ target }) => target))
  const { rows, hold } = useSteady(arrange(shown, sort, busy), `${filter} ${sort} ${query.value}`)
  const byTarget = new Map(checks.map((check) => [check.target, check]))
  const canPick = new Set(reviewable(checks, busy).flatMap(({ target }) => (mayOperate(target) ? [target] : [])))
  // A target that cannot be upgraded any more is not selected either.
  const picked = checks.filter(({ target }) => canPick.has(target) && chosen.value.has(target))
  const pick = (targets: readonly string[], isPicked: boolean) => {
    const next = new Set(chosen.value)
    for (const target of targets) {
      if (isPicked) next.add(target)
      else next.delete(target)
    }
    chosen.value = next
    isPicking.value = true
  }
  const setPicking = (is: boolean) => {
    isPicking.value = is
    if (!is) chosen.value = new Set()
  }
  const clear = () => {
    setPicking(false)
    // The pressed button disappears.
    const next = [...(place.current?.querySelectorAll<HTMLElement>('.pick, thead input') ?? [])]
    next.find((each) => each.checkVisibility())?.focus()
  }
  const toggle = (target: string) => {
    const next = new Set(open.value)
    if (!next.delete(target)) next.add(target)
    open.value = next
    keepInQuery({ open: undefined })
  }
  return (
    <section class="target-list" ref={place} aria-label={say.targets}>
      <FilterBar
        view={view}
        checks={checks}
        isPicking={canPick.size > 0 ? isPicking.value : undefined}
        pick={setPicking}
      />
      <Problem error={search.error} retry={search.retry} />
      {search.state === 'failed' && <p class="dim">{say.notSearched}</p>}
      {rows.every(({ targets }) => targets.length === 0) ? (
        <p class="empty" role="status">
          {emptyText(query.value, search.state)}
        </p>
      ) : (
        <div class={isPicking.value ? 'targets picking' : 'targets'} {...hold}>
          <table aria-label={say.targets}>
            <Head all={shown.filter(({ target }) => canPick.has(target))} picked={picked} pick={pick} />
            {rows.map(({ group, targets }) => (
              <tbody key={group ?? 'all'}>
                {group && (
                  <tr class="group">
                    <td class="c-check" />
                    <th colSpan={6} scope="rowgroup">
                      <b>{group === 'need' ? needSaid(say.groups.need) : say.groups[group]}</b>{' '}
                      <span class="num">{targets.length}</span>
                    </th>
                    <td class="c-size" />
                    <td class="c-age" />
                  </tr>
                )}
                {targets.map((target) => {
                  const check = byTarget.get(target)
                  return (
                    check && (
                      <TargetRow
                        key={target}
                        check={check}
                        name={nameOf(check)}
                        job={jobOf(check)}
                        isOpen={open.value.has(target)}
                        isSought={sought.current[0] === target}
                        onToggle={() => toggle(target)}
                        isPicked={picked.some((each) => each.target === target)}
                        onPick={canPick.has(target) ? (isPicked) => pick([target], isPicked) : undefined}
                        deeds={deeds}
                      />
                    )
                  )
                })}
              </tbody>
            ))}
          </table>
        </div>
      )}
      {picked.length > 0 && <Selection picked={picked} blocked={deeds.blocked} clear={clear} />}
    </section>
  )
}

/** The reason for an empty list: without the service’s answer, a package may still match. */
function emptyText(query: string, state: PackageSearch['state']): string | undefined {
  const say = words().updates
  if (state === 'failed') return undefined
  if (state === 'asking') return say.searching
  return state === 'unasked' && query.trim() !== '' ? say.searchLonger : say.noTarget
}

interface HeadProps {
  /** The shown targets that can be selected. */
  all: readonly Check[]
  picked: readonly Check[]
  pick(targets: readonly string[], isPicked: boolean): void
}

function Head({ all, picked, pick }: HeadProps) {
  const { columns, pickAll } = words().updates
  const count = all.filter((check) => picked.includes(check)).length
  return (
    <thead>
      <tr>
        <th class="c-check">
          {all.length > 0 && (
            <label>
              <input
                type="checkbox"
                aria-label={pickAll}
                checked={count === all.length}
                indeterminate={count > 0 && count < all.length}
                onChange={({ currentTarget }) =>
                  pick(
                    all.map(({ target }) => target),
                    currentTarget.checked,
                  )
                }
              />
              <span class="narrow">{pickAll}</span>
            </label>
          )}
        </th>
        <th class="c-state">{columns.state}</th>
        <th class="c-name">{columns.target}</th>
        <th class="c-find">{columns.finding}</th>
        <th class="c-up end">{columns.updates}</th>
        <th class="c-sec">{columns.security}</th>
        <th class="c-size end">{columns.download}</th>
        <th class="c-age end">{columns.lists}</th>
        <th class="c-act">
          <span class="unseen">{columns.action}</span>
        </th>
      </tr>
    </thead>
  )
}
