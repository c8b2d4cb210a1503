import { X } from 'lucide'
import { type Check, updatesIn } from '../../nouns/checked.ts'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/words.ts'
import { ReviewButton } from './review-button.tsx'

interface SelectionProps {
  picked: readonly Check[]
  /** The reason why nothing can start now. */
  blocked: string | undefined
  clear(): void
}

/** The selected targets in numbers, and the way to their plans. */
export function Selection({ picked, blocked, clear }: SelectionProps) {
  const { updates: say, plan } = words()
  const urgent = picked.filter(({ counts }) => counts.security > 0)
  const packages = picked.reduce((sum, check) => sum + updatesIn(check), 0)
  return (
    <section class="selection" aria-label={say.selection}>
      <p class="grow" role="status">
        <b class="num">{say.picked(picked.length)}</b> <span class="dim num">{say.packages(packages)}</span>
      </p>
      {urgent.length > 0 && <ReviewButton checks={urgent} only="security" blocked={blocked} word={plan.securityOnly} />}
      <ReviewButton checks={picked} only="all" blocked={blocked} word={say.reviewPicked(picked.length)} />
      <button type="button" class="button plain small" aria-label={say.clearSelection} onClick={clear}>
        <Icon of={X} />
      </button>
    </section>
  )
}
