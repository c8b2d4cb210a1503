import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { titleOf } from '../navigation.ts'
import type { PageName } from '../routes.ts'
import { PALETTE_KEY, singleKeys, switchSingleKeys } from '../wire/keyboard.ts'
import { onSignOut } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { Dialog } from './dialog.tsx'

const isOpen = signal(false)

export function openKeyMap(): void {
  isOpen.value = true
}

onSignOut(() => {
  isOpen.value = false
})

interface KeyMapProps {
  destinations(): readonly { letter: string; page: PageName }[]
}

/** The list of all keyboard shortcuts. */
export function KeyMap({ destinations }: KeyMapProps) {
  const { keys: say, shell } = words()
  if (!isOpen.value) return null
  const close = () => {
    isOpen.value = false
  }
  return (
    <Dialog title={say.title} class="key-map" onClose={close}>
      <div class="maps">
        <dl>
          <Line means={say.palette}>
            <kbd>{PALETTE_KEY}</kbd>
          </Line>
          <Line means={say.filter}>
            <kbd>/</kbd>
          </Line>
          <Line means={say.follow}>
            <kbd>f</kbd>
          </Line>
          <Line means={say.map}>
            <kbd>?</kbd>
          </Line>
          <Line means={say.close}>
            <kbd>{say.escape}</kbd>
          </Line>
          <Line means={say.leaveTerminal}>
            <kbd>Ctrl</kbd> <kbd>{say.shift}</kbd> <kbd>{say.escape}</kbd>
          </Line>
        </dl>
        <dl>
          {destinations().map(({ letter, page }) => (
            <Line key={letter} means={titleOf(page, words())}>
              <kbd>g</kbd> <kbd>{letter}</kbd>
            </Line>
          ))}
        </dl>
      </div>
      <SingleKeys />
      <div class="buttons">
        <button type="button" class="button" data-first onClick={close}>
          {shell.close}
        </button>
      </div>
    </Dialog>
  )
}

function Line({ means, children }: { means: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{means}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Switches the single-key shortcuts on and off in this browser. */
export function SingleKeys() {
  const say = words().keys
  const id = useId()
  return (
    <div class="single-keys">
      <label>
        <input
          type="checkbox"
          checked={singleKeys.value}
          aria-describedby={id}
          onChange={({ currentTarget }) => switchSingleKeys(currentTarget.checked)}
        />
        {say.singleKeys}
      </label>
      <p class="dim" id={id}>
        {say.singleKeysMeans}
      </p>
    </div>
  )
}
