/** The faults that can affect an answer. */
export type Trouble = 'lock' | 'down' | 'freeze' | 'host' | 'network'

/** Records when each fault was active: a failed answer is excused only by a fault during its request. */
export interface Weather {
  /** Records a fault that lasts until the returned function is called. */
  begin(trouble: Trouble): () => void
  /** Returns whether one of these was active at some moment between the two. */
  met(troubles: readonly Trouble[], from: number, to: number): boolean
  /** Describes the faults from 5 s before to 5 s after an interval. */
  near(from: number, to: number): string[]
}

interface Spell {
  trouble: Trouble
  from: number
  to: number
}

const NEAR_MS = 5_000

export function createWeather(now: () => number = Date.now): Weather {
  const spells: Spell[] = []
  return {
    begin(trouble) {
      const spell: Spell = { trouble, from: now(), to: Number.POSITIVE_INFINITY }
      spells.push(spell)
      return () => {
        spell.to = now()
      }
    },
    near: (from, to) =>
      spells
        .filter((spell) => spell.from <= to + NEAR_MS && spell.to >= from - NEAR_MS)
        .map((spell) => `${spell.trouble} from ${spell.from - from} to ${spell.to - from} ms`),
    met: (troubles, from, to) =>
      spells.some((spell) => troubles.includes(spell.trouble) && spell.from <= to && spell.to >= from),
  }
}
