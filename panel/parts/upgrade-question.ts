import { waitingIn } from '../nouns/checked.ts'
import { checks } from '../wire/checks.ts'
import { words } from '../words/words.ts'
import { confirm } from './dialog.tsx'

/**
 * Asks before the host itself is upgraded: everything stands on it. One container is upgraded without a question; what
 * upgrades several targets names them all, and asks by itself.
 */
export async function mayUpgrade(target: string): Promise<boolean> {
  if (target !== 'host') return true
  const { updates: say } = words()
  const check = checks.value?.find((each) => each.target === 'host')
  const count = check?.checked_at ? waitingIn(check) : undefined
  return confirm({
    title: say.upgradeHostTitle,
    text: say.upgradeHostText(count === undefined ? say.upgradeHostUnknown : say.packages(count)),
    verb: say.upgradeHost,
  })
}
