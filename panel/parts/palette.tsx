import { signal, useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { ranked } from '../nouns/ranking.ts'
import { readContainers } from '../wire/containers.ts'
import { readTargets } from '../wire/packages.ts'
import { recent, remember } from '../wire/palette.ts'
import { onSignOut } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { useAct } from './action.tsx'
import { Dialog } from './dialog.tsx'
import { type Command, commands } from './palette-commands.ts'
import { type Group, PaletteList } from './palette-list.tsx'
import { Problem } from './problem.tsx'

/** The limit of results; a longer search narrows them down. */
const MAX_RESULTS = 40

const isOpen = signal(false)

export function openPalette(): void {
  isOpen.value = true
}

function close(): void {
  isOpen.value = false
}

onSignOut(close)

/** The command palette: pages, targets and actions by name (`Ctrl K`). */
export function Palette() {
  return isOpen.value ? <Open /> : null
}

/** Without a search: recent commands first, then the short groups. Targets are many and need a search. */
function groupsFor(search: string): Group[] {
  const { palette: say } = words()
  const all = commands()
  const plain = (some: readonly Command[]) => some.map((of) => ({ of, inTitle: [], inMore: [] }))
  if (search.trim())
    return [{ name: say.results, found: ranked(search, all, recent.value).slice(0, MAX_RESULTS) }].filter(isNotEmpty)
  const lately = recent.value.flatMap((id) => all.find((each) => each.id === id) ?? [])
  const kinds = ['job', 'page', 'place', 'command'] as const
  return [
    { name: say.groups.recent, found: plain(lately) },
    ...kinds.map((kind) => ({
      name: say.groups[kind],
      kind,
      found: plain(all.filter((each) => each.kind === kind && !lately.includes(each))),
    })),
  ].filter(isNotEmpty)
}

function isNotEmpty({ found }: Group): boolean {
  return found.length > 0
}

function Open() {
  const say = words().palette
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const search = useSignal('')
  const at = useSignal(0)
  const isPartial = useSignal(false)
  const groups = groupsFor(search.value)
  const shown = groups.flatMap(({ found }) => found)
  const current = Math.min(at.value, shown.length - 1)
  const run = useAct(async (command: Command) => {
    if (command.kind !== 'job') remember(command.id)
    await command.run(close)
  })
  useEffect(() => {
    void readContainers()
    Promise.all([readTargets(), import('./module-entries.tsx').then(({ readPlaces }) => readPlaces())]).catch(() => {
      isPartial.value = true
    })
    const outside = ({ target }: MouseEvent) => {
      if (target instanceof HTMLDialogElement && target.matches('.palette')) close()
    }
    document.addEventListener('mousedown', outside)
    return () => document.removeEventListener('mousedown', outside)
  }, [])
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current, search.value])

  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event
    if (event.isComposing) return
    if (key === 'ArrowDown') at.value = (current + 1) % Math.max(1, shown.length)
    else if (key === 'ArrowUp') at.value = (current - 1 + shown.length) % Math.max(1, shown.length)
    else if (key === 'Enter') choose(shown[current]?.of)
    else if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) close()
    else return
    event.preventDefault()
  }
  const choose = (command: Command | undefined) => {
    if (command) void run.run(command)
  }
  return (
    <Dialog title={say.title} class="palette" onClose={close}>
      <input
        type="text"
        role="combobox"
        data-first
        aria-label={say.placeholder}
        placeholder={say.placeholder}
        aria-expanded={shown.length > 0}
        aria-controls={shown.length > 0 ? id : undefined}
        aria-autocomplete="list"
        aria-activedescendant={shown.length > 0 ? `${id}-${current}` : undefined}
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        value={search.value}
        onInput={({ currentTarget }) => {
          search.value = currentTarget.value
          at.value = 0
          run.forget()
        }}
        onKeyDown={onKeyDown}
      />
      <Problem error={run.error.value} />
      <div class="results" ref={list} aria-busy={run.busy.value}>
        {shown.length > 0 ? (
          <PaletteList id={id} groups={groups} current={current} move={(to) => (at.value = to)} choose={choose} />
        ) : (
          <p class="dim nothing">{say.none(search.value.trim())}</p>
        )}
        {isPartial.value && <p class="dim nothing">{say.partial}</p>}
      </div>
      <p class="hints dim" aria-hidden="true">
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> {say.hints.choose}
        </span>
        <span>
          <kbd>{say.hints.openKey}</kbd> {say.hints.open}
        </span>
        <span>
          <kbd>{say.hints.closeKey}</kbd> {say.hints.close}
        </span>
      </p>
      <p class="unseen" role="status">
        {search.value.trim() && (shown.length === 0 ? say.none(search.value.trim()) : say.found(shown.length))}
      </p>
    </Dialog>
  )
}
