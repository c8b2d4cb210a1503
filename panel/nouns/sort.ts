export interface Order<key extends string> {
  by: key
  descending: boolean
}

/** What a thing is worth in an order; null and undefined come last, whichever way it goes. */
export type Worth = string | number | null | undefined

/** Sorted by what `worth` says; those of the same worth stay as they were. */
export function sorted<thing>(all: readonly thing[], worth: (one: thing) => Worth, descending: boolean): thing[] {
  const collator = new Intl.Collator(undefined, { numeric: true })
  const sign = descending ? -1 : 1
  return [...all].sort((one, other) => {
    const [a, b] = [worth(one), worth(other)]
    if (a == null || b == null) return a == null ? (b == null ? 0 : 1) : -1
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b)))
  })
}
