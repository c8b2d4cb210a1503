import { useEffect, useRef } from 'preact/hooks'
import { Problem } from '../../parts/problem.tsx'
import { Status } from '../../parts/status.tsx'
import { current, type Shell } from '../../wire/terminals.ts'
import { words } from '../../words/words.ts'
import { KeyBar } from './key-bar.tsx'
import { ShellTools, speaks } from './shell-tools.tsx'

/** The terminal of the current tab, what can be done with it, and how it has ended. */
export function ShellView() {
  const { terminal: say } = words()
  const box = useRef<HTMLDivElement>(null)
  const shell = current.value
  const screen = shell?.screen.value
  useEffect(() => {
    if (shell && box.current) void shell.show(box.current, say.typeHere)
  }, [shell])
  useEffect(() => screen?.speak(speaks.value), [screen, speaks.value])
  if (!shell) return null
  const again = () => {
    if (screen) {
      shell.reopen()
      screen.focus()
    } else if (box.current) void shell.show(box.current, say.typeHere)
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

/** How it ended, and another one in its place. */
function Ending({ shell, again }: { shell: Shell; again(): void }) {
  const { terminal: say } = words()
  const state = shell.state.value
  if (state.is === 'failed') return <Problem error={state.error} retry={again} />
  const end = state.is === 'ended' ? state.end : undefined
  const isWell = end?.why === 'exit' && end.code === 0
  return (
    <div class="shell-end" role="status">
      {end && (
        <>
          <Status is={isWell ? 'off' : 'warn'} hidden />
          <span class="grow">
            {end.why === 'exit' ? say.exited(end.code) : say.end[end.why]}
            {end.why !== 'exit' && end.reason && <span class="dim"> {end.reason}</span>}
          </span>
          <button type="button" class="button small" onClick={again}>
            {say.reopen}
          </button>
        </>
      )}
    </div>
  )
}
