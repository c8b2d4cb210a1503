import { useEffect, useRef } from 'preact/hooks'
import { words } from '../../words/words.ts'

export const TABS = ['targets', 'runs', 'held', 'protection'] as const
export type Tab = (typeof TABS)[number]

interface TabsProps {
  chosen: Tab
  /** The number behind each word; undefined while it is unknown. */
  counts: Readonly<Record<Tab, number | undefined>>
  choose(tab: Tab): void
}

/** The tabs of the page: one stop for the keyboard, arrow keys walk. */
export function Tabs({ chosen, counts, choose }: TabsProps) {
  const say = words().updates
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A narrow window shows a part of the list.
    const { current } = list
    const tab = current?.querySelector<HTMLElement>('[aria-selected=true]')
    if (current && tab) current.scrollLeft = tab.offsetLeft - (current.clientWidth - tab.offsetWidth) / 2
  }, [chosen])
  useEffect(() => {
    const { current } = list
    if (!current) return
    const told = new ResizeObserver(() => markEnds(current))
    told.observe(current)
    return () => told.disconnect()
  }, [])
  const walk = (by: number) => {
    const next = TABS[(TABS.indexOf(chosen) + by + TABS.length) % TABS.length] ?? chosen
    choose(next)
    list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus()
  }
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label={say.title}
      ref={list}
      onScroll={({ currentTarget }) => markEnds(currentTarget)}
      onKeyDown={({ key }) => {
        if (key === 'ArrowRight') walk(1)
        if (key === 'ArrowLeft') walk(-1)
      }}
    >
      {TABS.map((tab) => (
        <button
          key={tab}
          id={`tab-${tab}`}
          type="button"
          role="tab"
          aria-selected={tab === chosen}
          aria-controls="updates-panel"
          tabIndex={tab === chosen ? 0 : -1}
          onClick={() => choose(tab)}
        >
          {say.tabs[tab]} {counts[tab] !== undefined && <span class="n num">{counts[tab]}</span>}
        </button>
      ))}
    </div>
  )
}

/** Marks the ends where a narrow window hides tabs. The style fades these. */
function markEnds(bar: HTMLElement): void {
  const { scrollLeft, scrollWidth, clientWidth } = bar
  bar.toggleAttribute('data-before', scrollLeft > 1)
  bar.toggleAttribute('data-after', scrollWidth - clientWidth - scrollLeft > 1)
}
