/** What can be in the way of an answer. */
export type Trouble = 'lock' | 'down' | 'freeze' | 'host' | 'network'

/** When what was in the way: an answer is excused by what it met, and by nothing else. */
export interface Weather {
  /** Until the function that it gives back is called. */
  begin(trouble: Trouble): () => void
  /** Whether one of these was there at some moment between the two. */
  met(troubles: readonly Trouble[], from: number, to: number): boolean
  /** What there was shortly before, in between, and shortly after, in words. */
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
