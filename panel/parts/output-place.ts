import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Lines } from '../nouns/lines.ts'

/** All rows have this height, so that positions need no measuring. */
export const ROW = 20
/** The number of extra rows above and below the visible ones. */
const OVERSCAN = 12

/** The scroll state of a growing output: following its end, or staying at one place. */
export interface Place {
  /** Rows from `first` (inclusive) to `last` (exclusive) of the kept lines are rendered. */
  first: number
  last: number
  follows: boolean
  /** The number of lines that arrived since following stopped. */
  fresh: number
  /** The first visible line, counted from the beginning of the output. */
  line: number
  pause(): void
  toEnd(): void
  /** Scrolls a line into the middle and stops following. */
  toLine(line: number): void
  onScroll(): void
}

export function usePlace(log: RefObject<HTMLElement | null>, lines: Lines): Place {
  const top = useSignal(0)
  const height = useSignal(400)
  const follows = useSignal(true)
  /** The number of lines when following stopped. */
  const seen = useSignal(0)
  const moved = useRef(0)
  const count = lines.count()
  const dropped = lines.dropped()

  const to = (position: number) => {
    if (!log.current) return
    log.current.scrollTop = position
    moved.current = log.current.scrollTop
    top.value = moved.current
  }
  const toEnd = () => {
    follows.value = true
    if (log.current) to(log.current.scrollHeight)
  }
  const pause = () => {
    if (!follows.peek()) return
    follows.value = false
    seen.value = lines.dropped() + lines.count()
  }

  useEffect(() => {
    const observed = log.current
    if (!observed) return
    const observer = new ResizeObserver(([entry]) => {
      height.value = entry?.contentRect.height ?? height.value
    })
    observer.observe(observed)
    // Rendered rows change, and a selection inside them would vanish, so a selection stops following.
    const selected = () => {
      const selection = document.getSelection()
      if (selection?.type === 'Range' && observed.contains(selection.anchorNode)) pause()
    }
    document.addEventListener('selectionchange', selected)
    return () => {
      observer.disconnect()
      document.removeEventListener('selectionchange', selected)
    }
  }, [])
  // Dropped lines at the beginning must not move the visible ones.
  const droppedBefore = useRef(dropped)
  useLayoutEffect(() => {
    if (follows.value) toEnd()
    else if (dropped > droppedBefore.current) to(top.value - (dropped - droppedBefore.current) * ROW)
    droppedBefore.current = dropped
  }, [count, dropped, follows.value, height.value])

  return {
    first: Math.max(0, Math.floor(top.value / ROW) - OVERSCAN),
    last: Math.min(count, Math.ceil((top.value + height.value) / ROW) + OVERSCAN),
    follows: follows.value,
    fresh: follows.value ? 0 : Math.max(0, dropped + count - seen.value),
    line: dropped + Math.ceil(top.value / ROW),
    pause,
    toEnd,
    toLine(line) {
      pause()
      to((line - lines.dropped()) * ROW - height.value / 2)
    },
    onScroll() {
      if (!log.current) return
      const { scrollTop, scrollHeight, clientHeight } = log.current
      top.value = scrollTop
      // The scroll event comes later than `to`; the user may have stopped following in between.
      if (scrollTop === moved.current) return
      if (scrollTop + clientHeight >= scrollHeight - ROW / 2) follows.value = true
      // Only the user scrolls upwards.
      else if (scrollTop < moved.current - 1) pause()
      moved.current = scrollTop
    },
  }
}
