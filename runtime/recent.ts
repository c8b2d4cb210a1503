/** Remembers what was used lately, at least the newest `size` keys and at most twice as many. */
export interface Recent<value> {
  get(key: string): value | undefined
  set(key: string, value: value): void
  delete(key: string): void
  /** Grows older: what is not used again before the next time is forgotten. */
  turn(): void
}

/**
 * Two generations: when the young one is full it becomes the old one, whose keys are forgotten unless they are asked
 * for again. Unlike a Map whose oldest key is deleted each time, its cost does not grow with what was deleted.
 */
export function createRecent<value>(size: number): Recent<value> {
  let young = new Map<string, value>()
  let old = new Map<string, value>()
  const turn = () => {
    old = young
    young = new Map()
  }
  const set = (key: string, value: value) => {
    if (young.size >= size && !young.has(key)) turn()
    young.set(key, value)
  }
  return {
    set,
    turn,
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const earlier = old.get(key)
      if (earlier !== undefined) set(key, earlier)
      return earlier
    },
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}
