import { isAdmin, isOperator, me } from '../../wire/panel.ts'
import { words } from '../../words/words.ts'
import { targetName } from '../target-name.ts'
import { accessWords } from './words.ts'

/** More names would take the place of what the page is about; the account page has all of them. */
const NAMED = 5

/**
 * One quiet line for those who may not work on every target: why a page offers them less, and with `counts` that its heading counts their
 * targets.
 */
export function Reach({ counts = false }: { counts?: boolean }) {
  const { roles: say } = accessWords()
  if (!me.value || isAdmin.value) return null
  const { role, operates } = me.value
  if (role === 'viewer') return <p class="dim reach">{say.reads}</p>
  if (!operates) return null
  const names = operates.slice(0, NAMED).map((target) => targetName(target))
  const yours = words().dashboard.names(names, operates.length - names.length)
  return (
    <p class="dim reach">
      {say.onlyOn(yours)} {counts && say.countsYours}
    </p>
  )
}

/** The name of the targets that need somebody: not the reader, where these may be others’. */
export function needSaid(usual: string): string {
  return isOperator.value && !me.value?.operates ? usual : accessWords().roles.need
}

/** The line of a page whose heading counts the user's targets. */
export function Counted() {
  return <Reach counts />
}
