import { useEffect, useState } from 'preact/hooks'
import { FOR_ADMINS, MENU, titleOf } from '../navigation.ts'
import { type Command, createKeys, DESTINATIONS, type Pressed, WAIT_MS } from '../nouns/keys.ts'
import { go } from '../router.ts'
import type { PageName } from '../routes.ts'
import { isMac, singleKeys } from '../wire/keyboard.ts'
import { isAdmin } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { KeyMap, openKeyMap } from './key-map.tsx'
import { openPalette } from './palette.tsx'

/** The pages with a letter that the user may open. */
export function destinations(): { letter: string; page: PageName; path: string }[] {
  const paths = new Map<PageName, string>([...MENU, { page: 'account', path: '/account' } as const].map(asEntry))
  return Object.entries(DESTINATIONS).flatMap(([letter, page]) => {
    const path = paths.get(page)
    return path && (isAdmin.value || !FOR_ADMINS.has(page)) ? [{ letter, page, path }] : []
  })
}

function asEntry({ page, path }: { page: PageName; path: string }): [PageName, string] {
  return [page, path]
}

/** Handles the panel's shortcuts, and shows their list. */
export function Keys() {
  const [isWaiting, setWaiting] = useState(false)
  useEffect(() => {
    const keys = createKeys()
    let timer: ReturnType<typeof setTimeout> | undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return
      const { key, ctrlKey, metaKey, altKey, repeat, target } = event
      const command = keys(
        { key, ctrlKey, metaKey, altKey, repeat, where: whereIs(target) },
        { singleKeys: singleKeys.value, isMac, now: event.timeStamp },
      )
      if (!command) return
      clearTimeout(timer)
      setWaiting(command.do === 'wait')
      if (command.do === 'wait') timer = setTimeout(() => setWaiting(false), WAIT_MS)
      if (obey(command)) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('keydown', onKey)
      clearTimeout(timer)
    }
  }, [])
  return (
    <>
      <Waiting shown={isWaiting} />
      <KeyMap destinations={destinations} />
    </>
  )
}

/** The context of a key press. */
function whereIs(target: EventTarget | null): Pressed['where'] {
  if (document.querySelector('dialog[open]')) return 'closed'
  if (!(target instanceof HTMLElement)) return 'page'
  const isField =
    target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox], [type=radio])')
  return isField ? 'field' : 'page'
}

/** Whether the command had an effect; otherwise the browser handles the key. */
function obey(command: Command): boolean {
  switch (command.do) {
    case 'palette':
      openPalette()
      return true
    case 'help':
      openKeyMap()
      return true
    case 'go':
      goTo(command.page)
      return true
    case 'press':
      return press(command.key)
    case 'wait':
      return true
    case 'stopWaiting':
      return false
  }
}

function goTo(page: PageName): void {
  const there = destinations().find((each) => each.page === page)
  if (there) go(there.path)
}

/** Clicks or focuses the element of this page that has the key; false when there is none. */
function press(key: string): boolean {
  const [found] = [...document.querySelectorAll<HTMLElement>(`main [data-key="${key}"]`)].filter((each) =>
    each.checkVisibility(),
  )
  if (found instanceof HTMLInputElement) found.select()
  if (found instanceof HTMLInputElement) found.focus()
  else found?.click()
  return found !== undefined
}

/** Shows the letters of the pages while the panel waits for one. */
function Waiting({ shown }: { shown: boolean }) {
  const say = words().keys
  return (
    <div class="letters-frame">
      <p class="unseen" role="status">
        {shown && say.waiting}
      </p>
      {shown && (
        <ul class="letters" aria-hidden="true">
          {destinations().map(({ letter, page }) => (
            <li key={letter}>
              <kbd>{letter}</kbd> {titleOf(page, words())}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
