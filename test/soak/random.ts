/** Pseudo-random numbers, the same for the same seed. */
export interface Random {
  /** From 0 inclusive to 1 exclusive. */
  next(): number
  /** A whole number, both ends inclusive. */
  between(least: number, most: number): number
  chance(probability: number): boolean
  pick<item>(items: readonly [item, ...item[]]): item
  shuffled<item>(items: readonly item[]): item[]
  bytes(length: number): Buffer
  /** Another series, independent of how many numbers are taken from this one later. */
  branch(): Random
}

/** mulberry32: 32 bits of state, good enough to choose the next fault. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (items) => items[between(0, items.length - 1)] ?? items[0],
    shuffled: (items) =>
      items
        .map((item) => ({ item, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ item }) => item),
    bytes: (length) => Buffer.from(Array.from({ length }, () => between(0, 255))),
    branch: () => createRandom(between(0, 2 ** 32 - 1)),
  }
}
