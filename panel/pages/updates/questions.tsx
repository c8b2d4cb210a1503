import type { Check, Finding } from '../../nouns/checked.ts'
import { confirm } from '../../parts/dialog.tsx'
import { words } from '../../words/words.ts'
import { Review } from './review.tsx'

/** Shows exactly what an upgrade of the target changes, and asks whether to start it. */
export function confirmReview(check: Check, action: 'review' | 'retry'): Promise<boolean> {
  const { updates: say, shell } = words()
  const isHost = check.target === 'host'
  return confirm({
    title: isHost ? say.upgradeHostTitle : say.reviewTitle(check.name),
    text: <Review check={check} />,
    verb: isHost ? say.upgradeHost : action === 'retry' ? shell.retry : say.upgrade,
  })
}

/** Names the repository and its change, and asks whether to accept it. */
export function confirmRelease(finding: Finding): Promise<boolean> {
  const { findings: say } = words()
  const text = (
    <>
      <p class="mono">{finding.repository}</p>
      <p>{say.sentence(finding)}</p>
      <p>{say.allowText}</p>
    </>
  )
  return confirm({ title: say.allowTitle, text, verb: say.allow })
}
