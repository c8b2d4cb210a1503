/** One line of a look: kind, name, `good` or `bad`, detail. */
export type Item = readonly [kind: string, name: string, state: string, detail: string]
/** A thing that has become worse: kind, name, and both details; null where it is not there. */
export type Worse = readonly [kind: string, name: string, before: string | null, after: string | null]

const LINE = /^([a-z]{1,20})\t([^\t]{1,300})\t(good|bad)\t([^\t]{0,200})$/

/** Reads the lines of a look; undefined when it was not completed. */
export function itemsOf(text: string): Item[] | undefined {
  return text.endsWith('end\n') ? linesOf(text.split('\n')) : undefined
}

/** Reads lines of a look; others are left out. */
export function linesOf(lines: readonly string[]): Item[] {
  return lines.flatMap((line): Item[] => {
    const [, kind = '', name = '', state = '', detail = ''] = LINE.exec(line) ?? []
    return kind === '' ? [] : [[kind, name, state, detail]]
  })
}

/** Returns what the second look found worse than the first. A container that does not answer is worse as a whole. */
export function worseThan(id: string, before: readonly Item[], after: readonly Item[] | undefined): Worse[] {
  return after ? worse(before, after) : [['container', id, 'answers', null]]
}

/** Returns what the second look found worse than the first: failed since then, or gone. */
export function worse(before: readonly Item[], after: readonly Item[]): Worse[] {
  const [was, is] = [before, after].map((items) => new Map(items.map((item) => [keyOf(item), item])))
  const keys = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].sort()
  return keys.flatMap((key): Worse[] => {
    const [first, second] = [was?.get(key), is?.get(key)]
    const [kind, name] = first ?? second ?? ['packages', '']
    // A probe that was not asked this time says nothing.
    if (kind === 'packages' || (kind === 'probe' && !second)) return []
    const hasFailed = second?.[2] === 'bad' && first?.[2] !== 'bad'
    const isGone = first?.[2] === 'good' && !second
    return hasFailed || isGone ? [[kind, name, first?.[3] ?? null, second?.[3] ?? null]] : []
  })
}

/** Sorts what two looks found worse: in both, and in one of them alone. */
export function twice(first: readonly Worse[], again: readonly Worse[]): { worse: Worse[]; unsteady: Worse[] } {
  const [ofFirst, ofAgain] = [new Set(first.map(keyOf)), new Set(again.map(keyOf))]
  return {
    worse: again.filter((one) => ofFirst.has(keyOf(one))),
    unsteady: [...first.filter((one) => !ofAgain.has(keyOf(one))), ...again.filter((one) => !ofFirst.has(keyOf(one)))],
  }
}

function keyOf([kind, name]: Item | Worse): string {
  return `${kind}\t${name}`
}
