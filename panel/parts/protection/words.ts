import type { Compared } from '../../nouns/comparison.ts'
import type { RegressionKind } from '../../nouns/checked.ts'
import type { Protection } from '../../nouns/protection.ts'
import { protection } from '../../words/fr/protection.ts'
import { fromService, laterWords } from '../../words/words.ts'

/** The texts about protected upgrades, in the user's language. They load with the pages that show them. */
export function protectionWords(): typeof protection {
  return laterWords()?.protection ?? protection
}

interface Thing {
  kind: RegressionKind
  name: string
}

/** The kind and the name of a compared thing: “Port”, “443”. */
export function thingOf({ kind, name }: Thing): { kind: string; name: string } {
  const say = protectionWords()
  const called = kind === 'container' ? say.whole : name === '(daemon)' ? say.daemon : name
  return { kind: say.kinds[kind], name: kind === 'socket' ? called.replace(/^tcp\//, '') : called }
}

/** The things that do not work any more, in one line: “Port 443 and 3 more do not work any more”; empty for nothing. */
export function harmSaid({ regressions, count }: { regressions: readonly Thing[]; count: number }): string {
  const say = protectionWords()
  const [first] = regressions
  if (!first) return count === 0 ? '' : say.sinceCount(count)
  const { kind, name } = thingOf(first)
  return say.since(`${kind} ${name}`, count - 1)
}

/** Why there is no snapshot: the hypervisor’s own words, unless the panel knows better ones. */
export function lackSaid(why: string): string {
  return why === 'snapshot feature is not available' ? protectionWords().guard.noFeature : fromService(why)
}

/** The state of a thing in one of the two looks. */
export function detailOf(row: Compared, look: 'before' | 'after'): string {
  const say = protectionWords()
  const detail = look === 'before' ? row.before : row.after
  const { comparison } = say
  if (detail === null) return look === 'after' && row.before !== null ? comparison.gone : comparison.absent
  if (row.kind === 'socket')
    return /^(good|-)?$/.test(detail) ? comparison.listening : `${comparison.listening} (${detail})`
  return say.detail(detail)
}

/** A policy in one line. */
export function policySaid({ before, keep, settle_seconds, on_failure, probes }: Protection): string {
  const { page, guard } = protectionWords()
  if (before === 'none') return page.line.none
  return [
    page.line[before],
    page.kept(keep),
    guard.health(settle_seconds),
    ...(probes.length > 0 ? [page.probes(probes.length)] : []),
    guard[on_failure],
  ].join(' · ')
}
