import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Lines } from '../nouns/lines.ts'

/** All rows are as high: where one lies is known without measuring it. */
export const ROW = 20
/** Rows beyond those in sight, on either side. */
const BEYOND = 12

/** Where somebody reads in an output that grows: at its end, which is followed, or anywhere, which stays where it is. */
export interface Place {
  /** Of the kept lines; those from `first` to before `last` are to be in the page. */
  first: number
  last: number
  follows: boolean
  /** Lines that came since it stopped following. */
  fresh: number
  /** The first line in sight, counted from the beginning of the output. */
  line: number
  pause(): void
  toEnd(): void
  /** Brings a line into the middle, and stays there. */
  toLine(line: number): void
  onScroll(): void
}

export function usePlace(log: RefObject<HTMLElement | null>, lines: Lines): Place {
  const top = useSignal(0)
  const height = useSignal(400)
  const follows = useSignal(true)
  /** How many lines there were when it stopped following. */
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
    // Rows leave the page, and what is selected in them with them: it stands still for who selects.
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
  // What is let go at the beginning must not move what one reads.
  const droppedBefore = useRef(dropped)
  useLayoutEffect(() => {
    if (follows.value) toEnd()
    else if (dropped > droppedBefore.current) to(top.value - (dropped - droppedBefore.current) * ROW)
    droppedBefore.current = dropped
  }, [count, dropped, follows.value, height.value])

  return {
    first: Math.max(0, Math.floor(top.value / ROW) - BEYOND),
    last: Math.min(count, Math.ceil((top.value + height.value) / ROW) + BEYOND),
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
      // The browser tells later of what `to` has scrolled; somebody may have stopped following meanwhile.
      if (scrollTop === moved.current) return
      if (scrollTop + clientHeight >= scrollHeight - ROW / 2) follows.value = true
      // Only people scroll upwards.
      else if (scrollTop < moved.current - 1) pause()
      moved.current = scrollTop
    },
  }
}
