import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Change, type ChangeGroup, grouped, keyOf } from '../../nouns/plan.ts'
import type { Planning } from '../../wire/planning.ts'
import { language, words } from '../../words/words.ts'
import { filtered, PackageFilter } from '../package-filter.tsx'
import { ChangeRow } from './change-row.tsx'

/** Rows that are there at once; the others follow, some in each frame, so that the first ones need not wait for them. */
const AT_ONCE = 40
const EACH_FRAME = 120
/** Rows in one part, which the browser lays out only near the view. */
const PART = 40

type Item = { group: ChangeGroup; count: number } | Change

/** Every change of the plan by what happens to its package, removals first. */
export function ChangeList({ planning }: { planning: Planning }) {
  const { plan: say, updates } = words()
  const filter = useSignal('')
  const changes = planning.changes.value
  const items = useMemo(() => itemsOf(filtered(changes, filter.value)), [changes, filter.value])
  const stage = planning.stage.value
  const isWaiting = stage === 'checking' || stage === 'planning'
  if (stage === 'empty' && changes.length === 0) return null
  return (
    <section class="plan-changes" aria-label={say.changes}>
      <div class="changes-bar">
        <h3>
          {say.changes} <span class="dim num">{changes.length}</span>
        </h3>
        <PackageFilter of={filter} count={changes.length} />
      </div>
      {changes.length > 0 && items.length === 0 && <p class="dim">{updates.noMatch}</p>}
      {changes.length === 0 && isWaiting && <p class="dim">{say.nothing}</p>}
      {items.length > 0 && <Parts key={language()} items={items} planning={planning} />}
    </section>
  )
}

function itemsOf(changes: readonly Change[]): Item[] {
  return grouped(changes).flatMap(({ group, changes: own }) => [{ group, count: own.length }, ...own])
}

/** Rows in parts. A part is kept as it is until the list changes, and a row until its change does. */
function Parts({ items, planning }: { items: readonly Item[]; planning: Planning }) {
  const [shown, show] = useState(AT_ONCE)
  const made = useMemo(() => new Map<number, VNode>(), [items])
  const rows = useMemo(() => new WeakMap<Change, VNode>(), [planning])
  const rowOf = (change: Change) => {
    const row = rows.get(change) ?? (
      <ChangeRow key={`${keyOf(change)} ${change.action}`} planning={planning} of={change} />
    )
    rows.set(change, row)
    return row
  }
  useEffect(() => {
    if (shown >= items.length) return
    const frame = requestAnimationFrame(() => show(shown + EACH_FRAME))
    return () => cancelAnimationFrame(frame)
  }, [shown, items])
  const parts: VNode[] = []
  for (let from = 0; from < Math.min(shown, items.length); from += PART) {
    const part = made.get(from) ?? (
      <ul key={from} class="changes">
        {items
          .slice(from, from + PART)
          .map((item) => ('group' in item ? <GroupHead key={item.group} {...item} /> : rowOf(item)))}
      </ul>
    )
    made.set(from, part)
    parts.push(part)
  }
  return <div class="change-parts">{parts}</div>
}

function GroupHead({ group, count }: { group: ChangeGroup; count: number }) {
  return (
    <li class={`ghead ${group}`}>
      <h4>{words().plan.groups[group]}</h4> <span class="dim small num">{count}</span>
    </li>
  )
}
