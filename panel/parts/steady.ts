import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Keys of rows in their order, by group. */
interface Rows<group> {
  group: group
  targets: string[]
}

/**
 * Keeps the order of the rows while the pointer or the focus is among them, so that none moves from under it. A new `key` (filter, search
 * or sort) applies at once, and everything else when the pointer and the focus have left.
 */
export function useSteady<group>(newest: Rows<group>[], key: string) {
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
function steady<group>(before: readonly Rows<group>[], newest: readonly Rows<group>[]): Rows<group>[] {
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
