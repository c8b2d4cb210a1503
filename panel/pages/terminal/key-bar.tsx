import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp } from 'lucide'
import { type Key, typedBy } from '../../nouns/shell.ts'
import { Icon } from '../../parts/icon.tsx'
import type { Shell } from '../../wire/terminals.ts'
import { terminalWords } from '../../wire/terminal-words.ts'

const KEYS = [
  { key: 'escape' },
  { key: 'tab' },
  { key: 'left', icon: ArrowLeft },
  { key: 'down', icon: ArrowDown },
  { key: 'up', icon: ArrowUp },
  { key: 'right', icon: ArrowRight },
] as const

/** The keys that phones lack. Pressing them keeps the on-screen keyboard open. */
export function KeyBar({ shell }: { shell: Shell }) {
  const say = terminalWords()
  const press = (key: Key) => {
    const screen = shell.screen.value
    screen?.type(typedBy(key, screen.isApplication()))
  }
  return (
    <fieldset class="key-bar" aria-label={say.keys} onPointerDown={(event) => event.preventDefault()}>
      <button
        type="button"
        class="button"
        aria-pressed={shell.ctrl.value}
        onClick={() => {
          shell.ctrl.value = !shell.ctrl.value
        }}
      >
        {say.ctrl}
      </button>
      {KEYS.map((each) => (
        <button
          key={each.key}
          type="button"
          class="button"
          aria-label={'icon' in each ? say.key[each.key] : undefined}
          onClick={() => press(each.key)}
        >
          {'icon' in each ? <Icon of={each.icon} /> : say.key[each.key]}
        </button>
      ))}
    </fieldset>
  )
}
