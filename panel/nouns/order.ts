export interface Order<key extends string> {
  by: key
  descending: boolean
}

/** The sort key of an item; null and undefined always come last. */
export type SortKey = string | number | null | undefined

/** Sorts by `keyOf`; items with equal keys keep their order. */
export function sorted<thing>(all: readonly thing[], keyOf: (one: thing) => SortKey, descending: boolean): thing[] {
  const collator = new Intl.Collator(undefined, { numeric: true })
  const sign = descending ? -1 : 1
  return [...all].sort((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)]
    if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b)))
  })
}

/** Puts the cards into the user's order; new cards come last. */
export function arranged<id extends string>(all: readonly id[], order: readonly string[]): id[] {
  const given = order.flatMap((id) => all.find((each) => each === id) ?? [])
  const known = [...new Set(given)]
  return [...known, ...all.filter((id) => !known.includes(id))]
}

/** Moves one item by a number of places. */
export function moved<id>(order: readonly id[], one: id, by: number): id[] {
  const from = order.indexOf(one)
  const to = Math.min(order.length - 1, Math.max(0, from + by))
  if (from < 0 || from === to) return [...order]
  const rest = order.filter((id) => id !== one)
  return [...rest.slice(0, to), one, ...rest.slice(to)]
}
