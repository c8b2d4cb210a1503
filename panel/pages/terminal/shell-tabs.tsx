import { useEffect, useRef } from 'preact/hooks'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { current, type Shell, shells } from '../../wire/terminals.ts'
import { terminalWords } from '../../wire/terminal-words.ts'

/** The label of a terminal: its target, with a number when the target has several. */
export function shellName({ id, target }: Shell): string {
  const same = shells.value.filter((each) => each.target === target)
  const name = targetName(target)
  if (same.length < 2) return name
  return terminalWords().nth(name, same.findIndex((each) => each.id === id) + 1)
}

/** One tab for each terminal; arrow keys switch between them. */
export function ShellTabs() {
  const say = terminalWords()
  const list = useRef<HTMLDivElement>(null)
  const all = shells.value
  const chosen = current.value
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [chosen])
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 }
    const step = steps[event.key]
    const at = current.value ? all.indexOf(current.value) : -1
    if (step === undefined || at < 0) return
    event.preventDefault()
    const next = (at + step + all.length) % all.length
    current.value = all[next]
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }
  return (
    <div class="shell-tabs" role="tablist" aria-label={say.tabs} ref={list}>
      {all.map((shell) => {
        const selected = shell === current.value
        const { is } = shell.state.value
        return (
          <button
            key={shell.id}
            type="button"
            role="tab"
            id={`shell-tab-${shell.id}`}
            aria-selected={selected}
            aria-controls="shell-view"
            tabIndex={selected ? 0 : -1}
            onKeyDown={move}
            onClick={({ currentTarget }) => {
              current.value = shell
              currentTarget.blur()
              shell.screen.value?.focus()
            }}
          >
            <Status is={is === 'open' ? 'ok' : is === 'opening' ? 'run' : 'off'} hidden>
              {is === 'open' ? say.isOpen : is === 'opening' ? say.opening : say.hasEnded}
            </Status>
            <span class="cut" title={shellName(shell)}>
              {shellName(shell)}
            </span>
          </button>
        )
      })}
    </div>
  )
}
