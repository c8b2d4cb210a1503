import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { current, type Shell } from '../../wire/terminals.ts'
import { terminalWords } from '../../wire/terminal-words.ts'
import { fromService } from '../../words/words.ts'
import { KeyBar } from './key-bar.tsx'
import { ShellTools, speaks } from './shell-tools.tsx'

/** The terminal of the current tab, its buttons, and how it ended. */
export function ShellView() {
  const say = terminalWords()
  const box = useRef<HTMLDivElement>(null)
  const shell = current.value
  const screen = shell?.screen.value
  const show = async () => {
    if (!shell || !box.current) return
    await shell.show(box.current, say.typeHere)
    // Arrow keys between tabs leave the focus on the tabs.
    if (current.value === shell && !document.activeElement?.matches('[role=tab]')) shell.screen.value?.focus()
  }
  useEffect(() => void show(), [shell])
  useEffect(() => screen?.speak(speaks.value), [screen, speaks.value])
  if (!shell) return null
  const again = () => {
    if (screen) {
      shell.reopen()
      screen.focus()
    } else void show()
  }
  return (
    <div class="shell-view" id="shell-view" role="tabpanel" aria-labelledby={`shell-tab-${shell.id}`}>
      <ShellTools shell={shell} />
      <div class="shell-box" ref={box} />
      <Ending shell={shell} again={again} />
      <KeyBar shell={shell} />
      <p class="dim small leave">{say.leave}</p>
    </div>
  )
}

/** How the shell ended, and a button that reopens it. */
function Ending({ shell, again }: { shell: Shell; again(): void }) {
  const say = terminalWords()
  const state = shell.state.value
  const end = state.is === 'ended' ? state.end : undefined
  const isWell = end?.why === 'exit' && end.code === 0
  const button = useRef<HTMLButtonElement>(null)
  // Before the next key.
  useLayoutEffect(() => {
    // A terminal without a shell would capture the focus, and the Tab key with it.
    if (end && document.activeElement?.closest('.shell-box')) button.current?.focus()
  }, [end])
  if (state.is === 'failed') return <Problem error={state.error} retry={again} />
  return (
    <div class="shell-end" role="status">
      {end && (
        <>
          <Status is={isWell ? 'off' : 'warn'} hidden />
          <span class="grow">
            {end.why === 'exit' ? say.exited(end.code) : say.end[end.why]}
            {end.why !== 'exit' && end.reason && <span class="dim"> {fromService(end.reason)}</span>}
          </span>
          <button type="button" class="button small" ref={button} onClick={again}>
            {say.reopen}
          </button>
        </>
      )}
    </div>
  )
}
