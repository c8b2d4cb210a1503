import { type ReadonlySignal, useSignal } from '@preact/signals'
import { ChevronDown, ChevronUp, X } from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import type { Lines } from '../nouns/lines.ts'
import { words } from '../words/words.ts'
import { Icon } from './icon.tsx'

/** A search of an output: the browser's own sees the rows in the page alone. */
export interface Search {
  isOpen: boolean
  query: string
  /** The line it is at, counted from the beginning of the output. */
  found: number | undefined
  /** Which of how many. */
  at: number
  of: number
  open(): void
  close(): void
  look(query: string): void
  step(by: 1 | -1): void
}

export function useOutputSearch(lines: Lines, version: ReadonlySignal<number>, show: (line: number) => void): Search {
  const isOpen = useSignal(false)
  const query = useSignal('')
  const at = useSignal(0)
  /** What was found so far, and up to which line was looked. */
  const state = useRef<{ query: string; found: number[]; until: number }>({ query: '', found: [], until: 0 })
  const opener = useRef<Element | null>(null)
  void version.value

  const wanted = query.value.toLowerCase()
  if (state.current.query !== wanted) state.current = { query: wanted, found: [], until: 0 }
  const { found } = state.current
  const dropped = lines.dropped()
  if (wanted) {
    while (found.length > 0 && (found[0] ?? 0) < dropped) found.shift()
    // The last line may grow: it is looked at once there is a next one.
    const end = dropped + lines.count()
    for (let line = Math.max(state.current.until, dropped); line < end; line += 1) {
      if (
        lines
          .at(line - dropped)
          .text.toLowerCase()
          .includes(wanted)
      )
        found.push(line)
    }
    state.current.until = end
  }
  const go = (to: number) => {
    at.value = (to + found.length) % Math.max(1, found.length)
    const line = found[at.value]
    if (line !== undefined) show(line)
  }
  useEffect(() => {
    if (wanted) go(0)
  }, [wanted])

  return {
    isOpen: isOpen.value,
    query: isOpen.value ? query.value : '',
    found: isOpen.value ? found[at.value] : undefined,
    at: found.length === 0 ? 0 : at.value + 1,
    of: found.length,
    open() {
      opener.current = document.activeElement
      isOpen.value = true
    },
    close() {
      isOpen.value = false
      query.value = ''
      if (opener.current instanceof HTMLElement) opener.current.focus()
    },
    look(next) {
      query.value = next
    },
    step: (by) => go(at.value + by),
  }
}

export function OutputSearch({ search }: { search: Search }) {
  const say = words().output
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (search.isOpen) input.current?.focus()
  }, [search.isOpen])
  if (!search.isOpen) return null
  return (
    <search class="find">
      <input
        ref={input}
        type="search"
        aria-label={say.searchIn}
        value={search.query}
        onInput={({ currentTarget }) => search.look(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') search.step(event.shiftKey ? -1 : 1)
          else if (event.key === 'Escape') search.close()
          else return
          event.preventDefault()
        }}
      />
      <span class="dim num nowrap" role="status">
        {search.query && say.found(search.at, search.of)}
      </span>
      <button type="button" class="button small" aria-label={say.previous} onClick={() => search.step(-1)}>
        <Icon of={ChevronUp} />
      </button>
      <button type="button" class="button small" aria-label={say.next} onClick={() => search.step(1)}>
        <Icon of={ChevronDown} />
      </button>
      <button type="button" class="button small" aria-label={say.closeSearch} onClick={search.close}>
        <Icon of={X} />
      </button>
    </search>
  )
}
