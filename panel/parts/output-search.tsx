import { type ReadonlySignal, useSignal } from '@preact/signals'
import { ChevronDown, ChevronUp, X } from 'lucide'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Lines } from '../nouns/lines.ts'
import { createFinder } from '../nouns/search.ts'
import { words } from '../words/words.ts'
import { Icon } from './icon.tsx'
import type { Place } from './output-place.ts'

/** Search within an output: the browser's own search only sees rendered rows. */
export interface Search {
  isOpen: boolean
  query: string
  /** The line of the current match, counted from the beginning of the output. */
  found: number | undefined
  /** The position of the current match, and the number of matches. */
  at: number
  of: number
  open(): void
  close(): void
  look(query: string): void
  step(by: 1 | -1): void
}

export function useOutputSearch(lines: Lines, version: ReadonlySignal<number>, place: Place): Search {
  const isOpen = useSignal(false)
  const query = useSignal('')
  /** The line of the current match. */
  const current = useSignal<number | undefined>(undefined)
  const find = useMemo(() => createFinder(lines), [lines])
  const opener = useRef<Element | null>(null)
  void version.value

  const found = find(query.value)
  const go = (line: number | undefined) => {
    current.value = line
    if (line !== undefined) place.toLine(line)
  }
  return {
    isOpen: isOpen.value,
    query: query.value,
    found: current.value,
    at: current.value === undefined ? 0 : found.indexOf(current.value) + 1,
    of: found.length,
    open() {
      if (!isOpen.value) opener.current = document.activeElement
      isOpen.value = true
    },
    close() {
      isOpen.value = false
      query.value = ''
      current.value = undefined
      if (opener.current instanceof HTMLElement) opener.current.focus()
    },
    look(next) {
      // Keeps the current match while it still matches; otherwise takes the first match from the visible lines on.
      const begin = current.value ?? place.line
      query.value = next
      const all = find(next)
      go(all.find((line) => line >= begin) ?? all[0])
    },
    step(by) {
      const begin = current.value ?? place.line
      const next = by > 0 ? found.find((line) => line > begin) : found.findLast((line) => line < begin)
      go(next ?? found.at(by > 0 ? 0 : -1))
    },
  }
}

export function OutputSearch({ search }: { search: Search }) {
  const say = words().output
  const input = useRef<HTMLInputElement>(null)
  // Before the next key press.
  useLayoutEffect(() => {
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
