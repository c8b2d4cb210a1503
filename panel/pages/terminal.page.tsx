import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Heading } from '../parts/heading.tsx'
import { addLaterStyle } from '../parts/later-style.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Status } from '../parts/status.tsx'
import { targetName } from '../parts/target-name.ts'
import { go, isNavigated, route } from '../router.ts'
import css from '../style/later/terminal.css' with { type: 'text' }
import { useLoad } from '../wire/load.ts'
import { canBeChecked, readTargets, type Target } from '../wire/packages.ts'
import { openShell, shells, terminalExits } from '../wire/terminals.ts'
import { terminalWords } from '../wire/terminal-words.ts'
import { useKeyboardRoom } from './terminal/keyboard-room.ts'
import { ShellTabs } from './terminal/shell-tabs.tsx'
import { ShellView } from './terminal/shell-view.tsx'

addLaterStyle(css)

/** Shells on the host and in its containers, in tabs. */
export function TerminalPage() {
  const say = terminalWords()
  const load = useLoad(readTargets)
  const wanted = route.value?.query.get('target')
  const any = shells.value.length > 0
  useEffect(() => {
    if (!wanted) return
    // A link can come from anyone, so a shell opens only after a press inside the panel.
    if (isNavigated) openShell(wanted)
    // Going back to this page must not open another shell.
    go('/terminal', { replace: true })
  }, [wanted])
  useEffect(() => {
    let seen = terminalExits.value
    return terminalExits.subscribe((times) => {
      if (times !== seen) document.querySelector<HTMLElement>('.shell-tabs [aria-selected=true]')?.focus()
      seen = times
    })
  }, [])
  const page = useRef<HTMLDivElement>(null)
  useKeyboardRoom(page)
  const had = useRef(any)
  // Before the next key.
  useLayoutEffect(() => {
    // The last terminal was closed together with the focused element.
    if (had.current && !any) document.querySelector<HTMLElement>('h1')?.focus()
    had.current = any
  }, [any])
  return (
    <div ref={page} class={any ? 'terminal-page open' : 'terminal-page'}>
      <Heading title={say.title}>{any && <Picker targets={load.data.value ?? []} />}</Heading>
      {any ? (
        <>
          <ShellTabs />
          <ShellView />
        </>
      ) : (
        <Loaded of={load} rows={4}>
          {(targets) => <Choice targets={targets} />}
        </Loaded>
      )}
    </div>
  )
}

/** The list of targets when no terminal is open. */
function Choice({ targets }: { targets: readonly Target[] }) {
  const say = terminalWords()
  const able = targets.filter(canBeChecked)
  return (
    <>
      <p class="dim intro">{say.intro}</p>
      <ul class="list" aria-label={say.target}>
        {able.map(({ id }) => (
          <li key={id}>
            <Status is="ok" hidden />
            <span class="grow named">
              <span class="cut" title={targetName(id)}>
                {targetName(id)}
              </span>{' '}
              <span class="dim num">{id.replace(/^lxc:|^host$/, '')}</span>
            </span>
            <button
              type="button"
              class="button small"
              aria-label={say.openOn(targetName(id))}
              onClick={() => openShell(id)}
            >
              {say.open}
            </button>
          </li>
        ))}
      </ul>
      {able.length < targets.length && <p class="dim after">{say.stopped}</p>}
    </>
  )
}

/** Opens another terminal. */
function Picker({ targets }: { targets: readonly Target[] }) {
  const say = terminalWords()
  const target = useSignal('host')
  return (
    <form
      class="picker"
      onSubmit={(event) => {
        event.preventDefault()
        openShell(target.value)
      }}
    >
      <select
        aria-label={say.target}
        value={target.value}
        onChange={({ currentTarget }) => {
          target.value = currentTarget.value
        }}
      >
        {targets.filter(canBeChecked).map(({ id }) => (
          <option key={id} value={id}>
            {targetName(id)}
          </option>
        ))}
      </select>
      <button type="submit" class="button primary">
        {say.open}
      </button>
    </form>
  )
}
