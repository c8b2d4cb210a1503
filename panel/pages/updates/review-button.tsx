import type { Check } from '../../nouns/checked.ts'
import { BlockableButton } from '../../parts/blockable-button.tsx'
import { reviewPlan, reviewPlans } from '../../parts/plan/open.ts'
import { go } from '../../router.ts'
import { words } from '../../words/words.ts'

interface ReviewButtonProps {
  checks: readonly Check[]
  only: 'all' | 'security'
  /** The reason why nothing can start now. */
  blocked: string | undefined
  /** Instead of the word for all targets. */
  word?: string
}

/** Shows the plans of these targets, of security alone or of everything. Several are one run, with its own page. */
export function ReviewButton({ checks, only, blocked, word }: ReviewButtonProps) {
  const say = words().updates
  return (
    <BlockableButton class={only === 'all' ? 'primary' : ''} blocked={blocked} press={() => void review(checks, only)}>
      {word ?? (only === 'all' ? say.reviewAll : say.reviewSecurity)}
    </BlockableButton>
  )
}

/** Opens the sheet of one target or of several, and then the page of what was started. */
async function review(checks: readonly Check[], only: ReviewButtonProps['only']): Promise<void> {
  const targets = checks.map(({ target }) => target)
  const [first] = targets
  if (first === undefined) return
  if (targets.length === 1) {
    const job = await reviewPlan(first, { only })
    if (job !== undefined) go(`/updates/${job}`)
    return
  }
  const run = await reviewPlans(targets, { only })
  if (run !== undefined) go(`/runs/${run}`)
}
