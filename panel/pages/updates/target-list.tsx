import { useSignal } from '@preact/signals'
import { Search } from 'lucide'
import { useRef } from 'preact/hooks'
import type { Check } from '../../nouns/checked.ts'
import { arrange, type Filter, FILTERS, isFound, passes, type Rows, type Sort, SORTS } from '../../nouns/target-list.ts'
import { Icon } from '../../parts/icon.tsx'
import { targetName } from '../../parts/target-name.ts'
import { type Job, running } from '../../wire/jobs.ts'
import { knownPackages } from '../../wire/remedies.ts'
import { words } from '../../words/words.ts'
import type { Deeds } from './deeds.ts'
import { TargetRow } from './target-row.tsx'

/** All targets with search, filter and order. */
export function TargetList({ checks, deeds }: { checks: readonly Check[]; deeds: Deeds }) {
  const say = words().updates
  const query = useSignal('')
  const filter = useSignal<Filter>('all')
  const sort = useSignal<Sort>('urgency')
  const open = useSignal<ReadonlySet<string>>(new Set())
  const nameOf = ({ target, name }: Check) => (target === 'host' ? targetName('host') : name || targetName(target))
  const jobOf = ({ target }: Check) => running.value.find((job) => isOn(job, target))
  const shown = checks.filter(
    (check) =>
      passes(check, filter.value) && isFound(check, nameOf(check), query.value, knownPackages.value.get(check.target)),
  )
  const busy = new Set(checks.filter((check) => jobOf(check)).map(({ target }) => target))
  const { rows, hold } = useSteady(arrange(shown, sort.value, busy), `${filter.value} ${sort.value} ${query.value}`)
  const byTarget = new Map(checks.map((check) => [check.target, check]))
  const toggle = (target: string) => {
    const next = new Set(open.value)
    if (!next.delete(target)) next.add(target)
    open.value = next
  }
  return (
    <section class="target-list" aria-label={say.targets}>
      <div class="filter-bar">
        <div class="searchbox">
          <Icon of={Search} />
          <input
            type="search"
            data-key="/"
            aria-label={say.search}
            placeholder={say.search}
            value={query.value}
            onInput={({ currentTarget }) => {
              query.value = currentTarget.value
            }}
          />
        </div>
        <fieldset class="seg" aria-label={say.filterTargets}>
          {FILTERS.map((each) => (
            <button key={each} type="button" aria-pressed={filter.value === each} onClick={() => (filter.value = each)}>
              {say.filters[each]} <span class="n num">{checks.filter((check) => passes(check, each)).length}</span>
            </button>
          ))}
        </fieldset>
        <label class="sort-by">
          <span class="dim">{say.sort}</span>
          <select
            value={sort.value}
            onChange={({ currentTarget }) => {
              sort.value = SORTS.find((each) => each === currentTarget.value) ?? 'urgency'
            }}
          >
            {SORTS.map((each) => (
              <option key={each} value={each}>
                {say.sorts[each]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {rows.every(({ targets }) => targets.length === 0) ? (
        <p class="empty">{say.noTarget}</p>
      ) : (
        <div class="targets" {...hold}>
          <table aria-label={say.targets}>
            <Head />
            {rows.map(({ group, targets }) => (
              <tbody key={group ?? 'all'}>
                {group && (
                  <tr class="group">
                    <th colSpan={6} scope="rowgroup">
                      <b>{say.groups[group]}</b> <span class="num">{targets.length}</span>
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
                        onToggle={() => toggle(target)}
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
    </section>
  )
}

function Head() {
  const { columns } = words().updates
  return (
    <thead>
      <tr>
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

/** Whether an upgrade or a repair runs on a target. */
function isOn(job: Job, target: string): boolean {
  return job.kind !== 'check' && (job.target === target || (job.target === 'all' && target !== 'host'))
}

/**
 * Keeps the order of the rows while the pointer or the focus is among them, so that none moves from under it. A new `key` (filter, search
 * or sort) applies at once, and everything else when the pointer and the focus have left.
 */
function useSteady(newest: Rows[], key: string) {
  const isPointed = useSignal(false)
  const isFocused = useSignal(false)
  const kept = useRef({ key, rows: newest })
  const isUsed = isPointed.value || isFocused.value
  kept.current =
    isUsed && kept.current.key === key ? { key, rows: steady(kept.current.rows, newest) } : { key, rows: newest }
  const hold = {
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      isPointed.value = pointerType === 'mouse'
    },
    onPointerLeave: () => {
      isPointed.value = false
    },
    onFocusIn: () => {
      isFocused.value = true
    },
    onFocusOut: ({ relatedTarget, currentTarget }: FocusEvent & { currentTarget: HTMLElement }) => {
      isFocused.value = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
    },
  }
  return { rows: kept.current.rows, hold }
}

/** The rows in their earlier order, without those that are gone; new ones come last. */
function steady(before: readonly Rows[], newest: readonly Rows[]): Rows[] {
  const there = new Set(newest.flatMap(({ targets }) => targets))
  const rows = before.map(({ group, targets }) => ({ group, targets: targets.filter((target) => there.has(target)) }))
  const placed = new Set(rows.flatMap(({ targets }) => targets))
  for (const { group, targets } of newest) {
    const added = targets.filter((target) => !placed.has(target))
    const own = rows.find((each) => each.group === group)
    if (own) own.targets.push(...added)
    else if (added.length > 0) rows.push({ group, targets: added })
  }
  return rows.filter(({ targets }) => targets.length > 0)
}
