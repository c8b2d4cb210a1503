/** The number of measurements of each subject, without the warm-up. */
export interface Rounds {
  warmUp: number
  rounds: number
}

/** Measures each subject once a round, every other round in reverse order; returns the results by name. */
export async function measure<const name extends string>(
  { warmUp, rounds }: Rounds,
  things: Record<name, () => Promise<number>>,
): Promise<(of: name) => number[]> {
  const measured = new Map<string, number[]>()
  const entries = Object.entries<() => Promise<number>>(things)
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, once] of round % 2 === 0 ? entries : entries.toReversed()) {
      const value = await once()
      if (round >= 0) measured.set(name, [...(measured.get(name) ?? []), value])
    }
  }
  return (of) => measured.get(of) ?? []
}
