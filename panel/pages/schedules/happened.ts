import type { Upgrade } from '../../nouns/night.ts'
import { type Fate, fateOf, type RunWave } from '../../nouns/schedule.ts'
import { harmSaid, protectionWords } from '../../parts/protection/words.ts'
import { scheduleWords } from '../../parts/schedules/words.ts'
import { fromService } from '../../words/words.ts'

/** The end of a target in more than its word: the first reason, a person's decision, the number of packages. */
export function happenedSaid(job: RunWave['jobs'][number], upgrade: Upgrade | undefined): string {
  const { run: say } = scheduleWords()
  const fate = fateOf(job)
  const harm = upgrade ? harmOf(fate, upgrade) : ''
  const reason = job.reason ?? upgrade?.reason ?? upgrade?.warnings[0]
  const changes = upgrade?.packages && !/^(nothing|notStarted|skipped|impossible)$/.test(fate) ? upgrade.packages : 0
  const decided = upgrade?.decided
  return [
    ...(harm === '' ? [] : [harm]),
    ...(reason === undefined ? [] : [fromService(reason)]),
    ...(decided ? [say.decided[decided.choice](decided.by)] : []),
    ...(changes > 0 ? [say.packages(changes)] : []),
  ].join(' · ')
}

function harmOf(fate: Fate, { regressions }: Upgrade): string {
  const count = regressions.length
  if (count === 0) return ''
  // A container that is as it was before works again.
  if (fate === 'back') return protectionWords().brokeThen(count)
  return /^(broken|stuck)$/.test(fate) ? harmSaid({ regressions, count }) : ''
}
