import { updatesIn } from '../nouns/checked.ts'
import { checks } from '../wire/checks.ts'
import { words } from '../words/words.ts'
import { confirm } from './dialog.tsx'

/**
 * Asks before an upgrade of the host itself, because everything depends on it. The upgrade of one container needs no question; the upgrade
 * of several targets names them in its own question.
 */
export async function confirmUpgrade(target: string): Promise<boolean> {
  if (target !== 'host') return true
  const { updates: say } = words()
  const check = checks.value?.find((each) => each.target === 'host')
  const count = check?.checked_at ? updatesIn(check) : undefined
  return confirm({
    title: say.upgradeHostTitle,
    text: say.upgradeHostText(count === undefined ? say.upgradeHostUnknown : say.packages(count)),
    verb: say.upgradeHost,
  })
}
